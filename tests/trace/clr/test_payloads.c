/* The runtime's payloads, every version, every byte short. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/catalogue.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

static struct rd_span span_of(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

/* Decode as the catalogue says; the payload lies alone in a block of its exact size. */
static int decode(const char *provider, uint32_t id, uint32_t version, const struct rd_bytes *p, size_t n,
		  struct rd_record *r)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_NAMED, .id = id, .version = version};
	uint8_t *exact = malloc(n + 1);
	struct rd_event ev = {.key = &key, .version = version, .thread = 5, .pointer_bytes = 8, .payload_bytes = n};
	memcpy(exact, p->at, n);
	ev.payload = exact;
	key.type = rd_catalogue_named(span_of(provider), span_of(""), id, version);
	assert_non_null(key.type);
	assert_non_null(key.type->decode);
	memset(r, 0xee, sizeof *r);
	int rc = key.type->decode(&ev, r);
	if (rc == 0) {
		assert_int_equal(r->kind, key.type->kind);
		assert_int_equal(r->op, key.type->op);
	} else {
		assert_code(RD_CORRUPT, rc);
	}
	free(exact);
	return rc;
}

/* Decoding must fail on every shorter payload, and succeed on this one and on one with more behind it. */
static void check_lengths(const char *provider, uint32_t id, uint32_t version, struct rd_bytes *p, struct rd_record *r)
{
	for (size_t n = 0; n < p->n; n++)
		assert_code(RD_CORRUPT, decode(provider, id, version, p, n, r));
	put_number(p, 0, 8);
	assert_int_equal(decode(provider, id, version, p, p->n, r), 0);
	assert_int_equal(decode(provider, id, version, p, p->n - 8, r), 0);
}

static const struct clr_method fib = {
	.id = 0x1122334455667788,
	.module = 0x99,
	.start = 0x7fff00001000,
	.size_bytes = 0x123,
	.token = 0x6000001,
	.flags = 0x18000208,
	.ns = "Shop.Program",
	.name = "Fib",
	.signature = "int32  (int32)",
	.clr = 9,
	.rejit = 3,
};

static void check_method(uint32_t version, bool named)
{
	struct clr_method m = fib;
	struct rd_bytes p = {0};
	struct rd_record r;
	m.ns = named ? m.ns : NULL;
	put_clr_method(&p, version, &m);
	check_lengths(RUNTIME, named ? 143 : 141, version, &p, &r);
	assert_int_equal(r.kind, RD_EVENT_METHOD);
	assert_int_equal(r.op, RD_OP_LOAD);
	assert_int_equal(r.method.method_id, fib.id);
	assert_int_equal(r.method.module_id, 0x99);
	assert_int_equal(r.method.start, fib.start);
	assert_int_equal(r.method.size_bytes, 0x123);
	assert_int_equal(r.method.token, 0x6000001);
	assert_int_equal(r.method.flags, 0x18000208);
	assert_int_equal(r.method.clr, version >= 1 ? 9 : 0);
	assert_int_equal(r.method.rejit_id, version >= 2 ? 3 : 0);
	assert_int_equal(r.method.named, named);
	/* The spans borrow from a block that is gone: only their sizes. */
	assert_int_equal(r.method.ns.text.size_bytes, named ? 24 : 0);
	assert_int_equal(r.method.name.text.size_bytes, named ? 6 : 0);
	assert_int_equal(r.method.signature.text.size_bytes, named ? 28 : 0);
	assert_int_equal(r.method.ns.utf16, named);
	rd_bytes_release(&p);
}

static void methods_of_every_version(void **state)
{
	for (uint32_t version = 0; version <= 3; version++) {
		check_method(version, true);
		check_method(version, false);
	}
}

static void the_provider_says_what_an_id_is(void **state)
{
	static const struct {
		const char *provider;
		uint32_t id;
		uint8_t op;
		bool named;
	} rows[] = {
		{RUNTIME, 137, RD_OP_DCSTART, false}, {RUNTIME, 138, RD_OP_DCEND, false},
		{RUNTIME, 139, RD_OP_DCSTART, true},  {RUNTIME, 140, RD_OP_DCEND, true},
		{RUNTIME, 141, RD_OP_LOAD, false},    {RUNTIME, 142, RD_OP_UNLOAD, false},
		{RUNTIME, 143, RD_OP_LOAD, true},     {RUNTIME, 144, RD_OP_UNLOAD, true},
		{RUNDOWN, 141, RD_OP_DCSTART, false}, {RUNDOWN, 142, RD_OP_DCEND, false},
		{RUNDOWN, 143, RD_OP_DCSTART, true},  {RUNDOWN, 144, RD_OP_DCEND, true},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct clr_method m = fib;
		struct rd_bytes p = {0};
		struct rd_record r;
		m.ns = rows[i].named ? m.ns : NULL;
		put_clr_method(&p, 0, &m);
		assert_int_equal(decode(rows[i].provider, rows[i].id, 0, &p, p.n, &r), 0);
		assert_int_equal(r.kind, RD_EVENT_METHOD);
		assert_int_equal(r.op, rows[i].op);
		assert_int_equal(r.method.named, rows[i].named);
		rd_bytes_release(&p);
	}
}

/* Names of 30,000 characters stay whole; a name that does not end is no event (reports of other tools, 15 and 16). */
static void long_names_and_names_without_end(void **state)
{
	char *name = malloc(30001);
	struct clr_method m = fib;
	struct rd_bytes p = {0};
	struct rd_record r;
	memset(name, 'x', 30000);
	name[30000] = 0;
	m.name = name;
	put_clr_method(&p, 1, &m);
	assert_int_equal(decode(RUNTIME, 143, 1, &p, p.n, &r), 0);
	assert_int_equal(r.method.name.text.size_bytes, 60000);
	p.n = 36;
	put_utf16(&p, "OnlyOneString");
	assert_code(RD_CORRUPT, decode(RUNTIME, 143, 1, &p, p.n, &r));
	assert_code(RD_CORRUPT, decode(RUNTIME, 143, 1, &p, p.n - 2, &r));
	rd_bytes_release(&p);
	free(name);
}

static void modules_of_every_version(void **state)
{
	for (uint32_t version = 0; version <= 3; version++) {
		struct rd_bytes p = {0};
		struct rd_record r;
		put_clr_module(&p, version, 0x500, 0, "/shop.dll", 9);
		check_lengths(RUNTIME, 152, version, &p, &r);
		assert_int_equal(r.kind, RD_EVENT_MODULE);
		assert_int_equal(r.op, RD_OP_LOAD);
		assert_int_equal(r.module.module_id, 0x500);
		assert_int_equal(r.module.flags, 8);
		assert_int_equal(r.module.il_path.text.size_bytes, 18);
		assert_int_equal(r.module.clr, version >= 1 ? 9 : 0);
		assert_int_equal(r.module.pdb_age, version >= 2 ? 7 : 0);
		assert_int_equal(r.module.pdb_path.text.size_bytes, version >= 2 ? 10 : 0);
		assert_int_equal(memcmp(r.module.pdb_guid, "managed-pdb-guid", 16) == 0, version >= 2);
		p.n = 0;
		put_clr_module(&p, version, 0x500, 77, "/shop.dll", 9);
		check_lengths(RUNDOWN, 152, version, &p, &r);
		assert_int_equal(r.op, RD_OP_DCEND);
		assert_int_equal(r.module.module_id, 0x500);
		assert_int_equal(r.module.flags, 8);
		assert_int_equal(r.module.clr, version >= 1 ? 9 : 0);
		rd_bytes_release(&p);
	}
}

static void module_events_of_both_providers(void **state)
{
	static const struct {
		const char *provider;
		uint32_t id;
		uint8_t op;
		bool domain;
	} rows[] = {
		{RUNTIME, 149, RD_OP_DCSTART, false}, {RUNTIME, 150, RD_OP_DCEND, false},
		{RUNTIME, 151, RD_OP_LOAD, true},     {RUNTIME, 152, RD_OP_LOAD, false},
		{RUNTIME, 153, RD_OP_UNLOAD, false},  {RUNDOWN, 151, RD_OP_DCSTART, true},
		{RUNDOWN, 152, RD_OP_DCEND, true},    {RUNDOWN, 153, RD_OP_DCSTART, false},
		{RUNDOWN, 154, RD_OP_DCEND, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rd_bytes p = {0};
		struct rd_record r;
		put_clr_module(&p, 0, 0x500, rows[i].domain ? 77 : 0, "/shop.dll", 9);
		assert_int_equal(decode(rows[i].provider, rows[i].id, 0, &p, p.n, &r), 0);
		assert_int_equal(r.kind, RD_EVENT_MODULE);
		assert_int_equal(r.op, rows[i].op);
		assert_int_equal(r.module.il_path.text.size_bytes, 18);
		rd_bytes_release(&p);
	}
}

static void markers(void **state)
{
	static const struct {
		const char *provider;
		uint32_t id, marker;
	} rows[] = {
		{RUNTIME, 135, RD_MARKER_START_COMPLETE}, {RUNTIME, 136, RD_MARKER_END_COMPLETE},
		{RUNDOWN, 145, RD_MARKER_START_COMPLETE}, {RUNDOWN, 146, RD_MARKER_END_COMPLETE},
		{RUNDOWN, 147, RD_MARKER_START_INIT},     {RUNDOWN, 148, RD_MARKER_END_INIT},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rd_bytes p = {0};
		struct rd_record r;
		put_number(&p, 9, 2);
		assert_int_equal(decode(rows[i].provider, rows[i].id, 0, &p, 0, &r), 0);
		assert_int_equal(r.kind, RD_EVENT_MARKER);
		assert_int_equal(r.marker.marker, rows[i].marker);
		assert_int_equal(r.marker.clr, 0);
		check_lengths(rows[i].provider, rows[i].id, 1, &p, &r);
		assert_int_equal(r.marker.clr, 9);
		rd_bytes_release(&p);
	}
}

static void runtime_information(void **state)
{
	struct rd_bytes p = {0};
	struct rd_record r;
	put_number(&p, 9, 2);
	put_number(&p, 2, 2);
	for (unsigned i = 0; i < 8; i++)
		put_number(&p, i < 4 ? 4 : 6 + i, 2);
	put_number(&p, 0, 4 + 1);
	put_utf16(&p, "shop --all");
	put_number(&p, 0, 16);
	put_utf16(&p, "/libcoreclr.so");
	check_lengths(RUNTIME, 187, 0, &p, &r);
	assert_int_equal(decode(RUNDOWN, 187, 0, &p, p.n, &r), 0);
	assert_int_equal(r.kind, RD_EVENT_RUNTIME);
	assert_int_equal(r.runtime.clr, 9);
	assert_int_equal(r.runtime.version[0], 10);
	assert_int_equal(r.runtime.version[3], 13);
	assert_int_equal(r.runtime.command_line.text.size_bytes, 20);
	rd_bytes_release(&p);
}

static void thread_samples(void **state)
{
	for (uint32_t type = 0; type < 5; type++) {
		struct rd_bytes p = {0};
		struct rd_record r;
		put_number(&p, type, 4);
		if (type != 1 && type != 2) {
			assert_code(RD_CORRUPT, decode("Microsoft-DotNETCore-SampleProfiler", 0, 0, &p, 4, &r));
		} else {
			check_lengths("Microsoft-DotNETCore-SampleProfiler", 0, 0, &p, &r);
			assert_int_equal(r.kind, RD_EVENT_SAMPLE);
			assert_int_equal(r.sample.kind, type == 1 ? RD_SAMPLE_EXTERNAL : RD_SAMPLE_MANAGED);
			assert_int_equal(r.sample.thread, 5);
			assert_int_equal(r.sample.pointer, 0);
			assert_int_equal(r.sample.weight, 1);
		}
		rd_bytes_release(&p);
	}
}

static void process_info(void **state)
{
	struct rd_bytes p = {0};
	struct rd_record r;
	put_utf16(&p, "dotnet shop.dll");
	check_lengths("Microsoft-DotNETCore-EventPipe", 1, 1, &p, &r);
	assert_int_equal(r.kind, RD_EVENT_RUNTIME);
	assert_int_equal(r.runtime.command_line.text.size_bytes, 30);
	assert_true(r.runtime.command_line.utf16);
	rd_bytes_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_of_every_version),
		cmocka_unit_test(the_provider_says_what_an_id_is),
		cmocka_unit_test(long_names_and_names_without_end),
		cmocka_unit_test(modules_of_every_version),
		cmocka_unit_test(module_events_of_both_providers),
		cmocka_unit_test(markers),
		cmocka_unit_test(runtime_information),
		cmocka_unit_test(thread_samples),
		cmocka_unit_test(process_info),
	};
	return cmocka_run_group_tests_name("clr/payloads", tests, NULL, NULL);
}
