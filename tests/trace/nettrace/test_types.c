/* Metadata ids and the keys behind them. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/nettrace/types.h"

static void put_metadata(struct rd_bytes *out, uint32_t id, const char *provider, uint32_t event, const char *name,
			 uint32_t version)
{
	out->n = 0;
	put_number(out, id, 4);
	put_utf16(out, provider);
	put_number(out, event, 4);
	put_utf16(out, name);
	put_number(out, 0, 8);
	put_number(out, version, 4);
	put_number(out, 5, 4);
}

static int define(struct rd_nettrace_types *t, uint32_t id, const char *provider, uint32_t event, const char *name,
		  uint32_t version)
{
	struct rd_nettrace_metadata m;
	struct rd_bytes p = {0};
	put_metadata(&p, id, provider, event, name, version);
	assert_true(rd_nettrace_metadata(p.at, p.n, &m));
	int rc = rd_nettrace_types_define(t, &m);
	rd_bytes_release(&p);
	return rc;
}

static void a_record_is_read_whole_or_not(void **state)
{
	struct rd_nettrace_metadata m;
	struct rd_bytes p = {0};
	put_metadata(&p, 3, "Prov", 9, "Name", 2);
	assert_true(rd_nettrace_metadata(p.at, p.n, &m));
	assert_int_equal(m.id, 3);
	assert_int_equal(m.event_id, 9);
	assert_int_equal(m.version, 2);
	assert_int_equal(m.provider.size_bytes, 8);
	assert_int_equal(m.name.size_bytes, 8);
	for (size_t n = 0; n < p.n; n++)
		assert_false(rd_nettrace_metadata(p.at, n, &m));
	put_metadata(&p, 0, "Prov", 9, "", 2);
	assert_false(rd_nettrace_metadata(p.at, p.n, &m));
	put_metadata(&p, RD_NETTRACE_METADATA_IDS, "Prov", 9, "", 2);
	assert_false(rd_nettrace_metadata(p.at, p.n, &m));
	rd_bytes_release(&p);
}

static void ids_find_their_keys(void **state)
{
	struct rd_nettrace_types t;
	assert_int_equal(rd_nettrace_types_init(&t, RD_WANT(RD_EVENT_METHOD)), 0);
	assert_null(rd_nettrace_types_find(&t, 0));
	assert_null(rd_nettrace_types_find(&t, 12));
	assert_int_equal(define(&t, 12, "Microsoft-Windows-DotNETRuntime", 143, "", 1), 0);
	assert_int_equal(define(&t, 7, "Microsoft-Windows-DotNETRuntimeRundown", 145, "", 1), 0);
	const struct rd_nettrace_type *method = rd_nettrace_types_find(&t, 12), *marker = rd_nettrace_types_find(&t, 7);
	assert_string_equal(method->key->type->name, "MethodLoadVerbose");
	assert_true(method->wanted);
	assert_string_equal(marker->key->type->name, "DCStartComplete");
	assert_false(marker->wanted);
	assert_null(rd_nettrace_types_find(&t, 8));
	assert_null(rd_nettrace_types_find(&t, UINT32_MAX));
	assert_int_equal(rd_nettrace_types_bad(&t)->identity, RD_IDENTITY_BAD);
	assert_int_equal(rd_nettrace_types_bad(&t)->slot, 0);
	rd_nettrace_types_release(&t);
}

static void equal_identities_are_one_key(void **state)
{
	struct rd_nettrace_types t;
	assert_int_equal(rd_nettrace_types_init(&t, UINT64_MAX), 0);
	assert_int_equal(define(&t, 1, "A", 5, "N", 1), 0);
	assert_int_equal(define(&t, 2, "A", 5, "N", 1), 0);
	assert_int_equal(define(&t, 3, "A", 5, "M", 1), 0);
	assert_int_equal(define(&t, 4, "A", 5, "N", 2), 0);
	assert_int_equal(define(&t, 5, "AN", 5, "", 1), 0);
	assert_ptr_equal(rd_nettrace_types_find(&t, 1)->key, rd_nettrace_types_find(&t, 2)->key);
	for (uint32_t id = 3; id <= 5; id++)
		assert_int_equal(rd_nettrace_types_find(&t, id)->key->slot, id - 1);
	/* The later definition of an id holds. */
	assert_int_equal(define(&t, 1, "B", 6, "", 0), 0);
	assert_span(rd_nettrace_types_find(&t, 1)->key->provider, "B");
	rd_nettrace_types_release(&t);
}

/* A record of version 6: UTF-8, and a list of one field. */
static const uint8_t one_field[] = {1, 0, 7, 0, 5, 'V', 'a', 'l', 'u', 'e', 21};
static const struct rd_nettrace_metadata cpu = {
	.id = 3,
	.provider = {(const uint8_t *)"Universal.Events", 16},
	.name = {(const uint8_t *)"cpu", 3},
	.utf8 = true,
	.fields = {one_field, sizeof one_field},
};

static void types_of_version_6_have_fields(void **state)
{
	struct rd_nettrace_types t;
	struct rd_nettrace_metadata again = cpu;
	assert_int_equal(rd_nettrace_types_init(&t, RD_WANT(RD_EVENT_SAMPLE)), 0);
	assert_int_equal(rd_nettrace_types_define(&t, &cpu), 0);
	again.id = 4;
	assert_int_equal(rd_nettrace_types_define(&t, &again), 0);
	again.id = 5;
	again.fields.size_bytes = 0;
	assert_int_equal(rd_nettrace_types_define(&t, &again), 0);
	const struct rd_nettrace_type *a = rd_nettrace_types_find(&t, 3), *b = rd_nettrace_types_find(&t, 4);
	assert_true(a->wanted);
	assert_int_equal(a->fields->n, 1);
	assert_span(a->fields->at[0].name, "Value");
	assert_int_equal(a->fields->at[0].shape, RD_FIELD_VARUINT);
	/* One list, one key. */
	assert_ptr_equal(a->fields, b->fields);
	assert_ptr_equal(a->key, b->key);
	assert_null(rd_nettrace_types_find(&t, 5)->fields);
	const struct rd_event_key *key = a->key;
	rd_nettrace_types_reset(&t);
	assert_null(rd_nettrace_types_find(&t, 3));
	assert_int_equal(rd_nettrace_types_define(&t, &cpu), 0);
	assert_ptr_equal(rd_nettrace_types_find(&t, 3)->key, key);
	assert_null(rd_nettrace_types_find(&t, 2));
	rd_nettrace_types_release(&t);
}

static void a_type_in_another_version(void **state)
{
	struct rd_nettrace_types t;
	struct rd_nettrace_type other;
	assert_int_equal(rd_nettrace_types_init(&t, RD_WANT(RD_EVENT_METHOD)), 0);
	assert_int_equal(define(&t, 1, "Microsoft-Windows-DotNETRuntime", 143, "", 0), 0);
	assert_int_equal(rd_nettrace_types_version(&t, rd_nettrace_types_find(&t, 1), 2, &other), 0);
	assert_int_equal(other.key->version, 2);
	assert_true(other.wanted);
	assert_string_equal(other.key->type->name, "MethodLoadVerbose");
	assert_int_equal(rd_nettrace_types_find(&t, 1)->key->version, 0);
	assert_int_equal(rd_nettrace_types_version(&t, &other, 0, &other), 0);
	assert_ptr_equal(other.key, rd_nettrace_types_find(&t, 1)->key);
	rd_nettrace_types_release(&t);
}

static void any_allocation_may_fail(void **state)
{
	for (uint64_t nth = 1;; nth++) {
		struct rd_nettrace_types t = {0};
		struct rd_nettrace_metadata m;
		struct rd_bytes p = {0};
		put_metadata(&p, 40, "Provider", 9, "Name", 2);
		assert_true(rd_nettrace_metadata(p.at, p.n, &m));
		rd_fail_allocation(nth);
		int rc = rd_nettrace_types_init(&t, 1);
		if (rc == 0)
			rc = rd_nettrace_types_define(&t, &m);
		if (rc == 0)
			rc = rd_nettrace_types_define(&t, &cpu);
		rd_fail_allocation(0);
		rd_nettrace_types_release(&t);
		rd_bytes_release(&p);
		if (rc == 0)
			break;
		assert_code(RD_NOMEM, rc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_read_whole_or_not), cmocka_unit_test(ids_find_their_keys),
		cmocka_unit_test(equal_identities_are_one_key),  cmocka_unit_test(types_of_version_6_have_fields),
		cmocka_unit_test(a_type_in_another_version),     cmocka_unit_test(any_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("nettrace/types", tests, NULL, NULL);
}
