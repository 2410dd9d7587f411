#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"

/* What getopt_long returns: an option's row, or one of these. Above any character. */
enum { VALUE_HELP = 0x100, VALUE_VERSION, VALUE_ROW };

static const struct rd_option own_rows[] = {
	{.name = "help", .letter = 'h', .help = "show this help"},
	{.name = "version", .letter = 'V', .help = "show the version"},
};

/* ---- help */

#define HELP_COLUMNS 100
#define HELP_INDENT  30

static void put_row(struct rd_out *o, const struct rd_option *row)
{
	char letter[8] = "    ", head[80], choices[160] = "", help[512];

	if (row->letter)
		snprintf(letter, sizeof letter, "-%c, ", row->letter);
	for (size_t i = 0, used = 0; row->kind == RD_OPT_CHOICE && row->words[i]; i++)
		used += (size_t)snprintf(choices + used, used < sizeof choices ? sizeof choices - used : 0, "%s%s",
					 i ? "|" : "", row->words[i]);
	snprintf(head, sizeof head, "  %s--%s%s%s", letter, row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
	snprintf(help, sizeof help, "%s%s%s", choices, *choices ? ": " : "", row->help);
	rd_out_printf(o, "%-*s", HELP_INDENT, head);
	if (strlen(head) >= HELP_INDENT)
		rd_out_printf(o, "\n%*s", HELP_INDENT, "");
	rd_out_words(o, help, HELP_INDENT, HELP_INDENT, HELP_COLUMNS);
	rd_out_text(o, "\n");
}

/* What went to stdout, whole or not. */
static int close_stdout(const struct rd_command_line *c, struct rd_out *o)
{
	struct rd_error err;

	return rd_out_close(o, &err) == 0 ? RD_EXIT_OK : rd_complain(c->name, &err);
}

static int show_help(const struct rd_command_line *c)
{
	struct rd_out o;

	rd_out_init(&o, STDOUT_FILENO);
	rd_out_printf(&o, "Usage: %s%s%s [option...]\n\n%s\n\nOptions:\n", c->name, c->words ? " " : "",
		      c->words ? c->words : "", c->about);
	for (size_t i = 0; i < c->options_n; i++)
		put_row(&o, &c->options[i]);
	for (size_t i = 0; i < sizeof own_rows / sizeof *own_rows; i++)
		put_row(&o, &own_rows[i]);
	if (c->examples)
		rd_out_printf(&o, "\nExamples:\n%s", c->examples);
	if (c->notes)
		rd_out_printf(&o, "\n%s", c->notes);
	return close_stdout(c, &o);
}

/* ---- near words */

/* The number of letters to insert, drop or replace; words of up to 31 letters, 99 for longer ones. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[32];
	size_t n = strlen(b);

	if (n > 31 || strlen(a) > 31)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned corner = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned replaced = corner + (a[i - 1] != b[j - 1]);
			unsigned other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
			corner = row[j];
			row[j] = replaced < other ? replaced : other;
		}
	}
	return row[n];
}

const char *rd_nearest_word(const char *word, const char *const *words)
{
	const char *best = NULL;
	/* Where half of the letters are others, it is another word. */
	unsigned least = strlen(word) < 3 ? 1 : strlen(word) < 5 ? 2 : 3;

	for (; *words; words++) {
		/* The beginning of a word stands for it. */
		unsigned d = strlen(word) > 1 && strncmp(word, *words, strlen(word)) == 0 ? 0 : distance(word, *words);
		if (d < least) {
			least = d;
			best = *words;
		}
	}
	return best;
}

/* ---- values */

static int bad_value(const struct rd_command_line *c, const struct rd_option *row, const char *text, const char *want)
{
	return rd_usage(c->name, "--%s: '%s' is not %s", row->name, text, want);
}

/* A number of any kind into its target, when it lies within the row's bounds. */
static int set_number(const struct rd_command_line *c, const struct rd_option *row, const char *text, uint64_t value)
{
	if (value < row->min)
		return rd_usage(c->name, "--%s: '%s' is too small", row->name, text);
	if (row->max && value > row->max)
		return rd_usage(c->name, "--%s: '%s' is too large", row->name, text);
	*(uint64_t *)row->target = value;
	return 0;
}

static int set_choice(const struct rd_command_line *c, const struct rd_option *row, const char *text)
{
	char list[160] = "";
	size_t used = 0;

	for (int i = 0; row->words[i]; i++) {
		if (strcmp(row->words[i], text) == 0) {
			*(int *)row->target = i;
			return 0;
		}
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", row->words[i]);
	}
	return rd_usage(c->name, "--%s: '%s' is none of %s", row->name, text, list);
}

/* 0, or the exit code after a complaint. text is NULL for a flag only. */
static int set(const struct rd_command_line *c, const struct rd_option *row, const char *text)
{
	struct rd_words *list;
	uint64_t number;

	switch (row->kind) {
	case RD_OPT_FLAG:
		*(bool *)row->target = true;
		return 0;
	case RD_OPT_TEXT:
		if (*text == 0)
			return rd_usage(c->name, "--%s: an empty %s", row->name, row->argument);
		*(const char **)row->target = text;
		return 0;
	case RD_OPT_LIST:
		if (*text == 0)
			return rd_usage(c->name, "--%s: an empty %s", row->name, row->argument);
		list = row->target;
		list->at[list->n++] = text;
		return 0;
	case RD_OPT_NUMBER:
		if (rd_number_parse(text, &number) != 0)
			return bad_value(c, row, text, "a number");
		return set_number(c, row, text, number);
	case RD_OPT_SIZE:
		if (rd_size_parse(text, &number) != 0)
			return bad_value(c, row, text, "a size such as 64M or 1GiB");
		return set_number(c, row, text, number);
	case RD_OPT_SECONDS:
		if (rd_seconds_parse(text, &number) != 0)
			return bad_value(c, row, text, "a time such as 2, 1.5, 250ms or 10m");
		return set_number(c, row, text, number);
	case RD_OPT_MOMENT:
		if (rd_moment_parse(text, row->target) != 0)
			return bad_value(c, row, text, "seconds, or a time such as 2026-03-01T12:30:05Z");
		return 0;
	case RD_OPT_SHARE:
		if (rd_share_parse(text, row->target) != 0)
			return bad_value(c, row, text, "a number or a part such as 0.5%");
		return 0;
	case RD_OPT_CHOICE:
		return set_choice(c, row, text);
	}
	return RD_EXIT_USAGE;
}

/* ---- the words */

/* getopt's two forms of the table: long options with a NULL row at the end, and the letters. */
struct getopt_table {
	struct option *longs;
	char *letters;
};

static int value_of(size_t row)
{
	return VALUE_ROW + (int)row;
}

static int getopt_table(const struct rd_command_line *c, struct getopt_table *t)
{
	size_t n = c->options_n, used = 0;

	t->longs = rd_realloc(NULL, (n + 3) * sizeof *t->longs);
	t->letters = rd_realloc(NULL, 3 * n + 5);
	if (t->longs == NULL || t->letters == NULL)
		return RD_NOMEM;
	/* ':' first: a missing argument is told apart from an unknown option. */
	t->letters[used++] = ':';
	t->letters[used++] = 'h';
	t->letters[used++] = 'V';
	for (size_t i = 0; i < n; i++) {
		const struct rd_option *row = &c->options[i];
		t->longs[i] =
			(struct option){row->name, row->argument ? required_argument : no_argument, NULL, value_of(i)};
		if (row->letter) {
			t->letters[used++] = row->letter;
			if (row->argument)
				t->letters[used++] = ':';
		}
	}
	t->letters[used] = 0;
	t->longs[n] = (struct option){"help", no_argument, NULL, VALUE_HELP};
	t->longs[n + 1] = (struct option){"version", no_argument, NULL, VALUE_VERSION};
	t->longs[n + 2] = (struct option){NULL, 0, NULL, 0};
	return 0;
}

static const struct rd_option *row_of(const struct rd_command_line *c, int value)
{
	if (value >= VALUE_ROW && (size_t)(value - VALUE_ROW) < c->options_n)
		return &c->options[value - VALUE_ROW];
	for (size_t i = 0; value > 0 && i < c->options_n; i++)
		if (c->options[i].letter == value)
			return &c->options[i];
	return NULL;
}

/* getopt said '?': a letter, a long name, or a flag that was given a value. */
static int complain_unknown(const struct rd_command_line *c, const char *word)
{
	const struct rd_option *row = row_of(c, optopt);

	if (row || optopt == VALUE_HELP || optopt == VALUE_VERSION)
		return rd_usage(c->name, "--%s takes no value",
				row                    ? row->name
				: optopt == VALUE_HELP ? "help"
						       : "version");
	if (optopt)
		return rd_usage(c->name, "unknown option -%c", optopt);

	char name[64];
	const char *names[64];
	size_t n = 0;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	for (size_t i = 0; i < c->options_n && n < 61; i++)
		names[n++] = c->options[i].name;
	names[n++] = "help";
	names[n++] = "version";
	names[n] = NULL;
	const char *near = strlen(name) > 2 ? rd_nearest_word(name + 2, names) : NULL;
	if (near)
		return rd_usage(c->name, "unknown option %s; did you mean --%s?", name, near);
	return rd_usage(c->name, "unknown option %s", name);
}

/*
 * getopt_long takes the beginning of a name for the name. A script that relies on it would break when a
 * longer name comes, so only whole names pass.
 */
static bool is_whole(const char *word, const char *name)
{
	size_t n = strlen(name);
	return strncmp(word, "--", 2) != 0 ||
	       (strncmp(word + 2, name, n) == 0 && (word[2 + n] == 0 || word[2 + n] == '='));
}

static int check_words(const struct rd_command_line *c, int n, char **words)
{
	for (int i = 0; i < n; i++)
		if (*words[i] == 0)
			return rd_usage(c->name, "an empty %s", c->words);
	if (n < c->min_words)
		return rd_usage(c->name, "%s is missing", c->words);
	if (c->max_words >= 0 && n > c->max_words)
		return rd_usage(c->name, "one word too many: '%s'", words[c->max_words]);
	return -1;
}

/* One word that getopt understood or not: -1 go on, else the exit code. */
static int take(const struct rd_command_line *c, int got, const char *word)
{
	const struct rd_option *row = row_of(c, got);

	if (got == ':')
		row = row_of(c, optopt);
	if (got == '?' || (row && !is_whole(word, row->name)) || (got == VALUE_HELP && !is_whole(word, "help")) ||
	    (got == VALUE_VERSION && !is_whole(word, "version"))) {
		if (got != '?')
			optopt = 0;
		return complain_unknown(c, word);
	}
	if (got == ':')
		return rd_usage(c->name, "--%s needs a value: %s", row ? row->name : word, row ? row->argument : "");
	if (got == VALUE_HELP || (got == 'h' && row == NULL))
		return show_help(c);
	if (got == VALUE_VERSION || (got == 'V' && row == NULL)) {
		struct rd_out o;
		rd_out_init(&o, STDOUT_FILENO);
		rd_out_printf(&o, "%.*s %s\n", (int)strcspn(c->name, " "), c->name, RD_VERSION);
		return close_stdout(c, &o);
	}
	int code = row ? set(c, row, optarg) : RD_EXIT_USAGE;
	return code == 0 ? -1 : code;
}

bool rd_options_parse(const struct rd_command_line *c, int argc, char **argv, int *first_word, int *exit_code)
{
	struct getopt_table t = {NULL, NULL};
	int code = -1;

	if (getopt_table(c, &t) != 0) {
		struct rd_error err;
		rd_fail_nomem(&err);
		code = rd_complain(c->name, &err);
	}
	opterr = 0;
	/* 0, not 1: glibc then forgets where an earlier table's words stood. */
	optind = 0;
	while (code == -1) {
		/* getopt moves words; the one it is at now is where it will look next. */
		int got = getopt_long(argc, argv, t.letters, t.longs, NULL);
		if (got == -1)
			break;
		int at = optarg && got != '?' && optind >= 2 && optarg == argv[optind - 1] ? optind - 2 : optind - 1;
		code = take(c, got, at >= 0 && at < argc ? argv[at] : "");
	}
	if (code == -1)
		code = check_words(c, argc - optind, argv + optind);
	rd_free(t.longs);
	rd_free(t.letters);
	*first_word = optind;
	*exit_code = code == -1 ? 0 : code;
	return code == -1;
}
