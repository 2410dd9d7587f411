#include <math.h>

#include "report/diff_show.h"
#include "report/label.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result results[2];
static struct rd_view views[2];
static struct rd_diff diff;
static struct rd_out out;

static int set_up(void **state)
{
	small_result(&results[0]);
	small_result(&results[1]);
	memset(views, 0, sizeof views);
	memset(&diff, 0, sizeof diff);
	rd_out_init(&out, -1);
	return 0;
}

static int tear_down(void **state)
{
	rd_diff_release(&diff);
	for (int at = 0; at < 2; at++) {
		rd_view_release(&views[at]);
		rd_result_release(&results[at]);
	}
	rd_out_close(&out, NULL);
	return 0;
}

static void compare(const struct rd_view_filter *f, struct rd_diff_options o)
{
	struct rd_error err;

	rd_diff_release(&diff);
	for (int at = 0; at < 2; at++) {
		rd_view_release(&views[at]);
		assert_ok(rd_view_make(&views[at], &results[at], f, &err), &err);
	}
	assert_ok(rd_diff_make(&diff, &views[0], &views[1], &o, &err), &err);
}

static void compare_methods(void)
{
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.by = RD_DIFF_METHODS});
}

/* The row of a method; the compared counts are these. */
static const struct rd_diff_row *check_row(const char *name, uint64_t before, uint64_t after)
{
	for (size_t i = 0; i < diff.rows.n; i++) {
		struct rd_bytes label = {0};
		rd_diff_label(&label, &diff, &diff.rows.at[i], ">");
		rd_bytes_append(&label, "", 1);
		bool same = strcmp((const char *)label.at, name) == 0;
		rd_bytes_release(&label);
		if (!same)
			continue;
		assert_int_equal(rd_diff_count(&diff, &diff.rows.at[i], RD_BEFORE), before);
		assert_int_equal(rd_diff_count(&diff, &diff.rows.at[i], RD_AFTER), after);
		return &diff.rows.at[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

typedef int (*form_fn)(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err);

static const char *text_of(form_fn form, unsigned columns)
{
	struct rd_diff_show o = {
		.path = {"a.rundown", "b.rundown"}, .columns = columns, .has_limit = true, .limit = 50000};
	struct rd_error err;

	out.buffer.n = 0;
	assert_ok(form(&diff, &o, &out, &err), &err);
	rd_out_bytes(&out, "", 1);
	assert_int_equal(out.buffer.failed, 0);
	return (const char *)out.buffer.at;
}

static void check_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-5;
}

#define MAIN "app!App.Main(class System.String[])"
#define WORK "app!App.Work(int32)"

static void check_no_nan(void)
{
	const form_fn forms[] = {rd_diff_text, rd_diff_json, rd_diff_csv};

	for (size_t i = 0; i < 3; i++) {
		const char *text = text_of(forms[i], 0);
		assert_null(strstr(text, "nan"));
		assert_null(strstr(text, "inf,"));
		assert_null(strstr(text, " inf"));
	}
	assert_false(rd_diff_is_worse(&diff, 0, NULL));
}

/* A trace against itself: zeros. Empty ones: no number that is none. What percentages are of is said. */
static void row_29_against_itself_and_empty(void **state)
{
	for (int norm = 0; norm < 3; norm++)
		for (int by = 0; by < 2; by++)
			for (int count = 0; count < 2; count++) {
				compare(&RD_VIEW_ALL, (struct rd_diff_options){.by = (enum rd_diff_by)by,
									       .count = (enum rd_diff_count)count,
									       .norm = (enum rd_diff_norm)norm});
				assert_true(diff.rows.n >= 3);
				for (size_t i = 0; i < diff.rows.n; i++) {
					assert_true(!(fabs(diff.rows.at[i].difference) > 0));
					assert_true(near(diff.rows.at[i].p, 1));
					assert_false(diff.rows.at[i].significant);
				}
				assert_int_equal(diff.fresh + diff.gone + diff.significant, 0);
				check_no_nan();
			}
	compare_methods();
	check_has(text_of(rd_diff_text, 0),
		  "counts are exclusive samples; percentages are of the 100 samples before and "
		  "of the 100 after, points their difference\n");
	check_has(text_of(rd_diff_text, 0), "60  60.0 %  60  60.0 %      0.0 %      0.0 %  no       " WORK "\n");
	for (int empty = 0; empty < 3; empty++) {
		for (int at = 0; at < 2; at++) {
			rd_result_release(&results[at]);
			small_result(&results[at]);
			if (empty == 2 || empty == at)
				results[at].rows.n = 0;
		}
		compare_methods();
		check_no_nan();
		compare(&RD_VIEW_ALL, (struct rd_diff_options){.norm = RD_NORM_TIME});
		(void)text_of(rd_diff_json, 0);
		assert_int_equal(diff.rows.n, empty == 2 ? 0 : 3);
	}
}

static void test_new_gone_and_changed(void **state)
{
	results[1].rows.at[0].count = 20;
	results[1].frames.at[3].name = result_string(&results[1], "read");
	compare_methods();
	assert_int_equal(diff.samples[1], 80);
	assert_int_equal(diff.fresh, 1);
	assert_int_equal(diff.gone, 1);
	assert_true(near(check_row(WORK, 60, 40)->difference, 0.5 - 0.6));
	assert_true(near(check_row("libc.so.6!?", 30, 0)->difference, -0.3));
	assert_true(near(check_row("libc.so.6!read", 0, 30)->difference, 0.375));
	assert_true(near(check_row("[no stack]", 10, 10)->difference, 0.025));
	/* The largest first. */
	assert_true(near(diff.rows.at[0].difference, 0.375));
	check_has(text_of(rd_diff_text, 0), " 0   0.0 %  30  37.5 %    +37.5 %        new  yes      libc.so.6!read\n");
	check_has(text_of(rd_diff_text, 0), "30  30.0 %   0   0.0 %    -30.0 %       gone  yes      libc.so.6!?\n");
	check_has(text_of(rd_diff_text, 0), "4 of 4 rows, 1 new, 1 gone; ");
	check_has(text_of(rd_diff_json, 0), "\"state\": \"new\"");
	check_has(text_of(rd_diff_json, 0), "\"relative\": null");
	check_has(text_of(rd_diff_csv, 0), "\r\nlibc.so.6,,read,,0,30,0,30,0,0.375,0.375,,new,");
	assert_true(rd_diff_is_worse(&diff, 370000, NULL));
	assert_false(rd_diff_is_worse(&diff, 375000, NULL));
	check_has(text_of(rd_diff_json, 0), "\"failed\": true");
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.count = RD_DIFF_INCLUSIVE});
	assert_true(near(check_row(MAIN, 90, 70)->difference, 70.0 / 80 - 0.9));
}

static void test_z_of_proportions(void **state)
{
	/* 30 and 50 of 100: z = 2.8868. */
	for (int at = 0; at < 2; at++) {
		results[at].rows.n = 2;
		results[at].rows.at[0].stack = 1;
		results[at].rows.at[1].stack = 3;
		results[at].rows.at[0].count = at ? 50 : 30;
		results[at].rows.at[1].count = at ? 50 : 70;
	}
	compare_methods();
	assert_true(near(check_row(WORK, 30, 50)->p, 0.003892));
	/* Two tests: the smaller p counts twice, and so does the other, which may not be smaller. */
	assert_true(near(check_row(WORK, 30, 50)->p_adjusted, 2 * 0.003892));
	assert_true(near(check_row("libc.so.6!?", 70, 50)->p_adjusted, 2 * 0.003892));
	assert_int_equal(diff.tested, 2);
	assert_int_equal(diff.significant, 2);
	/* A hundred times as many are as much, less than five are too few. */
	results[1].rows.at[0].count = 3000;
	results[1].rows.at[1].count = 7000;
	compare_methods();
	assert_true(!(fabs(check_row(WORK, 30, 3000)->difference) > 0));
	results[0].rows.at[0].count = 0;
	results[1].rows.at[0].count = 9;
	results[1].rows.at[1].count = 91;
	compare_methods();
	assert_false(check_row(WORK, 0, 9)->tested);
	check_has(text_of(rd_diff_json, 0), "\"p\": null");
}

static void test_z_of_counts(void **state)
{
	/* 100 and 130: z = 1.978; in twice the time the second is fewer than was to be expected. */
	for (int at = 0; at < 2; at++) {
		results[at].rows.n = 1;
		results[at].rows.at[0].count = at ? 130 : 100;
	}
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.norm = RD_NORM_NONE});
	assert_true(near(check_row(WORK, 100, 130)->p, 0.047913));
	assert_true(near(check_row(WORK, 100, 130)->difference, 0.3));
	results[1].traces.at[0].duration_ns = 6000000000;
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.norm = RD_NORM_TIME});
	assert_true(near(check_row(WORK, 100, 130)->difference, 130.0 / 6 / (100.0 / 3) - 1));
	assert_true(near(diff.all.difference, -0.35));
	assert_true(diff.all.significant);
	check_has(text_of(rd_diff_text, 0),
		  "100     33.3/s  130     21.7/s    -35.0 %    -35.0 %  yes      " WORK "\n");
	results[0].traces.n = 0;
	struct rd_error err;
	struct rd_diff_options o = {.norm = RD_NORM_TIME};
	rd_diff_release(&diff);
	rd_view_release(&views[0]);
	assert_ok(rd_view_make(&views[0], &results[0], &RD_VIEW_ALL, &err), &err);
	assert_code(RD_USAGE, rd_diff_make(&diff, &views[0], &views[1], &o, &err));
}

/* Pids, runtimes and addresses differ from night to night; what a method is called does not. */
static void test_names_match(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	results[1].processes.at[0].pid = 4711;
	for (size_t i = 0; i < results[1].frames.n; i++)
		results[1].frames.at[i].clr += 3;
	/* The same names in two runtimes of one process: one method, and once a sample. */
	results[1].frames.at[2].clr = 77;
	compare_methods();
	assert_int_equal(diff.fresh + diff.gone, 0);
	check_row(WORK, 60, 60);
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.count = RD_DIFF_INCLUSIVE});
	check_row(WORK, 60, 60);
	check_row(MAIN, 90, 90);
	f.group = RD_GROUP_PROCESS;
	compare(&f, (struct rd_diff_options){0});
	check_row("shop", 90, 90);
	assert_int_equal(diff.fresh + diff.gone, 0);
}

static void test_stacks(void **state)
{
	struct rd_diff_options o = {.by = RD_DIFF_STACKS};
	results[1].rows.at[1].count = 50;
	compare(&RD_VIEW_ALL, o);
	assert_int_equal(diff.rows.n, 4);
	check_row(MAIN ">" WORK, 40, 40);
	check_row(MAIN ">" WORK ">" WORK, 20, 50);
	check_row("[no stack]", 10, 10);
	check_has(text_of(rd_diff_json, 0),
		  "\"stack\": [\"" MAIN "\", \"" WORK "\", \"" WORK "\"], \"exclusive_before\": 20, "
		  "\"exclusive_after\": 50, \"inclusive_before\": 20");
	check_has(text_of(rd_diff_csv, 0), "\r\n" MAIN " > " WORK " > " WORK ",20,50,20,50,");
	o.count = RD_DIFF_INCLUSIVE;
	compare(&RD_VIEW_ALL, o);
	check_row(MAIN ">" WORK, 60, 90);
	check_row(MAIN, 90, 120);
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

/* So many samples of the stacks of a result, the earlier ones more often; of stack 1 so many of a thousand more. */
static void sample(struct rd_result *r, uint64_t *seed, size_t samples, uint64_t more)
{
	for (size_t i = 0; i < r->rows.n; i++) {
		r->rows.at[i] = r->rows.at[0];
		r->rows.at[i].stack = (uint32_t)i;
		r->rows.at[i].count = 0;
	}
	for (size_t i = 0; i < samples; i++) {
		uint64_t stack = draw(seed, 1 + draw(seed, r->rows.n));
		r->rows.at[draw(seed, 1000) < more ? 1 : stack].count++;
	}
}

/*
 * The correction holds: where nothing changed, at most one comparison in twenty finds anything among many methods,
 * whose counts hang together. And what did change is found.
 */
static void test_chance_is_no_finding(void **state)
{
	uint64_t seed = 4711;
	size_t found = 0;

	for (int at = 0; at < 2; at++) {
		rd_result_release(&results[at]);
		large_result(&results[at], 160, 3);
		results[at].rows.n = results[at].stacks.n;
	}
	for (int i = 0; i < 100; i++) {
		for (int at = 0; at < 2; at++)
			sample(&results[at], &seed, at ? 3000 : 2000, 0);
		compare(&RD_VIEW_ALL, (struct rd_diff_options){.count = i % 2 ? RD_DIFF_EXCLUSIVE : RD_DIFF_INCLUSIVE,
							       .by = i % 3 ? RD_DIFF_METHODS : RD_DIFF_STACKS});
		assert_true(diff.tested > 10);
		found += diff.significant > 0;
	}
	assert_in_range(found, 0, 10);
	sample(&results[1], &seed, 3000, 80);
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.by = RD_DIFF_STACKS});
	assert_true(diff.significant >= 1 && diff.rows.at[0].significant && diff.rows.at[0].difference > 0.05);
}

static void test_text_fits_a_terminal(void **state)
{
	results[1].rows.at[1].count = 5000000;
	compare(&RD_VIEW_ALL, (struct rd_diff_options){.by = RD_DIFF_STACKS});
	const char *text = text_of(rd_diff_text, 100);
	check_has(text, "\xe2\x80\xa6");
	const char *table = strstr(text, "\n\n");
	assert_non_null(table);
	for (const char *line = table + 2; *line != '\n'; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 102);
}

/* Of calls: [Main, Work, Work] and the like, once for both sides; samples that end in each. */
static void test_page(void **state)
{
	results[1].rows.at[1].count += 7;
	compare_methods();
	const char *data =
		strstr(text_of(rd_diff_html, 0), "id=\"data\">{\"diff\": {\"rundown\": 1, \"by\": \"method\", ");
	assert_non_null(data);
	uint64_t sum[2] = {0};
	for (int at = 0; at < 2; at++) {
		const char *self = strstr(strstr(data, "\"self\": {"), at ? "\"after\": [" : "\"before\": [");
		for (self = strchr(self, '[') + 1; *self != ']'; self += strspn(self, ", "))
			sum[at] += strtoull(self, (char **)(uintptr_t)&self, 10);
	}
	assert_int_equal(sum[RD_BEFORE], 100);
	assert_int_equal(sum[RD_AFTER], 107);
	check_has(data, "}\n</script>\n</body>\n</html>\n");
}

static void test_names_stay_in_the_data_of_a_page(void **state)
{
	static const char *const nasty[] = {"</script><script>alert(1)</script>", "<!--<script>", "a\"b;c\nd\re'\\",
					    "]]>&amp;&lt;"};

	for (size_t i = 0; i < sizeof nasty / sizeof *nasty; i++) {
		uint32_t name = result_string(&results[1], nasty[i]);
		results[1].frames.at[3].name = results[1].frames.at[2].module = name;
		compare_methods();
		const struct rd_diff_show o = {.path = {"</script>", nasty[i]}};
		struct rd_error err;
		out.buffer.n = 0;
		assert_ok(rd_diff_html(&diff, &o, &out, &err), &err);
		rd_out_bytes(&out, "", 1);
		const char *data = strstr((const char *)out.buffer.at, "id=\"data\">") + strlen("id=\"data\">");
		assert_int_equal(strcspn(data, "<"), strlen(data) - strlen("</script>\n</body>\n</html>\n"));
		assert_int_equal(strcspn(data, "&"), strlen(data));
	}
}

static void test_no_memory(void **state)
{
	const form_fn forms[] = {rd_diff_text, rd_diff_json, rd_diff_csv, rd_diff_html};
	struct rd_diff_show show = {.path = {"a", "b"}};
	struct rd_diff_options o = {.by = RD_DIFF_STACKS};
	struct rd_error err;
	int code = RD_NOMEM;

	compare(&RD_VIEW_ALL, o);
	for (uint64_t nth = 1; code != 0; nth++) {
		rd_diff_release(&diff);
		rd_fail_allocation(nth);
		code = rd_diff_make(&diff, &views[0], &views[1], &o, &err);
		rd_fail_allocation(0);
		assert_true(code == 0 || code == RD_NOMEM);
	}
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (forms[i] == rd_diff_html)
			compare_methods();
		code = RD_NOMEM;
		for (uint64_t nth = 1; code != 0; nth++) {
			rd_out_close(&out, NULL);
			rd_out_init(&out, -1);
			rd_fail_allocation(nth);
			code = forms[i](&diff, &show, &out, &err);
			rd_fail_allocation(0);
			if (out.buffer.failed)
				code = RD_NOMEM;
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(row_29_against_itself_and_empty),
		TEST(test_new_gone_and_changed),
		TEST(test_z_of_proportions),
		TEST(test_z_of_counts),
		TEST(test_names_match),
		TEST(test_stacks),
		TEST(test_chance_is_no_finding),
		TEST(test_text_fits_a_terminal),
		TEST(test_page),
		TEST(test_names_stay_in_the_data_of_a_page),
		TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
