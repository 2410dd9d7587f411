/*
 * scene - a made-up trace for tests of the finish: what happened, cut into shards in any way.
 *
 * Items are facts, samples and stack records with their names and frames
 * beside them. A run deals them out to shards, packs each as a worker would,
 * and finishes. Ticks are nanoseconds since 1970, unless info says otherwise.
 */
#ifndef RD_TESTS_PROFILE_SCENE_H
#define RD_TESTS_PROFILE_SCENE_H

#include "profile/finish.h"

#define SCENE_FRAMES 8

struct scene_item {
	enum rd_partial_table table;
	uint32_t file; /* which of the scene's traces */
	union {
		struct rd_fact_method method;
		struct rd_fact_module module;
		struct rd_fact_image image;
		struct rd_fact_thread thread;
		struct rd_fact_process process;
		struct rd_fact_stack_key stack_key;
		struct rd_fact_marker marker;
		struct rd_fact_runtime runtime;
		struct rd_fact_mapping mapping;
		struct rd_fact_symbol symbol;
		struct rd_sample sample;
		struct rd_stack_row record;
	};
	const char *text[3];           /* the names of the row, in its order; NULL none */
	uint64_t frames[SCENE_FRAMES]; /* innermost first; all before the first 0 */
};

struct scene {
	RD_VEC(struct scene_item) items;
	struct rd_trace_info info[4]; /* by file; scene_init fills them */
	uint32_t group[4];
	size_t files;
	uint64_t places[4]; /* by file: the last place given */
	/* Told after the shards are filled, before they are packed; NULL none. */
	void (*spoil)(struct rd_partial *p, size_t shard);
	uint64_t fail_allocation; /* of the finish: which one fails; 0 none */
};

void scene_init(struct scene *s);
/* The item's place is the next one, unless it has one; every pid that is 0 in the item stays 0. */
void scene_add(struct scene *s, struct scene_item item);
void scene_release(struct scene *s);

/* `shard_of` says which of the shards an item goes to, by its number; NULL: number % shards. */
int scene_finish(const struct scene *s, size_t shards, size_t (*shard_of)(void *ctx, size_t item), void *ctx,
		 const struct rd_finish_options *opt, struct rd_result *out, struct rd_error *err);
/* One shard, nothing filtered; fails the test when it fails. */
void scene_run(const struct scene *s, struct rd_result *out);
/* A `spoil` that gives a shard its preliminary histogram. */
void scene_believe(struct rd_partial *p, size_t shard);
/* All items as one partial of one shard. */
void scene_partial(const struct scene *s, struct rd_partial *p);

/*
 * All rows folded: "pid;outermost;…;innermost count\n", sorted by byte. A frame
 * is module!name, or what there is of it; with tiers, "name[tier name]"; with
 * starts, a process is pid@start in ns, or pid alone when that is unknown.
 * From malloc.
 */
enum scene_show { SCENE_TIERS = 1, SCENE_STARTS = 2, SCENE_CLR = 4 };
char *scene_folded(const struct rd_result *r, unsigned show);
#define assert_folded(r, expected)          scene_assert_folded((r), 0, (expected), __FILE__, __LINE__)
#define assert_folded_as(r, show, expected) scene_assert_folded((r), (show), (expected), __FILE__, __LINE__)
void scene_assert_folded(const struct rd_result *r, unsigned show, const char *expected, const char *file, int line);

/* A new scene: two processes with their samples, and one sample of a third. */
void scene_of_samples(struct scene *s);

/* Sort lines of text in place. */
void scene_sort_lines(char *text);

/* Short ways to say what happens: SCENE_METHOD(&s, "app", "A", .time = 5, .op = RD_OP_LOAD, …) and so on. */
#define SCENE_METHOD(s, NAME, ...)                                                                                     \
	scene_add(s, (struct scene_item){.table = RD_TABLE_METHODS, .method = {__VA_ARGS__}, .text = {"", NAME, "()"}})
#define SCENE_PLAIN_METHOD(s, ...) scene_add(s, (struct scene_item){.table = RD_TABLE_METHODS, .method = {__VA_ARGS__}})
#define SCENE_MODULE(s, PATH, ...)                                                                                     \
	scene_add(s, (struct scene_item){.table = RD_TABLE_MODULES, .module = {__VA_ARGS__}, .text = {PATH}})
#define SCENE_IMAGE(s, PATH, ...)                                                                                      \
	scene_add(s, (struct scene_item){.table = RD_TABLE_IMAGES, .image = {__VA_ARGS__}, .text = {PATH}})
#define SCENE_PROCESS(s, NAME, ...)                                                                                    \
	scene_add(s, (struct scene_item){.table = RD_TABLE_PROCESSES, .process = {__VA_ARGS__}, .text = {NAME}})
#define SCENE_THREAD(s, ...) scene_add(s, (struct scene_item){.table = RD_TABLE_THREADS, .thread = {__VA_ARGS__}})
#define SCENE_MAPPING(s, PATH, ...)                                                                                    \
	scene_add(s, (struct scene_item){.table = RD_TABLE_MAPPINGS, .mapping = {__VA_ARGS__}, .text = {PATH}})
#define SCENE_SYMBOL(s, NAME, ...)                                                                                     \
	scene_add(s, (struct scene_item){.table = RD_TABLE_SYMBOLS, .symbol = {__VA_ARGS__}, .text = {NAME}})
#define SCENE_MARKER(s, ...) scene_add(s, (struct scene_item){.table = RD_TABLE_MARKERS, .marker = {__VA_ARGS__}})
/* A nettrace sample: its process and its stack, in braces. */
#define SCENE_SAMPLE(s, TIME, PID, ...)                                                                                \
	scene_add(s, (struct scene_item){.table = RD_TABLE_SAMPLES,                                                    \
					 .sample = {.time = TIME, .thread = 1, .weight = 1, .pid = PID},               \
					 .frames = {__VA_ARGS__}})
/* An ETL sample: a thread, a CPU and a pointer. */
#define SCENE_ETL_SAMPLE(s, TIME, THREAD, CPU, POINTER)                                                                \
	scene_add(s, (struct scene_item){.table = RD_TABLE_SAMPLES,                                                    \
					 .sample = {.time = TIME,                                                      \
						    .thread = THREAD,                                                  \
						    .cpu = CPU,                                                        \
						    .weight = 1,                                                       \
						    .pointer = POINTER,                                                \
						    .pid = UINT32_MAX}})
/* A plain stack record: of the sample at SAMPLE_TIME, written at TIME. */
#define SCENE_RECORD(s, SAMPLE_TIME, THREAD, CPU, TIME, PID, ...)                                                      \
	scene_add(s, (struct scene_item){.table = RD_TABLE_STACK_RECORDS,                                              \
					 .record = {.sample_time = SAMPLE_TIME,                                        \
						    .thread = THREAD,                                                  \
						    .cpu = CPU,                                                        \
						    .time = TIME,                                                      \
						    .pid = PID},                                                       \
					 .frames = {__VA_ARGS__}})
#define SCENE_KEYED_RECORD(s, SAMPLE_TIME, THREAD, TIME, PART, KEY)                                                    \
	scene_add(s, (struct scene_item){.table = RD_TABLE_STACK_RECORDS,                                              \
					 .record = {.sample_time = SAMPLE_TIME,                                        \
						    .thread = THREAD,                                                  \
						    .time = TIME,                                                      \
						    .part = PART,                                                      \
						    .key = KEY}})
#define SCENE_KEY(s, TIME, KEY, ...)                                                                                   \
	scene_add(s, (struct scene_item){.table = RD_TABLE_STACK_KEYS,                                                 \
					 .stack_key = {.time = TIME, .key = KEY},                                      \
					 .frames = {__VA_ARGS__}})

#endif
