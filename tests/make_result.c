#include "tests/make_result.h"

#include "tests/support.h"

uint32_t result_string(struct rd_result *r, const char *text)
{
	uint32_t id = rd_strings_id(&r->strings, text, strlen(text));
	assert_int_not_equal(id, RD_NONE);
	return id;
}

/* Tests compare rows as bytes, padding too. */
#define ADD(vec, ...)                                                                                                  \
	do {                                                                                                           \
		size_t add_at = (vec)->n;                                                                              \
		assert_int_equal(rd_vec_reserve((vec), 1), 0);                                                         \
		memset(&(vec)->at[add_at], 0, sizeof *(vec)->at);                                                      \
		(vec)->n++;                                                                                            \
		(vec)->at[add_at] = __VA_ARGS__;                                                                       \
	} while (0)

static void add_frame(struct rd_result *r, const char *module, const char *ns, const char *name, const char *signature,
		      uint32_t tier)
{
	ADD(&r->frames, (struct rd_result_frame){.process = 0,
						 .clr = *ns ? 9 : 0,
						 .module = result_string(r, module),
						 .ns = result_string(r, ns),
						 .name = result_string(r, name),
						 .signature = result_string(r, signature),
						 .tier = tier,
						 .flags = strcmp(name, "?") == 0 ? RD_FRAME_UNRESOLVED : 0});
}

/* Frames innermost first. */
static void add_stack(struct rd_result *r, const uint32_t *frames, size_t n)
{
	uint32_t caller = 0;

	for (size_t i = n; i > 0; i--) {
		ADD(&r->calls, (struct rd_result_call){caller, frames[i - 1]});
		caller = (uint32_t)r->calls.n;
	}
	ADD(&r->stacks, caller);
}

static void add_row(struct rd_result *r, uint32_t process, uint32_t kind, uint32_t bucket, uint32_t stack,
		    uint64_t count)
{
	ADD(&r->rows, (struct rd_result_row){.process = process,
					     .kind = kind,
					     .thread = 100 + process,
					     .bucket = bucket,
					     .stack = stack,
					     .count = count,
					     .weight = count});
	r->samples += count;
	r->weight += count;
	r->kinds[kind] += count;
	r->processes.at[process].samples += count;
}

static void add_trace(struct rd_result *r)
{
	struct rd_result_trace *t = rd_vec_add(&r->traces);

	assert_non_null(t);
	memset(t, 0, sizeof *t);
	strcpy(t->path, "shop.nettrace");
	t->info = (struct rd_trace_info){
		.format = RD_FORMAT_NETTRACE,
		.version_major = 4,
		.pointer_bytes = 8,
		.cpus = 8,
		.pid = 10,
		.size_bytes = 1500000,
		.clock = {.kind = RD_CLOCK_QPC,
			  .frequency_hz = 1000000000,
			  .start_ticks = 5,
			  .start_utc_ns = 1772368205250000000},
		.complete = true,
		.cut_at = RD_NO_OFFSET,
	};
	t->start_utc_ns = 1772368205250000000; /* 2026-03-01T12:30:05.25Z */
	t->duration_ns = 3000000000;
	t->complete = true;
	t->cut_at = RD_NO_OFFSET;
}

void small_result(struct rd_result *r)
{
	memset(r, 0, sizeof *r);
	add_trace(r);
	ADD(&r->processes, (struct rd_result_process){.pid = 10,
						      .namespace_pid = 1,
						      .name = result_string(r, "shop"),
						      .command_line = result_string(r, "./shop --fast"),
						      .start_utc_ns = 1772368205250000000});
	ADD(&r->processes, (struct rd_result_process){.pid = RD_PID_UNOWNED,
						      .name = result_string(r, ""),
						      .command_line = result_string(r, ""),
						      .start_utc_ns = INT64_MIN});
	add_frame(r, "app", "App", "Main", "void  (class System.String[])", RD_TIER_QUICK);
	add_frame(r, "app", "App", "Work", "int32  (int32)", RD_TIER_QUICK);
	add_frame(r, "app", "App", "Work", "int32  (int32)", RD_TIER_TIER1);
	add_frame(r, "libc.so.6", "", "?", "", RD_TIER_NATIVE);
	add_stack(r, NULL, 0);
	add_stack(r, (uint32_t[]){1, 0}, 2);
	add_stack(r, (uint32_t[]){1, 2, 0}, 3);
	add_stack(r, (uint32_t[]){3, 0}, 2);
	add_row(r, 0, RD_SAMPLE_MANAGED, 2, 1, 40);
	add_row(r, 0, RD_SAMPLE_MANAGED, 3, 2, 20);
	add_row(r, 0, RD_SAMPLE_EXTERNAL, 3, 3, 30);
	add_row(r, 0, RD_SAMPLE_EXTERNAL, 5, 0, 6);
	add_row(r, 1, RD_SAMPLE_EXTERNAL, 5, 0, 4);
	r->origin_utc_ns = 1772368205250000000;
	r->bucket_width_ns = 500000000;
	r->first_bucket = 2;
	r->last_bucket = 5;
	r->thread_time = true;
	r->trust = (struct rd_trust){.complete = true,
				     .cut_at = RD_NO_OFFSET,
				     .frames = 200,
				     .unresolved_frames = 30,
				     .samples_without_stack = 10,
				     .unowned_samples = 4,
				     .rundown = RD_RUNDOWN_COMPLETE};
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

void large_result(struct rd_result *r, size_t rows, uint64_t seed)
{
	size_t frames = rows / 16 + 4, stacks = rows / 4 + 4;
	char text[64];

	small_result(r);
	r->rows.n = 0;
	for (size_t i = 0; i < frames; i++) {
		snprintf(text, sizeof text, "Method%zu`%llu", i, (unsigned long long)(next_random(&seed) % 1000));
		add_frame(r, i % 3 ? "app" : "lib", i % 5 ? "App.Deep.Space" : "", text, "void  (int32,class A;B)",
			  RD_TIER_TIER1);
	}
	for (size_t i = 0; i < stacks; i++) {
		uint32_t stack[24];
		size_t depth = next_random(&seed) % 24;
		for (size_t k = 0; k < depth; k++)
			stack[k] = (uint32_t)(next_random(&seed) % r->frames.n);
		add_stack(r, stack, depth);
	}
	r->samples = r->weight = 0;
	memset(r->kinds, 0, sizeof r->kinds);
	for (size_t i = 0; i < rows; i++)
		add_row(r, 0, (uint32_t)(i % 2 + 1), 2 + (uint32_t)(i % 4),
			(uint32_t)(next_random(&seed) % r->stacks.n), 1 + next_random(&seed) % 100);
}
