/*
 * Any bytes as the chunks of a stored result, as they stand behind their checksums. What unpacks is a result
 * that every report can be made of, and that packs again to the same content.
 *
 * Input: chunks, each u8 table, u16 size, bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "store/chunk.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static int read_chunks(struct rd_result *r, const uint8_t *bytes, size_t size_bytes, struct rd_error *err)
{
	struct rd_cursor in = rd_cursor_of(bytes, size_bytes);
	uint8_t before = 0;

	while (rd_left(&in)) {
		uint8_t table = rd_u8(&in);
		struct rd_cursor chunk = rd_sub(&in, rd_u16(&in));
		const struct rd_store_table *t = table ? rd_store_table(table - 1u) : NULL;
		/* As the reader does: tables in order, so that what is referred to is there. */
		if (in.failed || t == NULL || table < before)
			return RD_CORRUPT;
		before = table;
		int code = rd_chunk_unpack(t, r, (struct rd_span){chunk.at, rd_left(&chunk)}, err);
		if (code != 0)
			return code;
	}
	return rd_result_check(r, err);
}

static void pack_again(const struct rd_result *r)
{
	struct rd_result back = {0};
	struct rd_bytes chunk = {0};
	const struct rd_store_table *t;
	char one[33], two[33];

	for (size_t i = 0; (t = rd_store_table(i)) != NULL; i++) {
		for (uint64_t at = 0; at < rd_store_rows(t, r);) {
			chunk.n = 0;
			int64_t took = rd_chunk_pack(t, r, at, &chunk, NULL);
			if (took <= 0 || rd_chunk_unpack(t, &back, (struct rd_span){chunk.at, chunk.n}, NULL) != 0)
				abort();
			at += (uint64_t)took;
		}
	}
	if (rd_result_digest(r, one, NULL) != 0 || rd_result_digest(&back, two, NULL) != 0 || strcmp(one, two) != 0)
		abort();
	rd_bytes_release(&chunk);
	rd_result_release(&back);
}

static void show(const struct rd_result *r)
{
	struct rd_view_filter filters[] = {
		RD_VIEW_ALL,
		{.kind = 1,
		 .tiers = true,
		 .sort = RD_SORT_NAME,
		 .has_from = true,
		 .from_ns = 1,
		 .has_to = true,
		 .to_ns = INT64_MAX,
		 .to_is_utc = true},
		{.kind = -1,
		 .hide = "a",
		 .group = RD_GROUP_NAMESPACE,
		 .by_thread = true,
		 .inverted = true,
		 .min_samples = 3},
		{.kind = -1, .focus = "e", .callees = "[a-m]", .group = RD_GROUP_PROCESS, .min_millionths = 100000},
		{.kind = -1, .ignore = "^z", .callers = ".", .tiers = true, .sort = RD_SORT_DIRECT},
	};

	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		struct rd_view v;
		const struct rd_report_format *f;
		if (rd_view_make(&v, r, &filters[i], NULL) != 0)
			continue;
		for (size_t k = 0; (f = rd_report_format(k)) != NULL; k++) {
			struct rd_report_options o = {.top = i, .columns = i ? 60 : 0, .stacks = i > 1};
			struct rd_out out;
			rd_out_init(&out, -1);
			if (f->write(&v, &o, &out, NULL) != 0)
				abort();
			rd_out_close(&out, NULL);
		}
		rd_view_release(&v);
	}
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_result r = {0};
	struct rd_error err;

	if (read_chunks(&r, bytes, size_bytes, &err) == 0) {
		pack_again(&r);
		show(&r);
	}
	rd_result_release(&r);
	return 0;
}
