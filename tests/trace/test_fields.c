/* Field lists, and payloads read by them. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace6_build.h"
#include "trace/fields.h"

struct values {
	uint64_t a, b;
	struct rd_name text;
};

static const struct rd_field_wanted wanted[] = {
	RD_FIELD_WANTED(struct values, a, "A", false, true),
	RD_FIELD_WANTED(struct values, b, "B", false, false),
	RD_FIELD_WANTED(struct values, text, "Text", true, false),
};

/* A list as a file has it, out of a metadata row; the caller frees both. */
static void list_of(const struct nettrace6_field *fields, struct rd_bytes *bytes, rd_field_vec *list)
{
	struct rd_bytes *out = bytes;
	size_t n = 0;
	while (fields[n].name != NULL)
		n++;
	put_number(out, n, 2);
	for (size_t i = 0; i < n; i++) {
		bool array = fields[i].type == FIELD_ARRAY || fields[i].type == FIELD_FIXED_ARRAY;
		size_t extra = (array ? 1 : 0) + (fields[i].type == FIELD_FIXED_ARRAY ? 2 : 0);
		put_number(out, strlen(fields[i].name) + 2 + extra + 1, 2);
		put_string6(out, fields[i].name);
		put_number(out, fields[i].type, 1);
		if (array)
			put_number(out, fields[i].element, 1);
		if (fields[i].type == FIELD_FIXED_ARRAY)
			put_number(out, fields[i].count, 2);
		/* What a later version may add. */
		put_number(out, 0xee, 1);
	}
	struct rd_cursor c = rd_cursor_of(out->at, out->n);
	assert_int_equal(rd_fields_parse(&c, list), 0);
	assert_false(c.failed);
	assert_int_equal(rd_left(&c), 0);
	assert_int_equal(list->n, n);
}

static int read_payload(const struct nettrace6_field *fields, const struct rd_bytes *payload, size_t n,
			struct values *out)
{
	struct rd_bytes bytes = {0};
	rd_field_vec list = {0};
	list_of(fields, &bytes, &list);
	struct rd_fields known = {list.at, list.n};
	uint8_t *exact = malloc(n + 1);
	memcpy(exact, payload->at, n);
	struct rd_event ev = {.payload = exact, .payload_bytes = n, .fields = &known};
	*out = (struct values){.a = 1, .b = 2};
	int rc = rd_fields_read(&ev, wanted, 3, out);
	free(exact);
	rd_vec_release(&list);
	rd_bytes_release(&bytes);
	return rc;
}

static void fields_are_found_wherever_they_stand(void **state)
{
	static const struct nettrace6_field fields[] = {
		{"Guid", FIELD_GUID, 0, 0},
		{"Wide", FIELD_UTF16, 0, 0},
		{"Many", FIELD_ARRAY, FIELD_UINT32, 0},
		{"Fixed", FIELD_FIXED_ARRAY, FIELD_UINT16, 3},
		{"B", FIELD_VARINT, 0, 0},
		{"Text", FIELD_UTF8, 0, 0},
		{"A", FIELD_UINT32, 0, 0},
		{"Behind", FIELD_OBJECT, 0, 0},
		{NULL, 0, 0, 0},
	};
	struct rd_bytes p = {0};
	struct values v;
	put_number(&p, 0, 16);
	put_utf16(&p, "wide");
	put_number(&p, 2, 2);
	put_number(&p, 0, 8);
	put_number(&p, 0, 6);
	put_varuint(&p, 5); /* -3 */
	put_text6(&p, "some text");
	put_number(&p, 0xfffefdfc, 4);
	assert_int_equal(read_payload(fields, &p, p.n, &v), 0);
	assert_int_equal(v.a, 0xfffefdfc);
	assert_int_equal(v.b, -3);
	assert_false(v.text.utf16);
	for (size_t n = 0; n < p.n; n++)
		assert_code(RD_CORRUPT, read_payload(fields, &p, n, &v));
	rd_bytes_release(&p);
}

static void texts_of_all_shapes(void **state)
{
	static const struct nettrace6_field shapes[][3] = {
		{{"A", FIELD_VARUINT, 0, 0}, {"Text", FIELD_UTF8, 0, 0}, {NULL, 0, 0, 0}},
		{{"A", FIELD_VARUINT, 0, 0}, {"Text", FIELD_ARRAY, FIELD_UTF8, 0}, {NULL, 0, 0, 0}},
		{{"A", FIELD_VARUINT, 0, 0}, {"Text", FIELD_ARRAY, 4, 0}, {NULL, 0, 0, 0}},
		{{"A", FIELD_VARUINT, 0, 0}, {"Text", FIELD_UTF16, 0, 0}, {NULL, 0, 0, 0}},
	};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct rd_bytes p = {0}, list = {0};
		rd_field_vec fields = {0};
		struct values v = {0};
		put_varuint(&p, 300);
		if (i < 2)
			put_text6(&p, "Ab");
		if (i == 2)
			put_number(&p, 2, 2);
		if (i >= 2)
			put_utf16(&p, "Ab");
		list_of(shapes[i], &list, &fields);
		struct rd_fields known = {fields.at, fields.n};
		struct rd_event ev = {.payload = p.at, .payload_bytes = p.n, .fields = &known};
		assert_int_equal(rd_fields_read(&ev, wanted, 3, &v), 0);
		assert_int_equal(v.a, 300);
		assert_int_equal(v.text.utf16, i >= 2);
		assert_int_equal(v.text.text.size_bytes, i >= 2 ? 4 : 2);
		assert_int_equal(v.text.text.at[0], 'A');
		rd_vec_release(&fields);
		rd_bytes_release(&list);
		rd_bytes_release(&p);
	}
}

static void what_a_list_does_not_have(void **state)
{
	static const struct nettrace6_field only_b[] = {{"B", FIELD_VARUINT, 0, 0}, {NULL, 0, 0, 0}};
	static const struct nettrace6_field other_type[] = {{"A", FIELD_UTF8, 0, 0}, {NULL, 0, 0, 0}};
	static const struct nettrace6_field behind[] = {
		{"Thing", FIELD_OBJECT, 0, 0}, {"A", FIELD_VARUINT, 0, 0}, {NULL, 0, 0, 0}};
	static const struct nettrace6_field twice[] = {
		{"A", FIELD_VARUINT, 0, 0}, {"A", FIELD_VARUINT, 0, 0}, {"b", FIELD_VARUINT, 0, 0}, {NULL, 0, 0, 0}};
	struct rd_bytes p = {0};
	struct values v;
	put_varuint(&p, 0);
	put_varuint(&p, 7);
	put_varuint(&p, 8);
	assert_code(RD_CORRUPT, read_payload(only_b, &p, p.n, &v));
	assert_code(RD_CORRUPT, read_payload(other_type, &p, p.n, &v));
	assert_code(RD_CORRUPT, read_payload(behind, &p, p.n, &v));
	assert_int_equal(read_payload(twice, &p, p.n, &v), 0);
	assert_int_equal(v.a, 0);
	assert_int_equal(v.b, 2);
	assert_null(v.text.text.at);
	assert_code(RD_CORRUPT,
		    rd_fields_read(&(struct rd_event){.payload = p.at, .payload_bytes = p.n}, wanted, 3, &v));
	rd_bytes_release(&p);
}

static void a_list_is_whole_or_none(void **state)
{
	static const struct nettrace6_field fields[] = {{"A", FIELD_FIXED_ARRAY, FIELD_UINT64, 9},
							{"B", FIELD_ARRAY, 99, 0},
							{"C", 200, 0, 0},
							{NULL, 0, 0, 0}};
	struct rd_bytes bytes = {0};
	rd_field_vec list = {0};
	list_of(fields, &bytes, &list);
	assert_int_equal(list.at[0].shape, RD_FIELD_BYTES);
	assert_int_equal(list.at[0].size_bytes, 72);
	assert_int_equal(list.at[1].shape, RD_FIELD_OPAQUE);
	assert_int_equal(list.at[2].shape, RD_FIELD_OPAQUE);
	assert_span(list.at[2].name, "C");
	for (size_t n = 0; n < bytes.n; n++) {
		struct rd_cursor c = rd_cursor_of(bytes.at, n);
		assert_int_equal(rd_fields_parse(&c, NULL), 0);
		assert_true(c.failed);
	}
	rd_field_vec none = {0};
	struct rd_cursor c = rd_cursor_of(bytes.at, bytes.n);
	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_fields_parse(&c, &none));
	rd_fail_allocation(0);
	rd_vec_release(&none);
	rd_vec_release(&list);
	rd_bytes_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_wherever_they_stand),
		cmocka_unit_test(texts_of_all_shapes),
		cmocka_unit_test(what_a_list_does_not_have),
		cmocka_unit_test(a_list_is_whole_or_none),
	};
	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
