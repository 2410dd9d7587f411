/*
 * One method, Shop.Program.Fib at 0x4000, and samples of two threads in it; then what the row is about.
 */
#include <stdlib.h>

#include "base/cursor.h"
#include "tests/gen/rows.h"
#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/nettrace/nettrace_build.h"

#define SAMPLER "Microsoft-DotNETCore-SampleProfiler"
#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

enum { SAMPLE = 1, LOAD, DC_END, END_INIT, END_COMPLETE };
enum { MANAGED = 2 };

static const struct clr_method fib = {
	.id = 0x77,
	.module = 0x55,
	.start = 0x4000,
	.size_bytes = 0x100,
	.ns = "Shop.Program",
	.name = "Fib",
	.signature = "int32  (int32)",
	.clr = 9,
};

struct writer {
	struct nettrace_build b;
	uint32_t sequence[2]; /* of threads 10 and 11 */
	uint64_t time;
};

static void event(struct writer *w, uint32_t id, uint64_t thread, uint32_t stack, const void *payload, size_t n)
{
	w->time += 100;
	nettrace_event(&w->b, &(struct nettrace_event){id, ++w->sequence[thread - 10], thread, thread, stack, w->time,
						       payload, (uint32_t)n});
}

static void sample(struct writer *w, uint64_t thread)
{
	static const uint8_t kind[4] = {MANAGED};
	event(w, SAMPLE, thread, 1, kind, sizeof kind);
}

static void method(struct writer *w, uint32_t id)
{
	struct rd_bytes p = {0};
	put_clr_method(&p, 1, &fib);
	event(w, id, 10, 0, p.at, p.n);
	rd_bytes_release(&p);
}

static void marker(struct writer *w, uint32_t id)
{
	static const uint8_t clr[2] = {9};
	event(w, id, 10, 0, clr, sizeof clr);
}

/* Head, metadata, stack 1 in Fib, and an open block of events. */
static void begin(struct writer *w, bool unfinished)
{
	static const uint64_t frames[] = {0x4010};
	*w = (struct writer){.time = 2000};
	nettrace_begin(&w->b, &(struct nettrace_options){.unfinished = unfinished});
	nettrace_block(&w->b, "MetadataBlock");
	nettrace_metadata(&w->b, SAMPLE, SAMPLER, 0, "", 0);
	nettrace_metadata(&w->b, LOAD, RUNTIME, 143, "", 1);
	nettrace_metadata(&w->b, DC_END, RUNDOWN, 144, "", 1);
	nettrace_metadata(&w->b, END_INIT, RUNDOWN, 148, "", 1);
	nettrace_metadata(&w->b, END_COMPLETE, RUNDOWN, 146, "", 1);
	nettrace_stacks(&w->b, 1);
	nettrace_stack(&w->b, frames, 1);
	nettrace_block(&w->b, "EventBlock");
}

/* Append the first size_bytes of the file (0: all) to out. */
static void end(struct writer *w, struct rd_bytes *out, size_t size_bytes)
{
	nettrace_end(&w->b);
	if (rd_bytes_append(out, w->b.file.at, size_bytes != 0 ? size_bytes : w->b.file.n) != 0)
		abort();
	nettrace_release(&w->b);
}

/* ---- rows 1, 2 and 4: two blocks of events, 3 and 2 samples; returns where the second one begins */

static size_t two_blocks(struct writer *w)
{
	static const uint8_t kind[4] = {MANAGED};
	begin(w, true);
	method(w, LOAD);
	sample(w, 10);
	sample(w, 11);
	sample(w, 10);
	nettrace_block(&w->b, "EventBlock");
	size_t second = w->b.file.n;
	sample(w, 11);
	/* The last event's time takes all ten bytes that a number can have; behind it stands the payload alone. */
	nettrace_event(&w->b, &(struct nettrace_event){SAMPLE, ++w->sequence[1], 11, 11, 1, w->time - 1, kind, 4});
	nettrace_point(&w->b, w->time + 100);
	return second;
}

static void no_end(struct rd_bytes *out)
{
	struct writer w;
	two_blocks(&w);
	end(&w, out, 0);
}

static void block_edge(struct rd_bytes *out)
{
	struct writer w;
	size_t second = two_blocks(&w);
	end(&w, out, second);
}

static void inside_block(struct rd_bytes *out)
{
	struct writer w;
	size_t second = two_blocks(&w);
	end(&w, out, second + 60);
}

static void inside_number(struct rd_bytes *out)
{
	struct writer w;
	two_blocks(&w);
	/* The block's closing tag, the payload, half of the time. */
	end(&w, out, w.b.file.n - 1 - 4 - 5);
}

/* The size of the second block of events is another one. */
static void with_size(struct rd_bytes *out, uint32_t size_bytes)
{
	enum { SIZE_AT = 3 + 12 + 10 + 1 }; /* tags, versions and the name's length, "EventBlock", tag */
	struct writer w;
	size_t second = two_blocks(&w), at = out->n + second + SIZE_AT;
	end(&w, out, 0);
	for (size_t i = 0; i < 4; i++)
		out->at[at + i] = (uint8_t)(size_bytes >> 8 * i);
}

static void size_0(struct rd_bytes *out)
{
	with_size(out, 0);
}

static void size_most(struct rd_bytes *out)
{
	with_size(out, INT32_MAX);
}

static void size_negative(struct rd_bytes *out)
{
	with_size(out, (uint32_t)-8);
}

/* ---- row 5 */

static void lost(struct rd_bytes *out)
{
	static const uint32_t numbers[] = {1, 0x80000000, 0xffffffff, 2};
	static const uint8_t kind[4] = {MANAGED};
	struct writer w;
	begin(&w, false);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		nettrace_event(&w.b, &(struct nettrace_event){SAMPLE, numbers[i], 10, 10, 1, 2000 + i, kind, 4});
	nettrace_point(&w.b, 3000);
	nettrace_point_thread(&w.b, 10, 7);
	end(&w, out, 0);
}

static void take6(struct nettrace6_build *b, struct rd_bytes *out)
{
	nettrace6_end(b);
	if (rd_bytes_append(out, b->file.at, b->file.n) != 0)
		abort();
	nettrace6_release(b);
}

static void lost_at_removal(struct rd_bytes *out)
{
	static const uint64_t frames[] = {0x4010};
	static const uint32_t numbers[] = {1, 5};
	static const uint8_t weight[1] = {1};
	struct nettrace6_build b;
	nettrace6_begin(&b, NULL);
	nettrace6_block(&b, RD_NETTRACE_METADATA);
	universal_metadata(&b);
	nettrace6_block(&b, RD_NETTRACE_THREAD);
	nettrace6_thread(&b, 1, 500, 501);
	nettrace6_stacks(&b, 1);
	nettrace6_stack(&b, frames, 1);
	nettrace6_block(&b, RD_NETTRACE_EVENT);
	for (size_t i = 0; i < 2; i++)
		nettrace6_event(&b, &(struct nettrace6_event){.metadata_id = U_CPU,
							      .sequence = numbers[i],
							      .capture_thread = 1,
							      .thread = 1,
							      .stack_id = 1,
							      .time = 2000 + i,
							      .payload = weight,
							      .payload_bytes = 1});
	nettrace6_block(&b, RD_NETTRACE_REMOVE_THREAD);
	nettrace6_removed(&b, 1, 9);
	take6(&b, out);
}

/* ---- rows 13 to 15 */

static void no_rundown(struct rd_bytes *out)
{
	struct writer w;
	begin(&w, false);
	method(&w, LOAD);
	sample(&w, 10);
	end(&w, out, 0);
}

static void rundown_cut_short(struct rd_bytes *out)
{
	struct writer w;
	begin(&w, false);
	sample(&w, 10);
	marker(&w, END_INIT);
	method(&w, DC_END);
	method(&w, DC_END);
	end(&w, out, 0);
}

static void whole_rundown(struct rd_bytes *out)
{
	struct writer w;
	begin(&w, false);
	sample(&w, 10);
	marker(&w, END_INIT);
	method(&w, DC_END);
	marker(&w, END_COMPLETE);
	end(&w, out, 0);
}

/* Method events with one name instead of three, and with a last name that does not end; a right one behind them. */
static void wrong_layout(struct rd_bytes *out)
{
	enum { NUMBERS = 8 + 8 + 8 + 4 + 4 + 4 };
	struct rd_bytes p = {0};
	struct writer w;
	begin(&w, false);
	put_clr_method(&p, 0, &fib);
	event(&w, LOAD, 10, 0, p.at, p.n - 2);
	p.n = NUMBERS;
	put_utf16(&p, "Shop.Program.Fib");
	event(&w, LOAD, 10, 0, p.at, p.n);
	rd_bytes_release(&p);
	sample(&w, 10);
	method(&w, LOAD);
	sample(&w, 11);
	end(&w, out, 0);
}

/* ---- row 21 */

/* Two containers, in each a process that calls itself 1, and a pid of the host that is 1 too. */
static void containers(struct rd_bytes *out)
{
	static const struct {
		uint64_t pid, namespace_pid;
		const char *name;
		unsigned samples;
	} processes[] = {{500, 1, "shop", 3}, {600, 1, "site", 2}, {700, 700, "init", 1}};
	static const uint64_t frames[] = {0x4010};
	struct nettrace6_build b;
	nettrace6_begin(&b, NULL);
	nettrace6_block(&b, RD_NETTRACE_METADATA);
	universal_metadata(&b);
	nettrace6_block(&b, RD_NETTRACE_THREAD);
	for (size_t i = 0; i < 3; i++)
		nettrace6_thread(&b, i + 1, processes[i].pid, processes[i].pid);
	nettrace6_stacks(&b, 1);
	nettrace6_stack(&b, frames, 1);
	nettrace6_block(&b, RD_NETTRACE_EVENT);
	for (size_t i = 0; i < 3; i++) {
		struct nettrace6_event at = {.thread = i + 1, .time = 2000 + 100 * i};
		/* Said twice, as recorders do. */
		universal_process(&b, at, U_EXISTING, processes[i].namespace_pid, processes[i].name);
		universal_process(&b, at, U_EXISTING, processes[i].namespace_pid, processes[i].name);
		at.stack_id = 1;
		for (unsigned k = 0; k < processes[i].samples; k++)
			universal_value(&b, at, U_CPU, 1);
	}
	take6(&b, out);
}

const struct row_file rows_nettrace[] = {
	{"01-no-end.nettrace", no_end},
	{"01-block-edge.nettrace", block_edge},
	{"01-inside-block.nettrace", inside_block},
	{"01-inside-number.nettrace", inside_number},
	{"02-size-0.nettrace", size_0},
	{"02-size-most.nettrace", size_most},
	{"02-size-negative.nettrace", size_negative},
	{"05-lost.nettrace", lost},
	{"05-removal.nettrace", lost_at_removal},
	{"13-no-rundown.nettrace", no_rundown},
	{"14-cut-short.nettrace", rundown_cut_short},
	{"14-whole.nettrace", whole_rundown},
	{"15-wrong-layout.nettrace", wrong_layout},
	{"21-containers.nettrace", containers},
	{NULL, NULL},
};
