/* What a netperf decoder tells its sink: values, damage, real files. */
#include "tests/support.h"

#include <unistd.h>

#include "tests/trace/netperf/netperf_build.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "tests/trace/trace_whole.h"
#include "trace/archive.h"
#include "trace/netperf/event.h"
#include "trace/netperf/frame.h"
#include "trace/netperf/metadata.h"
#include "trace/netperf/netperf.h"

struct file {
	struct netperf_build build;
	struct trace_whole whole;
};

static void decode(struct file *f)
{
	whole_decode(&f->whole, &rd_format_netperf, &f->build.file);
}

static void done(struct file *f)
{
	whole_release(&f->whole);
	netperf_release(&f->build);
}

static void check_key(const struct rd_event_key *key, const char *want)
{
	struct rd_bytes text = {0};
	assert_int_equal(rd_event_key_text(key, &text), 0);
	assert_span(((struct rd_span){text.at, text.n}), want);
	rd_bytes_release(&text);
}

static void check_sample_file(int32_t version, uint32_t pointer_bytes)
{
	struct file f = {0};
	netperf_sample_file(&f.build, &(struct netperf_options){.version = version, .pointer_bytes = pointer_bytes});
	decode(&f);
	const struct rd_event *e = f.whole.events.at;
	struct rd_record r;
	assert_int_equal(f.whole.events.n, 9);
	assert_int_equal(f.whole.log.operations.n, 0);

	assert_string_equal(e[0].key->type->name, "MethodLoadVerbose");
	assert_int_equal(e[0].time, 2000);
	assert_int_equal(e[0].pid, version == 3 ? 4242 : 0);
	assert_int_equal(e[0].thread, 10);
	assert_int_equal(e[0].cpu, UINT32_MAX);
	assert_int_equal(e[0].version, 1);
	assert_int_equal(e[0].pointer_bytes, pointer_bytes);
	assert_int_equal(e[0].stack_bytes, 0);
	assert_null(e[0].stack);
	assert_int_equal(e[0].key->type->decode(&e[0], &r), 0);
	assert_int_equal(r.method.start, 0x4000);
	assert_int_equal(r.method.clr, 9);

	assert_string_equal(e[1].key->type->name, "ThreadSample");
	assert_int_equal(e[1].key->type->decode(&e[1], &r), 0);
	assert_int_equal(r.sample.kind, RD_SAMPLE_MANAGED);
	assert_int_equal(r.sample.thread, 10);
	assert_int_equal(e[1].stack_bytes, 3 * pointer_bytes);
	assert_int_equal(event_frame(&e[1], 0), 0x4010);
	assert_int_equal(event_frame(&e[1], 2), 0x6000);
	assert_int_equal(e[2].time, 2400);
	assert_int_equal(e[2].thread, 11);
	assert_int_equal(event_frame(&e[2], 0), 0x4080);

	assert_null(e[3].key->type);
	check_key(e[3].key, version == 1 ? "3f3f3f3f-3f3f-3f3f-3f3f-3f3f3f3f3f3f/7/3" : "MySource/7/3");
	assert_span(e[3].key->name, "Hello");
	assert_memory_equal(e[3].payload, "payload", 7);
	/* Its size is odd, so the stack stands at no multiple of anything. */
	assert_int_equal(event_frame(&e[3], 1), 0x5000);
	assert_int_equal(e[4].stack_bytes, 0);
	assert_int_equal(e[5].key->identity, RD_IDENTITY_BAD);
	assert_int_equal(e[5].time, 3400);
	/* Metadata of a block before. */
	assert_ptr_equal(e[7].key, e[1].key);
	assert_ptr_equal(e[8].key, e[3].key);
	assert_int_equal(e[8].payload_bytes, 2);
	done(&f);
}

static void a_file_of_everything(void **state)
{
	check_sample_file(3, 8);
	check_sample_file(3, 4);
	check_sample_file(2, 8);
	check_sample_file(2, 4);
	check_sample_file(1, 8);
}

static void the_runtime_is_known_by_its_guid(void **state)
{
	struct file f = {0};
	netperf_sample_file(&f.build, &(struct netperf_options){.version = 1});
	decode(&f);
	check_key(f.whole.events.at[0].key, "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/143/1");
	check_key(f.whole.events.at[1].key, "3c530d44-97ae-513a-1e6d-783e8f8e03a9/0/0");
	done(&f);
}

static void places_name_block_and_byte(void **state)
{
	struct file f = {0};
	uint64_t before = 0;
	netperf_sample_file(&f.build, NULL);
	decode(&f);
	for (size_t i = 0; i < f.whole.events.n; i++) {
		const struct rd_event *e = &f.whole.events.at[i];
		const struct rd_block *b = &f.whole.index.blocks.at[e->place >> 32];
		const uint8_t *event = f.build.file.at + b->offset + (uint32_t)e->place;
		assert_true((uint32_t)e->place < b->size_bytes);
		assert_int_equal(rd_le64(event + 12), e->time);
		assert_true(e->place > before);
		before = e->place;
	}
	done(&f);
}

/* Where in the file the n-th event stands that is no metadata. */
static size_t place_of(const struct file *f, size_t n)
{
	uint64_t place = f->whole.events.at[n].place;
	return (size_t)f->whole.index.blocks.at[place >> 32].offset + (uint32_t)place;
}

/* Change bytes of a whole file and see what is left of it: its damage, and events of blocks 1 and 3. */
static void check_damage(size_t event, size_t at, uint32_t value, uint64_t events, const char *what)
{
	struct file good = {0}, f = {0};
	netperf_sample_file(&good.build, NULL);
	decode(&good);
	size_t place = place_of(&good, event);
	netperf_sample_file(&f.build, NULL);
	memcpy(f.build.file.at + place + at, &value, 4);
	decode(&f);
	assert_int_equal(f.whole.log.undone, 1);
	assert_int_equal(f.whole.log.event_count, events);
	assert_true(f.whole.index.info.complete);
	assert_non_null(strstr(log_text(&f.whole.log), what));
	done(&f);
	done(&good);
}

/* An event that breaks its block takes along what came before it there. */
static void a_broken_block_is_dropped_whole(void **state)
{
	enum { SIZE = 0, METADATA_ID = 4, PAYLOAD_BYTES = 52, STACK_BYTES_OF_4 = 60 };
	const char *event = "an event that does not fit into its block", *metadata = "a metadata record that is none";
	static const uint32_t sizes[] = {0, 59, 0x7fffffff, 0xfffffffc, 0xffffffff};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check_damage(6, SIZE, sizes[i], 5, event);
	check_damage(6, PAYLOAD_BYTES, 5, 5, event);
	check_damage(6, PAYLOAD_BYTES, 0xffffffff, 5, event);
	check_damage(6, STACK_BYTES_OF_4, 9, 5, event);
	check_damage(6, STACK_BYTES_OF_4, 6, 5, event);
	check_damage(6, METADATA_ID, 0, 5, metadata);
}

/* The block's metadata goes with it: what needs it later is malformed, and that is no fault of the later block. */
static void a_dropped_block_defines_nothing(void **state)
{
	struct file good = {0}, f = {0};
	netperf_sample_file(&good.build, NULL);
	decode(&good);
	netperf_sample_file(&f.build, NULL);
	f.build.file.at[place_of(&good, 6)] = 0;
	decode(&f);
	/* Nothing of it was even heard. */
	assert_int_equal(f.whole.events.n, 5);
	assert_int_equal(f.whole.events.at[4].time, 4200);
	assert_int_equal(f.whole.events.at[4].key->identity, RD_IDENTITY_BAD);
	done(&f);
	done(&good);
}

static void a_second_definition_takes_the_place(void **state)
{
	for (int32_t version = 2; version <= 3; version++) {
		struct file f = {0};
		netperf_begin(&f.build, &(struct netperf_options){.version = version});
		netperf_block(&f.build);
		netperf_metadata(&f.build, 1, "One", 1, "", 0);
		netperf_event(&f.build, &(struct netperf_event){.metadata_id = 1});
		netperf_metadata(&f.build, 1, "Two", 2, "Named", 5);
		netperf_event(&f.build, &(struct netperf_event){.metadata_id = 1});
		netperf_end(&f.build);
		decode(&f);
		assert_int_equal(f.whole.events.n, 2);
		check_key(f.whole.events.at[0].key, "One/1/0");
		check_key(f.whole.events.at[1].key, "Two/2/5");
		done(&f);
	}
}

/* So many events without blocks that the index makes several runs, cut anywhere. */
static void runs_cut_say_the_same(void **state)
{
	enum { EVENTS = 300, BYTES = 5000 };
	uint8_t *payload = calloc(1, BYTES);
	struct file f = {0};
	struct rd_error err;
	netperf_begin(&f.build, &(struct netperf_options){.version = 2});
	netperf_metadata(&f.build, 1, "MySource", 1, "First", 0);
	for (uint32_t i = 0; i < EVENTS; i++) {
		if (i == EVENTS / 2)
			netperf_metadata(&f.build, 2, "MySource", 2, "Second", 0);
		netperf_event(&f.build, &(struct netperf_event){.metadata_id = 1 + (i > EVENTS / 2),
								.time = i,
								.payload = payload,
								.payload_bytes = BYTES - i});
	}
	netperf_end(&f.build);
	decode(&f);
	assert_true(f.whole.index.info.complete);
	assert_int_equal(f.whole.index.blocks.n, 6);
	assert_int_equal(f.whole.events.n, EVENTS);
	check_key(f.whole.events.at[EVENTS - 1].key, "MySource/2/0");
	const char *right = log_text(&f.whole.log);
	for (size_t k = 1; k < f.whole.index.blocks.n; k++) {
		struct trace_log cut = {0};
		assert_int_equal(f.whole.index.blocks.at[k].offset,
				 f.whole.index.blocks.at[k - 1].offset + f.whole.index.blocks.at[k - 1].size_bytes);
		assert_ok(
			log_blocks(&cut, &rd_format_netperf, &f.whole.source, &f.whole.index, 0, k, RD_WANT_ALL, &err),
			&err);
		assert_ok(log_blocks(&cut, &rd_format_netperf, &f.whole.source, &f.whole.index, k,
				     f.whole.index.blocks.n, RD_WANT_ALL, &err),
			  &err);
		assert_string_equal(log_text(&cut), right);
		log_release(&cut);
	}
	done(&f);
	free(payload);
}

static void a_plan_of_another_file_is_an_error(void **state)
{
	struct file f = {0};
	struct rd_sink sink = {.want = RD_WANT_ALL};
	struct rd_decoder *d;
	struct rd_error err;
	netperf_sample_file(&f.build, NULL);
	decode(&f);
	check_other_plan(&f.whole, 1, RD_NETPERF_RUN);
	struct rd_trace_info other = f.whole.index.info;
	other.version_major = 4;
	assert_code(RD_UNSUPPORTED, rd_format_netperf.decoder_new(&f.whole.source, &other, &sink, &d, &err));
	other.version_major = 3;
	other.pointer_bytes = 2;
	assert_code(RD_CORRUPT, rd_format_netperf.decoder_new(&f.whole.source, &other, &sink, &d, &err));
	done(&f);
}

static void an_event_one_byte_short(void **state)
{
	static const uint64_t frames[] = {1, 2};
	struct netperf_build b;
	struct rd_netperf_event e;
	netperf_begin(&b, NULL);
	netperf_block(&b);
	netperf_event(&b, &(struct netperf_event){7, 8, 9, "abc", 3, frames, 2});
	for (size_t n = 0; n <= b.payload.n; n++) {
		uint8_t *exact = malloc(n + 1);
		const uint8_t *at = exact;
		memcpy(exact, b.payload.at, n);
		assert_int_equal(rd_netperf_event_next(&at, exact + n, 8, &e), n == b.payload.n);
		assert_ptr_equal(at, n == b.payload.n ? exact + n : exact);
		free(exact);
	}
	assert_int_equal(e.metadata_id, 7);
	assert_int_equal(e.thread, 8);
	assert_int_equal(e.time, 9);
	assert_int_equal(e.payload_bytes, 3);
	assert_int_equal(e.stack_bytes, 16);
	netperf_release(&b);
}

static void an_old_record_one_byte_short(void **state)
{
	for (uint32_t version = 1; version <= 2; version++) {
		struct netperf_build b;
		struct rd_netperf_event e = {0};
		struct rd_nettrace_metadata m;
		netperf_begin(&b, &(struct netperf_options){.version = (int32_t)version});
		size_t at = b.file.n;
		netperf_metadata(&b, 1, "MySource", 7, "Hello", 3);
		const uint8_t *p = b.file.at + at;
		assert_true(rd_netperf_event_next(&p, b.file.at + b.file.n, 8, &e));
		assert_true(rd_netperf_metadata(version, e.payload, e.payload_bytes, &m));
		assert_int_equal(m.event_id, 7);
		assert_int_equal(m.version, 3);
		assert_int_equal(m.name.size_bytes, 10);
		assert_int_equal(m.provider.size_bytes, version == 1 ? 0 : 16);
		assert_int_equal(m.guid != NULL, version == 1);
		for (size_t n = 0; n < e.payload_bytes; n++)
			assert_false(rd_netperf_metadata(version, e.payload, n, &m));
		netperf_release(&b);
	}
}

static void places_have_ids_in_order(void **state)
{
	struct rd_netperf_places p = {0};
	assert_int_equal(rd_netperf_places_find(&p, 0), 0);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(rd_netperf_places_id(&p, i * 0x01000193), i + 1);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(rd_netperf_places_id(&p, i * 0x01000193), i + 1);
		assert_int_equal(rd_netperf_places_find(&p, i * 0x01000193), i + 1);
	}
	assert_int_equal(rd_netperf_places_find(&p, 5), 0);
	rd_netperf_places_release(&p);
}

struct expected {
	uint32_t version, pointer_bytes, pid;
	uint64_t blocks, events, kinds, samples, methods, frames;
};

struct counts {
	struct expected have;
	uint64_t malformed;
	bool seen[256];
};

static int count_event(void *ctx, const struct rd_event *ev)
{
	struct counts *c = ctx;
	struct rd_record r;
	c->have.events++;
	assert_in_range(ev->key->slot, 0, sizeof c->seen - 1);
	c->have.kinds += !c->seen[ev->key->slot];
	c->seen[ev->key->slot] = true;
	if (ev->key->type == NULL || ev->key->type->decode == NULL)
		return 0;
	if (ev->key->type->decode(ev, &r) != 0) {
		c->malformed++;
		return 0;
	}
	c->have.samples += r.kind == RD_EVENT_SAMPLE;
	c->have.methods += r.kind == RD_EVENT_METHOD;
	c->have.frames += r.kind == RD_EVENT_SAMPLE ? ev->stack_bytes / ev->stack_pointer_bytes : 0;
	return 0;
}

static void check_real(const char *shared, const struct expected *want)
{
	struct rd_source packed, s;
	struct counts c = {0};
	struct rd_sink sink = {.ctx = &c, .want = RD_WANT_ALL, .event = count_event};
	struct rd_decoder *d;
	struct rd_index ix;
	const struct rd_format *format;
	struct rd_error err;
	rd_unpacked_vec files = {0};
	assert_ok(rd_source_open(&packed, shared_path(shared), &err), &err);
	assert_ok(rd_archive_unpack(&packed, scratch_folder(), NULL, &files, NULL, NULL, &err), &err);
	assert_int_equal(files.n, 1);
	assert_ok(rd_source_open(&s, files.at[0].path, &err), &err);
	assert_ok(rd_trace_probe(&s, &format, &err), &err);
	assert_ptr_equal(format, &rd_format_netperf);
	assert_ok(format->index(&s, &ix, NULL, NULL, &err), &err);
	assert_ok(format->decoder_new(&s, &ix.info, &sink, &d, &err), &err);
	assert_ok(format->decoder_blocks(d, ix.blocks.at, ix.blocks.n, &err), &err);
	format->decoder_free(d);
	assert_true(ix.info.complete);
	assert_int_equal(ix.info.version_major, want->version);
	assert_int_equal(ix.info.pointer_bytes, want->pointer_bytes);
	assert_int_equal(ix.info.pid, want->pid);
	assert_int_equal(ix.blocks.n, want->blocks);
	assert_int_equal(c.malformed, 0);
	assert_int_equal(c.have.events, want->events);
	assert_int_equal(c.have.kinds, want->kinds);
	assert_int_equal(c.have.samples, want->samples);
	assert_int_equal(c.have.methods, want->methods);
	assert_int_equal(c.have.frames, want->frames);
	rd_index_release(&ix);
	rd_source_close(&s);
	rd_source_close(&packed);
	unlink(files.at[0].path);
	rd_vec_release(&files);
}

static void a_real_rundown(void **state)
{
	check_real("traces/perfview/eventpipe-dotnetcore2.1-linux-x64-objver3.netperf.zip",
		   &(struct expected){3, 8, 80749, 100, 26146, 9, 0, 26053, 0});
}

static void a_real_source_of_its_own(void **state)
{
	check_real("traces/perfview/eventpipe-dotnetcore2.1-linux-x64-tracelogging.netperf.zip",
		   &(struct expected){3, 8, 12365, 1, 12, 8, 0, 0, 0});
}

static void a_real_file_without_blocks(void **state)
{
	check_real("traces/perfview/eventpipe-dotnetcore2.0-linux-objver2.netperf.zip",
		   &(struct expected){2, 8, 0, 238, 272332, 35, 163801, 44687, 869591});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_everything),
		cmocka_unit_test(the_runtime_is_known_by_its_guid),
		cmocka_unit_test(places_name_block_and_byte),
		cmocka_unit_test(a_broken_block_is_dropped_whole),
		cmocka_unit_test(a_dropped_block_defines_nothing),
		cmocka_unit_test(a_second_definition_takes_the_place),
		cmocka_unit_test(runs_cut_say_the_same),
		cmocka_unit_test(a_plan_of_another_file_is_an_error),
		cmocka_unit_test(an_event_one_byte_short),
		cmocka_unit_test(an_old_record_one_byte_short),
		cmocka_unit_test(places_have_ids_in_order),
		cmocka_unit_test(a_real_rundown),
		cmocka_unit_test(a_real_source_of_its_own),
		cmocka_unit_test(a_real_file_without_blocks),
	};
	return cmocka_run_group_tests_name("netperf/reader", tests, NULL, NULL);
}
