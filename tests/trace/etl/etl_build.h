/*
 * etl_build - write ETL files for tests: buffers and records appended to bytes.
 *
 * A file begins with its header's buffer; etl_buffer begins another one, the
 * record functions append to it, etl_end closes it and fixes the counts.
 * Nothing is checked: a test may write what no session ever would. Running out
 * of memory ends the program.
 */
#ifndef RD_TESTS_TRACE_ETL_BUILD_H
#define RD_TESTS_TRACE_ETL_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

/* Zero gives what the comment says. */
struct etl_options {
	uint32_t pointer_bytes;  /* 8 */
	uint32_t buffer_bytes;   /* 4096 */
	uint32_t header_bytes;   /* of the header's buffer: buffer_bytes */
	uint32_t compression;    /* enum rd_etl_compression; sets the mode's bit */
	uint32_t mode;           /* log file mode */
	uint32_t clock;          /* 1: QPC */
	uint64_t frequency_hz;   /* 10^7 */
	uint32_t cpu_mhz;        /* 1000 */
	uint64_t start_ticks;    /* 1000000 */
	uint64_t start_filetime; /* 2024-01-01 00:00:00 UTC */
	uint64_t end_filetime;   /* ten seconds later */
	uint32_t cpus;           /* 4 */
	uint32_t lost_events, lost_buffers;
	bool unfinished;     /* EndTime and BuffersWritten stay zero */
	const char *session; /* "test" */
};

struct etl_build {
	struct etl_options options;
	struct rd_bytes file;
	struct rd_bytes plain; /* the open buffer, from its header on */
	uint32_t buffers;      /* closed ones */
	uint64_t sequence;     /* of the next buffer */
	uint16_t flags;        /* of the open buffer: set before it closes */
	bool open;
};

void etl_begin(struct etl_build *e, const struct etl_options *options);
void etl_buffer(struct etl_build *e, uint16_t cpu, uint64_t time);
void etl_end(struct etl_build *e);
void etl_release(struct etl_build *e);

/* What comes with every record. */
struct etl_who {
	uint32_t pid, tid;
	uint64_t time;
};

/* Kernel records: system, compact (no CPU times), perfinfo (no pid and tid; version with its flags). */
void etl_system(struct etl_build *e, uint8_t group, uint8_t opcode, uint16_t version, struct etl_who who,
		const struct rd_bytes *payload);
void etl_compact(struct etl_build *e, uint8_t group, uint8_t opcode, uint16_t version, struct etl_who who,
		 const struct rd_bytes *payload);
void etl_perfinfo(struct etl_build *e, uint8_t group, uint8_t opcode, uint16_t version, uint64_t time,
		  const struct rd_bytes *payload);
void etl_classic(struct etl_build *e, const uint8_t guid[16], uint8_t opcode, uint16_t version, struct etl_who who,
		 const struct rd_bytes *payload);
void etl_instance(struct etl_build *e, const uint8_t guid[16], uint8_t opcode, uint16_t version, struct etl_who who,
		  const struct rd_bytes *payload);
/* extended: whole items as they stand in the file, NULL none. */
void etl_event(struct etl_build *e, const uint8_t guid[16], uint16_t id, uint8_t version, struct etl_who who,
	       const struct rd_bytes *extended, const struct rd_bytes *payload);
/* A trace message with sequence, GUID, time, pid and tid. */
void etl_message(struct etl_build *e, const uint8_t guid[16], uint16_t number, struct etl_who who,
		 const struct rd_bytes *payload);
/* Any bytes, padded to 8. */
void etl_raw(struct etl_build *e, const void *bytes, size_t size_bytes);

/* Payloads: numbers, little-endian; pointers of the file's size; strings with their NUL. */
void etl_put(struct rd_bytes *b, uint64_t v, size_t size_bytes);
void etl_put_pointer(struct rd_bytes *b, const struct etl_build *e, uint64_t v);
void etl_put_utf16(struct rd_bytes *b, const char *ascii);
void etl_put_text(struct rd_bytes *b, const char *text);
/* Overwrite what stands at `at`. */
void etl_patch(struct rd_bytes *b, size_t at, uint64_t v, size_t size_bytes);

/* One extended item (with its head), `more` behind it or not. */
void etl_put_item(struct rd_bytes *b, uint16_t type, bool more, const struct rd_bytes *data);

/*
 * The kernel's records by name, for tests that are about what they say. op is
 * the opcode: 1 start, 2 end, 3 DCStart, 4 DCEnd; etl_image takes 10 for a
 * load.
 */
void etl_sample(struct etl_build *e, uint64_t time, uint32_t tid, uint64_t pointer);
void etl_stack(struct etl_build *e, uint64_t time, uint64_t sample_time, uint32_t pid, uint32_t tid,
	       const uint64_t *frames, size_t n);
/* part: enum rd_stack_part, one of the keyed ones. */
void etl_stack_key(struct etl_build *e, uint64_t time, uint64_t sample_time, uint32_t pid, uint32_t tid, uint32_t part,
		   uint64_t key);
void etl_stack_definition(struct etl_build *e, uint64_t time, uint64_t key, const uint64_t *frames, size_t n);
void etl_thread(struct etl_build *e, uint8_t op, uint64_t time, uint32_t pid, uint32_t tid);
void etl_process(struct etl_build *e, uint8_t op, uint64_t time, uint32_t pid, uint32_t parent, const char *name,
		 const char *command_line);
void etl_image(struct etl_build *e, uint8_t op, uint64_t time, uint32_t pid, uint64_t base, uint64_t size,
	       const char *path);

#endif
