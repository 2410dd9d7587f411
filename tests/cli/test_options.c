#include <fcntl.h>
#include <unistd.h>

#include "cli/options.h"
#include "tests/support.h"

static struct {
	bool flag;
	const char *text;
	uint64_t number, size, seconds;
	struct rd_moment moment;
	int choice;
	struct rd_words list;
} o;

static const char *const words[] = {"red", "green", NULL};

/* clang-format off */
static const struct rd_option rows[] = {
	{.name = "flag", .letter = 'f', .help = "a flag", .kind = RD_OPT_FLAG, .target = &o.flag},
	{.name = "flagship", .help = "a longer name", .kind = RD_OPT_FLAG, .target = &o.flag},
	{.name = "text", .letter = 't', .argument = "TEXT", .help = "a text", .kind = RD_OPT_TEXT, .target = &o.text},
	{.name = "number", .letter = 'n', .argument = "N", .help = "a number", .kind = RD_OPT_NUMBER,
	 .target = &o.number, .min = 2, .max = 50},
	{.name = "size", .argument = "SIZE", .help = "a size", .kind = RD_OPT_SIZE, .target = &o.size},
	{.name = "wait", .argument = "TIME", .help = "a time", .kind = RD_OPT_SECONDS, .target = &o.seconds},
	{.name = "from", .argument = "TIME", .help = "a moment", .kind = RD_OPT_MOMENT, .target = &o.moment},
	{.name = "colour", .argument = "COLOUR", .help = "a choice", .kind = RD_OPT_CHOICE, .target = &o.choice,
	 .words = words},
	{.name = "each", .argument = "TEXT", .help = "one more", .kind = RD_OPT_LIST, .target = &o.list},
};

static struct rd_command_line line = {
	.name = "tool", .words = "FILE...", .min_words = 1, .max_words = 2, .about = "Do it.",
	.options = rows, .options_n = sizeof rows / sizeof *rows, .examples = "  tool --flag x\n",
};
/* clang-format on */

/* What a run printed. */
static char printed[8192];

static int first;
static int code;
static char *args[16];
static int args_n;
static const char *each[16];

static bool parse(const char *const *given, int fd)
{
	char path[4096];
	int saved = dup(fd);

	strcpy(path, scratch_path("printed"));
	memset(&o, 0, sizeof o);
	o.list.at = each;
	args_n = 0;
	args[args_n++] = (char *)"tool";
	for (; *given; given++)
		args[args_n++] = (char *)*given;
	args[args_n] = NULL;
	fflush(NULL);
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	dup2(file, fd);
	bool go_on = rd_options_parse(&line, args_n, args, &first, &code);
	fflush(NULL);
	dup2(saved, fd);
	close(saved);
	ssize_t n = pread(file, printed, sizeof printed - 1, 0);
	printed[n > 0 ? n : 0] = 0;
	close(file);
	return go_on;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL}, STDERR_FILENO)

static void test_all_kinds(void **state)
{
	assert_true(PARSE("a", "--flag", "--text=hello", "-n", "7", "--size", "64M", "--wait", "250ms", "b", "--from",
			  "2026-03-01", "--colour", "green"));
	assert_true(o.flag);
	assert_string_equal(o.text, "hello");
	assert_int_equal(o.number, 7);
	assert_int_equal(o.size, 64000000);
	assert_int_equal(o.seconds, 250000000);
	assert_true(o.moment.is_utc);
	assert_int_equal(o.choice, 1);
	assert_int_equal(args_n - first, 2);
	assert_string_equal(args[first], "a");
	assert_string_equal(args[first + 1], "b");
	assert_string_equal(printed, "");
	assert_int_equal(code, 0);
}

static void test_given_again(void **state)
{
	assert_true(PARSE("--each", "a", "x", "--each=b", "--each", "a"));
	assert_int_equal(o.list.n, 3);
	assert_string_equal(each[0], "a");
	assert_string_equal(each[1], "b");
	assert_string_equal(each[2], "a");
	assert_int_equal(args_n - first, 1);
	assert_false(PARSE("--each", "a", "x", "--each="));
	assert_string_equal(printed, "tool: --each: an empty TEXT (see tool --help)\n");
}

static void test_words_behind_two_dashes(void **state)
{
	assert_true(PARSE("-f", "--", "--text"));
	assert_string_equal(args[first], "--text");
	assert_null(o.text);
}

static void test_a_second_table_begins_anew(void **state)
{
	assert_true(PARSE("-fn5", "x"));
	assert_int_equal(o.number, 5);
	assert_true(PARSE("y"));
	assert_string_equal(args[first], "y");
}

/* One line, and 2. */
static void check_refused(const char *expected)
{
	assert_int_equal(code, 2);
	assert_string_equal(printed, expected);
}

static void test_refuses(void **state)
{
#define REFUSED(expected, ...)                                                                                         \
	assert_false(PARSE(__VA_ARGS__));                                                                              \
	check_refused("tool: " expected " (see tool --help)\n")
	REFUSED("unknown option --nubmer; did you mean --number?", "--nubmer", "3");
	REFUSED("unknown option --nubmer; did you mean --number?", "--nubmer=3");
	REFUSED("unknown option --entirely-else", "x", "--entirely-else");
	REFUSED("unknown option -z", "-z");
	REFUSED("unknown option -z", "-fz");
	/* The beginning of a name is no name. */
	REFUSED("unknown option --num; did you mean --number?", "--num", "3");
	REFUSED("unknown option --num; did you mean --number?", "--num=3");
	REFUSED("unknown option --colou; did you mean --colour?", "--colou", "red");
	REFUSED("unknown option --hel; did you mean --help?", "--hel");
	REFUSED("--number needs a value: N", "x", "--number");
	REFUSED("--number needs a value: N", "x", "-n");
	REFUSED("--flag takes no value", "--flag=1");
	REFUSED("--number: '3x' is not a number", "--number", "3x");
	REFUSED("--number: '1' is too small", "--number", "1");
	REFUSED("--number: '51' is too large", "--number", "51");
	REFUSED("--size: 'big' is not a size such as 64M or 1GiB", "--size", "big");
	REFUSED("--wait: '-1' is not a time such as 2, 1.5, 250ms or 10m", "--wait", "-1");
	REFUSED("--from: 'noon' is not seconds, or a time such as 2026-03-01T12:30:05Z", "--from", "noon");
	REFUSED("--colour: 'blue' is none of red, green", "--colour", "blue");
	REFUSED("--text: an empty TEXT", "--text", "");
	REFUSED("FILE... is missing", "-f");
	REFUSED("an empty FILE...", "");
	REFUSED("one word too many: 'c'", "a", "b", "c");
}

static void test_help_has_every_row(void **state)
{
	assert_false(parse((const char *const[]){"--help", NULL}, STDOUT_FILENO));
	assert_int_equal(code, 0);
	assert_non_null(strstr(printed, "Usage: tool FILE... [option...]\n\nDo it.\n"));
	assert_non_null(strstr(printed, "\n  -f, --flag                  a flag\n"));
	assert_non_null(strstr(printed, "\n      --colour COLOUR         red|green: a choice\n"));
	assert_non_null(strstr(printed, "\n  -h, --help "));
	assert_non_null(strstr(printed, "\nExamples:\n  tool --flag x\n"));
	for (size_t i = 0; i < line.options_n; i++)
		assert_non_null(strstr(printed, rows[i].name));
	assert_false(parse((const char *const[]){"x", "-h", NULL}, STDOUT_FILENO));
	assert_int_equal(code, 0);
}

static void test_near_words(void **state)
{
	const char *const names[] = {"report", "run", "inspect", NULL};
	assert_string_equal(rd_nearest_word("reprot", names), "report");
	assert_string_equal(rd_nearest_word("rum", names), "run");
	assert_string_equal(rd_nearest_word("insp", names), "inspect");
	assert_null(rd_nearest_word("x", names));
	assert_null(rd_nearest_word("xn", names));
	assert_null(rd_nearest_word("xxn", names));
	assert_null(rd_nearest_word("xyn", names));
	assert_null(rd_nearest_word("rxxn", names));
	assert_null(rd_nearest_word("", names));
	assert_null(rd_nearest_word("something-much-longer-than-any-name-there-is", names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_given_again),
		cmocka_unit_test(test_words_behind_two_dashes),
		cmocka_unit_test(test_a_second_table_begins_anew),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_help_has_every_row),
		cmocka_unit_test(test_near_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
