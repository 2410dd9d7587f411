/* The events of Universal.System and Universal.Events, by whatever list their file gives. */
#include "tests/support.h"

#include "base/table.h"
#include "tests/trace/nettrace/nettrace6_build.h"
#include "trace/fields.h"

static struct rd_span span_of(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

/* Names and shapes in order, ended by a name of NULL. */
static int decode(const char *provider, const char *name, const struct rd_field *fields, const struct rd_bytes *p,
		  size_t n, struct rd_record *r)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_NAMED};
	struct rd_field list[8];
	struct rd_fields known = {list, 0};
	for (; fields != NULL && fields[known.n].name.at != NULL; known.n++)
		list[known.n] = fields[known.n];
	uint8_t *exact = malloc(n + 1);
	struct rd_event ev = {.key = &key, .pid = 500, .thread = 501, .payload_bytes = n, .fields = &known};
	memcpy(exact, n > 0 ? p->at : (const uint8_t *)"", n);
	ev.payload = exact;
	key.type = rd_catalogue_named(span_of(provider), span_of(name), 0, 0);
	assert_non_null(key.type);
	memset(r, 0xee, sizeof *r);
	int rc = key.type->decode(&ev, r);
	if (rc == 0) {
		assert_int_equal(r->kind, key.type->kind);
		assert_int_equal(r->op, key.type->op);
	}
	free(exact);
	return rc;
}

#define FIELD(NAME, SHAPE)                                                                                             \
	{                                                                                                              \
		.name = {(const uint8_t *)(NAME), sizeof(NAME) - 1}, .shape = RD_FIELD_##SHAPE                         \
	}
#define END                                                                                                            \
	{                                                                                                              \
		.name = { 0 }                                                                                          \
	}

static const struct rd_field process_fields[] = {FIELD("NamespaceId", VARUINT), FIELD("Name", TEXT),
						 FIELD("NamespaceName", TEXT), END};

static void processes(void **state)
{
	static const struct {
		const char *name;
		enum rd_op op;
	} rows[] = {{"ExistingProcess", RD_OP_DCSTART}, {"ProcessCreate", RD_OP_LOAD}};
	struct rd_bytes p = {0};
	struct rd_record r;
	put_varuint(&p, 17);
	put_text6(&p, "shop");
	size_t short_of = p.n;
	put_text6(&p, "a container");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(decode("Universal.System", rows[i].name, process_fields, &p, p.n, &r), 0);
		assert_int_equal(r.op, rows[i].op);
		assert_int_equal(r.process.pid, 500);
		assert_int_equal(r.process.namespace_pid, 17);
		assert_int_equal(r.process.name.text.size_bytes, 4);
		/* Nobody asks for what the container is called. */
		for (size_t n = 0; n < p.n; n++)
			assert_int_equal(decode("Universal.System", rows[i].name, process_fields, &p, n, &r),
					 n < short_of ? RD_CORRUPT : 0);
	}
	assert_int_equal(decode("Universal.System", "ProcessExit", NULL, &p, 0, &r), 0);
	assert_int_equal(r.op, RD_OP_UNLOAD);
	assert_int_equal(r.process.pid, 500);
	p.n = 0;
	put_varuint(&p, UINT64_C(1) << 40);
	put_text6(&p, "");
	assert_int_equal(decode("Universal.System", "ProcessCreate", process_fields, &p, p.n, &r), 0);
	assert_int_equal(r.process.namespace_pid, 0);
	rd_bytes_release(&p);
}

/* The published list has a process, real files have none. */
static void mappings(void **state)
{
	static const struct rd_field real[] = {FIELD("Id", VARUINT),
					       FIELD("StartAddress", VARUINT),
					       FIELD("EndAddress", VARUINT),
					       FIELD("FileOffset", VARUINT),
					       FIELD("FileName", TEXT),
					       FIELD("MetadataId", VARUINT),
					       END};
	static const struct rd_field published[] = {FIELD("Id", VARUINT),           FIELD("ProcessId", VARUINT),
						    FIELD("StartAddress", VARUINT), FIELD("EndAddress", VARUINT),
						    FIELD("FileOffset", VARUINT),   FIELD("FileName", TEXT16Z),
						    FIELD("MetadataId", VARUINT),   END};
	struct rd_bytes p = {0};
	struct rd_record r;
	put_varuint(&p, 5);
	put_varuint(&p, 0xffffffff81000000);
	put_varuint(&p, UINT64_MAX);
	put_varuint(&p, 4096);
	put_text6(&p, "/lib/x.so");
	for (size_t n = 0; n < p.n; n++)
		assert_code(RD_CORRUPT, decode("Universal.System", "ProcessMapping", real, &p, n, &r));
	/* Of what stands behind the name nothing is needed. */
	assert_int_equal(decode("Universal.System", "ProcessMapping", real, &p, p.n, &r), 0);
	assert_int_equal(r.mapping.pid, 500);
	assert_int_equal(r.mapping.id, 5);
	assert_true(r.mapping.start == 0xffffffff81000000);
	assert_true(r.mapping.end == UINT64_MAX);
	p.n = 0;
	put_varuint(&p, 6);
	put_varuint(&p, 700);
	put_varuint(&p, 0x1000);
	put_varuint(&p, 0x2000);
	put_varuint(&p, 0);
	put_utf16(&p, "C:\\x.dll");
	put_varuint(&p, 0);
	assert_int_equal(decode("Universal.System", "ProcessMapping", published, &p, p.n, &r), 0);
	assert_int_equal(r.mapping.pid, 700);
	assert_int_equal(r.mapping.end, 0x2000);
	assert_true(r.mapping.path.utf16);
	rd_bytes_release(&p);
}

static void symbols(void **state)
{
	static const struct rd_field fields[] = {FIELD("Name", TEXT),         FIELD("EndAddress", VARUINT),
						 FIELD("Id", VARUINT),        FIELD("StartAddress", VARUINT),
						 FIELD("MappingId", VARUINT), END};
	struct rd_bytes p = {0};
	struct rd_record r;
	put_text6(&p, "memcpy");
	put_varuint(&p, 0x20ff);
	put_varuint(&p, 1);
	put_varuint(&p, 0x2000);
	put_varuint(&p, 300);
	for (size_t n = 0; n < p.n; n++)
		assert_code(RD_CORRUPT, decode("Universal.System", "ProcessSymbol", fields, &p, n, &r));
	assert_int_equal(decode("Universal.System", "ProcessSymbol", fields, &p, p.n, &r), 0);
	assert_int_equal(r.symbol.mapping, 300);
	assert_int_equal(r.symbol.start, 0x2000);
	assert_int_equal(r.symbol.last, 0x20ff);
	assert_int_equal(r.symbol.name.text.size_bytes, 6);
	assert_code(RD_CORRUPT, decode("Universal.System", "ProcessSymbol", NULL, &p, p.n, &r));
	rd_bytes_release(&p);
}

static void samples_and_switches(void **state)
{
	static const struct rd_field fields[] = {FIELD("Value", VARUINT), END};
	struct rd_bytes p = {0};
	struct rd_record r;
	put_varuint(&p, UINT64_MAX);
	for (size_t n = 0; n < p.n; n++)
		assert_code(RD_CORRUPT, decode("Universal.Events", "cpu", fields, &p, n, &r));
	assert_int_equal(decode("Universal.Events", "cpu", fields, &p, p.n, &r), 0);
	assert_int_equal(r.sample.kind, RD_SAMPLE_CPU);
	assert_int_equal(r.sample.thread, 501);
	assert_int_equal(r.sample.pointer, 0);
	assert_true(r.sample.weight == UINT64_MAX);
	/* A file that says nothing of a value has samples all the same. */
	assert_int_equal(decode("Universal.Events", "cpu", NULL, &p, 0, &r), 0);
	assert_int_equal(r.sample.weight, 1);
	assert_int_equal(decode("Universal.Events", "cswitch", fields, &p, p.n, &r), 0);
	assert_int_equal(r.other.what, RD_OTHER_CSWITCH);
	rd_bytes_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes),
		cmocka_unit_test(mappings),
		cmocka_unit_test(symbols),
		cmocka_unit_test(samples_and_switches),
	};
	return cmocka_run_group_tests_name("universal", tests, NULL, NULL);
}
