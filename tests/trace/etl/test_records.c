/* The walk of a buffer's records: every header type, and everything that is none. */
#include "tests/support.h"
#include "tests/trace/etl/etl_build.h"
#include "trace/etl/records.h"

static const uint8_t guid[16] = {0xd7, 0x75, 0xe6, 0xb3, 0x54, 0x25, 0x18, 0x4f,
				 0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde};
static const struct etl_who someone = {77, 88, 99};

struct fixture {
	struct etl_build e;
	struct rd_bytes payload;
	struct rd_etl_walk walk;
	struct rd_etl_record r;
	uint8_t *plain; /* the buffer in a block of its exact size */
};

static void begin(struct fixture *f, uint32_t pointer_bytes)
{
	memset(f, 0, sizeof *f);
	etl_begin(&f->e, &(struct etl_options){.pointer_bytes = pointer_bytes});
	etl_buffer(&f->e, 3, 5);
	etl_put(&f->payload, 0x1122334455, 5);
}

static void walk(struct fixture *f, size_t used)
{
	free(f->plain);
	f->plain = malloc(used);
	memcpy(f->plain, f->e.plain.at, used);
	rd_etl_walk_init(&f->walk, f->plain, (uint32_t)used);
}

static void end(struct fixture *f)
{
	rd_bytes_release(&f->payload);
	etl_release(&f->e);
	free(f->plain);
}

static void next_is(struct fixture *f, int identity, uint32_t id, unsigned pointer_bytes)
{
	assert_int_equal(rd_etl_walk_next(&f->walk, &f->r), 1);
	assert_int_equal(f->r.identity, identity);
	assert_int_equal(f->r.id, id);
	assert_int_equal(f->r.pointer_bytes, pointer_bytes);
	assert_int_equal(f->r.payload_bytes, 5);
	assert_memory_equal(f->r.payload, f->payload.at, 5);
}

static void is_someones(const struct fixture *f)
{
	assert_int_equal(f->r.pid, 77);
	assert_int_equal(f->r.thread, 88);
	assert_int_equal(f->r.time, 99);
}

static void every_type_of(uint32_t pointer_bytes)
{
	struct fixture f;

	begin(&f, pointer_bytes);
	etl_system(&f.e, 0x03, 1, 0x0104, someone, &f.payload);
	etl_compact(&f.e, 0x05, 36, 2, someone, &f.payload);
	etl_perfinfo(&f.e, 0x0f, 46, 2, 99, &f.payload);
	etl_perfinfo(&f.e, 0x0f, 47, 0x8302, 99, &f.payload);
	etl_classic(&f.e, guid, 36, 0x0102, someone, &f.payload);
	etl_instance(&f.e, guid, 37, 2, someone, &f.payload);
	etl_event(&f.e, guid, 0x0203, 4, someone, NULL, &f.payload);
	etl_message(&f.e, guid, 10, someone, &f.payload);
	walk(&f, f.e.plain.n);
	next_is(&f, RD_IDENTITY_KERNEL, 1, 0);
	assert_int_equal(f.r.at, 0x48);
	assert_int_equal(f.r.group, 0x03);
	assert_int_equal(f.r.version, 4);
	is_someones(&f);
	next_is(&f, RD_IDENTITY_KERNEL, 36, 0);
	assert_int_equal(f.r.at, 0x48 + 40);
	is_someones(&f);
	for (uint32_t id = 46; id <= 47; id++) {
		next_is(&f, RD_IDENTITY_KERNEL, id, 0);
		assert_int_equal(f.r.version, 2);
		assert_int_equal(f.r.pid, RD_NO_PID);
		assert_int_equal(f.r.thread, 0);
		assert_int_equal(f.r.time, 99);
	}
	next_is(&f, RD_IDENTITY_CLASSIC, 36, pointer_bytes);
	assert_int_equal(f.r.version, 0x0102);
	assert_memory_equal(f.r.guid, guid, 16);
	is_someones(&f);
	next_is(&f, RD_IDENTITY_CLASSIC, 37, pointer_bytes);
	is_someones(&f);
	next_is(&f, RD_IDENTITY_EVENT, 0x0203, pointer_bytes);
	assert_int_equal(f.r.version, 4);
	assert_memory_equal(f.r.guid, guid, 16);
	is_someones(&f);
	next_is(&f, RD_IDENTITY_WPP, 0, 8);
	is_someones(&f);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 0);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 0);
	assert_null(f.walk.damage);
	end(&f);
}

static void every_type(void **state)
{
	every_type_of(4);
	every_type_of(8);
}

static void error_header(void **state)
{
	struct fixture f;
	const uint8_t error[] = {16, 0, 13, 0xc0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

	begin(&f, 8);
	etl_raw(&f.e, error, sizeof error);
	etl_event(&f.e, guid, 1, 0, someone, NULL, &f.payload);
	walk(&f, f.e.plain.n);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 1);
	assert_int_equal(f.r.identity, RD_IDENTITY_HEADER);
	assert_int_equal(f.r.id, 13);
	assert_int_equal(f.r.payload_bytes, 8);
	next_is(&f, RD_IDENTITY_EVENT, 1, 8);
	end(&f);
}

/* A message says which of its fields it has. */
static void message_options(void **state)
{
	struct fixture f;
	const uint8_t component[] = {18, 0, 0, 0x90, 7, 0, 4, 0, 1, 2, 3, 4, 'a', 'b', 'c', 'd', 'e', 'f'};
	const uint8_t bare[] = {8, 0, 0, 0x90, 7, 0, 0, 0};
	const uint8_t cut[] = {12, 0, 0, 0x90, 7, 0, 0x28, 0, 1, 2, 3, 4};

	begin(&f, 8);
	etl_raw(&f.e, component, sizeof component);
	etl_raw(&f.e, bare, sizeof bare);
	etl_raw(&f.e, cut, sizeof cut);
	walk(&f, f.e.plain.n);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 1);
	assert_int_equal(f.r.payload_bytes, 6);
	assert_memory_equal(f.r.payload, "abcdef", 6);
	assert_int_equal(f.r.pid, RD_NO_PID);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 1);
	assert_int_equal(f.r.payload_bytes, 0);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 1);
	assert_int_equal(f.r.payload_bytes, 0);
	assert_int_equal(f.r.pid, RD_NO_PID);
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 0);
	end(&f);
}

static void extended_items(void **state)
{
	struct fixture f;
	struct rd_bytes activity = {0}, stack = {0}, items = {0};
	uint8_t pointer_bytes = 0;

	begin(&f, 8);
	etl_put(&activity, 1, 8);
	etl_put(&activity, 2, 8);
	etl_put(&stack, 0, 8);
	etl_put(&stack, 0x7ff812345678, 8);
	etl_put(&stack, 0x7ff8aaaaaaaa, 8);
	etl_put(&stack, 0xbad, 3);
	etl_put_item(&items, 1, true, &activity);
	etl_put_item(&items, 6, false, &stack);
	etl_event(&f.e, guid, 1, 0, someone, &items, &f.payload);
	/* The chain leaves the record: the event stays, without a payload. */
	etl_patch(&items, 24, 0x7000, 2);
	etl_event(&f.e, guid, 2, 0, someone, &items, &f.payload);
	etl_patch(&items, 24, 3, 2);
	etl_event(&f.e, guid, 3, 0, someone, &items, &f.payload);
	items.n = 4;
	etl_event(&f.e, guid, 4, 0, someone, &items, NULL);
	walk(&f, f.e.plain.n);
	next_is(&f, RD_IDENTITY_EVENT, 1, 8);
	struct rd_span found = rd_etl_extended_stack(&f.r, &pointer_bytes);
	assert_int_equal(found.size_bytes, 16);
	assert_int_equal(pointer_bytes, 8);
	assert_int_equal(rd_le64(found.at), 0x7ff812345678);
	for (uint32_t id = 2; id <= 4; id++) {
		assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 1);
		assert_int_equal(f.r.id, id);
		assert_int_equal(f.r.payload_bytes, 0);
		assert_int_equal(rd_etl_extended_stack(&f.r, &pointer_bytes).size_bytes, 0);
	}
	assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), 0);
	rd_bytes_release(&activity);
	rd_bytes_release(&stack);
	rd_bytes_release(&items);
	end(&f);
}

/* Whatever the buffer's length, the walk gives the records that are whole and then says whether more was meant. */
static void cut_everywhere(void **state)
{
	struct fixture f;
	const size_t sizes[] = {32 + 5, 16 + 8 * 8 + 5, 72 + 5, 80 + 5, 44 + 5};
	size_t begins[6] = {0x48}, n = 0;

	begin(&f, 8);
	etl_system(&f.e, 0x03, 1, 4, someone, &f.payload);
	begins[++n] = f.e.plain.n;
	etl_perfinfo(&f.e, 0x0f, 46, 0x8702, 99, &f.payload);
	begins[++n] = f.e.plain.n;
	etl_instance(&f.e, guid, 37, 2, someone, &f.payload);
	begins[++n] = f.e.plain.n;
	etl_event(&f.e, guid, 1, 0, someone, NULL, &f.payload);
	begins[++n] = f.e.plain.n;
	etl_message(&f.e, guid, 10, someone, &f.payload);
	begins[++n] = f.e.plain.n;
	for (size_t used = 0x48; used <= begins[n]; used++) {
		size_t whole = 0, got = 0;
		int rc;
		/* The padding behind a record may be missing. */
		while (whole < n && begins[whole] + sizes[whole] <= used)
			whole++;
		walk(&f, used);
		while ((rc = rd_etl_walk_next(&f.walk, &f.r)) > 0)
			got++;
		assert_int_equal(got, whole);
		assert_int_equal(rc, used > begins[whole] ? RD_CORRUPT : 0);
		assert_int_equal(f.walk.damage != NULL, rc != 0);
	}
	end(&f);
}

static void no_records(void **state)
{
	const uint8_t cases[][8] = {
		{0, 0, 0, 0, 0, 0, 0, 0},                         /* zeros */
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, /* filler */
		{8, 0, 22, 0xc0, 0, 0, 0, 0},                     /* an unknown type */
		{2, 0, 0, 0xc0, 32, 0, 0, 0},                     /* type 0 */
		{2, 0, 2, 0x80, 32, 0, 0, 0},                     /* a type without its marker */
		{2, 0, 2, 0x40, 32, 0, 0, 0},
		{2, 0, 2, 0xc0, 31, 0, 0, 0}, /* shorter than its header */
		{2, 0, 2, 0xc0, 0, 0, 0, 0},
		{2, 0x07, 17, 0xc0, 71, 0, 0, 0}, /* seven counters and too short for them */
		{47, 0, 20, 0xc0, 0, 0, 0, 0},
		{79, 0, 19, 0xc0, 0, 0, 0, 0},
		{0xff, 0xff, 19, 0xc0, 0, 0, 0, 0}, /* longer than what is left */
		{7, 0, 0, 0x90, 0, 0, 0, 0},        /* a message shorter than its header */
		{0xf0, 0, 0, 0x90, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture f;
		uint8_t raw[128] = {0};
		begin(&f, 8);
		memcpy(raw, cases[i], 8);
		etl_raw(&f.e, raw, sizeof raw);
		walk(&f, f.e.plain.n);
		assert_int_equal(rd_etl_walk_next(&f.walk, &f.r), RD_CORRUPT);
		assert_non_null(f.walk.damage);
		assert_int_equal(f.walk.at, 0x48);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type),     cmocka_unit_test(error_header),   cmocka_unit_test(message_options),
		cmocka_unit_test(extended_items), cmocka_unit_test(cut_everywhere), cmocka_unit_test(no_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
