/* What version 6 keeps in tables of its own: threads, labels, metadata rows. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace6_build.h"
#include "trace/nettrace/labels.h"
#include "trace/nettrace/metadata6.h"
#include "trace/nettrace/threads.h"

/* The first n bytes of the open block, alone in a buffer of that size. */
static uint8_t *exact(const struct nettrace6_build *b, size_t n)
{
	uint8_t *bytes = malloc(n + 1);
	memcpy(bytes, b->payload.at, n);
	return bytes;
}

static void add_threads(struct rd_nettrace_threads *t, const struct nettrace6_build *b)
{
	assert_true(rd_nettrace_threads_valid(b->payload.at, b->payload.n));
	assert_int_equal(rd_nettrace_threads_add(t, b->payload.at, b->payload.n), 0);
}

static void threads_come_and_go(void **state)
{
	struct nettrace6_build b;
	struct rd_nettrace_threads t;
	rd_nettrace_threads_init(&t);
	nettrace6_begin(&b, NULL);
	nettrace6_block(&b, RD_NETTRACE_THREAD);
	nettrace6_thread(&b, 3, 500, 501);
	nettrace6_thread(&b, UINT64_MAX, 600, UINT64_C(1) << 40);
	nettrace6_thread(&b, 4, UINT32_MAX, 7);
	assert_null(rd_nettrace_threads_find(&t, 3));
	add_threads(&t, &b);
	assert_int_equal(rd_nettrace_threads_find(&t, 3)->pid, 500);
	assert_int_equal(rd_nettrace_threads_find(&t, 3)->thread, 501);
	assert_true(rd_nettrace_threads_find(&t, UINT64_MAX)->thread == UINT64_C(1) << 40);
	/* No system has such a process. */
	assert_false(rd_nettrace_threads_find(&t, 4)->has_pid);
	assert_null(rd_nettrace_threads_find(&t, 0));
	rd_nettrace_threads_remove(&t, 3);
	rd_nettrace_threads_remove(&t, 99);
	assert_null(rd_nettrace_threads_find(&t, 3));
	nettrace6_block(&b, RD_NETTRACE_THREAD);
	nettrace6_thread(&b, 3, 700, 701);
	add_threads(&t, &b);
	assert_int_equal(rd_nettrace_threads_find(&t, 3)->pid, 700);
	assert_int_equal(rd_nettrace_threads_find(&t, UINT64_MAX)->pid, 600);
	rd_nettrace_threads_reset(&t);
	assert_null(rd_nettrace_threads_find(&t, 3));
	rd_nettrace_threads_release(&t);
	nettrace6_release(&b);
}

/* Names, keys and values are stepped over; a later kind hides what stands behind it. */
static void a_row_may_say_anything(void **state)
{
	static const uint8_t row[] = {17, 0, 5, 1, 2, 'a', 'b', 4, 1, 'k', 1, 'v', 2, 9, 3, 8, 77, 1, 2};
	struct rd_nettrace_threads t;
	rd_nettrace_threads_init(&t);
	assert_true(rd_nettrace_threads_valid(row, sizeof row));
	assert_int_equal(rd_nettrace_threads_add(&t, row, sizeof row), 0);
	assert_int_equal(rd_nettrace_threads_find(&t, 5)->pid, 9);
	assert_int_equal(rd_nettrace_threads_find(&t, 5)->thread, 8);
	static const uint8_t bare[] = {1, 0, 6};
	assert_int_equal(rd_nettrace_threads_add(&t, bare, sizeof bare), 0);
	assert_false(rd_nettrace_threads_find(&t, 6)->has_pid);
	assert_true(rd_nettrace_threads_find(&t, 6)->thread == RD_NO_THREAD);
	assert_true(rd_nettrace_threads_valid(row, 0));
	rd_nettrace_threads_reset(&t);
	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_nettrace_threads_add(&t, row, sizeof row));
	rd_fail_allocation(0);
	rd_nettrace_threads_release(&t);
}

static void threads_one_byte_short(void **state)
{
	struct nettrace6_build b;
	nettrace6_begin(&b, NULL);
	nettrace6_block(&b, RD_NETTRACE_THREAD);
	nettrace6_thread(&b, 3, 500, 501);
	for (size_t n = 1; n < b.payload.n; n++) {
		uint8_t *bytes = exact(&b, n);
		assert_false(rd_nettrace_threads_valid(bytes, n));
		free(bytes);
	}
	/* The row ends inside its thread's id, its name, its index. */
	for (uint8_t size = 0; size < b.payload.n - 2; size++) {
		uint8_t *bytes = exact(&b, b.payload.n);
		bytes[0] = size;
		bool ends_well = size == 1 || size == 9 || size == 12;
		assert_int_equal(rd_nettrace_threads_valid(bytes, 2 + (size_t)size), ends_well);
		free(bytes);
	}
	nettrace6_release(&b);
}

static void labels_give_versions(void **state)
{
	struct nettrace6_build b;
	struct rd_nettrace_labels l;
	uint32_t version;
	rd_nettrace_labels_init(&l);
	nettrace6_begin(&b, NULL);
	nettrace6_labels(&b, 5);
	nettrace6_label_version(&b, 2);
	/* All kinds there are, then the list's end. */
	put_number(&b.payload, 1, 1 + 16);
	put_number(&b.payload, 2, 1 + 16);
	put_number(&b.payload, 3, 1 + 16);
	put_number(&b.payload, 4, 1 + 8);
	put_number(&b.payload, 6, 1);
	put_string6(&b.payload, "key");
	put_varuint(&b.payload, UINT64_MAX);
	put_number(&b.payload, 7, 2);
	put_number(&b.payload, 8, 1 + 8);
	put_number(&b.payload, 9 | 0x80, 2);
	b.count++;
	nettrace6_label_version(&b, 0);
	memcpy(b.payload.at + b.count_at, &b.count, 4);
	for (size_t n = 0; n < b.payload.n; n++) {
		uint8_t *bytes = exact(&b, n);
		assert_false(rd_nettrace_labels_valid(bytes, n));
		free(bytes);
	}
	assert_true(rd_nettrace_labels_valid(b.payload.at, b.payload.n));
	assert_false(rd_nettrace_labels_version(&l, 5, &version));
	assert_int_equal(rd_nettrace_labels_add(&l, b.payload.at, b.payload.n), 0);
	assert_true(rd_nettrace_labels_version(&l, 5, &version));
	assert_int_equal(version, 2);
	assert_false(rd_nettrace_labels_version(&l, 6, &version));
	assert_true(rd_nettrace_labels_version(&l, 7, &version));
	assert_int_equal(version, 0);
	/* A second definition, which says nothing of a version. */
	static const uint8_t plain[] = {5, 0, 0, 0, 1, 0, 0, 0, 9 | 0x80, 1};
	assert_true(rd_nettrace_labels_valid(plain, sizeof plain));
	assert_int_equal(rd_nettrace_labels_add(&l, plain, sizeof plain), 0);
	assert_false(rd_nettrace_labels_version(&l, 5, &version));
	rd_nettrace_labels_reset(&l);
	assert_false(rd_nettrace_labels_version(&l, 7, &version));
	/* A kind whose value nobody knows how to step over. */
	static const uint8_t unknown[] = {5, 0, 0, 0, 1, 0, 0, 0, 11 | 0x80, 1};
	assert_false(rd_nettrace_labels_valid(unknown, sizeof unknown));
	rd_nettrace_labels_release(&l);
	nettrace6_release(&b);
}

static bool read_rows(const uint8_t *bytes, size_t n, struct rd_nettrace_metadata *m, size_t rows)
{
	struct rd_cursor c = rd_cursor_of(bytes, n);
	rd_nettrace_metadata6_begin(&c);
	for (size_t i = 0; i < rows; i++)
		if (c.failed || rd_left(&c) == 0 || !rd_nettrace_metadata6_next(&c, &m[i]))
			return false;
	return rd_left(&c) == 0;
}

static void metadata_rows(void **state)
{
	static const struct nettrace6_field fields[] = {{"Value", FIELD_VARUINT, 0, 0}, {NULL, 0, 0, 0}};
	struct nettrace6_build b;
	struct rd_nettrace_metadata m[2];
	nettrace6_begin(&b, NULL);
	nettrace6_block(&b, RD_NETTRACE_METADATA);
	nettrace6_metadata(&b, 300, "Universal.Events", 70000, "cpu", 0, fields);
	size_t first = b.payload.n;
	nettrace6_metadata(&b, 2, "My-Source", 0, "", 9, NULL);
	assert_true(read_rows(b.payload.at, b.payload.n, m, 2));
	assert_int_equal(m[0].id, 300);
	assert_int_equal(m[0].event_id, 70000);
	assert_int_equal(m[0].version, 0);
	assert_true(m[0].utf8);
	assert_span(m[0].provider, "Universal.Events");
	assert_span(m[0].name, "cpu");
	assert_int_equal(m[0].fields.size_bytes, 2 + 2 + 6 + 1);
	assert_int_equal(m[1].version, 9);
	assert_int_equal(m[1].fields.size_bytes, 2);
	for (size_t n = 0; n < first; n++) {
		uint8_t *bytes = exact(&b, n);
		assert_false(read_rows(bytes, n, m, 1));
		free(bytes);
	}
	/* A row that ends inside itself, by its own size. */
	for (size_t size = 0; size + 4 < first; size++) {
		uint8_t *bytes = exact(&b, first);
		memcpy(bytes + 2, &(uint16_t){(uint16_t)size}, 2);
		struct rd_cursor c = rd_cursor_of(bytes, 4 + size);
		rd_nettrace_metadata6_begin(&c);
		/* 2 id, 17 provider, 3 event id, 4 name, 11 fields: options may be missing. */
		assert_int_equal(rd_nettrace_metadata6_next(&c, m), size == 2 + 17 + 3 + 4 + 11);
		free(bytes);
	}
	nettrace6_release(&b);
}

/* Options in any order; what stands behind one of a later version is out of reach. */
static void metadata_options(void **state)
{
	static const struct {
		const char *bytes;
		uint8_t size_bytes;
		bool good;
		uint8_t version;
	} options[] = {
		{"", 0, true, 0},
		{"\x09\x07", 2, true, 7},
		{"\x09", 1, false, 0},
		{"\x04\2hi\x05\1x\x06\1k\1v\x09\x03", 14, true, 3},
		{"\x07{guid-guid-guid}\x01\1\x08\2\x09\x04", 23, true, 4},
		{"\x03keywords\x02\x09\x05", 12, true, 0},
		{"\x04\x09hi", 4, false, 0},
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct rd_bytes block = {0};
		struct rd_nettrace_metadata m = {0};
		put_number(&block, 2, 2);
		put_number(&block, 0xffff, 2);
		put_number(&block, 6 + 2 + options[i].size_bytes + 1, 2);
		put_number(&block, 1, 1);
		put_number(&block, 0, 3);
		put_number(&block, 0, 2);
		put_number(&block, options[i].size_bytes, 2);
		assert_int_equal(rd_bytes_append(&block, options[i].bytes, options[i].size_bytes), 0);
		/* What a later version may add. */
		put_number(&block, 0xee, 1);
		struct rd_cursor c = rd_cursor_of(block.at, block.n);
		rd_nettrace_metadata6_begin(&c);
		assert_int_equal(rd_nettrace_metadata6_next(&c, &m), options[i].good);
		if (options[i].good)
			assert_int_equal(m.version, options[i].version);
		rd_bytes_release(&block);
	}
}

static void ids_beyond_reason(void **state)
{
	static const uint32_t ids[] = {0, RD_NETTRACE_METADATA_IDS, UINT32_MAX};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		struct nettrace6_build b;
		struct rd_nettrace_metadata m;
		nettrace6_begin(&b, NULL);
		nettrace6_block(&b, RD_NETTRACE_METADATA);
		nettrace6_metadata(&b, ids[i], "P", 1, "", 0, NULL);
		assert_false(read_rows(b.payload.at, b.payload.n, &m, 1));
		nettrace6_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_come_and_go),    cmocka_unit_test(a_row_may_say_anything),
		cmocka_unit_test(threads_one_byte_short), cmocka_unit_test(labels_give_versions),
		cmocka_unit_test(metadata_rows),          cmocka_unit_test(metadata_options),
		cmocka_unit_test(ids_beyond_reason),
	};
	return cmocka_run_group_tests_name("nettrace/tables6", tests, NULL, NULL);
}
