/*
 * Real files, held against counts that two other readers agree on: events in
 * all, kinds, samples and stack records. They are skipped where the shared
 * folder is missing.
 */
#include <inttypes.h>

#include "tests/support.h"
#include "trace/archive.h"
#include "trace/etl/etl.h"

struct expected {
	uint64_t blocks, events, kinds;
	uint64_t samples, stacks, stack_keys, definitions;
	uint64_t methods, images, threads, processes;
};

struct counts {
	struct expected have;
	uint64_t malformed, damage;
	bool seen[4096];
};

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct counts *c = ctx;
	struct expected *h = &c->have;
	struct rd_record r;

	h->events++;
	assert_in_range(ev->key->slot, 0, sizeof c->seen - 1);
	h->kinds += !c->seen[ev->key->slot];
	c->seen[ev->key->slot] = true;
	if (ev->key->type == NULL || ev->key->type->decode == NULL)
		return 0;
	if (ev->key->type->decode(ev, &r) != 0) {
		c->malformed++;
		return 0;
	}
	h->samples += r.kind == RD_EVENT_SAMPLE;
	h->stacks += r.kind == RD_EVENT_STACK && r.stack.part == RD_STACK_PLAIN;
	h->stack_keys += r.kind == RD_EVENT_STACK && r.stack.part != RD_STACK_PLAIN;
	h->definitions += r.kind == RD_EVENT_STACK_KEY;
	h->methods += r.kind == RD_EVENT_METHOD;
	h->images += r.kind == RD_EVENT_IMAGE;
	h->threads += r.kind == RD_EVENT_THREAD;
	h->processes += r.kind == RD_EVENT_PROCESS;
	return 0;
}

static int on_damage(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what)
{
	((struct counts *)ctx)->damage++;
	return 0;
}

static void check(const char *path, const struct expected *expected)
{
	struct rd_error err;
	struct rd_source source;
	struct rd_index index;
	struct rd_decoder *d;
	struct counts *c = calloc(1, sizeof *c);
	struct rd_sink sink = {.ctx = c, .want = RD_WANT_ALL, .event = on_event, .damage = on_damage};
	const struct rd_format *format;

	rd_error_clear(&err);
	assert_ok(rd_source_open(&source, path, &err), &err);
	assert_ok(rd_trace_probe(&source, &format, &err), &err);
	assert_ptr_equal(format, &rd_format_etl);
	assert_ok(format->index(&source, &index, NULL, NULL, &err), &err);
	assert_ok(format->decoder_new(&source, &index.info, &sink, &d, &err), &err);
	assert_ok(format->decoder_blocks(d, index.blocks.at, index.blocks.n, &err), &err);
	format->decoder_free(d);
	c->have.blocks = index.blocks.n;
	assert_true(index.info.complete);
	assert_int_equal(index.info.lost_events, 0);
	assert_int_equal(index.info.pointer_bytes, 8);
	assert_int_equal(c->malformed, 0);
	assert_int_equal(c->damage, 0);
	const uint64_t *have = &c->have.blocks, *want = &expected->blocks;
	for (size_t i = 0; i < sizeof *expected / sizeof *want; i++)
		if (have[i] != want[i])
			fail_msg("count %zu: %" PRIu64 ", expected %" PRIu64, i, have[i], want[i]);
	rd_index_release(&index);
	rd_source_close(&source);
	free(c);
}

/* The member of an archive, by the end of its name; NULL the only one. */
static void check_packed(const char *shared, const char *member, const struct expected *expected)
{
	struct rd_error err;
	struct rd_source source;
	rd_unpacked_vec out = {0};
	const char *path = NULL;

	rd_error_clear(&err);
	assert_ok(rd_source_open(&source, shared_path(shared), &err), &err);
	assert_ok(rd_archive_unpack(&source, scratch_folder(), NULL, &out, NULL, NULL, &err), &err);
	rd_source_close(&source);
	for (size_t i = 0; i < out.n; i++) {
		size_t n = strlen(out.at[i].name), m = member ? strlen(member) : 0;
		if (!member || (n >= m && strcmp(out.at[i].name + n - m, member) == 0))
			path = out.at[i].path;
	}
	assert_non_null(path);
	check(path, expected);
	for (size_t i = 0; i < out.n; i++)
		assert_int_equal(remove(out.at[i].path), 0);
	rd_vec_release(&out);
}

static void relogged_compressed(void **state)
{
	check(shared_path("traces/perfview/SelfDescribingSingleEvent.etl"),
	      &(struct expected){.blocks = 3, .events = 22, .kinds = 11});
}

static void kernel_and_clr(void **state)
{
	check_packed("traces/perfview/net.4.5.2.x64.etl.zip", NULL,
		     &(struct expected){
			     .blocks = 360,
			     .events = 179474,
			     .kinds = 170,
			     .samples = 79528,
			     .stacks = 252,
			     .stack_keys = 2061 + 7046,
			     .definitions = 1909 + 1012,
			     .methods = 16702 + 290 + 288,
			     .images = 35 + 32 + 1763 + 1766,
			     .threads = 9 + 15 + 670 + 664,
			     .processes = 1 + 1 + 32 + 32,
		     });
}

static void large_buffers(void **state)
{
	check_packed("traces/etwanalyzer/TraceLoggingTester.etl.zst", NULL,
		     &(struct expected){
			     .blocks = 41,
			     .events = 172714,
			     .kinds = 82,
			     .methods = 25378 + 18690,
			     .images = 31 + 18 + 23367,
			     .threads = 23 + 8 + 6719,
			     .processes = 1 + 1 + 360,
		     });
}

static void circular(void **state)
{
	check_packed("traces/perfview/gcevents.etl.zip", NULL,
		     &(struct expected){.blocks = 5, .events = 71, .kinds = 22});
}

static void rundown(void **state)
{
	check_packed("traces/perfview/gcrundownevents.etl.zip", NULL,
		     &(struct expected){.blocks = 2, .events = 112, .kinds = 13, .methods = 80});
}

static void plain_provider(void **state)
{
	check_packed("traces/perfview/primitive-types.etl.zip", NULL,
		     &(struct expected){.blocks = 2, .events = 7, .kinds = 3});
}

static void diagsession(void **state)
{
	const char *zip = "traces/perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip";

	check_packed(zip, "diaghub.etl", &(struct expected){.blocks = 103, .events = 62379, .kinds = 15});
	check_packed(zip, "kernel.1.etl",
		     &(struct expected){
			     .blocks = 59,
			     .events = 16335,
			     .kinds = 35,
			     .images = 87 + 143 + 187 + 15017,
			     .processes = 18 + 3 + 223 + 223,
		     });
	check_packed(zip, "user_injected.1.etl", &(struct expected){.blocks = 2, .events = 4, .kinds = 4});
	check_packed(zip, "user_paged.1.etl",
		     &(struct expected){.blocks = 139, .events = 22035, .kinds = 26, .methods = 2 * (4875 + 534)});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relogged_compressed),
		cmocka_unit_test(kernel_and_clr),
		cmocka_unit_test(large_buffers),
		cmocka_unit_test(circular),
		cmocka_unit_test(rundown),
		cmocka_unit_test(plain_provider),
		cmocka_unit_test(diagsession),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
