/*
 * The contract of trace/trace.h, held by every format: the same suite over a
 * small made file of each, and over real ones. A new format is a new row.
 */
#include "tests/support.h"

#include <unistd.h>

#include "base/file.h"
#include "tests/trace/trace_log.h"
#include "tests/trace/trace_made.h"
#include "trace/archive.h"

struct made {
	struct rd_bytes bytes;
	struct rd_source source;
	const struct rd_format *format;
	struct rd_index index;
};

static void make(struct made *m, const struct trace_made *c)
{
	struct rd_error err;
	memset(m, 0, sizeof *m);
	c->make(&m->bytes);
	memory_source(&m->source, m->bytes.at, m->bytes.n);
	m->format = rd_format_by_id(c->format);
	assert_non_null(m->format);
	assert_ok(m->format->index(&m->source, &m->index, NULL, NULL, &err), &err);
	assert_true(m->index.blocks.n >= c->blocks);
}

static void unmake(struct made *m)
{
	rd_index_release(&m->index);
	rd_source_close(&m->source);
	rd_bytes_release(&m->bytes);
}

static void whole_log(struct trace_log *log, const struct made *m, uint64_t want)
{
	struct rd_error err;
	assert_ok(log_blocks(log, m->format, &m->source, &m->index, 0, m->index.blocks.n, want, &err), &err);
}

static void the_probe_knows_its_own(void **state)
{
	EACH_MADE(c)
	{
		const struct rd_format *found = NULL;
		struct rd_error err;
		struct made m;
		make(&m, c);
		assert_ok(rd_trace_probe(&m.source, &found, &err), &err);
		assert_ptr_equal(found, m.format);
		for (size_t i = 0; rd_formats()[i] != NULL; i++)
			assert_int_equal(rd_formats()[i]->probe(m.bytes.at, m.bytes.n < 512 ? m.bytes.n : 512),
					 rd_formats()[i] == m.format);
		for (size_t n = 0; n < 8; n++)
			assert_false(m.format->probe(m.bytes.at, n));
		unmake(&m);
	}
}

static void the_index_is_in_order_and_repeats(void **state)
{
	EACH_MADE(c)
	{
		struct rd_index again = {0};
		struct rd_error err;
		struct made m;
		make(&m, c);
		const struct rd_trace_info *info = &m.index.info;
		assert_int_equal(info->format, c->format);
		assert_int_equal(info->size_bytes, m.bytes.n);
		assert_true(info->complete);
		assert_true(info->cut_at == RD_NO_OFFSET);
		assert_true(info->clock.frequency_hz != 0);
		assert_int_equal(info->digest, rd_index_digest(&m.index));
		for (size_t i = 0; i < m.index.blocks.n; i++) {
			const struct rd_block *b = &m.index.blocks.at[i];
			assert_int_equal(b->ordinal, i);
			assert_true(b->offset + b->size_bytes <= m.bytes.n);
		}
		assert_ok(m.format->index(&m.source, &again, NULL, NULL, &err), &err);
		assert_int_equal(again.info.digest, info->digest);
		again.blocks.at[0].offset++;
		assert_true(rd_index_digest(&again) != info->digest);
		rd_index_release(&again);
		unmake(&m);
	}
}

/* Blocks [0, k) and [k, n) by two decoders say what one says of all; so do decoders of one block each. */
static void check_cuts(const struct made *m, size_t step)
{
	size_t n = m->index.blocks.n;
	struct trace_log whole = {0}, singly = {0};
	struct rd_error err;
	whole_log(&whole, m, RD_WANT_ALL);
	const char *right = log_text(&whole);
	assert_int_equal(whole.begun, n);
	assert_int_equal(whole.ended, n);
	for (size_t k = 1; k < n; k += step) {
		struct trace_log cut = {0};
		assert_ok(log_blocks(&cut, m->format, &m->source, &m->index, 0, k, RD_WANT_ALL, &err), &err);
		assert_ok(log_blocks(&cut, m->format, &m->source, &m->index, k, n, RD_WANT_ALL, &err), &err);
		assert_string_equal(log_text(&cut), right);
		log_release(&cut);
	}
	for (size_t k = 0; k < n; k++)
		assert_ok(log_blocks(&singly, m->format, &m->source, &m->index, k, k + 1, RD_WANT_ALL, &err), &err);
	assert_string_equal(log_text(&singly), right);
	log_release(&singly);
	log_release(&whole);
}

static void any_cut_says_the_same(void **state)
{
	EACH_MADE(c)
	{
		struct made m;
		make(&m, c);
		check_cuts(&m, 1);
		unmake(&m);
	}
}

static void a_real_trace_cut_says_the_same(void **state)
{
	struct rd_source packed;
	struct rd_error err;
	struct made m = {0};
	rd_unpacked_vec files = {0};
	assert_ok(rd_source_open(&packed, repository_path("tests/traces/shop-small.nettrace.zst"), &err), &err);
	assert_ok(rd_archive_unpack(&packed, scratch_folder(), NULL, &files, NULL, NULL, &err), &err);
	assert_ok(rd_source_open(&m.source, files.at[0].path, &err), &err);
	assert_ok(rd_trace_probe(&m.source, &m.format, &err), &err);
	assert_ok(m.format->index(&m.source, &m.index, NULL, NULL, &err), &err);
	check_cuts(&m, 40);
	unmake(&m);
	rd_source_close(&packed);
	unlink(files.at[0].path);
	rd_vec_release(&files);
}

static void context_makes_no_call(void **state)
{
	EACH_MADE(c)
	{
		struct trace_log log = {0};
		struct rd_sink sink = log_sink(&log, RD_WANT_ALL);
		struct rd_decoder *d;
		struct rd_error err;
		struct made m;
		make(&m, c);
		assert_ok(m.format->decoder_new(&m.source, &m.index.info, &sink, &d, &err), &err);
		for (size_t i = 0; i < m.index.blocks.n; i++)
			assert_ok(m.format->decoder_context(d, &m.index.blocks.at[i], &err), &err);
		m.format->decoder_free(d);
		assert_int_equal(log.calls, 0);
		log_release(&log);
		unmake(&m);
	}
}

struct kinds {
	uint64_t wanted, others;
	uint64_t want;
};

static int count_kind(void *ctx, const struct rd_event *ev)
{
	struct kinds *k = ctx;
	uint32_t kind = ev->key->type != NULL ? ev->key->type->kind : RD_EVENT_OTHER;
	if (ev->key->identity == RD_IDENTITY_BAD)
		return 0;
	k->wanted += (k->want & RD_WANT(kind)) != 0;
	k->others += (k->want & RD_WANT(kind)) == 0;
	return 0;
}

static uint64_t decode_kinds(const struct made *m, uint64_t told, uint64_t asked, uint64_t *others)
{
	struct kinds k = {.want = asked};
	struct rd_sink sink = {.ctx = &k, .want = told, .event = count_kind};
	struct rd_decoder *d;
	struct rd_error err;
	assert_ok(m->format->decoder_new(&m->source, &m->index.info, &sink, &d, &err), &err);
	assert_ok(m->format->decoder_blocks(d, m->index.blocks.at, m->index.blocks.n, &err), &err);
	m->format->decoder_free(d);
	*others = k.others;
	return k.wanted;
}

static void only_what_is_wanted_comes(void **state)
{
	EACH_MADE(c)
	{
		uint64_t others;
		struct made m;
		make(&m, c);
		for (unsigned kind = 0; kind < RD_EVENT_KINDS; kind++) {
			uint64_t all = decode_kinds(&m, RD_WANT_ALL, RD_WANT(kind), &others);
			assert_int_equal(decode_kinds(&m, RD_WANT(kind), RD_WANT(kind), &others), all);
			assert_int_equal(others, 0);
		}
		assert_true(decode_kinds(&m, RD_WANT(RD_EVENT_SAMPLE), RD_WANT(RD_EVENT_SAMPLE), &others) >= 2);
		unmake(&m);
	}
}

static void a_sink_that_knows_nothing_will_do(void **state)
{
	EACH_MADE(c)
	{
		struct rd_sink sink = {.want = RD_WANT_ALL};
		struct rd_decoder *d;
		struct rd_error err;
		struct made m;
		make(&m, c);
		assert_ok(m.format->decoder_new(&m.source, &m.index.info, &sink, &d, &err), &err);
		assert_ok(m.format->decoder_blocks(d, m.index.blocks.at, m.index.blocks.n, &err), &err);
		m.format->decoder_free(d);
		m.format->decoder_free(NULL);
		unmake(&m);
	}
}

static void a_failing_sink_ends_the_decode(void **state)
{
	EACH_MADE(c)
	{
		struct trace_log whole = {0};
		struct made m;
		make(&m, c);
		whole_log(&whole, &m, RD_WANT_ALL);
		for (uint64_t nth = 1; nth <= whole.calls; nth++) {
			struct trace_log log = {.fail_in = nth};
			assert_code(RD_CANCELLED, log_blocks(&log, m.format, &m.source, &m.index, 0, m.index.blocks.n,
							     RD_WANT_ALL, NULL));
			log_release(&log);
		}
		log_release(&whole);
		unmake(&m);
	}
}

/* Index and decode any bytes: whatever they are, the words kept are those of the contract. */
static void check_bytes(const struct rd_format *f, const struct rd_source *s, const struct rd_index *prefix_of)
{
	struct rd_index ix = {0};
	struct rd_error err;
	int rc = f->index(s, &ix, NULL, NULL, &err);
	if (rc != 0) {
		assert_true(rc == RD_UNSUPPORTED || rc == RD_CORRUPT || rc == RD_TRUNCATED);
		assert_int_equal(err.code, rc);
		assert_true(err.text[0] != 0);
		return;
	}
	struct trace_log log = {0};
	assert_true(ix.info.cut_at == RD_NO_OFFSET || ix.info.cut_at <= s->size_bytes);
	assert_true(ix.info.clock.frequency_hz != 0);
	for (size_t i = 0; i < ix.blocks.n; i++) {
		assert_true(ix.blocks.at[i].size_bytes <= s->size_bytes);
		assert_true(ix.blocks.at[i].offset <= s->size_bytes - ix.blocks.at[i].size_bytes);
		if (prefix_of != NULL)
			assert_int_equal(ix.blocks.at[i].offset, prefix_of->blocks.at[i].offset);
	}
	assert_ok(log_blocks(&log, f, s, &ix, 0, ix.blocks.n, RD_WANT_ALL, &err), &err);
	assert_int_equal(log.begun, ix.blocks.n);
	assert_int_equal(log.ended, ix.blocks.n);
	log_release(&log);
	rd_index_release(&ix);
}

static void a_file_cut_at_any_byte(void **state)
{
	EACH_MADE(c)
	{
		struct made m;
		make(&m, c);
		while (m.source.size_bytes > 0) {
			m.source.size_bytes--;
			assert_int_equal(ftruncate(m.source.fd, (off_t)m.source.size_bytes), 0);
			check_bytes(m.format, &m.source, &m.index);
		}
		unmake(&m);
	}
}

static void a_file_with_any_byte_changed(void **state)
{
	static const uint8_t flips[] = {0xff, 0x80, 0x01};
	EACH_MADE(c)
	{
		struct made m;
		make(&m, c);
		for (size_t i = 0; i < m.bytes.n; i++) {
			uint8_t changed = m.bytes.at[i] ^ flips[i % sizeof flips];
			assert_int_equal(pwrite(m.source.fd, &changed, 1, (off_t)i), 1);
			check_bytes(m.format, &m.source, NULL);
			assert_int_equal(pwrite(m.source.fd, &m.bytes.at[i], 1, (off_t)i), 1);
		}
		unmake(&m);
	}
}

/* The plan is of another file, which this one is only the beginning of. */
static void a_file_shorter_than_its_index(void **state)
{
	EACH_MADE(c)
	{
		struct trace_log log = {0};
		struct rd_source shorter;
		struct made m;
		make(&m, c);
		memory_source(&shorter, m.bytes.at, m.bytes.n / 2);
		int rc = log_blocks(&log, m.format, &shorter, &m.index, 0, m.index.blocks.n, RD_WANT_ALL, NULL);
		assert_true(rc == RD_CHANGED || rc == RD_TRUNCATED);
		rd_source_close(&shorter);
		log_release(&log);
		unmake(&m);
	}
}

static void every_allocation_may_fail(void **state)
{
	EACH_MADE(c)
	{
		struct made m;
		make(&m, c);
		for (uint64_t nth = 1;; nth++) {
			struct rd_sink sink = {.want = RD_WANT_ALL};
			struct rd_index ix = {0};
			struct rd_decoder *d = NULL;
			rd_fail_allocation(nth);
			int rc = m.format->index(&m.source, &ix, NULL, NULL, NULL);
			if (rc == 0)
				rc = m.format->decoder_new(&m.source, &ix.info, &sink, &d, NULL);
			if (rc == 0)
				rc = m.format->decoder_blocks(d, ix.blocks.at, ix.blocks.n, NULL);
			rd_fail_allocation(0);
			if (d != NULL)
				m.format->decoder_free(d);
			rd_index_release(&ix);
			if (rc == 0)
				break;
			assert_code(RD_NOMEM, rc);
			assert_true(nth < 10000);
		}
		unmake(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_probe_knows_its_own),
		cmocka_unit_test(the_index_is_in_order_and_repeats),
		cmocka_unit_test(any_cut_says_the_same),
		cmocka_unit_test(a_real_trace_cut_says_the_same),
		cmocka_unit_test(context_makes_no_call),
		cmocka_unit_test(only_what_is_wanted_comes),
		cmocka_unit_test(a_sink_that_knows_nothing_will_do),
		cmocka_unit_test(a_failing_sink_ends_the_decode),
		cmocka_unit_test(a_file_cut_at_any_byte),
		cmocka_unit_test(a_file_with_any_byte_changed),
		cmocka_unit_test(a_file_shorter_than_its_index),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
