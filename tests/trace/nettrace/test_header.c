/* Event headers, compressed and plain. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/nettrace/header.h"

/* The payload of a block: its header, then these bytes. */
static void begin(struct rd_nettrace_headers *s, struct rd_bytes *block, bool compressed)
{
	block->n = 0;
	put_number(block, 20, 2);
	put_number(block, compressed, 2);
	put_number(block, 0, 16);
	memset(s, 0, sizeof *s);
}

static void put_all(struct rd_bytes *block, const uint8_t *bytes, size_t n)
{
	assert_int_equal(rd_bytes_append(block, bytes, n), 0);
}
#define PUT(block, ...) put_all((block), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void next(struct rd_nettrace_headers *s)
{
	assert_true(s->at < s->end);
	assert_true(rd_nettrace_headers_next(s));
}

static void absent_fields_are_as_before(void **state)
{
	struct rd_nettrace_headers s;
	struct rd_bytes block = {0};
	begin(&s, &block, true);
	/* All fields. */
	PUT(&block, 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128, 5, 9, 0x81, 1, 3, 0x82, 1, 7, 100);
	PUT(&block, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	PUT(&block, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	PUT(&block, 2, 'a', 'b');
	/* None but the time, of two bytes. */
	PUT(&block, 0, 0x80, 1, 'c', 'd');
	/* The sequence by difference; the payload's size. */
	PUT(&block, 2 | 128, 3, 6, 4, 1, 0);
	assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	next(&s);
	assert_int_equal(s.h.metadata_id, 5);
	assert_int_equal(s.h.sequence, 10);
	assert_int_equal(s.h.capture_thread, 129);
	assert_int_equal(s.h.processor, 3);
	assert_int_equal(s.h.thread, 130);
	assert_int_equal(s.h.stack_id, 7);
	assert_int_equal(s.h.time, 100);
	assert_int_equal(s.h.payload_bytes, 2);
	assert_memory_equal(s.h.payload, "ab", 2);
	next(&s);
	assert_int_equal(s.h.metadata_id, 5);
	assert_int_equal(s.h.sequence, 11);
	assert_int_equal(s.h.capture_thread, 129);
	assert_int_equal(s.h.thread, 130);
	assert_int_equal(s.h.stack_id, 7);
	assert_int_equal(s.h.time, 228);
	assert_memory_equal(s.h.payload, "cd", 2);
	next(&s);
	assert_int_equal(s.h.sequence, 15);
	assert_int_equal(s.h.capture_thread, 6);
	assert_int_equal(s.h.processor, 4);
	assert_int_equal(s.h.time, 229);
	assert_int_equal(s.h.payload_bytes, 0);
	assert_ptr_equal(s.at, s.end);
	rd_bytes_release(&block);
}

/* Metadata records do set flag 2, with a difference of 2^32 - 1; without it they do not count. */
static void sequence_numbers_of_metadata_and_at_the_wrap(void **state)
{
	struct rd_nettrace_headers s;
	struct rd_bytes block = {0};
	begin(&s, &block, true);
	PUT(&block, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0, 1);
	PUT(&block, 0, 1);
	PUT(&block, 1 | 2, 4, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0, 1);
	PUT(&block, 0, 1);
	assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	next(&s);
	assert_int_equal(s.h.sequence, 0);
	next(&s);
	assert_int_equal(s.h.sequence, 0);
	next(&s);
	assert_int_equal(s.h.sequence, UINT32_MAX);
	next(&s);
	assert_int_equal(s.h.sequence, 0);
	rd_bytes_release(&block);
}

static void time_may_go_back(void **state)
{
	struct rd_nettrace_headers s;
	struct rd_bytes block = {0};
	begin(&s, &block, true);
	PUT(&block, 0, 0xe8, 0x07);
	PUT(&block, 0);
	put_varuint(&block, (uint64_t)-17);
	assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	next(&s);
	next(&s);
	assert_int_equal(s.h.time, 983);
	rd_bytes_release(&block);
}

/* Long numbers, and the processor that .NET writes as all ones; near the block's end and far from it. */
static void long_numbers(void **state)
{
	for (size_t room = 0; room <= 128; room += 128) {
		struct rd_nettrace_headers s;
		struct rd_bytes block = {0};
		begin(&s, &block, true);
		PUT(&block, 1 | 2 | 4 | 8 | 128);
		put_varuint(&block, 0xfffffffe);
		put_varuint(&block, 0x12345);
		put_varuint(&block, UINT64_MAX);
		put_varuint(&block, UINT32_MAX);
		put_varuint(&block, UINT64_C(0x123456789abcdef));
		put_varuint(&block, 0x4000);
		put_varuint(&block, UINT64_C(1) << 63);
		put_varuint(&block, room);
		for (size_t i = 0; i < room; i++)
			PUT(&block, 0xee);
		assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
		next(&s);
		assert_int_equal(s.h.metadata_id, 0xfffffffe);
		assert_int_equal(s.h.sequence, 0x12346);
		assert_true(s.h.capture_thread == UINT64_MAX);
		assert_int_equal(s.h.processor, UINT32_MAX);
		assert_true(s.h.thread == UINT64_C(0x123456789abcdef));
		assert_int_equal(s.h.stack_id, 0x4000);
		assert_true(s.h.time == UINT64_C(1) << 63);
		assert_int_equal(s.h.payload_bytes, room);
		rd_bytes_release(&block);
	}
}

static void numbers_that_are_none(void **state)
{
	static const uint8_t bad[][13] = {
		{1, 0xff, 0xff, 0xff, 0xff, 0x1f},                            /* 33 bits */
		{1, 0x80, 0x80, 0x80, 0x80, 0x80, 0},                         /* six bytes */
		{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, /* 65 bits */
		{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		for (size_t room = 0; room <= 128; room += 128) {
			struct rd_nettrace_headers s;
			struct rd_bytes block = {0};
			begin(&s, &block, true);
			put_all(&block, bad[i], sizeof bad[i]);
			memset(rd_bytes_extend(&block, room + 1), 0, room + 1);
			assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
			assert_false(rd_nettrace_headers_next(&s));
			rd_bytes_release(&block);
		}
	}
}

/* A block of one event, in the shape of a version. */
static void build_event(struct rd_bytes *out, bool six, bool compressed)
{
	if (six) {
		struct nettrace6_build b;
		nettrace6_begin(&b, &(struct nettrace6_options){.plain_headers = !compressed});
		nettrace6_block(&b, RD_NETTRACE_EVENT);
		nettrace6_event(&b, &(struct nettrace6_event){300, 7, 500, 600, 70000, 1u << 30, 9, "12345678", 8});
		put_all(out, b.payload.at, b.payload.n);
		nettrace6_release(&b);
	} else {
		struct nettrace_build b;
		nettrace_begin(&b, &(struct nettrace_options){.plain_headers = !compressed});
		nettrace_block(&b, "EventBlock");
		nettrace_event(&b, &(struct nettrace_event){300, 7, 500, 600, 70000, 1u << 30, "12345678", 8});
		put_all(out, b.payload.at, b.payload.n);
		nettrace_release(&b);
	}
}

static void one_byte_short(bool six, bool compressed)
{
	struct rd_bytes block = {0};
	struct rd_nettrace_headers s = {0};
	build_event(&block, six, compressed);
	for (size_t n = 0; n < block.n; n++) {
		uint8_t *exact = malloc(n + 1);
		memcpy(exact, block.at, n);
		bool begun = rd_nettrace_headers_begin(&s, six, exact, n);
		assert_int_equal(begun, n >= 20);
		assert_true(!begun || s.at == s.end || !rd_nettrace_headers_next(&s));
		free(exact);
	}
	assert_true(rd_nettrace_headers_begin(&s, six, block.at, block.n));
	next(&s);
	assert_int_equal(s.h.metadata_id, 300);
	assert_int_equal(s.h.sequence, 7);
	assert_int_equal(s.h.capture_thread, 500);
	assert_int_equal(s.h.thread, 600);
	assert_int_equal(s.h.processor, 1);
	assert_int_equal(s.h.stack_id, 70000);
	assert_int_equal(s.h.time, 1u << 30);
	assert_int_equal(s.h.label_list, six ? 9 : 0);
	assert_memory_equal(s.h.payload, "12345678", 8);
	assert_ptr_equal(s.at, s.end);
	rd_bytes_release(&block);
}

static void one_byte_short_anywhere(void **state)
{
	for (unsigned i = 0; i < 4; i++)
		one_byte_short(i / 2, i % 2);
}

/* A label list where version 4 has a GUID; of the flag of the other GUID nothing comes. */
static void labels_of_version_6(void **state)
{
	struct rd_nettrace_headers s;
	struct rd_bytes block = {0};
	begin(&s, &block, true);
	PUT(&block, 1 | 16 | 32 | 128, 5, 100, 0x81, 1, 1, 'a');
	PUT(&block, 0, 1, 'b');
	PUT(&block, 16, 1, 0, 'c');
	assert_true(rd_nettrace_headers_begin(&s, true, block.at, block.n));
	next(&s);
	assert_int_equal(s.h.time, 100);
	assert_int_equal(s.h.label_list, 129);
	assert_memory_equal(s.h.payload, "a", 1);
	next(&s);
	assert_int_equal(s.h.label_list, 129);
	next(&s);
	assert_int_equal(s.h.label_list, 0);
	assert_memory_equal(s.h.payload, "c", 1);
	assert_ptr_equal(s.at, s.end);
	rd_bytes_release(&block);
}

static void a_block_header_may_grow(void **state)
{
	struct rd_nettrace_headers s;
	struct rd_bytes block = {0};
	begin(&s, &block, true);
	PUT(&block, 0xaa, 0xbb, 0, 50);
	block.at[0] = 22;
	assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	next(&s);
	assert_int_equal(s.h.time, 50);
	block.at[0] = 19;
	assert_false(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	block.at[0] = (uint8_t)(block.n + 1);
	assert_false(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	block.at[0] = (uint8_t)block.n;
	assert_true(rd_nettrace_headers_begin(&s, false, block.at, block.n));
	assert_ptr_equal(s.at, s.end);
	rd_bytes_release(&block);
}

/* Plain events stand at multiples of 4; a size that its payload does not fit in is none. */
static void plain_sizes(void **state)
{
	struct nettrace_build b;
	struct rd_nettrace_headers s = {0};
	nettrace_begin(&b, &(struct nettrace_options){.plain_headers = true});
	nettrace_block(&b, "EventBlock");
	nettrace_event(&b, &(struct nettrace_event){.metadata_id = 1, .time = 5, .payload = "x", .payload_bytes = 1});
	nettrace_event(&b, &(struct nettrace_event){.metadata_id = 2, .time = 6, .payload = "", .payload_bytes = 0});
	assert_true(rd_nettrace_headers_begin(&s, false, b.payload.at, b.payload.n));
	next(&s);
	next(&s);
	assert_int_equal(s.h.metadata_id, 2);
	assert_ptr_equal(s.at, s.end);
	static const uint32_t sizes[] = {0, 75, 76, 0x7fffffff, 0xfffffffb, 0xfffffffc, 0xffffffff};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		memcpy(b.payload.at + 20, &sizes[i], 4);
		assert_true(rd_nettrace_headers_begin(&s, false, b.payload.at, b.payload.n));
		assert_false(rd_nettrace_headers_next(&s));
	}
	nettrace_release(&b);
}

/* Those of version 6 stand anywhere, and may be longer than they need. */
static void plain_sizes_of_version_6(void **state)
{
	struct nettrace6_build b;
	struct rd_nettrace_headers s = {0};
	nettrace6_begin(&b, &(struct nettrace6_options){.plain_headers = true});
	nettrace6_block(&b, RD_NETTRACE_EVENT);
	nettrace6_event(&b, &(struct nettrace6_event){.metadata_id = 1, .payload = "xy", .payload_bytes = 2});
	nettrace6_event(&b, &(struct nettrace6_event){.metadata_id = 2, .payload = "", .payload_bytes = 0});
	b.payload.at[20 + 48] = 1;
	assert_true(rd_nettrace_headers_begin(&s, true, b.payload.at, b.payload.n));
	next(&s);
	assert_int_equal(s.h.payload_bytes, 1);
	next(&s);
	assert_int_equal(s.h.metadata_id, 2);
	assert_ptr_equal(s.at, s.end);
	static const uint32_t sizes[] = {0, 47, 48, 0x7fffffff, 0xfffffffb, 0xfffffffc, 0xffffffff};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		memcpy(b.payload.at + 20, &sizes[i], 4);
		assert_true(rd_nettrace_headers_begin(&s, true, b.payload.at, b.payload.n));
		assert_false(rd_nettrace_headers_next(&s));
	}
	nettrace6_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_fields_are_as_before),
		cmocka_unit_test(sequence_numbers_of_metadata_and_at_the_wrap),
		cmocka_unit_test(time_may_go_back),
		cmocka_unit_test(long_numbers),
		cmocka_unit_test(numbers_that_are_none),
		cmocka_unit_test(one_byte_short_anywhere),
		cmocka_unit_test(labels_of_version_6),
		cmocka_unit_test(a_block_header_may_grow),
		cmocka_unit_test(plain_sizes),
		cmocka_unit_test(plain_sizes_of_version_6),
	};
	return cmocka_run_group_tests_name("nettrace/header", tests, NULL, NULL);
}
