/*
 * A recording in one ETL, and the same recording in the several files that were never merged: one result.
 *
 * Times differ from record to record: of two facts of one time the file decides, and that is another one then.
 */
#include "tests/support.h"

#include "base/text.h"
#include "profile/finish.h"
#include "profile/shard.h"
#include "tests/profile/packed.h"
#include "tests/profile/scene.h"
#include "tests/trace/etl/etl_build.h"
#include "trace/etl/etl.h"

enum { KERNEL, CLR, RUNDOWN, FILES };

/* Where records go: three files, or one three times. */
struct recording {
	struct etl_build builds[FILES];
	struct etl_build *file[FILES];
	size_t files;
	struct rd_bytes payload;
};

static uint8_t runtime[16], rundown[16];

static void recording_begin(struct recording *r, size_t files)
{
	memset(r, 0, sizeof *r);
	r->files = files;
	for (size_t i = 0; i < FILES; i++) {
		r->file[i] = &r->builds[files == 1 ? 0 : i];
		if (i >= files)
			continue;
		/* Sessions start one after the other. */
		etl_begin(&r->builds[i], &(struct etl_options){.buffer_bytes = 32 << 10,
							       .start_ticks = 1000000 + i * 10000,
							       .start_filetime = 133500000000000000 + i * 10000});
		etl_buffer(&r->builds[i], 0, 1000000);
	}
}

static void recording_release(struct recording *r)
{
	for (size_t i = 0; i < r->files; i++)
		etl_release(&r->builds[i]);
	rd_bytes_release(&r->payload);
}

/* Load 143, unload 144; in the rundown DCStart 143, DCEnd 144. */
static void method(struct recording *r, int file, uint16_t id, uint64_t time, uint32_t pid, uint64_t start,
		   uint32_t size, const char *name)
{
	struct rd_bytes *p = &r->payload;

	p->n = 0;
	etl_put(p, start * 3 + name[0], 8);
	etl_put(p, 77, 8);
	etl_put(p, start, 8);
	etl_put(p, size, 4);
	etl_put(p, 0, 4);
	etl_put(p, 0, 4);
	etl_put_utf16(p, "Shop");
	etl_put_utf16(p, name);
	etl_put_utf16(p, "void ()");
	etl_put(p, 9, 2);
	etl_put(p, 0, 8);
	etl_event(r->file[file], file == RUNDOWN ? rundown : runtime, id, 2, (struct etl_who){pid, 1, time}, NULL, p);
}

static void module(struct recording *r, uint64_t time, uint32_t pid)
{
	struct rd_bytes *p = &r->payload;

	p->n = 0;
	etl_put(p, 77, 8);
	etl_put(p, 5, 8);
	etl_put(p, 0, 8);
	etl_put_utf16(p, "C:\\app\\shop.dll");
	etl_put_utf16(p, "");
	etl_put(p, 9, 2);
	etl_event(r->file[RUNDOWN], rundown, 154, 1, (struct etl_who){pid, 1, time}, NULL, p);
}

/* ---- from files to a result */

struct finished {
	struct rd_index index[FILES];
	struct packed packed[FILES];
	struct rd_finish_trace traces[FILES];
	struct rd_result result;
};

static int give_block(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		      struct rd_error *err)
{
	const struct packed *k = ctx;

	for (size_t i = 0; i < k->blocks.n; i++) {
		if (k->blocks.at[i].table != table || k->blocks.at[i].seq != seq)
			continue;
		*block = (struct rd_span){k->blocks.at[i].at, k->blocks.at[i].n};
		return 1;
	}
	return 0;
}

static void decode(struct finished *f, size_t i, const struct etl_build *e)
{
	const char *path = scratch_file("part.etl", e->file.at, e->file.n);
	struct rd_shard_options opt = {.preliminary = true};
	struct rd_source s;
	struct rd_error err;

	assert_ok(rd_source_open(&s, path, &err), &err);
	assert_ok(rd_format_etl.index(&s, &f->index[i], NULL, NULL, &err), &err);
	struct rd_shard shard = {&f->index[i].info, NULL, 0, f->index[i].blocks.at, f->index[i].blocks.n};
	assert_ok(rd_shard_decode(&s, &shard, &opt, packed_keep, &f->packed[i], &err), &err);
	rd_source_close(&s);
	f->traces[i] = (struct rd_finish_trace){
		.path = "part.etl",
		.member = "",
		.info = &f->index[i].info,
		.partials = {.ctx = &f->packed[i], .shards = 1, .block = give_block},
	};
}

static void finish(struct recording *r, struct finished *f, bool joined)
{
	struct rd_error err;

	memset(f, 0, sizeof *f);
	for (size_t i = 0; i < r->files; i++) {
		etl_end(&r->builds[i]);
		decode(f, i, &r->builds[i]);
		f->traces[i].group = joined ? 0 : (uint32_t)i;
	}
	struct rd_finish_options opt = {.kind = -1};
	assert_ok(rd_finish(f->traces, r->files, &opt, &f->result, &err), &err);
}

static void finished_release(struct finished *f)
{
	for (size_t i = 0; i < FILES; i++) {
		rd_index_release(&f->index[i]);
		packed_release(&f->packed[i]);
	}
	rd_result_release(&f->result);
}

static void assert_same(const struct rd_result *a, const struct rd_result *b)
{
	char *x = scene_folded(a, SCENE_TIERS | SCENE_STARTS), *y = scene_folded(b, SCENE_TIERS | SCENE_STARTS);

	assert_string_equal(x, y);
	free(x);
	free(y);
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->processes.n, b->processes.n);
	assert_int_equal(a->trust.frames, b->trust.frames);
	assert_int_equal(a->trust.unresolved_frames, b->trust.unresolved_frames);
	assert_int_equal(a->trust.ambiguous_frames, b->trust.ambiguous_frames);
	assert_int_equal(a->trust.samples_without_stack, b->trust.samples_without_stack);
	assert_int_equal(a->trust.stacks_unused, b->trust.stacks_unused);
	assert_int_equal(a->trust.broken_stacks, b->trust.broken_stacks);
	assert_int_equal(a->trust.unowned_samples, b->trust.unowned_samples);
	assert_int_equal(a->trust.rundown, b->trust.rundown);
	assert_int_equal(a->bucket_width_ns, b->bucket_width_ns);
}

/* ---- the tests */

/* The kernel's file has samples and processes, the runtime's has methods, the rundown's modules and keys. */
static void a_small_recording(struct recording *r)
{
	struct etl_build *kernel = r->file[KERNEL];
	const uint64_t ntdll[] = {0x70000100}, stack[] = {0x1010, 0x70000200};

	etl_process(kernel, 1, 1100000, 7, 1, "shop.exe", "shop --fast");
	etl_thread(kernel, 1, 1100001, 7, 70);
	etl_image(kernel, 10, 1100002, 7, 0x70000000, 0x1000, "\\Windows\\ntdll.dll");
	method(r, CLR, 143, 1100010, 7, 0x1000, 0x100, "First");
	etl_sample(kernel, 1100020, 70, 0x1010);
	etl_stack(kernel, 1100021, 1100020, 7, 70, stack, 2);
	method(r, CLR, 144, 1100030, 7, 0x1000, 0x100, "First");
	method(r, CLR, 143, 1100040, 7, 0x1000, 0x80, "Second");
	etl_sample(kernel, 1100050, 70, 0x1020);
	etl_sample(kernel, 1100060, 70, 0x2020);
	etl_sample(kernel, 1100070, 70, 0x70000100);
	etl_stack_key(kernel, 1100071, 1100070, 7, 70, 2, 0xabc);
	etl_stack_definition(r->file[RUNDOWN], 1100100, 0xabc, ntdll, 1);
	module(r, 1100101, 7);
	method(r, RUNDOWN, 144, 1100102, 7, 0x2000, 0x100, "Third");
}

static void joined_is_whole(void **state)
{
	struct recording whole, parts;
	struct finished a, b;

	recording_begin(&whole, 1);
	recording_begin(&parts, FILES);
	a_small_recording(&whole);
	a_small_recording(&parts);
	finish(&whole, &a, true);
	finish(&parts, &b, true);
	assert_folded(&a.result, "7;ntdll.dll!? 1\n"
				 "7;ntdll.dll!?;shop!First 1\n"
				 "7;shop!Second 1\n"
				 "7;shop!Third 1\n");
	assert_same(&a.result, &b.result);
	assert_int_equal(b.result.traces.n, 3);
	finished_release(&b);
	/* Apart, the kernel's file knows no methods. */
	finish(&parts, &b, false);
	assert_folded(&b.result, "7;? 2\n"
				 "7;ntdll.dll!? 1\n"
				 "7;ntdll.dll!?;? 1\n");
	finished_release(&a);
	finished_release(&b);
	recording_release(&whole);
	recording_release(&parts);
}

/* The trace of the process with a pid. */
static uint32_t trace_of(const struct rd_result *r, uint32_t pid)
{
	for (size_t i = 0; i < r->processes.n; i++)
		if (r->processes.at[i].pid == pid)
			return r->processes.at[i].trace;
	fail_msg("no process %u", pid);
	return 0;
}

/* A process record says where a process is; without one any event does, the first file's before the others'. */
static void a_process_is_in_the_trace_that_names_it(void **state)
{
	struct recording r;
	struct finished f;

	recording_begin(&r, FILES);
	method(&r, KERNEL, 143, 1100005, 8, 0x3000, 0x100, "Early");
	method(&r, KERNEL, 143, 1100006, 10, 0x2000, 0x100, "Early");
	etl_process(r.file[KERNEL], 1, 1100010, 7, 1, "shop.exe", "");
	etl_thread(r.file[KERNEL], 1, 1100011, 7, 70);
	etl_process(r.file[RUNDOWN], 3, 1100300, 8, 1, "web.exe", "");
	etl_thread(r.file[KERNEL], 1, 1100013, 8, 80);
	etl_thread(r.file[KERNEL], 1, 1100014, 9, 90);
	etl_thread(r.file[RUNDOWN], 1, 1100015, 10, 100);
	etl_sample(r.file[CLR], 1100020, 70, 0x1010);
	etl_sample(r.file[KERNEL], 1100021, 80, 0x3010);
	etl_sample(r.file[CLR], 1100022, 90, 0x1010);
	etl_sample(r.file[RUNDOWN], 1100023, 100, 0x2010);
	method(&r, RUNDOWN, 144, 1100400, 9, 0x1000, 0x100, "Late");
	finish(&r, &f, true);
	assert_int_equal(f.result.processes.n, 4);
	assert_int_equal(trace_of(&f.result, 7), KERNEL);
	assert_int_equal(trace_of(&f.result, 8), RUNDOWN);
	assert_int_equal(trace_of(&f.result, 9), CLR);
	assert_int_equal(trace_of(&f.result, 10), KERNEL);
	for (uint32_t i = 0; i < FILES; i++)
		assert_int_equal(f.result.traces.at[i].group, 0);
	finished_release(&f);
	finish(&r, &f, false);
	for (uint32_t i = 0; i < FILES; i++)
		assert_int_equal(f.result.traces.at[i].group, i);
	for (size_t i = 0; i < f.result.processes.n; i++)
		assert_true(f.result.processes.at[i].trace < FILES);
	finished_release(&f);
	recording_release(&r);
}

static uint32_t roll(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

static void random_record(struct recording *r, uint64_t time, uint64_t *seed)
{
	static const char *const names[] = {"A", "B", "C", "D", "E"};
	static const uint16_t ids[] = {143, 144};
	struct etl_build *kernel = r->file[KERNEL];
	uint32_t pid = 7 + roll(seed, 2), tid = pid * 10 + roll(seed, 2);
	uint64_t at = 0x1000 + 0x40 * roll(seed, 6), key = 0x10 + roll(seed, 3),
		 before = time - 10 * (1 + roll(seed, 9));
	uint64_t frames[3] = {at + roll(seed, 0x40), 0x1000 + roll(seed, 0x200), 0x70000010};
	uint32_t n = 1 + roll(seed, 3), id = roll(seed, 2), name = roll(seed, 5), size = 0x40 << roll(seed, 2);

	switch (roll(seed, 12)) {
	case 0:
		etl_process(kernel, (uint8_t)(1 + roll(seed, 4)), time, pid, 1, "shop.exe", "");
		break;
	case 1:
		etl_thread(kernel, (uint8_t)(1 + roll(seed, 4)), time, pid, tid);
		break;
	case 2:
		etl_image(kernel, roll(seed, 2) ? 10 : 2, time, pid, 0x70000000, 0x1000, "\\ntdll.dll");
		break;
	case 3:
		etl_stack_definition(r->file[roll(seed, 2) ? KERNEL : RUNDOWN], time, key, frames, n);
		break;
	case 4:
		etl_stack_key(kernel, time, before, pid, tid, 2, key);
		break;
	case 5:
		etl_stack(kernel, time, before, pid, tid, frames, n);
		break;
	case 6:
		module(r, time, pid);
		break;
	case 7:
		method(r, RUNDOWN, ids[id], time, pid, at, size, names[name]);
		break;
	case 8:
	case 9:
		method(r, CLR, ids[id], time, pid, at, size, names[name]);
		break;
	default:
		etl_sample(kernel, time, tid, frames[0]);
		break;
	}
}

static void joined_is_whole_whatever_was_recorded(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct recording r[2];
		struct finished f[2];
		for (size_t i = 0; i < 2; i++) {
			uint64_t s = seed;
			recording_begin(&r[i], i == 0 ? 1 : FILES);
			for (uint64_t k = 0; k < 120; k++)
				random_record(&r[i], 1100000 + 10 * k, &s);
			finish(&r[i], &f[i], true);
		}
		assert_same(&f[0].result, &f[1].result);
		for (size_t i = 0; i < 2; i++) {
			finished_release(&f[i]);
			recording_release(&r[i]);
		}
	}
}

/* perfview#717: sessions overflow apart, and each trace says its own losses. */
static void row_06_losses_of_each_session(void **state)
{
	struct recording r;
	struct finished f;

	recording_begin(&r, 2);
	r.file[RUNDOWN] = &r.builds[1];
	etl_release(&r.builds[1]);
	etl_begin(&r.builds[1], &(struct etl_options){.buffer_bytes = 32 << 10, .lost_events = 15, .lost_buffers = 2});
	etl_buffer(&r.builds[1], 0, 1000000);
	a_small_recording(&r);
	finish(&r, &f, true);
	assert_int_equal(f.result.traces.at[0].lost_events, 0);
	assert_int_equal(f.result.traces.at[0].lost_buffers, 0);
	assert_int_equal(f.result.traces.at[1].lost_events, 15);
	assert_int_equal(f.result.traces.at[1].lost_buffers, 2);
	assert_int_equal(f.result.trust.lost_events, 15);
	assert_int_equal(f.result.trust.lost_buffers, 2);
	assert_true(f.result.trust.complete);
	finished_release(&f);
	recording_release(&r);
}

static int setup(void **state)
{
	return rd_guid_parse("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", runtime) ||
	       rd_guid_parse("a669021c-c450-4609-a035-5af59af4df18", rundown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_is_whole),
		cmocka_unit_test(a_process_is_in_the_trace_that_names_it),
		cmocka_unit_test(joined_is_whole_whatever_was_recorded),
		cmocka_unit_test(row_06_losses_of_each_session),
	};
	return cmocka_run_group_tests_name("joined_files", tests, setup, NULL);
}
