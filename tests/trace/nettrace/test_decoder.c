/* What a nettrace decoder tells its sink: values, lost numbers, damage. */
#include "tests/support.h"

#include <unistd.h>

#include "tests/trace/nettrace/nettrace_build.h"
#include "tests/trace/trace_whole.h"
#include "trace/archive.h"
#include "trace/nettrace/frame.h"
#include "trace/nettrace/nettrace.h"

struct file {
	struct nettrace_build build;
	struct trace_whole whole;
};

static void decode(struct file *f)
{
	whole_decode(&f->whole, &rd_format_nettrace, &f->build.file);
}

static void done(struct file *f)
{
	whole_release(&f->whole);
	nettrace_release(&f->build);
}

static void check_sample_file(bool plain_headers, uint32_t pointer_bytes)
{
	struct file f = {0};
	nettrace_sample_file(
		&f.build, &(struct nettrace_options){.plain_headers = plain_headers, .pointer_bytes = pointer_bytes});
	decode(&f);
	const struct rd_event *e = f.whole.events.at;
	struct rd_record r;
	assert_int_equal(f.whole.events.n, 10);

	assert_string_equal(e[0].key->type->name, "MethodLoadVerbose");
	assert_int_equal(e[0].time, 2000);
	assert_int_equal(e[0].pid, 4242);
	assert_int_equal(e[0].thread, 10);
	assert_int_equal(e[0].cpu, 1);
	assert_int_equal(e[0].version, 1);
	assert_int_equal(e[0].pointer_bytes, pointer_bytes);
	assert_int_equal(e[0].stack_bytes, 0);
	assert_int_equal(e[0].key->type->decode(&e[0], &r), 0);
	assert_int_equal(r.method.start, 0x4000);

	assert_string_equal(e[1].key->type->name, "ThreadSample");
	assert_int_equal(e[1].key->type->decode(&e[1], &r), 0);
	assert_int_equal(r.sample.kind, RD_SAMPLE_MANAGED);
	assert_int_equal(r.sample.thread, 10);
	assert_int_equal(e[1].stack_bytes, 3 * pointer_bytes);
	assert_int_equal(event_frame(&e[1], 0), 0x4010);
	assert_int_equal(event_frame(&e[1], 2), 0x6000);
	/* Earlier than the event before it. */
	assert_int_equal(e[2].time, 2400);
	assert_int_equal(e[2].thread, 11);
	assert_int_equal(event_frame(&e[2], 0), 0x4080);

	assert_null(e[4].key->type);
	assert_span(e[4].key->provider, "MySource");
	assert_span(e[4].key->name, "Hello");
	assert_int_equal(e[4].thread, 12);
	assert_memory_equal(e[4].payload, "payload", 7);
	/* An empty stack, an id that nothing defined, a metadata id that nothing defined. */
	assert_int_equal(e[5].stack_bytes, 0);
	assert_int_equal(e[6].stack_bytes, 0);
	assert_null(e[6].stack);
	assert_int_equal(e[7].key->identity, RD_IDENTITY_BAD);
	assert_int_equal(e[7].time, 3400);
	/* Behind the sequence point id 1 is another stack, and id 2 is none. */
	assert_int_equal(e[8].stack_bytes, pointer_bytes);
	assert_int_equal(event_frame(&e[8], 0), 0x4080);
	assert_int_equal(e[9].stack_bytes, 0);
	done(&f);
}

static void a_file_of_everything(void **state)
{
	check_sample_file(false, 8);
	check_sample_file(true, 8);
	check_sample_file(false, 4);
	check_sample_file(true, 4);
}

static void places_name_block_and_byte(void **state)
{
	struct file f = {0};
	uint64_t before = 0;
	nettrace_sample_file(&f.build, NULL);
	decode(&f);
	for (size_t i = 0; i < f.whole.events.n; i++) {
		uint64_t place = f.whole.events.at[i].place;
		const struct rd_block *b = &f.whole.index.blocks.at[place >> 32];
		assert_int_equal(b->kind, RD_NETTRACE_EVENT);
		assert_true((uint32_t)place < b->size_bytes);
		assert_true(place > before);
		before = place;
	}
	done(&f);
}

/* Two threads, an unknown event that counts too, the sequence point's numbers. */
static void sequence_numbers_come_as_runs(void **state)
{
	struct file f = {0};
	nettrace_sample_file(&f.build, NULL);
	decode(&f);
	log_text(&f.whole.log);
	assert_span(((struct rd_span){f.whole.log.numbers.at, f.whole.log.numbers.n}), "thread 10 op 1 1+4\n"
										       "thread 10 op 2 6+1\n"
										       "thread 10 op 1 7+1\n"
										       "thread 11 op 1 1+2\n"
										       "thread 11 op 1 4+2\n"
										       "thread 11 op 2 5+1\n"
										       "thread 11 op 1 6+1\n");
	done(&f);
}

/* More threads than there are slots for their runs, taking turns; and the wrap at 2^32. */
static void sequence_numbers_of_many_threads(void **state)
{
	enum { THREADS = 300, ROUNDS = 5 };
	struct file f = {0};
	nettrace_begin(&f.build, NULL);
	nettrace_block(&f.build, "EventBlock");
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t t = 0; t < THREADS; t++)
			nettrace_event(&f.build, &(struct nettrace_event){.metadata_id = 1,
									  .sequence = round - 2,
									  .capture_thread = t,
									  .thread = t,
									  .time = round});
	nettrace_end(&f.build);
	decode(&f);
	const char *line = log_text(&f.whole.log);
	line = strstr(line, "thread ");
	for (uint32_t t = 0; t < THREADS; t++) {
		char want[64];
		snprintf(want, sizeof want, "thread %u op 1 4294967294+5\n", t);
		assert_memory_equal(line, want, strlen(want));
		line += strlen(want);
	}
	assert_int_equal(*line, 0);
	done(&f);
}

/* Overwrite bytes of the payload of the block with this ordinal. */
static void spoil(struct file *f, uint32_t ordinal, size_t payload_offset, uint32_t value)
{
	struct rd_frame frame;
	struct rd_index ix;
	struct rd_source s;
	const char *what;
	memory_source(&s, f->build.file.at, f->build.file.n);
	assert_int_equal(rd_format_nettrace.index(&s, &ix, NULL, NULL, NULL), 0);
	uint64_t at = ix.blocks.at[ordinal].offset;
	assert_int_equal(
		rd_nettrace_frame(f->build.file.at + at, (size_t)ix.blocks.at[ordinal].size_bytes, at, &frame, &what),
		0);
	memcpy(f->build.file.at + at + frame.payload_at + payload_offset, &value, 4);
	rd_index_release(&ix);
	rd_source_close(&s);
}

static void check_damage(struct file *f, uint32_t ordinal, uint64_t events)
{
	char want[32];
	decode(f);
	assert_int_equal(f->whole.log.undone, 1);
	assert_int_equal(f->whole.log.event_count, events);
	snprintf(want, sizeof want, "block %u at ", ordinal);
	assert_true(f->whole.log.damage.n > strlen(want));
	assert_memory_equal(f->whole.log.damage.at, want, strlen(want));
	assert_true(f->whole.index.info.complete);
}

/* The sample file's blocks: metadata 0 and 1, stacks 2, 5 and 8, events 3, 6 and 9, unknown 4, the point 7. */
static void a_broken_event_block_is_dropped_whole(void **state)
{
	struct file f = {0};
	nettrace_sample_file(&f.build, NULL);
	spoil(&f, 5, 0, 3);
	check_damage(&f, 5, 7);
	done(&f);

	/* The last event says one byte more than there is: what went before in the block goes too. */
	memset(&f, 0, sizeof f);
	nettrace_sample_file(&f.build, NULL);
	decode(&f);
	uint32_t last = (uint32_t)f.whole.events.at[7].place;
	done(&f);
	memset(&f, 0, sizeof f);
	nettrace_sample_file(&f.build, NULL);
	struct rd_index ix;
	memory_source(&f.whole.source, f.build.file.at, f.build.file.n);
	assert_int_equal(rd_format_nettrace.index(&f.whole.source, &ix, NULL, NULL, NULL), 0);
	uint64_t at = ix.blocks.at[5].offset + ix.blocks.at[5].size_bytes - 3;
	rd_index_release(&ix);
	rd_source_close(&f.whole.source);
	assert_int_equal(f.build.file.at[at], 1);
	f.build.file.at[at] = 2;
	check_damage(&f, 5, 7);
	char place[32];
	snprintf(place, sizeof place, "at %llu:", (unsigned long long)(f.whole.index.blocks.at[5].offset + last));
	assert_non_null(strstr(log_text(&f.whole.log), place));
	/* Its numbers are forgotten too: thread 11 goes from 1 to the point's 5. */
	assert_non_null(strstr(log_text(&f.whole.log), "thread 11 op 1 1+1\nthread 11 op 2 5+1\n"));
	done(&f);
}

static void a_broken_stack_block_leaves_stacks_empty(void **state)
{
	struct file f = {0};
	nettrace_sample_file(&f.build, NULL);
	spoil(&f, 2, 8, 23);
	check_damage(&f, 2, 10);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(f.whole.events.at[i].stack_bytes, 0);
	assert_int_equal(f.whole.events.at[8].stack_bytes, 8);
	done(&f);
}

static void broken_metadata_defines_nothing(void **state)
{
	struct file f = {0};
	nettrace_sample_file(&f.build, NULL);
	/* The second record of the block: the first one must go with it. Its payload's end is cut by a long name. */
	spoil(&f, 0, 20 + 3, 0x200000);
	check_damage(&f, 0, 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(f.whole.events.at[i].key->identity, i == 4 ? RD_IDENTITY_NAMED : RD_IDENTITY_BAD);
	done(&f);
}

static void a_broken_sequence_point_still_voids_stacks(void **state)
{
	struct file f = {0};
	nettrace_sample_file(&f.build, NULL);
	spoil(&f, 6, 8, 3);
	/* And no stacks come after it. */
	spoil(&f, 7, 4, 0);
	check_damage(&f, 6, 10);
	assert_int_equal(f.whole.events.at[1].stack_bytes, 24);
	assert_int_equal(f.whole.events.at[8].stack_bytes, 0);
	assert_null(strstr(log_text(&f.whole.log), "op 2"));
	done(&f);
}

/* A block larger than a read, and blocks that only just fit. */
static void blocks_of_any_size(void **state)
{
	static const uint32_t sizes[] = {3u << 20, 100, (1u << 20) - 130, 1u << 20, 0, 500000, 500000, 500000};
	uint8_t *payload = calloc(1, 3u << 20);
	struct file f = {0};
	nettrace_begin(&f.build, NULL);
	nettrace_block(&f.build, "MetadataBlock");
	nettrace_metadata(&f.build, 1, "MySource", 1, "Big", 0);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		nettrace_block(&f.build, "EventBlock");
		nettrace_event(&f.build, &(struct nettrace_event){.metadata_id = 1,
								  .sequence = (uint32_t)i + 1,
								  .time = i,
								  .payload = payload,
								  .payload_bytes = sizes[i]});
	}
	nettrace_end(&f.build);
	decode(&f);
	assert_int_equal(f.whole.events.n, sizeof sizes / sizeof *sizes);
	for (size_t i = 0; i < f.whole.events.n; i++)
		assert_int_equal(f.whole.events.at[i].payload_bytes, sizes[i]);
	done(&f);
	free(payload);
}

static void a_plan_of_another_file_is_an_error(void **state)
{
	struct file f = {0};
	struct rd_sink sink = {.want = RD_WANT_ALL};
	struct rd_decoder *d;
	struct rd_error err;
	nettrace_sample_file(&f.build, NULL);
	decode(&f);
	check_other_plan(&f.whole, 3, RD_NETTRACE_STACK);
	struct rd_trace_info later = f.whole.index.info;
	later.version_major = 7;
	assert_code(RD_UNSUPPORTED, rd_format_nettrace.decoder_new(&f.whole.source, &later, &sink, &d, &err));
	done(&f);
}

static void a_real_trace(void **state)
{
	struct rd_source packed, plain;
	struct rd_error err;
	struct trace_log all = {0}, samples = {0};
	struct rd_index ix = {0};
	rd_unpacked_vec files = {0};
	assert_ok(rd_source_open(&packed, repository_path("tests/traces/shop-small.nettrace.zst"), &err), &err);
	assert_ok(rd_archive_unpack(&packed, scratch_folder(), NULL, &files, NULL, NULL, &err), &err);
	assert_ok(rd_source_open(&plain, files.at[0].path, &err), &err);
	assert_ok(rd_format_nettrace.index(&plain, &ix, NULL, NULL, &err), &err);
	assert_true(ix.info.complete);
	assert_int_equal(ix.blocks.n, 129);
	assert_int_equal(ix.info.pid, 23250);
	assert_int_equal(ix.info.sampling_ns, 1000000);
	size_t n = ix.blocks.n;
	assert_ok(log_blocks(&all, &rd_format_nettrace, &plain, &ix, 0, n, RD_WANT_ALL, &err), &err);
	assert_int_equal(all.event_count, 66426);
	assert_int_equal(all.undone, 0);
	assert_ok(log_blocks(&samples, &rd_format_nettrace, &plain, &ix, 0, n, RD_WANT(RD_EVENT_SAMPLE), &err), &err);
	assert_int_equal(samples.event_count, 9065);
	log_release(&all);
	log_release(&samples);
	rd_index_release(&ix);
	rd_source_close(&plain);
	rd_source_close(&packed);
	unlink(files.at[0].path);
	rd_vec_release(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_everything),
		cmocka_unit_test(places_name_block_and_byte),
		cmocka_unit_test(sequence_numbers_come_as_runs),
		cmocka_unit_test(sequence_numbers_of_many_threads),
		cmocka_unit_test(a_broken_event_block_is_dropped_whole),
		cmocka_unit_test(a_broken_stack_block_leaves_stacks_empty),
		cmocka_unit_test(broken_metadata_defines_nothing),
		cmocka_unit_test(a_broken_sequence_point_still_voids_stacks),
		cmocka_unit_test(blocks_of_any_size),
		cmocka_unit_test(a_plan_of_another_file_is_an_error),
		cmocka_unit_test(a_real_trace),
	};
	return cmocka_run_group_tests_name("nettrace/decoder", tests, NULL, NULL);
}
