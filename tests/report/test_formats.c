#include "report/format.h"
#include "report/label.h"
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
		" exclusive   inclusive  process    module     method\n"
		"60  60.0 %  60  60.0 %  shop (10)  app        App.Work(int32)\n"
		"30  30.0 %  30  30.0 %  shop (10)  libc.so.6  ?\n"
		" 6   6.0 %   6   6.0 %  shop (10)             [no stack]\n"
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
	assert_non_null(strstr(text, "\nfrom 1.5 s on, widened to time buckets of 0.5 s\n"));
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

static size_t characters(const char *line, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)line[i] & 0xc0) != 0x80;
	return count;
}

/* On a terminal no line is longer than it, while it is not absurdly narrow. */
static void test_text_fits_a_terminal(void **state)
{
	result.frames.at[1].name =
		result_string(&result, "AMethodWhoseNameIsVeryMuchLongerThanAnyTerminalIsWideAndThenSome");
	result.frames.at[2].name = result.frames.at[1].name;
	result.frames.at[1].module = result.frames.at[2].module =
		result_string(&result, "A.Module.Whose.Name.Does.Not.Know.When.To.Stop.Before.A.Line.Does");
	result.processes.at[0].name = result_string(&result, "a-program-with-a-name-that-is-too-long-as-well");
	memset(result.traces.at[0].path, 'p', 300);
	for (unsigned columns = 80; columns <= 200; columns++) {
		const char *text = report("text", &RD_VIEW_ALL, 3, columns);
		assert_non_null(strstr(text, "\xe2\x80\xa6"));
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			assert_true(characters(line, strcspn(line, "\n")) <= columns);
		text = report("text", &(struct rd_view_filter){.kind = -1, .group = RD_GROUP_TYPE}, 3, columns);
		for (const char *line = strstr(text, "\n\n"); *line; line += strcspn(line, "\n") + 1)
			assert_true(characters(line, strcspn(line, "\n")) <= columns);
	}
	/* Three counts and a thread need more of it. */
	for (unsigned columns = 100; columns <= 200; columns++) {
		const char *text = report(
			"text", &(struct rd_view_filter){.kind = -1, .callees = "Main", .by_thread = true}, 3, columns);
		for (const char *line = strstr(text, "\n\n"); *line; line += strcspn(line, "\n") + 1)
			assert_true(characters(line, strcspn(line, "\n")) <= columns);
	}
	const char *text = report("text", &RD_VIEW_ALL, 3, 90);
	assert_non_null(strstr(text, "ThenSome(\xe2\x80\xa6)\n"));
	assert_non_null(strstr(text, "-well (10)  "));
	/* Elsewhere all is whole, and what sticks out moves its own line only. */
	text = report("text", &RD_VIEW_ALL, 3, 0);
	assert_non_null(strstr(text, "App.AMethodWhoseNameIsVeryMuchLongerThanAnyTerminalIsWideAndThenSome(int32)\n"));
	assert_non_null(strstr(text, "Before.A.Line.Does  "));
	assert_non_null(
		strstr(text, "\n 6   6.0 %   6   6.0 %  a-program-with-a-name-that-is-too-long-as-well (10)  "));
}

static void test_text_of_one_process(void **state)
{
	result.processes.n = 1;
	result.rows.n = 1;
	result.rows.at[0].process = 0;
	const char *text = report("text", &RD_VIEW_ALL, 3, 80);
	assert_non_null(strstr(text, "\nall of process shop (10)\n"));
	assert_null(strstr(text, "process  "));
	assert_null(strstr(report("text", &RD_VIEW_ALL, 3, 0), "all of process"));
}

static void test_text_of_several_traces(void **state)
{
	struct rd_result_trace *t = rd_vec_add(&result.traces);

	assert_non_null(t);
	*t = result.traces.at[0];
	strcpy(result.traces.at[0].path, "/t/web/one.nettrace");
	strcpy(t->path, "/t/website/two.etl.zip");
	strcpy(t->member, "two.etl");
	t->group = 1;
	t->complete = false;
	t->cut_at = 4711;
	result.trust.complete = false;
	result.trust.cut_at = 4711;
	result.processes.at[1].trace = 1;
	struct rd_report_options o = {.top = 0, .folder = "/t/web"};
	struct rd_error err;
	assert_ok(rd_text_hottest(&result, &o, &out, &err), &err);
	rd_text_trust(&result, &o, &out);
	rd_out_bytes(&out, "", 1);
	const char *text = (const char *)out.buffer.at;
	assert_non_null(strstr(text, "trace 1: one.nettrace: nettrace 4, "));
	assert_non_null(strstr(text, "\ntrace 2: /t/website/two.etl.zip, two.etl: nettrace 4, "));
	assert_non_null(strstr(text, " exclusive   inclusive  trace  process    module     method\n"));
	assert_non_null(strstr(text, "\n60  60.0 %  60  60.0 %      1  shop (10)  app        App.Work(int32)\n"));
	assert_non_null(strstr(text, "\n 4   4.0 %   4   4.0 %      2  no owner "));
	assert_non_null(strstr(text, "\ntrust: incomplete, trace 2 cut at byte 4,711, 0 events lost"));
	assert_null(strstr(text, "joined"));
}

static void test_reports_say_the_filter_of_the_run(void **state)
{
	static const struct {
		struct rd_result_filter filter;
		const char *text, *json;
	} cases[] = {
		{{.process = "SHOP", .has_from = true, .has_to = true, .from_ns = 1000000000, .to_ns = 2000000000},
		 "\n6,145 samples are outside the filter of the run (--process SHOP, from 1 s to 2 s)\n",
		 "\"filter\": {\n    \"process\": \"SHOP\",\n    \"from_ns\": 1000000000,\n    \"to_ns\": 2000000000\n  },"},
		{{.kind = RD_SAMPLE_CPU + 1}, "outside the filter of the run (--kind cpu)\n",
		 "\"filter\": {\n    \"kind\": \"cpu\"\n  },"},
		{{.kind = RD_SAMPLE_MANAGED + 1, .has_to = true, .to_ns = 500000000},
		 "outside the filter of the run (--kind managed, up to 0.5 s)\n",
		 "\"filter\": {\n    \"kind\": \"managed\",\n    \"to_ns\": 500000000\n  },"},
		{{.process = "a\tb"}, "outside the filter of the run (--process a\\tb)\n",
		 "\"filter\": {\n    \"process\": \"a\\tb\"\n  },"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		result.filter = cases[i].filter;
		result.discarded = 6145;
		assert_non_null(strstr(report("text", &RD_VIEW_ALL, 3, 80), cases[i].text));
		assert_non_null(strstr(report("json", &RD_VIEW_ALL, 3, 0), cases[i].json));
	}
	/* What a report leaves out is counted apart. */
	struct rd_view_filter f = RD_VIEW_ALL;
	f.kind = RD_SAMPLE_EXTERNAL;
	const char *text = report("text", &f, 3, 80);
	assert_non_null(strstr(text, "\n6,145 samples are outside the filter of the run"));
	assert_non_null(strstr(text, "\n60 samples are outside the filter\n"));
	result.filter = (struct rd_result_filter){.process = ""};
	result.discarded = 0;
	assert_null(strstr(report("text", &RD_VIEW_ALL, 3, 80), "filter"));
	assert_non_null(strstr(report("json", &RD_VIEW_ALL, 3, 0), "\"filter\": {},"));
}

static void test_reports_say_which_traces_are_joined(void **state)
{
	for (uint32_t i = 1; i < 5; i++) {
		struct rd_result_trace *t = rd_vec_add(&result.traces);
		assert_non_null(t);
		*t = result.traces.at[0];
		t->group = i < 3 ? 0 : 3;
	}
	const char *text = report("text", &RD_VIEW_ALL, 3, 80);
	assert_non_null(strstr(text, "\ntraces 1, 2 and 3 are joined: one recording\n"
				     "traces 4 and 5 are joined: one recording\n100 samples"));
	text = report("json", &RD_VIEW_ALL, 3, 0);
	assert_non_null(strstr(text, "\"id\": 2, \"joined_with\": 0, "));
	assert_non_null(strstr(text, "\"id\": 4, \"joined_with\": 3, "));
}

static void test_text_of_a_time_that_is_not_there(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;

	f.has_from = true;
	f.from_ns = 100000000000;
	assert_non_null(strstr(report("text", &f, 0, 0), "\nfrom 100 s on\n100 samples are outside the filter\n"));
	f = RD_VIEW_ALL;
	f.has_to = true;
	f.to_ns = 500000000;
	assert_non_null(strstr(report("text", &f, 0, 0), "\nup to 0.5 s\n"));
	f.has_from = true;
	assert_non_null(strstr(report("text", &f, 0, 0), "\nfrom 0 s to 0.5 s\n"));
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

/* A stack spelled out: 1 stands where the line has a ';', so that lines sort as their labels do. */
static char *spell(const struct rd_view *v, const struct rd_view_stack *s)
{
	uint32_t calls[1000], n = 0;
	struct rd_bytes line = {0};
	char head[64];

	for (uint32_t call = s->call; call; call = v->calls.at[call - 1].caller) {
		assert_true(n < 1000);
		calls[n++] = call;
	}
	snprintf(head, sizeof head, "%010u\1thread %020llu", v->result->processes.at[s->process].pid,
		 (unsigned long long)s->thread);
	rd_bytes_append(&line, head, strlen(head));
	while (n > 0) {
		struct rd_bytes label = {0};
		rd_label(&label, rd_view_method(v, calls[--n]), false);
		rd_bytes_append(&line, "\1", 1);
		for (size_t i = 0; i < label.n; i++) {
			char escape[4] = {(char)label.at[i]};
			if (strchr("%;\n\r", label.at[i]))
				snprintf(escape, sizeof escape, "%%%02X", label.at[i]);
			rd_bytes_append(&line, escape, strlen(escape));
		}
		rd_bytes_release(&label);
	}
	rd_bytes_append(&line, "", 1);
	assert_false(line.failed);
	return (char *)line.at;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As many lines as stacks that read differently, in the order of the labels. */
static void test_folded_is_as_if_spelled_out(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	struct rd_error err;
	struct rd_view v;
	char **lines;

	rd_result_release(&result);
	large_result(&result, 3000, 7);
	f.by_thread = true;
	assert_ok(rd_view_make(&v, &result, &f, &err), &err);
	lines = calloc(v.stacks.n, sizeof *lines);
	for (size_t i = 0; i < v.stacks.n; i++)
		lines[i] = spell(&v, &v.stacks.at[i]);
	qsort(lines, v.stacks.n, sizeof *lines, compare_texts);
	const char *at = report("folded", &f, 0, 0);
	for (size_t i = 0; i < v.stacks.n; i++) {
		if (i + 1 < v.stacks.n && strcmp(lines[i], lines[i + 1]) == 0)
			continue;
		/* Behind the process and the thread. */
		const char *labels = strchr(strchr(lines[i], 1) + 1, 1), *text = strchr(strchr(at, ';') + 1, ';');
		for (; *labels; labels++, text++)
			assert_int_equal(*text, *labels == 1 ? ';' : *labels);
		assert_int_equal(*text, ' ');
		at = strchr(text, '\n') + 1;
	}
	assert_string_equal(at, "");
	for (size_t i = 0; i < v.stacks.n; i++)
		rd_free(lines[i]);
	free(lines);
	rd_view_release(&v);
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
		"\"complete\": true, \"cut_at\": null, \"damage\": null, "
		"\"lost_events\": 0, \"lost_buffers\": 0}",
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
	struct rd_report_options o = {.top = 3};
	assert_ok(rd_text_hottest(&result, &o, &out, &err), &err);
	rd_text_trust(&result, &o, &out);
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
		TEST(test_text_of_one_process),
		TEST(test_text_of_several_traces),
		TEST(test_reports_say_the_filter_of_the_run),
		TEST(test_reports_say_which_traces_are_joined),
		TEST(test_text_of_a_time_that_is_not_there),
		TEST(test_csv),
		TEST(test_folded),
		TEST(test_folded_is_as_if_spelled_out),
		TEST(test_folded_escapes),
		TEST(test_json),
		TEST(test_hottest_is_the_report_without_traces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
