#include "tests/support.h"

#include "profile/collect.h"
#include "profile/shard.h"

/*
 * Events whose payload is the record itself: the collector is alone under test. An event of no payload does not
 * decode.
 */
static int decode(const struct rd_event *ev, struct rd_record *out)
{
	if (ev->payload == NULL)
		return RD_CORRUPT;
	memcpy(out, ev->payload, sizeof *out);
	out->kind = ev->key->type->kind;
	out->op = ev->key->type->op;
	return 0;
}

#define TYPE(KIND, PROVIDER, OP)                                                                                       \
	{                                                                                                              \
		.provider = PROVIDER, .kind = RD_EVENT_##KIND, .op = RD_OP_##OP, .decode = decode                      \
	}
static const struct rd_event_type types[] = {
	TYPE(SAMPLE, "sampler", NONE),
	TYPE(STACK, "kernel", NONE),
	TYPE(STACK_KEY, "kernel", NONE),
	TYPE(METHOD, "Microsoft-Windows-DotNETRuntime", LOAD),
	TYPE(METHOD, "Microsoft-Windows-DotNETRuntimeRundown", DCEND),
	TYPE(MODULE, "Microsoft-Windows-DotNETRuntime", UNLOAD),
	TYPE(IMAGE, "kernel", LOAD),
	TYPE(THREAD, "kernel", DCSTART),
	TYPE(PROCESS, "kernel", LOAD),
	TYPE(MARKER, "Microsoft-Windows-DotNETRuntimeRundown", NONE),
	TYPE(INTERVAL, "kernel", LOAD),
	TYPE(RUNTIME, "Microsoft-Windows-DotNETRuntime", NONE),
	TYPE(OTHER_COUNT, "kernel", NONE),
	TYPE(MAPPING, "Universal.System", NONE),
	TYPE(SYMBOL, "Universal.System", NONE),
};
enum {
	SAMPLE,
	STACK,
	STACK_KEY,
	METHOD,
	METHOD_END,
	MODULE,
	IMAGE,
	THREAD,
	PROCESS,
	MARKER,
	INTERVAL,
	RUNTIME,
	OTHER,
	MAPPING,
	SYMBOL
};

#define WIDE(text)   ((struct rd_name){{(const uint8_t *)(text), sizeof(text) - 2}, true})
#define NARROW(text) ((struct rd_name){{(const uint8_t *)(text), sizeof(text) - 1}, false})

struct fixture {
	struct rd_partial p;
	struct rd_collector c;
	struct rd_sink sink;
	struct rd_block block;
	uint64_t time;
	struct rd_span stack; /* of the next event */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	rd_collector_init(&f->c, &f->p, RD_STACK_DEPTH_MAX);
	f->sink = rd_collector_sink(&f->c);
	f->block.size_bytes = 1000;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_collector_release(&f->c);
	rd_partial_release(&f->p);
	free(f);
	return 0;
}

static int try_say(struct fixture *f, unsigned type, const struct rd_record *r)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_EVENT, .type = &types[type], .slot = type * 3};
	struct rd_event ev = {
		.key = &key,
		.time = f->time,
		.place = (uint64_t)f->block.ordinal << 32 | 7,
		.thread = 40,
		.pid = 30,
		.cpu = 2,
		.payload = (const uint8_t *)r,
		.payload_bytes = r ? sizeof *r : 0,
		.stack = f->stack.at,
		.stack_bytes = f->stack.size_bytes,
		.stack_pointer_bytes = 8,
	};

	return f->sink.event(&f->c, &ev);
}

static void say(struct fixture *f, unsigned type, struct rd_record r)
{
	assert_ok(try_say(f, type, &r), NULL);
}

static void begin(struct fixture *f)
{
	assert_ok(f->sink.block_begin(&f->c, &f->block), NULL);
}

static void end(struct fixture *f, bool undo)
{
	assert_ok(f->sink.block_end(&f->c, &f->block, undo), NULL);
	f->block.ordinal++;
}

static void finish(struct fixture *f)
{
	struct rd_error err;

	assert_ok(rd_collector_finish(&f->c, &err), &err);
}

#define assert_text(f, number, text) assert_span(rd_strings_at(&(f)->p.strings, (number)-1), text)

static const uint64_t some_frames[] = {0x100, 0x200};

static struct rd_span frames_span(void)
{
	return (struct rd_span){(const uint8_t *)some_frames, sizeof some_frames};
}

/* One event of each kind. */
static void say_all(struct fixture *f)
{
	f->stack = frames_span();
	say(f, SAMPLE,
	    (struct rd_record){.sample = {.thread = 41, .pointer = 0x123, .kind = RD_SAMPLE_MANAGED, .weight = 3}});
	f->stack = (struct rd_span){0};
	say(f, STACK,
	    (struct rd_record){.stack = {.sample_time = 90,
					 .thread = 42,
					 .pid = 31,
					 .part = RD_STACK_PLAIN,
					 .frames = frames_span(),
					 .pointer_bytes = 8}});
	say(f, STACK_KEY, (struct rd_record){.stack_key = {.key = 77, .frames = frames_span(), .pointer_bytes = 8}});
	say(f, METHOD,
	    (struct rd_record){.method = {.method_id = 1,
					  .module_id = 2,
					  .start = 3,
					  .size_bytes = 4,
					  .token = 5,
					  .flags = 6,
					  .clr = 7,
					  .rejit_id = 8,
					  .named = true,
					  .ns = WIDE(u"N"),
					  .name = WIDE(u"M"),
					  .signature = WIDE(u"S")}});
	say(f, METHOD_END, (struct rd_record){.method = {.method_id = 11}});
	say(f, MODULE,
	    (struct rd_record){.module = {.module_id = 21,
					  .clr = 22,
					  .flags = 23,
					  .il_path = WIDE(u"a.dll"),
					  .native_path = WIDE(u""),
					  .pdb_guid = "0123456789abcde",
					  .pdb_age = 24,
					  .pdb_path = WIDE(u"a.pdb")}});
	say(f, IMAGE,
	    (struct rd_record){.image = {.pid = 51,
					 .base = 52,
					 .size_bytes = 53,
					 .time_stamp = 54,
					 .checksum = 55,
					 .path = WIDE(u"k.sys")}});
	say(f, THREAD, (struct rd_record){.thread = {.pid = 61, .thread = 62}});
	say(f, PROCESS,
	    (struct rd_record){.process = {.pid = 71, .parent_pid = 72, .namespace_pid = 73, .name = NARROW("p.exe")}});
	say(f, MARKER, (struct rd_record){.marker = {.marker = RD_MARKER_END_COMPLETE, .clr = 81}});
	say(f, INTERVAL, (struct rd_record){.interval = {.source = 91, .interval_100ns = 10000}});
	say(f, RUNTIME,
	    (struct rd_record){.runtime = {.clr = 92, .version = {10, 0, 1, 65535}, .command_line = WIDE(u"x y")}});
	say(f, OTHER, (struct rd_record){.other = {.what = RD_OTHER_CSWITCH}});
	say(f, MAPPING,
	    (struct rd_record){
		    .mapping = {.pid = 101, .id = 102, .start = 103, .end = 104, .path = NARROW("/lib/m.so")}});
	say(f, SYMBOL,
	    (struct rd_record){.symbol = {.mapping = 102, .start = 105, .last = 106, .name = NARROW("memcpy")}});
}

static void facts_of_runtimes(struct fixture *f)
{
	const struct rd_fact_method *m = f->p.methods.at;
	const struct rd_fact_module *d = f->p.modules.at;

	assert_int_equal(f->p.methods.n, 2);
	assert_int_equal(m->time, 100);
	assert_int_equal(m->place, UINT64_C(5) << 32 | 7);
	assert_int_equal(m->method_id, 1);
	assert_int_equal(m->module_id, 2);
	assert_int_equal(m->start, 3);
	assert_int_equal(m->size_bytes, 4);
	assert_int_equal(m->token, 5);
	assert_int_equal(m->flags, 6);
	assert_int_equal(m->clr, 7);
	assert_int_equal(m->rejit_id, 8);
	assert_int_equal(m->pid, 30);
	assert_int_equal(m->op, RD_OP_LOAD);
	assert_text(f, m->ns, "N");
	assert_text(f, m->name, "M");
	assert_text(f, m->signature, "S");
	assert_int_equal(m[1].op, RD_OP_DCEND);
	assert_int_equal(m[1].ns + m[1].name + m[1].signature, 0);

	assert_int_equal(f->p.modules.n, 1);
	assert_int_equal(d->module_id, 21);
	assert_int_equal(d->clr, 22);
	assert_int_equal(d->flags, 23);
	assert_int_equal(d->pdb_age, 24);
	assert_int_equal(d->op, RD_OP_UNLOAD);
	assert_text(f, d->il_path, "a.dll");
	assert_text(f, d->native_path, "");
	assert_text(f, d->pdb_path, "a.pdb");
	assert_int_equal(rd_strings_at(&f->p.strings, d->pdb_guid - 1).size_bytes, 16);

	assert_int_equal(f->p.markers.at[0].marker, RD_MARKER_END_COMPLETE);
	assert_int_equal(f->p.markers.at[0].clr, 81);
	assert_text(f, f->p.runtimes.at[0].version_text, "10.0.1.65535");
	assert_text(f, f->p.runtimes.at[0].command_line, "x y");
	assert_int_equal(f->p.runtimes.at[0].pid, 30);
}

static void facts_of_the_kernel(struct fixture *f)
{
	assert_int_equal(f->p.images.at[0].pid, 51);
	assert_int_equal(f->p.images.at[0].base, 52);
	assert_int_equal(f->p.images.at[0].size_bytes, 53);
	assert_int_equal(f->p.images.at[0].time_stamp, 54);
	assert_int_equal(f->p.images.at[0].checksum, 55);
	assert_text(f, f->p.images.at[0].path, "k.sys");
	assert_int_equal(f->p.threads.at[0].pid, 61);
	assert_int_equal(f->p.threads.at[0].thread, 62);
	assert_int_equal(f->p.threads.at[0].op, RD_OP_DCSTART);
	assert_int_equal(f->p.processes.at[0].pid, 71);
	assert_int_equal(f->p.processes.at[0].parent_pid, 72);
	assert_int_equal(f->p.processes.at[0].namespace_pid, 73);
	assert_text(f, f->p.processes.at[0].name, "p.exe");
	assert_int_equal(f->p.processes.at[0].command_line, 0);
	assert_int_equal(f->p.intervals.at[0].interval_100ns, 10000);
	assert_int_equal(f->p.intervals.at[0].source, 91);
	assert_int_equal(f->p.stack_keys.at[0].key, 77);
	assert_int_equal(f->p.stack_keys.at[0].stack, 1);
}

static void facts_of_machines(struct fixture *f)
{
	const struct rd_fact_mapping *m = f->p.mappings.at;
	const struct rd_fact_symbol *s = f->p.symbols.at;

	assert_int_equal(f->p.mappings.n, 1);
	assert_int_equal(m->time, 100);
	assert_int_equal(m->place, UINT64_C(5) << 32 | 7);
	assert_int_equal(m->pid, 101);
	assert_int_equal(m->id, 102);
	assert_int_equal(m->start, 103);
	assert_int_equal(m->end, 104);
	assert_text(f, m->path, "/lib/m.so");
	assert_int_equal(f->p.symbols.n, 1);
	assert_int_equal(s->time, 100);
	assert_int_equal(s->place, UINT64_C(5) << 32 | 7);
	assert_int_equal(s->pid, 30);
	assert_int_equal(s->mapping, 102);
	assert_int_equal(s->start, 105);
	assert_int_equal(s->last, 106);
	assert_text(f, s->name, "memcpy");
}

static void one_event_of_each_kind(void **state)
{
	struct fixture *f = *state;

	f->time = 100;
	f->block.ordinal = 5;
	begin(f);
	say_all(f);
	end(f, false);
	finish(f);
	const struct rd_sample *s = f->p.samples.at;
	assert_int_equal(f->p.samples.n, 1);
	assert_int_equal(s->time, 100);
	assert_int_equal(s->thread, 41);
	assert_int_equal(s->pointer, 0x123);
	assert_int_equal(s->weight, 3);
	assert_int_equal(s->cpu, 2);
	assert_int_equal(s->kind, RD_SAMPLE_MANAGED);
	assert_int_equal(s->stack, 1);
	assert_int_equal(s->pid, 30);
	const struct rd_stack_row *k = f->p.stack_records.at;
	assert_int_equal(f->p.stack_records.n, 1);
	assert_int_equal(k->sample_time, 90);
	assert_int_equal(k->thread, 42);
	assert_int_equal(k->time, 100);
	assert_int_equal(k->pid, 31);
	assert_int_equal(k->cpu, 2);
	assert_int_equal(k->stack, 1);
	facts_of_runtimes(f);
	facts_of_the_kernel(f);
	facts_of_machines(f);
	const struct rd_partial_summary *sum = &f->p.summary;
	assert_int_equal(sum->blocks, 1);
	assert_int_equal(sum->block_bytes, 1000);
	assert_int_equal(sum->events, 15);
	assert_int_equal(sum->malformed_events, 0);
	assert_int_equal(sum->samples, 1);
	assert_int_equal(sum->stack_records, 1);
	assert_int_equal(sum->first_sample, 100);
	assert_int_equal(sum->last_sample, 100);
	assert_int_equal(sum->first_stack_record, 90);
	assert_int_equal(sum->last_stack_record, 90);
	assert_int_equal(sum->other[RD_OTHER_CSWITCH], 1);
	assert_int_equal(sum->other[RD_OTHER_PMC], 0);
	assert_int_equal(sum->providers_seen, RD_SEEN_RUNTIME | RD_SEEN_RUNDOWN | RD_SEEN_SAMPLES | RD_SEEN_STACKS |
						      RD_SEEN_IMAGES | RD_SEEN_THREADS | RD_SEEN_RUNTIME_METHODS |
						      RD_SEEN_RUNDOWN_METHODS);
}

static void nothing_came(void **state)
{
	struct fixture *f = *state;

	finish(f);
	assert_true(f->p.summary.first_sample > f->p.summary.last_sample);
	assert_true(f->p.summary.first_stack_record > f->p.summary.last_stack_record);
	assert_int_equal(f->p.summary.providers_seen, 0);
	assert_int_equal(f->p.sequences.n, 0);
}

static void malformed_events(void **state)
{
	struct fixture *f = *state;
	struct rd_event_key bad = {.identity = RD_IDENTITY_BAD}, unknown = {.identity = RD_IDENTITY_NAMED};
	struct rd_event ev = {.key = &bad};
	size_t n = RD_NAME_BYTES_MAX + 1;
	uint8_t *name = malloc(n);

	assert_non_null(name);
	memset(name, 'n', n);
	begin(f);
	assert_ok(f->sink.event(&f->c, &ev), NULL);
	ev.key = &unknown;
	assert_ok(f->sink.event(&f->c, &ev), NULL); /* nobody's: neither good nor bad */
	assert_ok(try_say(f, METHOD, NULL), NULL);
	say(f, PROCESS, (struct rd_record){.process = {.name = {{name, n}, false}}});
	say(f, METHOD, (struct rd_record){.method = {.named = true, .signature = {{name, n}, false}}});
	say(f, SAMPLE, (struct rd_record){.sample = {.kind = RD_SAMPLE_KINDS}});
	say(f, STACK, (struct rd_record){.stack = {.part = 3}});
	say(f, MARKER, (struct rd_record){.marker = {.marker = 0}});
	say(f, OTHER, (struct rd_record){.other = {.what = 2}});
	say(f, PROCESS, (struct rd_record){.process = {.name = {{name, n - 1}, false}}});
	end(f, false);
	finish(f);
	assert_int_equal(f->p.summary.events, 10);
	assert_int_equal(f->p.summary.malformed_events, 8);
	assert_int_equal(f->p.processes.n, 1);
	assert_int_equal(f->p.methods.n + f->p.samples.n + f->p.stack_records.n + f->p.markers.n, 0);
	free(name);
}

static void an_undone_block_leaves_nothing(void **state)
{
	struct fixture *f = *state;

	f->time = 10;
	begin(f);
	f->sink.start_ticks = 3;
	/* Before the start, and so far behind it that it is before. */
	rd_sink_time(&f->sink, 2);
	assert_int_equal(f->p.summary.latest, 0);
	rd_sink_time(&f->sink, UINT64_MAX);
	assert_int_equal(f->p.summary.latest, 0);
	rd_sink_time(&f->sink, f->time);
	rd_sink_time(&f->sink, f->time - 1);
	assert_int_equal(f->p.summary.latest, 7);
	say(f, THREAD, (struct rd_record){.thread = {.pid = 1}});
	assert_ok(f->sink.sequence(&f->c, 5, RD_SEQ_EVENT, 1, 1), NULL);
	end(f, false);
	struct rd_partial_summary before = f->p.summary;
	f->time = 20;
	begin(f);
	rd_sink_time(&f->sink, f->time);
	say_all(f);
	assert_ok(try_say(f, METHOD, NULL), NULL);
	assert_ok(f->sink.sequence(&f->c, 5, RD_SEQ_EVENT, 900, 1), NULL);
	assert_ok(f->sink.sequence(&f->c, 0, RD_SEQ_FORGET_ALL, 0, 0), NULL);
	end(f, true);
	assert_memory_equal(&before, &f->p.summary, sizeof before);
	assert_ok(f->sink.damage(&f->c, &f->block, 4711, "a broken block"), NULL);
	begin(f);
	assert_ok(f->sink.sequence(&f->c, 5, RD_SEQ_EVENT, 3, 1), NULL);
	end(f, false);
	finish(f);
	assert_int_equal(f->p.threads.n, 1);
	assert_int_equal(f->p.samples.n + f->p.stack_records.n + f->p.stack_keys.n + f->p.methods.n + f->p.modules.n +
				 f->p.images.n + f->p.processes.n + f->p.markers.n + f->p.intervals.n + f->p.runtimes.n,
			 0);
	assert_int_equal(f->p.summary.blocks, 2);
	assert_int_equal(f->p.summary.events, 1);
	assert_int_equal(f->p.damage.n, 1);
	assert_int_equal(f->p.damage.at[0].offset, 4711);
	assert_text(f, f->p.damage.at[0].what, "a broken block");
	/* The run covers the block that was dropped: its events are lost, not unknown. */
	assert_int_equal(f->p.sequences.n, 2);
	assert_int_equal(f->p.sequences.at[0].run_blocks, 3);
	assert_int_equal(f->p.sequences.at[1].first_number, 1);
	assert_int_equal(f->p.sequences.at[1].last_number, 3);
	assert_int_equal(f->p.sequences.at[1].lost, 1);
}

static void rows_come_out_sorted(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint64_t time, thread, pointer;
		uint32_t kind, weight;
	} in[] = {
		{9, 1, 0, 0, 1}, {5, 2, 0, 0, 1}, {5, 1, 3, 0, 1}, {5, 1, 2, 1, 1},
		{5, 1, 2, 0, 9}, {5, 1, 2, 0, 1}, {1, 9, 9, 2, 9},
	};

	begin(f);
	for (size_t i = 0; i < 7; i++) {
		f->time = in[i].time;
		say(f, SAMPLE,
		    (struct rd_record){.sample = {.thread = in[i].thread,
						  .pointer = in[i].pointer,
						  .kind = in[i].kind,
						  .weight = in[i].weight}});
		f->time = 1000 - i;
		say(f, STACK, (struct rd_record){.stack = {.sample_time = in[i].time, .thread = in[i].thread}});
	}
	end(f, false);
	finish(f);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(f->p.samples.at[i].time, in[6 - i].time);
		assert_int_equal(f->p.samples.at[i].thread, in[6 - i].thread);
		assert_int_equal(f->p.samples.at[i].pointer, in[6 - i].pointer);
		assert_int_equal(f->p.samples.at[i].kind, in[6 - i].kind);
		assert_int_equal(f->p.samples.at[i].weight, in[6 - i].weight);
		assert_int_equal(f->p.stack_records.at[i].sample_time, in[6 - i].time);
		assert_int_equal(f->p.stack_records.at[i].time, 1000 - (6 - i));
	}
	assert_int_equal(f->p.summary.first_sample, 1);
	assert_int_equal(f->p.summary.last_sample, 9);
}

static int stop(void *ctx, uint64_t bytes)
{
	uint64_t *told = ctx;
	*told = bytes;
	return bytes >= 2000 ? RD_CANCELLED : 0;
}

static void progress_may_end_it(void **state)
{
	struct fixture *f = *state;
	uint64_t told = 0;

	f->c.progress = stop;
	f->c.progress_ctx = &told;
	begin(f);
	end(f, true);
	assert_int_equal(told, 1000);
	begin(f);
	assert_code(RD_CANCELLED, f->sink.block_end(&f->c, &f->block, false));
	assert_int_equal(told, 2000);
}

static void no_memory(void **state)
{
	(void)state;
	for (unsigned type = 0; type <= RUNTIME; type++) {
		for (uint64_t nth = 1;; nth++) {
			void *fresh;
			setup(&fresh);
			struct fixture *f = fresh;
			struct rd_record r = {.runtime = {.command_line = WIDE(u"x")}};
			if (type == MARKER)
				r.marker.marker = 1;
			if (type != RUNTIME && type != MARKER)
				memset(&r, 0, sizeof r);
			f->stack = frames_span();
			begin(f);
			rd_fail_allocation(nth);
			int code = try_say(f, type, &r);
			rd_fail_allocation(0);
			teardown(&fresh);
			if (code == 0)
				break;
			assert_int_equal(code, RD_NOMEM);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_event_of_each_kind, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_came, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_events, setup, teardown),
		cmocka_unit_test_setup_teardown(an_undone_block_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_come_out_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(progress_may_end_it, setup, teardown),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
