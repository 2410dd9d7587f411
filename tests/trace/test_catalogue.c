/* The tables as tables, look-ups, and the text of identities. */
#include "tests/support.h"

#include "base/text.h"
#include "trace/catalogue.h"

static struct rd_span span_of(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

static const struct rd_event_table *const named_tables[] = {
	&rd_table_clr_runtime, &rd_table_clr_rundown,      &rd_table_clr_private,      &rd_table_sample_profiler,
	&rd_table_eventpipe,   &rd_table_universal_system, &rd_table_universal_events,
};

static void check_table(const struct rd_event_table *t)
{
	assert_true(t->n > 0);
	assert_non_null(t->provider);
	for (size_t i = 0; i < t->n; i++) {
		const struct rd_event_type *row = &t->rows[i];
		assert_non_null(row->provider);
		assert_non_null(row->name);
		assert_true(row->kind < RD_EVENT_KINDS);
		assert_true(row->op <= RD_OP_DCEND);
		/* A kind without a decoder would be delivered and never understood. */
		assert_true(row->kind == RD_EVENT_OTHER || row->decode != NULL);
		assert_true(i == 0 || row->id > row[-1].id ||
			    (row->id == row[-1].id && row->version_from > row[-1].version_from));
	}
}

static void rows_are_in_order(void **state)
{
	for (size_t i = 0; i < RD_ROW_COUNT(named_tables); i++)
		check_table(named_tables[i]);
	for (size_t i = 0; rd_tables_kernel[i] != NULL; i++)
		check_table(rd_tables_kernel[i]);
}

static void check_found(const struct rd_event_table *t, const struct rd_event_type *row)
{
	uint32_t id = row->id, version = row->version_from;
	if (t->identity == RD_IDENTITY_EVENT || t->identity == RD_IDENTITY_NAMED)
		assert_ptr_equal(rd_catalogue_named(span_of(t->provider), span_of(row->name), id, version), row);
	if (t->identity == RD_IDENTITY_EVENT)
		assert_ptr_equal(rd_catalogue_event(t->guid, id, version), row);
	if (t->identity == RD_IDENTITY_CLASSIC)
		assert_ptr_equal(rd_catalogue_classic(t->guid, id, version), row);
	if (t->identity == RD_IDENTITY_KERNEL)
		assert_ptr_equal(rd_catalogue_kernel(t->group, id, version), row);
}

static void every_row_is_found(void **state)
{
	size_t n = 0;
	for (size_t i = 0; i < RD_ROW_COUNT(named_tables); i++)
		for (size_t k = 0; k < named_tables[i]->n; k++, n++)
			check_found(named_tables[i], &named_tables[i]->rows[k]);
	for (size_t i = 0; rd_tables_kernel[i] != NULL; i++)
		for (size_t k = 0; k < rd_tables_kernel[i]->n; k++, n++)
			check_found(rd_tables_kernel[i], &rd_tables_kernel[i]->rows[k]);
	for (size_t i = 0; i < n; i++)
		assert_non_null(rd_catalogue_row(i));
	assert_null(rd_catalogue_row(n));
	assert_null(rd_catalogue_row(SIZE_MAX));
}

/* One number, other events: published tables mix them up. */
static void the_id_alone_means_nothing(void **state)
{
	static const struct {
		uint32_t id;
		const char *runtime, *rundown;
	} rows[] = {
		{141, "MethodLoad", "MethodDCStart"},
		{143, "MethodLoadVerbose", "MethodDCStartVerbose"},
		{144, "MethodUnloadVerbose", "MethodDCEndVerbose"},
		{145, "MethodJittingStarted", "DCStartComplete"},
		{146, "MethodJitMemoryAllocatedForCode", "DCEndComplete"},
		{150, "ModuleDCEndV2", "MethodDCEndILToNativeMap"},
		{152, "ModuleLoad", "DomainModuleDCEnd"},
		{154, "AssemblyLoad", "ModuleDCEnd"},
		{188, "MethodJitTailCallSucceeded", "CodeSymbolsRundown"},
	};
	uint8_t runtime[16], rundown[16];
	assert_int_equal(rd_guid_parse("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", runtime), 0);
	assert_int_equal(rd_guid_parse("a669021c-c450-4609-a035-5af59af4df18", rundown), 0);
	for (size_t i = 0; i < RD_ROW_COUNT(rows); i++) {
		assert_string_equal(rd_catalogue_event(runtime, rows[i].id, 1)->name, rows[i].runtime);
		assert_string_equal(rd_catalogue_event(rundown, rows[i].id, 1)->name, rows[i].rundown);
	}
	uint8_t guid[16];
	assert_int_equal(rd_guid_parse("763fd754-7086-4dfe-95eb-c01a46faf4ca", guid), 0);
	assert_string_equal(rd_catalogue_event(guid, 199, 0)->name, "PinPlugAtGCTime");
	assert_int_equal(rd_guid_parse("3c530d44-97ae-513a-1e6d-783e8f8e03a9", guid), 0);
	assert_string_equal(rd_catalogue_event(guid, 0, 0)->name, "ThreadSample");
}

static void what_is_in_no_row(void **state)
{
	static const uint8_t nobody[16] = {1};
	assert_null(rd_catalogue_event(nobody, 143, 1));
	assert_null(rd_catalogue_classic(nobody, 1, 1));
	assert_null(rd_catalogue_event(rd_table_clr_runtime.guid, 147, 1));
	assert_null(rd_catalogue_event(rd_table_clr_runtime.guid, UINT32_MAX, UINT32_MAX));
	assert_null(rd_catalogue_kernel(0xff, 46, 2));
	assert_null(rd_catalogue_named(span_of("Microsoft-Windows-DotNETRuntim"), span_of(""), 143, 1));
	assert_null(rd_catalogue_named(span_of(""), span_of(""), 143, 1));
	/* A newer version is read as the newest known one. */
	assert_string_equal(rd_catalogue_event(rd_table_clr_runtime.guid, 143, 200)->name, "MethodLoadVerbose");
}

/* Universal.* number their events anew in every file: the name decides. */
static void universal_events_go_by_their_names(void **state)
{
	const struct rd_event_type *cpu = rd_catalogue_named(span_of("Universal.Events"), span_of("cpu"), 977, 3);
	assert_string_equal(cpu->name, "cpu");
	assert_int_equal(cpu->kind, RD_EVENT_SAMPLE);
	assert_null(rd_catalogue_named(span_of("Universal.Events"), span_of(""), 1, 0));
	assert_null(rd_catalogue_named(span_of("Universal.Events"), span_of("cpus"), 1, 0));
	assert_null(rd_catalogue_named(span_of("Universal.System"), span_of("cpu"), 1, 0));
	assert_int_equal(rd_catalogue_named(span_of("Universal.System"), span_of("ProcessExit"), 0, 0)->op,
			 RD_OP_UNLOAD);
}

static void check_text(const struct rd_event_key *key, const char *text)
{
	struct rd_bytes out = {0};
	assert_int_equal(rd_event_key_text(key, &out), 0);
	assert_span(((struct rd_span){out.at, out.n}), text);
	rd_bytes_release(&out);
}

static void identities_as_text(void **state)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_EVENT, .id = 143, .version = 2};
	memcpy(key.guid, rd_table_clr_runtime.guid, 16);
	check_text(&key, "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/143/2");
	key.identity = RD_IDENTITY_CLASSIC;
	check_text(&key, "classic:e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/143/2");
	check_text(&(struct rd_event_key){.identity = RD_IDENTITY_KERNEL, .group = 0x0f, .id = 46, .version = 2},
		   "kernel/0f/46/2");
	check_text(&(struct rd_event_key){.identity = RD_IDENTITY_HEADER, .id = 13}, "hdr13");
	check_text(&(struct rd_event_key){.identity = RD_IDENTITY_WPP}, "wpp message");
	check_text(&(struct rd_event_key){.identity = RD_IDENTITY_BAD}, "bad");
	key = (struct rd_event_key){.identity = RD_IDENTITY_NAMED, .id = 4294967295, .version = 3};
	key.provider = span_of("My-Source");
	key.name = span_of("Hello");
	check_text(&key, "My-Source/4294967295/3");
	key.provider = span_of("Universal.Events");
	check_text(&key, "Universal.Events/Hello/3");
	key.provider = span_of("");
	key.name = span_of("");
	check_text(&key, "/4294967295/3");
	assert_code(RD_INTERNAL, rd_event_key_text(&(struct rd_event_key){0}, &(struct rd_bytes){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_in_order),          cmocka_unit_test(every_row_is_found),
		cmocka_unit_test(the_id_alone_means_nothing), cmocka_unit_test(what_is_in_no_row),
		cmocka_unit_test(identities_as_text),         cmocka_unit_test(universal_events_go_by_their_names),
	};
	return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}
