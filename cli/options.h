/*
 * options - the one table of a command line: a row an option, over getopt_long.
 *
 * The table checks the user's words, fills the targets, and writes --help,
 * so that the help cannot drift from what is accepted. --help (-h) and
 * --version (-V) belong to every table without a row. The daemons read their
 * options with it too.
 *
 *   struct rd_option options[] = {
 *           {.name = "output", .letter = 'o', .argument = "FILE", .help = "write to FILE",
 *            .kind = RD_OPT_TEXT, .target = &o.output},
 *           {.name = "top", .argument = "N", .help = "rows to show (default 30)",
 *            .kind = RD_OPT_NUMBER, .target = &o.top, .max = 1000000},
 *   };
 */
#ifndef RD_CLI_OPTIONS_H
#define RD_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "cli/values.h"

enum rd_option_kind {
	RD_OPT_FLAG,    /* bool: becomes true */
	RD_OPT_TEXT,    /* const char *: borrowed from argv; never "" */
	RD_OPT_NUMBER,  /* uint64_t in [min, max] */
	RD_OPT_SIZE,    /* uint64_t, bytes, in [min, max]: "64M", "1GiB" */
	RD_OPT_SECONDS, /* uint64_t, nanoseconds, in [min, max]: "1.5", "250ms" */
	RD_OPT_MOMENT,  /* struct rd_moment: seconds from the start, or ISO 8601 */
	RD_OPT_SHARE,   /* struct rd_share: "10", "0.5%" */
	RD_OPT_CHOICE,  /* int: the place of the word in `words` */
	RD_OPT_LIST,    /* struct rd_words: each time one more, as RD_OPT_TEXT */
};

/* What an option that may be given again was given. `at` is the caller's, with room for argc of them. */
struct rd_words {
	const char **at;
	size_t n;
};

struct rd_option {
	const char *name;     /* without the dashes */
	char letter;          /* 0 none */
	const char *argument; /* its name in the help; NULL for a flag */
	const char *help;
	enum rd_option_kind kind;
	void *target;             /* of the kind's type; holds the default, and keeps it when the option is not given */
	uint64_t min, max;        /* max 0: no bound */
	const char *const *words; /* NULL-ended; RD_OPT_CHOICE */
};

/* Rows that several programs have. */
#define RD_OPTION_BROKER(target)                                                                                       \
	{                                                                                                              \
		"broker", 'b', "ENDPOINT", "where the broker listens: ipc:///FOLDER/NAME or tcp://HOST:PORT",          \
			RD_OPT_TEXT, (target), 0, 0, NULL                                                              \
	}
/* Of a struct rd_security (net/security.h): those of a broker, and those of whoever connects to one. */
#define RD_OPTIONS_SECURITY_BROKER(s)                                                                                  \
	{.name = "keys",                                                                                               \
	 .argument = "DIR",                                                                                            \
	 .help = "over tcp let in whom the keys of DIR authorise (rundown keys makes them)",                           \
	 .kind = RD_OPT_TEXT,                                                                                          \
	 .target = &(s)->keys},                                                                                        \
		RD_OPTION_PLAIN_TCP(s)
#define RD_OPTIONS_SECURITY(s)                                                                                         \
	{.name = "keys",                                                                                               \
	 .argument = "DIR",                                                                                            \
	 .help = "over tcp prove by the keys in DIR who this is (rundown keys makes them)",                            \
	 .kind = RD_OPT_TEXT,                                                                                          \
	 .target = &(s)->keys},                                                                                        \
		{.name = "server-key",                                                                                 \
		 .argument = "FILE",                                                                                   \
		 .help = "the broker's public key (default DIR/server.public)",                                        \
		 .kind = RD_OPT_TEXT,                                                                                  \
		 .target = &(s)->server_key},                                                                          \
		RD_OPTION_PLAIN_TCP(s)
#define RD_OPTION_PLAIN_TCP(s)                                                                                         \
	{                                                                                                              \
		.name = "plain-tcp", .help = "use tcp without keys or encryption: whoever can connect may do all",     \
		.kind = RD_OPT_FLAG, .target = &(s)->plain_tcp                                                         \
	}
#define RD_OPTION_HTTP(target)                                                                                         \
	{                                                                                                              \
		"http", 0, "ADDRESS", "serve /metrics and a page of what goes on, at PORT of this machine or at ADDR:PORT", \
			RD_OPT_TEXT, (target), 0, 0, NULL                                                              \
	}
/* An int: the place of its word in `words`, the first of which is "text". */
#define RD_OPTION_FORM(target_, words_)                                                                                \
	{                                                                                                              \
		.name = "format", .argument = "FORM", .help = "the form of the answer (default text)",                 \
		.kind = RD_OPT_CHOICE, .target = (target_), .words = (words_)                                          \
	}
#define RD_OPTION_OUTPUT(target_)                                                                                      \
	{                                                                                                              \
		.name = "output", .letter = 'o', .argument = "FILE",                                                   \
		.help = "write to FILE, which appears whole or not at all", .kind = RD_OPT_TEXT, .target = (target_)   \
	}
#define RD_OPTION_STRICT(target_)                                                                                      \
	{                                                                                                              \
		.name = "strict", .help = "exit code 3 for lost events too", .kind = RD_OPT_FLAG, .target = (target_)  \
	}
/* An int of enum rd_log_level. */
#define RD_OPTION_LOG(target, help)                                                                                    \
	{                                                                                                              \
		"log", 0, "LEVEL", (help), RD_OPT_CHOICE, (target), 0, 0, rd_log_level_names                           \
	}

struct rd_command_line {
	const char *name;  /* "rundown report", "rundown-worker": begins usage and complaints */
	const char *words; /* "RESULT", "TRACE..."; NULL when there are none */
	int min_words;
	int max_words;     /* negative: any number */
	const char *about; /* what it does; may have several lines */
	const struct rd_option *options;
	size_t options_n;
	const char *examples; /* ready lines, each with its newline; NULL none */
	const char *notes;    /* the same, after the examples */
};

/*
 * Read the options; getopt moves the other words to argv[*first_word..argc).
 * true: go on. false: leave with *exit_code, which is 0 after --help or
 * --version and 2 after a line on stderr that says what is wrong.
 */
bool rd_options_parse(const struct rd_command_line *c, int argc, char **argv, int *first_word, int *exit_code);

/* The word nearest to `word` among the NULL-ended `words`, when it is near enough to be meant; NULL else. */
const char *rd_nearest_word(const char *word, const char *const *words);

#endif
