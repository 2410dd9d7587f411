#include "report/format.h"
#include "report/text.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result result;
static struct rd_out out;

static int set_up(void **state)
{
	small_result(&result);
	rd_out_init(&out, -1);
	return 0;
}

static int tear_down(void **state)
{
	rd_out_close(&out, NULL);
	rd_result_release(&result);
	return 0;
}

/* The report as a string, until the next one. */
static const char *report(const char *name, const struct rd_view_filter *f, size_t top, unsigned columns)
{
	struct rd_report_options o = {.top = top, .columns = columns};
	struct rd_error err;
	struct rd_view v;
	size_t i = 0;

	while (strcmp(rd_report_format(i)->name, name) != 0)
		i++;
	out.buffer.n = 0;
	assert_ok(rd_view_make(&v, &result, f, &err), &err);
	assert_ok(rd_report_format(i)->write(&v, &o, &out, &err), &err);
	rd_view_release(&v);
	rd_out_bytes(&out, "", 1);
	assert_int_equal(out.buffer.failed, 0);
	return (const char *)out.buffer.at;
}

static void test_text(void **state)
{
	assert_string_equal(
		report("text", &RD_VIEW_ALL, 3, 0),
		"shop.nettrace: nettrace 4, 1.5 MB, 3.0 s from 2026-03-01T12:30:05.25Z\n"
		"100 samples of thread time, not CPU time: 40 external, 60 managed\n"
		"\n"
		"exclusive          inclusive          process    module     method\n"
		"       60  60.0 %         60  60.0 %  shop (10)  app        App.Work(int32)\n"
		"       30  30.0 %         30  30.0 %  shop (10)  libc.so.6  ?\n"
		"        6   6.0 %          6   6.0 %  shop (10)             [no stack]\n"
		"\n"
		"3 of 5 methods; percentages are of the 100 samples\n"
		"trust: complete, 0 events lost, 15.0 % of frames unresolved (30 of 200), rundown complete, 10 samples "
		"without a stack, 4 samples without an owner\n");
}

static void test_text_of_a_filter(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.has_from = true;
	f.from_ns = 1700000000;
	f.tiers = true;
	const char *text = report("text", &f, 0, 0);
	assert_non_null(strstr(text, "\nfrom 1.5 s to 3 s, widened to time buckets of 0.5 s\n"));
	assert_non_null(strstr(text, "\n40 samples are outside the filter\n"));
	assert_non_null(strstr(text, "App.Work(int32) [quick]\n"));
	assert_non_null(strstr(text, "6 of 6 methods; percentages are of the 60 samples that pass the filter\n"));
}

static void test_text_without_samples(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.kind = RD_SAMPLE_CPU;
	assert_non_null(strstr(report("text", &f, 0, 0), "\nno sample passes the filter\ntrust: "));
	rd_result_release(&result);
	memset(&result, 0, sizeof result);
	result.trust.cut_at = 1234567;
	result.trust.lost_events = 1;
	result.trust.lost_buffers = 2;
	result.trust.missing_rundown = true;
	assert_string_equal(
		report("text", &RD_VIEW_ALL, 0, 0),
		"0 samples\nno samples were recorded\n"
		"trust: incomplete, cut at byte 1,234,567, 1 event lost, 2 buffers lost, 0.0 % of frames "
		"unresolved (0 of 0), rundown none, the provider Microsoft-Windows-DotNETRuntimeRundown was off\n");
}

/* On a terminal no line is longer than it, while it is not absurdly narrow. */
static void test_text_fits_a_terminal(void **state)
{
	result.frames.at[1].name =
		result_string(&result, "AMethodWhoseNameIsVeryMuchLongerThanAnyTerminalIsWideAndThenSome");
	result.frames.at[2].name = result.frames.at[1].name;
	const char *text = report("text", &RD_VIEW_ALL, 0, 90);
	const char *row = strstr(text, "\n       60");
	assert_non_null(row);
	size_t n = strcspn(row + 1, "\n");
	/* Two characters of it, the dots, have three bytes. */
	assert_int_equal(n, 90 + 4);
	assert_non_null(strstr(row, "…"));
	assert_non_null(strstr(row, "ThenSome(…)\n"));
}

static void test_csv(void **state)
{
	result.frames.at[1].name = result.frames.at[2].name = result_string(&result, "=1+2");
	result.frames.at[3].name = result_string(&result, "say \"hi\", you");
	assert_string_equal(report("csv", &RD_VIEW_ALL, 0, 0),
			    "process,pid,clr,module,namespace,name,signature,exclusive,inclusive,exclusive_weight,"
			    "inclusive_weight\r\n"
			    "shop,10,9,app,App,'=1+2,int32  (int32),60,60,60,60\r\n"
			    "shop,10,0,libc.so.6,,\"say \"\"hi\"\", you\",,30,30,30,30\r\n"
			    "shop,10,0,,,[no stack],,6,6,6,6\r\n"
			    ",-1,0,,,[no stack],,4,4,4,4\r\n"
			    "shop,10,9,app,App,Main,void  (class System.String[]),0,90,0,90\r\n");
	struct rd_view_filter f = RD_VIEW_ALL;
	f.tiers = true;
	assert_non_null(strstr(report("csv", &f, 1, 0), ",signature,tier,exclusive"));
	assert_non_null(strstr(report("csv", &f, 1, 0), "(int32),quick,60"));
}

static void test_folded(void **state)
{
	/* Work in two tiers reads the same: the lines of stacks that differ in nothing shown are one. */
	assert_string_equal(report("folded", &RD_VIEW_ALL, 0, 0),
			    "10;[no stack] 6\n"
			    "10;app!App.Main(class System.String[]);app!App.Work(int32) 40\n"
			    "10;app!App.Main(class System.String[]);app!App.Work(int32);app!App.Work(int32) 20\n"
			    "10;app!App.Main(class System.String[]);libc.so.6!? 30\n"
			    "-1;[no stack] 4\n");
	/* Without what lies between, the third stack is the second. */
	result.calls.at[4].caller = 3;
	assert_non_null(strstr(report("folded", &RD_VIEW_ALL, 0, 0), ";app!App.Work(int32) 60\n"));
}

static void test_folded_escapes(void **state)
{
	result.frames.at[3].module = result_string(&result, "");
	result.frames.at[3].name = result_string(&result, "50%;of\nit");
	assert_non_null(strstr(report("folded", &RD_VIEW_ALL, 0, 0), ";50%25%3Bof%0Ait 30\n"));
}

static void test_json(void **state)
{
	const char *text = report("json", &RD_VIEW_ALL, 0, 0);
	const char *const parts[] = {
		"\"rundown\": 1,",
		"\"path\": \"shop.nettrace\", \"format\": \"nettrace\", \"version\": \"4\", \"bytes\": 1500000, "
		"\"start\": \"2026-03-01T12:30:05.25Z\", \"duration_ns\": 3000000000, \"pointer_size\": 8, \"cpus\": "
		"8, "
		"\"complete\": true, \"cut_at\": null, \"lost_events\": 0, \"lost_buffers\": 0}",
		"\"samples\": 100,",
		"\"discarded\": 0,",
		"\"managed\": 60,",
		"\"external\": 40",
		"\"pmc\": 0,",
		"\"unresolved_frames\": 30,",
		"\"rundown\": \"complete\",",
		"{\"id\": 0, \"trace\": 0, \"pid\": 10, \"namespace_pid\": 1, \"name\": \"shop\", "
		"\"command_line\": \"./shop --fast\", \"start\": \"2026-03-01T12:30:05.25Z\", \"samples\": 96}",
		"{\"id\": 1, \"trace\": 0, \"pid\": -1, \"namespace_pid\": null, \"name\": \"\", \"command_line\": "
		"\"\", "
		"\"start\": null, \"samples\": 4}",
		"{\"process\": 0, \"pid\": 10, \"clr\": 9, \"module\": \"app\", \"namespace\": \"App\", \"name\": "
		"\"Work\", "
		"\"signature\": \"int32  (int32)\", \"exclusive\": 60, \"inclusive\": 60, \"exclusive_weight\": 60, "
		"\"inclusive_weight\": 60}",
		"\"width_ns\": 500000000,",
		"\"first\": 2,",
		"\"samples\": [40, 50, 0, 10]",
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(text, parts[i]) == NULL)
			fail_msg("no %s in %s", parts[i], text);
	assert_null(strstr(text, "\"cpu\": "));
	assert_null(strstr(text, "\"tier\""));
}

static void test_hottest_is_the_report_without_traces(void **state)
{
	char whole[2048];
	struct rd_error err;
	snprintf(whole, sizeof whole, "%s", report("text", &RD_VIEW_ALL, 3, 0));
	out.buffer.n = 0;
	assert_ok(rd_text_hottest(&result, 3, 0, &out, &err), &err);
	rd_text_trust(&result, &out);
	rd_out_bytes(&out, "", 1);
	assert_string_equal((const char *)out.buffer.at, strchr(whole, '\n') + 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_text_of_a_filter),
		TEST(test_text_without_samples),
		TEST(test_text_fits_a_terminal),
		TEST(test_csv),
		TEST(test_folded),
		TEST(test_folded_escapes),
		TEST(test_json),
		TEST(test_hottest_is_the_report_without_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
