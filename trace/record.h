/*
 * record - the decoded payloads, one shape for every format.
 *
 * Spans are borrowed from the event. Names stay in their file's encoding
 * until somebody wants them: `utf16` says which.
 */
#ifndef RD_TRACE_RECORD_H
#define RD_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"

/*
 * What a record says of a life. LOAD, DCSTART and DCEND say "alive from
 * here"; UNLOAD, DCSTART and DCEND say "alive until here" (design, section 3).
 * At equal times UNLOAD comes before the others.
 */
enum rd_op {
	RD_OP_NONE = 0,
	RD_OP_LOAD = 1,   /* load, start */
	RD_OP_UNLOAD = 2, /* unload, end */
	RD_OP_DCSTART = 3,
	RD_OP_DCEND = 4,
};

enum rd_sample_kind { RD_SAMPLE_CPU = 0, RD_SAMPLE_MANAGED = 1, RD_SAMPLE_EXTERNAL = 2, RD_SAMPLE_KINDS };

struct rd_name {
	struct rd_span text;
	bool utf16;
};

struct rd_sample_record {
	uint64_t thread;
	uint64_t pointer;  /* instruction pointer; 0 none (nettrace) */
	uint32_t kind;     /* enum rd_sample_kind */
	uint64_t weight;   /* 1 where the format has none */
};

enum rd_stack_part { RD_STACK_PLAIN = 0, RD_STACK_KERNEL_KEY = 1, RD_STACK_USER_KEY = 2 };

struct rd_stack_record {
	uint64_t sample_time; /* ticks */
	uint64_t thread;
	uint32_t pid;
	uint32_t part;        /* enum rd_stack_part */
	uint64_t key;         /* keyed parts */
	struct rd_span frames; /* plain: pointers, innermost first */
	uint8_t pointer_bytes;
};

struct rd_stack_key_record {
	uint64_t key;
	struct rd_span frames;
	uint8_t pointer_bytes;
};

struct rd_method_record {
	uint64_t method_id;
	uint64_t module_id;
	uint64_t start;
	uint32_t size_bytes;
	uint32_t token;
	uint32_t flags;        /* MethodFlags as in the event: tier in bits 7-9, extent in 28-31 */
	uint16_t clr;          /* ClrInstanceID, 0 before version 1 */
	uint64_t rejit_id;     /* 0 before version 2 */
	bool named;            /* a verbose event: the three names below */
	struct rd_name ns, name, signature;
};

struct rd_module_record {
	uint64_t module_id;
	uint16_t clr;
	uint32_t flags;
	struct rd_name il_path, native_path;
	uint8_t pdb_guid[16];  /* managed PDB, zero before version 2 */
	uint32_t pdb_age;
	struct rd_name pdb_path;
};

struct rd_image_record {
	uint32_t pid;
	uint64_t base;
	uint64_t size_bytes;
	uint32_t time_stamp, checksum;
	struct rd_name path;
};

struct rd_thread_record {
	uint32_t pid;
	uint64_t thread;
};

struct rd_process_record {
	uint32_t pid, parent_pid;
	uint32_t namespace_pid; /* as the process sees itself inside its container; 0 unknown */
	struct rd_name name, command_line;
};

enum rd_marker {
	RD_MARKER_START_INIT = 1,
	RD_MARKER_START_COMPLETE,
	RD_MARKER_END_INIT,
	RD_MARKER_END_COMPLETE,
};

struct rd_marker_record {
	uint32_t marker; /* enum rd_marker */
	uint16_t clr;
};

struct rd_interval_record {
	uint32_t source;
	uint64_t interval_100ns;
};

struct rd_runtime_record {
	uint16_t clr;
	uint16_t version[4];  /* major, minor, build, QFE; zero when the event has none */
	struct rd_name command_line;
	struct rd_name system, architecture; /* ProcessInfo: "Linux", "x64"; may be empty */
};

/* The head of an ETL log: who recorded, and how. Times are FILETIME, 0 unknown. */
struct rd_session_record {
	uint32_t buffer_bytes;    /* of a plain buffer */
	uint8_t os_major, os_minor;
	uint32_t os_build;
	uint32_t cpus;
	uint64_t end, boot, start;
	uint32_t most_mb;         /* the file's limit; 0 none */
	uint32_t log_file_mode;
	uint32_t buffers_written; /* 0 in a file whose session never ended it */
	uint32_t pointer_bytes;   /* 0 not said */
	uint32_t lost_events, lost_buffers;
	uint32_t cpu_mhz;
	uint64_t perf_hz;
	uint32_t clock;           /* as the file numbers it */
	struct rd_name name, file;
};

/* What an event says of the machine; 0 and empty: it does not. */
struct rd_machine_record {
	uint32_t cpu_mhz, cpus;
	uint64_t memory_bytes;
	struct rd_name host, build; /* the computer's name; the system's build, as its makers write it */
};

/* What a file says of other events of one identity. */
struct rd_schema_record {
	bool classic; /* (GUID, opcode, version), else (GUID, id, version) */
	uint8_t guid[16];
	uint32_t id, version;
	struct rd_span info; /* for rd_describe_schema */
};

/* Something mapped into a process: a file, memory, the kernel. */
struct rd_mapping_record {
	uint32_t pid;
	uint64_t id;         /* by which symbols name it */
	uint64_t start, end; /* [start, end) */
	struct rd_name path; /* empty: anonymous memory */
};

/* A name for addresses of a mapping. */
struct rd_symbol_record {
	uint64_t mapping;     /* the mapping's id */
	uint64_t start, last; /* both inside */
	struct rd_name name;
};

/* Counted apart from samples. */
enum rd_other_count { RD_OTHER_PMC = 0, RD_OTHER_CSWITCH = 1, RD_OTHER_COUNTS };

struct rd_other_record {
	uint32_t what; /* enum rd_other_count */
};

struct rd_record {
	uint32_t kind; /* enum rd_event_kind */
	uint32_t op;   /* enum rd_op */
	union {
		struct rd_sample_record sample;
		struct rd_stack_record stack;
		struct rd_stack_key_record stack_key;
		struct rd_method_record method;
		struct rd_module_record module;
		struct rd_image_record image;
		struct rd_thread_record thread;
		struct rd_process_record process;
		struct rd_marker_record marker;
		struct rd_interval_record interval;
		struct rd_runtime_record runtime;
		struct rd_mapping_record mapping;
		struct rd_symbol_record symbol;
		struct rd_other_record other;
		struct rd_session_record session;
		struct rd_machine_record machine;
		struct rd_schema_record schema;
	};
};

#endif
