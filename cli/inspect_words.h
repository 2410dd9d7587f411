/*
 * inspect_words - what inspect concludes from an inspection, for its text and its JSON.
 */
#ifndef RD_CLI_INSPECT_WORDS_H
#define RD_CLI_INSPECT_WORDS_H

#include "cli/inspection.h"

/* How a run would cut the trace; zeros: as run does by itself. */
struct rd_inspect_plan {
	uint64_t shards, shard_bytes, workers;
};

struct rd_shards {
	uint64_t n;
	uint64_t least_bytes, most_bytes;
	uint32_t workers;
};
int rd_inspect_shards(const struct rd_inspection *in, const struct rd_inspect_plan *plan, struct rd_shards *out,
		      struct rd_error *err);

const char *rd_clock_name(uint32_t kind);
/* "6.0", "4", as the format numbers itself; of ETL the system's version. */
const char *rd_version_text(const struct rd_trace_info *info, char *buf, size_t size);
/* From the clock's start to the last event. */
uint64_t rd_inspect_duration_ns(const struct rd_inspection *in);
int64_t rd_inspect_end_utc_ns(const struct rd_inspection *in);
/* Between samples: as the trace's events say it, else its head; 0 unknown. */
uint64_t rd_inspect_expected_ns(const struct rd_inspection *in);
uint64_t rd_keyframe_ns(const struct rd_inspection *in, const struct rd_keyframe *k);
/* From the beginning of a keyframe to that of the next, the least and the most; false where there are not two. */
bool rd_keyframe_spacing(const struct rd_inspection *in, uint64_t *least_ns, uint64_t *most_ns);
/* What wrote the file. */
const char *rd_recorder_name(const struct rd_trace_info *info);
/* Names of the bits of a log file mode, with blanks between them. */
const char *rd_mode_text(uint32_t mode, char *buf, size_t size);

/* What a profile would want and the trace has not. */
struct rd_lack {
	const char *what; /* "samples" */
	const char *provider;
	const char *keywords; /* "JIT 0x10, NGen 0x20"; NULL none */
	const char *so;       /* what follows from it */
};
#define RD_LACKS_MOST 8
size_t rd_inspect_lacks(const struct rd_inspection *in, struct rd_lack lacks[RD_LACKS_MOST]);

/* The rundown at the start or end over all runtimes: the same word for all of them, else "partial"; "none" without any.
 */
const char *rd_inspect_listed(const struct rd_inspection *in, bool end);

/* "start", "middle", "end": where a keyframe stands; "start and end" for one that is both. */
const char *rd_keyframe_name(const struct rd_inspection *in, const struct rd_keyframe *k);

/* Events of a provider. */
struct rd_provider_sum {
	struct rd_span name; /* the inspection's; empty: own_name */
	char own_name[48];   /* its GUID, or what its records are */
	char guid[37];       /* "" none */
	uint64_t events, bytes, kinds;
};
typedef RD_VEC(struct rd_provider_sum) rd_provider_vec;
/* By falling events, then by name. The caller releases the vector. */
int rd_inspect_providers(const struct rd_inspection *in, rd_provider_vec *out, struct rd_error *err);
struct rd_span rd_provider_name(const struct rd_provider_sum *p);
/* What a kind's provider is called there; buf may hold it. */
struct rd_span rd_provider_label(const struct rd_kind *kind, const struct rd_kind_words *words, char buf[48]);

/* Numbers of rows in the order in which people want them: the most first, then by their place. NULL when out of memory.
 */
uint32_t *rd_sorted_processes(const struct rd_inspection *in, size_t *n);
uint32_t *rd_sorted_runtimes(const struct rd_inspection *in, size_t *n);
/* Kinds with events; by_bytes: the most bytes first, else the most events. */
uint32_t *rd_sorted_kinds(const struct rd_inspection *in, bool by_bytes, size_t *n);

#endif
