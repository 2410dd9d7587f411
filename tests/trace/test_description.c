/* What files say of their events: metadata of nettrace, items of ETL, merged manifests; whole and cut anywhere. */
#include "tests/support.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/description.h"
#include "trace/nettrace/nettrace.h"

typedef int (*describe_fn)(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out);

static bool says(struct rd_span span, const char *text)
{
	return span.size_bytes == strlen(text) && memcmp(span.at, text, span.size_bytes) == 0;
}

static void check_field(const struct rd_description *d, size_t i, const char *name, const char *type)
{
	assert_true(i < d->fields.n);
	assert_true(says(d->fields.at[i].name, name));
	assert_true(says(d->fields.at[i].type, type));
}

/* Every beginning of the bytes, each in memory of its own so that a sanitizer sees a read behind it. */
static void cut_anywhere(describe_fn describe, const struct rd_trace_info *info, const struct rd_event_key *key,
			 const struct rd_bytes *said)
{
	for (size_t n = 0; n < said->n; n++) {
		struct rd_description d = {0};
		uint8_t *copy = malloc(n ? n : 1);
		memcpy(copy, said->at, n);
		struct rd_event ev = {.key = key, .said = {copy, n}};
		assert_int_equal(describe(info, &ev, &d), 0);
		rd_description_release(&d);
		free(copy);
	}
}

static void put_text(struct rd_bytes *b, const char *text, bool nul)
{
	rd_bytes_append(b, text, strlen(text) + nul);
}

static void head_4(struct rd_bytes *b, uint32_t fields)
{
	put_number(b, 7, 4);
	put_utf16(b, "Prov");
	put_number(b, 3, 4);
	put_utf16(b, "Named");
	put_number(b, 0xf00000000010, 8);
	put_number(b, 1, 4);
	put_number(b, 5, 4);
	put_number(b, fields, 4);
}

static void fields_of_version_4(void **state)
{
	const struct rd_trace_info info = {.version_major = 4};
	const struct rd_event_key key = {.identity = RD_IDENTITY_NAMED};
	struct rd_description d = {0};
	struct rd_bytes b = {0};

	head_4(&b, 3);
	put_number(&b, 10, 4);
	put_utf16(&b, "Count");
	/* A structure of two, whose name comes behind its members. */
	put_number(&b, 1, 4);
	put_number(&b, 2, 4);
	put_number(&b, 18, 4);
	put_utf16(&b, "Key");
	put_number(&b, 99, 4);
	put_utf16(&b, "Odd");
	put_utf16(&b, "Pair");
	put_number(&b, 17, 4);
	put_utf16(&b, "Id");
	/* Tag 1: the opcode. */
	put_number(&b, 1, 4);
	put_number(&b, 1, 1);
	put_number(&b, 9, 1);
	struct rd_event ev = {.key = &key, .said = {b.at, b.n}};
	assert_int_equal(rd_describe_nettrace(&info, &ev, &d), 0);
	assert_true(says(d.name, "Named"));
	assert_true(d.has_keywords && d.keywords == 0xf00000000010);
	assert_true(d.has_level && d.level == 5);
	assert_true(d.has_opcode && d.opcode == 9);
	assert_int_equal(d.fields.n, 4);
	check_field(&d, 0, "Count", "u32");
	check_field(&d, 1, "Pair.Key", "string");
	check_field(&d, 2, "Pair.Odd", "type 99");
	check_field(&d, 3, "Id", "guid");
	rd_description_release(&d);
	cut_anywhere(rd_describe_nettrace, &info, &key, &b);
	rd_bytes_release(&b);
}

/* Tag 2 says the fields once more, with arrays. */
static void fields_of_a_tag(void **state)
{
	const struct rd_trace_info info = {.version_major = 4};
	const struct rd_event_key key = {.identity = RD_IDENTITY_NAMED};
	struct rd_description d = {0};
	struct rd_bytes b = {0}, tag = {0};

	head_4(&b, 0);
	put_number(&tag, 1, 4);
	put_number(&tag, 22, 4);
	put_utf16(&tag, "Rows");
	put_number(&tag, 19, 4);
	put_number(&tag, 6, 4);
	put_number(&b, tag.n, 4);
	put_number(&b, 2, 1);
	rd_bytes_append(&b, tag.at, tag.n);
	struct rd_event ev = {.key = &key, .said = {b.at, b.n}};
	assert_int_equal(rd_describe_nettrace(&info, &ev, &d), 0);
	assert_int_equal(d.fields.n, 1);
	check_field(&d, 0, "Rows", "u8[]");
	rd_description_release(&d);
	cut_anywhere(rd_describe_nettrace, &info, &key, &b);
	rd_bytes_release(&b);
	rd_bytes_release(&tag);
}

/* Counts that the bytes cannot hold, and structures in structures without end. */
static void absurd_lists(void **state)
{
	const struct rd_trace_info info = {.version_major = 4};
	const struct rd_event_key key = {.identity = RD_IDENTITY_NAMED};
	struct rd_description d = {0};
	struct rd_bytes b = {0};

	head_4(&b, UINT32_MAX);
	for (int i = 0; i < 1000; i++) {
		put_number(&b, 1, 4);
		put_number(&b, UINT32_MAX, 4);
	}
	struct rd_event ev = {.key = &key, .said = {b.at, b.n}};
	assert_int_equal(rd_describe_nettrace(&info, &ev, &d), 0);
	assert_int_equal(d.fields.n, 0);
	rd_description_release(&d);
	rd_bytes_release(&b);
}

static void put_counted(struct rd_bytes *b, const char *text)
{
	put_number(b, strlen(text), 1);
	put_text(b, text, false);
}

static void version_6(void **state)
{
	const struct rd_trace_info info = {.version_major = 6};
	const struct rd_event_key key = {.identity = RD_IDENTITY_NAMED};
	struct rd_description d = {0};
	struct rd_bytes b = {0};

	put_number(&b, 2, 1);
	put_counted(&b, "Universal.Events");
	put_number(&b, 1, 1);
	put_counted(&b, "cpu");
	put_number(&b, 2, 2);
	put_number(&b, 7, 2);
	put_counted(&b, "Value");
	put_number(&b, 21, 1);
	put_number(&b, 6, 2);
	put_counted(&b, "Txt");
	put_number(&b, 19, 1);
	put_number(&b, 23, 1);
	put_number(&b, 11, 2);
	put_number(&b, 3, 1);
	put_number(&b, 0x20, 8);
	put_number(&b, 8, 1);
	put_number(&b, 4, 1);
	struct rd_event ev = {.key = &key, .said = {b.at, b.n}};
	assert_int_equal(rd_describe_nettrace(&info, &ev, &d), 0);
	assert_true(says(d.name, "cpu"));
	assert_int_equal(d.fields.n, 2);
	check_field(&d, 0, "Value", "varuint");
	check_field(&d, 1, "Txt", "counted utf8");
	assert_true(d.has_keywords && d.keywords == 0x20);
	assert_true(d.has_level && d.level == 4);
	rd_description_release(&d);
	cut_anywhere(rd_describe_nettrace, &info, &key, &b);
	rd_bytes_release(&b);
}

static void put_item(struct rd_bytes *b, uint16_t type, const struct rd_bytes *data, bool more)
{
	size_t size = (8 + data->n + 7) & ~(size_t)7;
	put_number(b, size, 2);
	put_number(b, type, 2);
	put_number(b, more, 2);
	put_number(b, data->n, 2);
	rd_bytes_append(b, data->at, data->n);
	for (size_t i = 8 + data->n; i < size; i++)
		put_number(b, 0, 1);
}

static void events_that_describe_themselves(void **state)
{
	const struct rd_event_key key = {.identity = RD_IDENTITY_EVENT};
	struct rd_description d = {0};
	struct rd_bytes b = {0}, self = {0}, traits = {0};

	for (int i = 0; i < 80; i++)
		put_number(&b, 0, 1);
	b.at[44] = 3;
	b.at[45] = 11;
	b.at[48] = 0x80;
	put_number(&traits, 0, 2);
	put_text(&traits, "My.Provider", true);
	put_number(&self, 0, 2);
	put_number(&self, 0, 1);
	put_text(&self, "Started", true);
	put_text(&self, "Pair", true);
	put_number(&self, 0x80 | 24, 1);
	put_number(&self, 2, 1);
	put_text(&self, "Key", true);
	put_number(&self, 8, 1);
	put_text(&self, "Text", true);
	put_number(&self, 1, 1);
	put_text(&self, "Rows", true);
	put_number(&self, 0x20 | 4, 1);
	put_number(&self, 3, 2);
	put_item(&b, 12, &traits, true);
	put_item(&b, 11, &self, false);
	struct rd_event ev = {.key = &key, .said = {b.at, b.n}};
	assert_int_equal(rd_etl_self_description(&ev).size_bytes, self.n);
	assert_int_equal(rd_describe_etl(NULL, &ev, &d), 0);
	assert_true(says(d.provider, "My.Provider"));
	assert_true(says(d.name, "Started"));
	assert_int_equal(d.level, 3);
	assert_int_equal(d.opcode, 11);
	assert_true(d.keywords == 0x80);
	assert_int_equal(d.fields.n, 4);
	check_field(&d, 0, "Pair", "struct");
	check_field(&d, 1, "Pair.Key", "u32");
	check_field(&d, 2, "Pair.Text", "string");
	check_field(&d, 3, "Rows", "u8[3]");
	rd_description_release(&d);
	cut_anywhere(rd_describe_etl, NULL, &key, &b);
	rd_bytes_release(&b);
	rd_bytes_release(&self);
	rd_bytes_release(&traits);
}

/* Neither a description without an end nor a count beyond the bytes is followed. */
static void merged_manifests(void **state)
{
	struct rd_bytes b = {0};

	for (int i = 0; i < 112; i++)
		put_number(&b, 0, 1);
	b.at[36] = 4;
	b.at[40] = 0x10;
	b.at[52] = 160; /* provider */
	b.at[100] = b.at[104] = 2;
	put_number(&b, 0, 4);
	put_number(&b, 166, 4);
	put_number(&b, 10, 2);
	put_number(&b, 0, 2);
	put_number(&b, 0, 4);
	put_number(&b, 1, 2);
	put_number(&b, 8, 2);
	put_number(&b, 0, 4);
	put_number(&b, 4, 4);
	put_number(&b, 166, 4);
	put_number(&b, 8, 2);
	put_number(&b, 0, 2);
	put_number(&b, 0, 4);
	put_number(&b, 0, 2);
	put_number(&b, 4, 2);
	put_number(&b, 0, 4);
	put_utf16(&b, "Pr");
	put_utf16(&b, "Id");
	for (size_t n = 0; n <= b.n; n++) {
		struct rd_description d = {0};
		uint8_t *copy = malloc(n ? n : 1);
		memcpy(copy, b.at, n);
		struct rd_schema_record schema = {.info = {copy, n}};
		assert_int_equal(rd_describe_schema(&schema, &d), 0);
		if (n == b.n) {
			assert_true(says(d.provider, "Pr"));
			assert_int_equal(d.fields.n, 2);
			check_field(&d, 0, "Id", "u64");
			check_field(&d, 1, "Id", "u32[]");
			assert_true(d.keywords == 0x10);
		}
		rd_description_release(&d);
		free(copy);
	}
	b.at[104] = b.at[105] = b.at[106] = b.at[107] = 0xff;
	struct rd_description d = {0};
	assert_int_equal(rd_describe_schema(&(struct rd_schema_record){.info = {b.at, b.n}}, &d), 0);
	assert_int_equal(d.fields.n, 2);
	rd_description_release(&d);
	rd_bytes_release(&b);
}

/* An EventSource's manifest, whole and cut anywhere: names and fields of the events that it has. */
static void manifests_of_event_sources(void **state)
{
	static const char xml[] = "<provider name=\"My-Source\"><events>"
				  "<event value=\"1\" version=\"0\" symbol=\"First\" template=\"FirstArgs\"/>"
				  "<event value=\"12\" version=\"1\" symbol=\"Bare\"/></events><templates>"
				  "<template tid=\"Other\"><data name=\"no\" inType=\"win:Int8\"/></template>"
				  "<template tid=\"FirstArgs\"><data name=\"id\" inType=\"win:UInt32\"/>"
				  "<data name=\"rows\" inType=\"win:UInt8\" count=\"n\"/></template></templates>";
	static const uint8_t head[80];
	const struct rd_event_key key = {.identity = RD_IDENTITY_EVENT, .id = RD_MANIFEST_ID};
	struct rd_bytes b = {0};
	struct rd_description d = {0}, bare = {0}, none = {0}, source = {0};

	put_number(&b, 0x5b000001, 4);
	put_number(&b, 1, 2);
	put_number(&b, 0, 2);
	put_text(&b, xml, false);
	struct rd_event ev = {.key = &key, .payload = b.at, .payload_bytes = b.n, .said = {head, sizeof head}};
	struct rd_span piece = rd_manifest_piece(&ev);
	assert_int_equal(piece.size_bytes, sizeof xml - 1);
	assert_int_equal(rd_describe_etl(NULL, &ev, &source), 0);
	assert_true(says(source.provider, "My-Source"));
	assert_int_equal(rd_describe_manifest(piece, 1, 0, &d), 0);
	assert_true(says(d.name, "First"));
	assert_int_equal(d.fields.n, 2);
	check_field(&d, 0, "id", "u32");
	check_field(&d, 1, "rows", "u8[]");
	assert_int_equal(rd_describe_manifest(piece, 12, 1, &bare), 0);
	assert_true(says(bare.name, "Bare") && bare.has_fields && bare.fields.n == 0);
	assert_int_equal(rd_describe_manifest(piece, 2, 0, &none), 0);
	assert_int_equal(none.name.size_bytes, 0);
	for (size_t n = 0; n < sizeof xml; n++) {
		struct rd_description cut = {0};
		char *copy = malloc(n ? n : 1);
		memcpy(copy, xml, n);
		assert_int_equal(rd_describe_manifest((struct rd_span){(const uint8_t *)copy, n}, 1, 0, &cut), 0);
		rd_description_release(&cut);
		free(copy);
	}
	rd_description_release(&d);
	rd_description_release(&bare);
	rd_description_release(&none);
	rd_description_release(&source);
	rd_bytes_release(&b);
}

/* Every row that a profile decodes has its fields told, for any version, and those of the tables exist. */
static void what_the_project_knows(void **state)
{
	const struct rd_event_type *row;

	for (size_t i = 0; (row = rd_catalogue_row(i)) != NULL; i++) {
		bool needs = row->kind == RD_EVENT_METHOD || row->kind == RD_EVENT_MODULE ||
			     row->kind == RD_EVENT_MARKER || row->kind == RD_EVENT_PROCESS ||
			     row->kind == RD_EVENT_IMAGE || row->kind == RD_EVENT_STACK;
		if (needs && strncmp(row->provider, "Universal.", 10) != 0)
			assert_non_null(rd_known_fields(row, 1));
	}
	static const uint8_t rundown[16] = {0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46,
					    0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18};
	row = rd_catalogue_event(rundown, 143, 2);
	assert_non_null(strstr(rd_published_as(row), "MethodDCStartVerbose_V1, id 141"));
	assert_non_null(strstr(rd_known_fields(row, 2), "ReJITID"));
	assert_null(strstr(rd_known_fields(row, 1), "ReJITID"));
	assert_non_null(strstr(rd_known_fields(row, 77), "ReJITID"));
	assert_null(rd_published_as(rd_catalogue_event(rundown, 149, 0)));
	uint8_t guid[16];
	assert_true(rd_catalogue_guid((struct rd_span){(const uint8_t *)row->provider, strlen(row->provider)}, guid));
	assert_memory_equal(guid, rundown, 16);
	assert_false(rd_catalogue_guid((struct rd_span){(const uint8_t *)"Mine", 4}, guid));
	struct rd_event_key key = {.identity = RD_IDENTITY_EVENT, .id = 9999};
	memcpy(key.guid, rundown, 16);
	assert_string_equal(rd_catalogue_provider(&key), "Microsoft-Windows-DotNETRuntimeRundown");
}

static void no_memory(void **state)
{
	const struct rd_trace_info info = {.version_major = 4};
	const struct rd_event_key key = {.identity = RD_IDENTITY_NAMED};
	struct rd_bytes b = {0};
	int code = RD_NOMEM;

	head_4(&b, 1);
	put_number(&b, 10, 4);
	put_utf16(&b, "Count");
	for (uint64_t nth = 1; code != 0; nth++) {
		struct rd_description d = {0};
		struct rd_event ev = {.key = &key, .said = {b.at, b.n}};
		rd_fail_allocation(nth);
		code = rd_describe_nettrace(&info, &ev, &d);
		rd_fail_allocation(0);
		assert_true(code == 0 || code == RD_NOMEM);
		rd_description_release(&d);
	}
	rd_bytes_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_version_4),
		cmocka_unit_test(fields_of_a_tag),
		cmocka_unit_test(absurd_lists),
		cmocka_unit_test(version_6),
		cmocka_unit_test(events_that_describe_themselves),
		cmocka_unit_test(merged_manifests),
		cmocka_unit_test(what_the_project_knows),
		cmocka_unit_test(manifests_of_event_sources),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
