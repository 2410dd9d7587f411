/* The forms for other programs: pprof, speedscope, SQLite. What they say is read back. */
#include <sqlite3.h>
#include <zlib.h>

#include "proto/profile.pb-c.h"
#include "report/format.h"
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

static const struct rd_report_format *format_of(const char *name)
{
	size_t i = 0;

	while (strcmp(rd_report_format(i)->name, name) != 0)
		i++;
	return rd_report_format(i);
}

static void write_as(const char *name, const struct rd_view_filter *f)
{
	struct rd_report_options o = {.stacks = true};
	struct rd_error err;
	struct rd_view v;

	out.buffer.n = 0;
	assert_ok(rd_view_make(&v, &result, f, &err), &err);
	assert_ok(format_of(name)->write(&v, &o, &out, &err), &err);
	rd_view_release(&v);
	assert_int_equal(out.buffer.failed, 0);
}

/* As a string, until the next one. */
static const char *text_of(const char *name, const struct rd_view_filter *f)
{
	write_as(name, f);
	rd_out_bytes(&out, "", 1);
	return (const char *)out.buffer.at;
}

static void check_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

/* ---- pprof */

static Rd__Pprof__Profile *read_pprof(const struct rd_view_filter *f)
{
	static uint8_t plain[1 << 20];
	z_stream z = {0};

	write_as("pprof", f);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = out.buffer.at;
	z.avail_in = (unsigned)out.buffer.n;
	z.next_out = plain;
	z.avail_out = sizeof plain;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	Rd__Pprof__Profile *p = rd__pprof__profile__unpack(NULL, z.total_out, plain);
	assert_non_null(p);
	return p;
}

static const char *name_of(const Rd__Pprof__Profile *p, uint64_t location)
{
	const Rd__Pprof__Location *l = p->location[location - 1];

	assert_int_equal(l->id, location);
	assert_int_equal(l->n_line, 1);
	assert_int_equal(p->function[l->line[0]->function_id - 1]->id, l->line[0]->function_id);
	return p->string_table[p->function[l->line[0]->function_id - 1]->name];
}

static void test_pprof(void **state)
{
	Rd__Pprof__Profile *p = read_pprof(&RD_VIEW_ALL);

	assert_string_equal(p->string_table[0], "");
	assert_int_equal(p->n_sample_type, 1);
	assert_string_equal(p->string_table[p->sample_type[0]->type], "samples");
	assert_string_equal(p->string_table[p->sample_type[0]->unit], "count");
	assert_string_equal(p->string_table[p->comment[0]], "samples of thread time, not CPU time");
	assert_int_equal(p->time_nanos, 1772368205250000000);
	assert_int_equal(p->duration_nanos, 3000000000);
	assert_int_equal(p->n_sample, 5);
	const Rd__Pprof__Sample *s = p->sample[1];
	assert_int_equal(s->n_location_id, 3);
	assert_string_equal(name_of(p, s->location_id[0]), "app!App.Work(int32)");
	assert_string_equal(name_of(p, s->location_id[2]), "app!App.Main(class System.String[])");
	assert_int_equal(s->value[0], 20);
	assert_string_equal(p->string_table[s->label[0]->key], "process");
	assert_string_equal(p->string_table[s->label[0]->str], "shop (10)");
	assert_string_equal(p->string_table[p->sample[4]->label[0]->str], "no owner");
	rd__pprof__profile__free_unpacked(p, NULL);
}

static void test_pprof_weights_and_threads(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.by_thread = f.tiers = true;
	result.rows.at[0].weight = 4000;
	Rd__Pprof__Profile *p = read_pprof(&f);
	assert_int_equal(p->n_sample_type, 2);
	assert_string_equal(p->string_table[p->sample_type[1]->type], "weight");
	assert_int_equal(p->sample[0]->value[0], 40);
	assert_int_equal(p->sample[0]->value[1], 4000);
	assert_string_equal(p->string_table[p->sample[0]->label[1]->key], "thread");
	assert_int_equal(p->sample[0]->label[1]->num, 100);
	assert_string_equal(name_of(p, p->sample[0]->location_id[0]), "app!App.Work(int32) [quick]");
	rd__pprof__profile__free_unpacked(p, NULL);
}

/* ---- speedscope */

static void test_speedscope(void **state)
{
	const char *text = text_of("speedscope", &RD_VIEW_ALL);
	check_has(text, "\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"");
	check_has(text, "{\"name\": \"app!App.Main(class System.String[])\", \"file\": \"app\"}");
	check_has(text, "{\"type\": \"sampled\", \"name\": \"shop (10), thread time\", \"unit\": \"none\", "
			"\"startValue\": 0, \"endValue\": 96, \"samples\": [[0, 1], [0, 1, 1], [0, 2], [3]], "
			"\"weights\": [40, 20, 30, 6]}");
	check_has(text, "{\"type\": \"sampled\", \"name\": \"no owner, thread time\", \"unit\": \"none\", "
			"\"startValue\": 0, \"endValue\": 4, \"samples\": [[4]], \"weights\": [4]}");
	struct rd_view_filter f = RD_VIEW_ALL;
	f.by_thread = true;
	result.rows.at[1].thread = 7;
	text = text_of("speedscope", &f);
	check_has(text, "\"name\": \"shop (10), thread 7, thread time\", \"unit\": \"none\", \"startValue\": 0, "
			"\"endValue\": 20, \"samples\": [[0, 1, 1]], \"weights\": [20]}");
}

/* A;A;A;B in one bucket, twice: events that open and close would have nothing to stand in order by. */
static void row_38_recursive_stacks_of_equal_times(void **state)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct rd_result_call *c = rd_vec_add(&result.calls);
		assert_non_null(c);
		*c = (struct rd_result_call){i ? (uint32_t)result.calls.n - 1 : 0, 1};
	}
	struct rd_result_call *leaf = rd_vec_add(&result.calls);
	assert_non_null(leaf);
	*leaf = (struct rd_result_call){(uint32_t)result.calls.n - 1, 3};
	result.stacks.at[1] = (uint32_t)result.calls.n;
	result.rows.n = 2;
	result.rows.at[1] = result.rows.at[0];
	result.rows.at[1].thread++;
	const char *text = text_of("speedscope", &RD_VIEW_ALL);
	check_has(text, "\"type\": \"sampled\"");
	check_has(text, "\"endValue\": 80, \"samples\": [[0, 0, 0, 1]], \"weights\": [80]}");
	check_has(text_of("folded", &RD_VIEW_ALL),
		  "10;app!App.Work(int32);app!App.Work(int32);app!App.Work(int32);libc.so.6!? 80\n");
	Rd__Pprof__Profile *p = read_pprof(&RD_VIEW_ALL);
	assert_int_equal(p->n_sample, 1);
	assert_int_equal(p->sample[0]->n_location_id, 4);
	assert_int_equal(p->sample[0]->location_id[1], p->sample[0]->location_id[3]);
	assert_int_equal(p->sample[0]->value[0], 80);
	rd__pprof__profile__free_unpacked(p, NULL);
	check_has(text_of("csv", &RD_VIEW_ALL), "app,App,Work,int32  (int32),0,80,0,80\r\n");
}

/* Both kinds of samples and five seconds of nothing: the kinds stay apart, and every form that has a heading says it.
 */
static void row_26_waiting_is_no_cpu_time(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	for (size_t i = 3; i < 5; i++)
		result.rows.at[i].bucket = 14;
	result.last_bucket = 14;
	check_has(text_of("text", &f), "100 samples of thread time, not CPU time: 40 external, 60 managed\n");
	check_has(text_of("json", &f), "\"samples\": [40, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10]");
	check_has(text_of("json", &f), "\"managed\": 60,\n");
	check_has(text_of("json", &f), "\"thread_time\": true");
	f.kind = RD_SAMPLE_MANAGED;
	check_has(text_of("text", &f), "60 samples of thread time, not CPU time: 60 managed\n");
	check_has(text_of("speedscope", &f), "\"shop (10), thread time\"");
	for (size_t i = 0; i < 5; i++)
		result.rows.at[i].kind = RD_SAMPLE_CPU;
	result.thread_time = false;
	check_has(text_of("text", &RD_VIEW_ALL), "100 samples of CPU time\n");
	assert_null(strstr(text_of("speedscope", &RD_VIEW_ALL), "thread time"));
}

/* ---- SQLite */

static void check_sql(sqlite3 *db, const char *sql, const char *expected)
{
	sqlite3_stmt *s;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	const char *got = (const char *)sqlite3_column_text(s, 0);
	assert_string_equal(got ? got : "NULL", expected);
	sqlite3_finalize(s);
}

static sqlite3 *read_sqlite(const struct rd_view_filter *f)
{
	sqlite3 *db;

	write_as("sqlite", f);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_deserialize(db, "main", out.buffer.at, (sqlite3_int64)out.buffer.n,
					     (sqlite3_int64)out.buffer.n, SQLITE_DESERIALIZE_READONLY),
			 SQLITE_OK);
	return db;
}

static void test_sqlite(void **state)
{
	sqlite3 *db = read_sqlite(&RD_VIEW_ALL);

	check_sql(db, "PRAGMA integrity_check", "ok");
	check_sql(db, "SELECT count(*) FROM pragma_foreign_key_check", "0");
	check_sql(db, "SELECT samples || ' ' || discarded || ' ' || origin FROM about",
		  "100 0 2026-03-01T12:30:05.25Z");
	check_sql(db, "SELECT group_concat(label || ' ' || exclusive || ' ' || inclusive_percent) FROM hottest",
		  "app!App.Work(int32) 60 60.0,libc.so.6!? 30 30.0,[no stack] 6 6.0,[no stack] 4 4.0,"
		  "app!App.Main(class System.String[]) 0 90.0");
	check_sql(db, "SELECT sum(samples) FROM samples", "100");
	check_sql(db, "SELECT sum(samples) FROM stacks", "100");
	check_sql(db, "SELECT group_concat(thread || ' ' || samples) FROM threads", "100 96,101 4");
	check_sql(db, "SELECT group_concat(kind || ' ' || samples) FROM kinds", "external 40,managed 60");
	check_sql(db, "SELECT group_concat(bucket || ' ' || samples) FROM buckets", "2 40,3 50,4 0,5 10");
	check_sql(db, "SELECT count(*) FROM frames", "9");
	/* Main calls Work in 60, Work itself in 20, and ? in 30. */
	check_sql(db,
		  "SELECT group_concat(o.name || '>' || i.name || ' ' || e.samples) FROM edges e "
		  "JOIN methods o ON o.id = e.caller JOIN methods i ON i.id = e.callee",
		  "Main>Work 60,Main>? 30,Work>Work 20");
	check_sql(db, "SELECT pid || ' ' || samples || ' ' || coalesce(start, 'unknown') FROM processes WHERE id = 1",
		  "-1 4 unknown");
	check_sql(db, "SELECT rundown || ' ' || unresolved_frames || coalesce(cut_at, ' none') FROM trust",
		  "complete 30 none");
	check_sql(db, "SELECT path || ' ' || format || ' ' || version FROM traces", "shop.nettrace nettrace 4");
	sqlite3_close(db);
	struct rd_view_filter f = RD_VIEW_ALL;
	f.callers = "Work";
	f.tiers = true;
	db = read_sqlite(&f);
	check_sql(db, "SELECT view FROM about", "{\"view\": {\"callers\": \"Work\", \"tiers\": true}}");
	check_sql(db, "SELECT tier || ' ' || direct FROM methods WHERE name = 'Main'", "quick 60");
	sqlite3_close(db);
}

/* What the run left out, and which of its traces are one recording. */
static void test_sqlite_of_a_filtered_run(void **state)
{
	sqlite3 *db = read_sqlite(&RD_VIEW_ALL);

	check_sql(db, "SELECT filter || ' ' || joined_with FROM about JOIN traces", "{\"filter\": {}} 0");
	sqlite3_close(db);
	result.filter = (struct rd_result_filter){.process = "sh\"op", .kind = RD_SAMPLE_MANAGED + 1, .has_to = true, .to_ns = 7};
	db = read_sqlite(&RD_VIEW_ALL);
	check_sql(db, "SELECT filter FROM about",
		  "{\"filter\": {\"process\": \"sh\\\"op\", \"kind\": \"managed\", \"to_ns\": 7}}");
	sqlite3_close(db);
}

/* ---- prom */

static void test_prom(void **state)
{
	const char *text = text_of("prom", &RD_VIEW_ALL);

	check_has(text, "rundown_profile_samples{kind=\"managed\"} 60\n"
			"rundown_profile_samples{kind=\"external\"} 40\n");
	check_has(text, "# HELP rundown_profile_method_exclusive_samples Samples whose innermost frame is the method.\n"
			"# TYPE rundown_profile_method_exclusive_samples gauge\n"
			"rundown_profile_method_exclusive_samples{process=\"shop\",module=\"app\",method=\"App.Work(int32)\"} 60\n"
			"rundown_profile_method_exclusive_samples{process=\"shop\",module=\"libc.so.6\",method=\"?\"} 30\n");
	check_has(text, "rundown_profile_method_inclusive_samples{process=\"shop\",module=\"app\",method=\"App.Main");
	check_has(text, "rundown_profile_complete 1\n");
	check_has(text, "rundown_profile_unresolved_frames 30\n");
	/* What the next night's result would not have is no label. */
	assert_null(strstr(text, "pid="));
}

/* Two processes of one name are one series: a collector refuses labels that come twice. */
static void test_prom_adds_what_reads_the_same(void **state)
{
	result.processes.at[1].name = result.processes.at[0].name;
	const char *text = text_of("prom", &RD_VIEW_ALL);
	const char *series = "rundown_profile_method_exclusive_samples{process=\"shop\",module=\"\",method=\"[no stack]\"}";

	check_has(text, series);
	assert_int_equal(0, strncmp(strstr(text, series) + strlen(series), " 10\n", 4));
	assert_null(strstr(strstr(text, series) + 1, series));
}

/* ---- all of them */

#define NASTY "=a\"b;c\nd\re</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80\xed\xa0\x80\xff%\\"

static void test_names_that_are_no_names(void **state)
{
	result.frames.at[3].name = result_string(&result, NASTY);
	result.frames.at[3].module = result_string(&result, "");
	check_has(text_of("folded", &RD_VIEW_ALL),
		  ";=a\"b%3Bc%0Ad%0De</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80\\xed\\xa0\\x80\\xff%25\\ 30\n");
	check_has(text_of("csv", &RD_VIEW_ALL),
		  ",,,\"'=a\"\"b;c\nd\re</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80\\xed\\xa0\\x80\\xff%\\\",,30,30,");
	for (size_t i = 0; i < 2; i++)
		check_has(text_of(i ? "speedscope" : "json", &RD_VIEW_ALL),
			  "\"=a\\\"b;c\\nd\\re</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80\\ud800\xef\xbf\xbd%\\\\\"");
	check_has(text_of("prom", &RD_VIEW_ALL),
		  "{process=\"shop\",module=\"\",method=\"=a\\\"b;c\\nd\re</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80"
		  "\\\\xed\\\\xa0\\\\x80\\\\xff%\\\\\"} 30\n");
	Rd__Pprof__Profile *p = read_pprof(&RD_VIEW_ALL);
	assert_string_equal(name_of(p, p->sample[2]->location_id[0]),
			    "=a\"b;c\nd\re</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80\\xed\\xa0\\x80\\xff%\\");
	rd__pprof__profile__free_unpacked(p, NULL);
	sqlite3 *db = read_sqlite(&RD_VIEW_ALL);
	check_sql(db, "SELECT name FROM methods WHERE exclusive = 30",
		  "=a\"b;c\nd\re</script>,'\xe4\xb8\xad\xf0\x9f\x9a\x80\\xed\\xa0\\x80\\xff%\\");
	sqlite3_close(db);
	/* Full-width signs begin formulas too. */
	result.frames.at[3].name = result_string(&result, "\xef\xbc\x9d"
							  "1+2");
	check_has(text_of("csv", &RD_VIEW_ALL), ",'\xef\xbc\x9d"
						"1+2,");
}

static void test_equal_results_give_equal_bytes(void **state)
{
	const struct rd_report_format *f;
	struct rd_bytes before = {0};

	for (size_t i = 0; (f = rd_report_format(i)) != NULL; i++) {
		write_as(f->name, &RD_VIEW_ALL);
		before.n = 0;
		assert_int_equal(rd_bytes_append(&before, out.buffer.at, out.buffer.n), 0);
		write_as(f->name, &RD_VIEW_ALL);
		assert_int_equal(before.n, out.buffer.n);
		assert_memory_equal(before.at, out.buffer.at, before.n);
	}
	rd_bytes_release(&before);
}

static void test_nothing_in_it(void **state)
{
	rd_result_release(&result);
	memset(&result, 0, sizeof result);
	assert_string_equal(text_of("folded", &RD_VIEW_ALL), "");
	check_has(text_of("speedscope", &RD_VIEW_ALL), "\"profiles\": []");
	Rd__Pprof__Profile *p = read_pprof(&RD_VIEW_ALL);
	assert_int_equal(p->n_sample, 0);
	rd__pprof__profile__free_unpacked(p, NULL);
	sqlite3 *db = read_sqlite(&RD_VIEW_ALL);
	check_sql(db, "SELECT samples FROM about", "0");
	check_sql(db, "SELECT count(*) FROM hottest", "0");
	sqlite3_close(db);
}

static void test_no_memory(void **state)
{
	const struct rd_report_format *f;
	struct rd_report_options o = {.stacks = true};
	struct rd_error err;
	struct rd_view v;

	assert_ok(rd_view_make(&v, &result, &RD_VIEW_ALL, &err), &err);
	for (size_t i = 0; (f = rd_report_format(i)) != NULL; i++) {
		int code = RD_NOMEM;
		for (uint64_t nth = 1; code != 0; nth++) {
			rd_out_close(&out, NULL);
			rd_out_init(&out, -1);
			rd_fail_allocation(nth);
			code = f->write(&v, &o, &out, &err);
			rd_fail_allocation(0);
			assert_true(code == 0 || code == RD_NOMEM);
			if (out.buffer.failed)
				code = RD_NOMEM;
		}
	}
	rd_view_release(&v);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_pprof),
		TEST(test_pprof_weights_and_threads),
		TEST(test_speedscope),
		TEST(row_38_recursive_stacks_of_equal_times),
		TEST(row_26_waiting_is_no_cpu_time),
		TEST(test_sqlite),
		TEST(test_sqlite_of_a_filtered_run),
		TEST(test_prom),
		TEST(test_prom_adds_what_reads_the_same),
		TEST(test_names_that_are_no_names),
		TEST(test_equal_results_give_equal_bytes),
		TEST(test_nothing_in_it),
		TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
