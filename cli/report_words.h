/*
 * report_words - the words of `rundown report`: its options, and which of them go together.
 */
#ifndef RD_CLI_REPORT_WORDS_H
#define RD_CLI_REPORT_WORDS_H

#include "cli/client.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "report/format.h"

#define RD_REPORT_NAME        "rundown report"
/* --top: nobody said. */
#define RD_REPORT_TOP_DEFAULT UINT64_MAX

/* What is asked of a view; `diff` has these too. */
struct rd_view_words {
	const char *process, *module, *focus, *ignore, *hide, *callers, *callees;
	uint64_t thread;     /* RD_NO_THREAD: any */
	uint64_t trace;      /* 0: any */
	int kind, group, by; /* -1: not given */
	struct rd_moment from, to;
	struct rd_share min;
	bool tiers, inverted;
};
#define RD_NO_THREAD     UINT64_MAX
#define RD_VIEW_NO_WORDS ((struct rd_view_words){.thread = RD_NO_THREAD, .kind = -1, .group = -1, .by = -1})

/* The rows of these words in a table of options, into to[0..RD_VIEW_OPTIONS); how many. */
#define RD_VIEW_OPTIONS 17
size_t rd_view_options(struct rd_view_words *v, struct rd_option *to);
/*
 * Those of them that hold for several results side by side, where rows are methods by name, stacks are as they are, and
 * numbers of traces and threads are each result's own.
 */
size_t rd_view_options_of_names(struct rd_view_words *v, struct rd_option *to);

/* What several results side by side are told as, and which samples of a method count. */
enum { RD_TABLE_TEXT, RD_TABLE_JSON, RD_TABLE_CSV };
extern const char *const rd_table_words[];
enum { RD_COUNT_EXCLUSIVE, RD_COUNT_INCLUSIVE };
extern const char *const rd_count_words[];

struct rd_report_words {
	const char *const *results;    /* with a broker the only one is a job's id */
	size_t results_n;
	const char *output;
	struct rd_client_words client; /* .broker NULL: none was given */
	int format, sort; /* -1: not given */
	uint64_t top;
	struct rd_view_words view;
	struct rd_people_words people;
	bool stacks, stats, digest, strict;
};

/* true: go on. Else leave with *exit_code. */
bool rd_report_words(struct rd_report_words *w, int argc, char **argv, int *exit_code);
/* While a job runs there is less to ask for: 0, or 2 and a line is out. */
int rd_report_words_early(const struct rd_report_words *w);
const struct rd_report_format *rd_report_words_format(const struct rd_report_words *w);
/* The filter that the words ask for; borrows them. */
void rd_view_words_filter(const struct rd_view_words *w, struct rd_view_filter *f);

#endif
