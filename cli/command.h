/*
 * command - what the subcommands of `rundown` share.
 *
 * Each has a file of its own, cli/NAME.c, and a row in main.c's table. It gets
 * its own words, argv[0] being its name, and returns the exit code.
 */
#ifndef RD_CLI_COMMAND_H
#define RD_CLI_COMMAND_H

#include "base/error.h"
#include "profile/result.h"

/* docs/design.md, section 2. */
enum rd_exit {
	RD_EXIT_OK = 0,
	RD_EXIT_FAILED = 1, /* nothing usable */
	RD_EXIT_USAGE = 2,
	RD_EXIT_INCOMPLETE = 3, /* a usable result of an incomplete input */
	RD_EXIT_WORSE = 4,      /* diff --fail-over: something costs too much more than before */
};

int rd_cmd_run(int argc, char **argv);
int rd_cmd_report(int argc, char **argv);
int rd_cmd_diff(int argc, char **argv);
int rd_cmd_top(int argc, char **argv);
int rd_cmd_inspect(int argc, char **argv);
int rd_cmd_events(int argc, char **argv);
int rd_cmd_keys(int argc, char **argv);
int rd_cmd_capture_state(int argc, char **argv);
int rd_cmd_il_map(int argc, char **argv);
int rd_cmd_submit(int argc, char **argv);
int rd_cmd_status(int argc, char **argv);
int rd_cmd_result(int argc, char **argv);
int rd_cmd_cancel(int argc, char **argv);
int rd_cmd_retry(int argc, char **argv);

/* The exit code that a result deserves. strict: lost events are an incomplete input, too. */
int rd_exit_of(const struct rd_trust *t, bool strict);

/* Before all else in a program's main (base/start.h); false after a line that says why it cannot go on: exit code 1. */
bool rd_begin(const char *program);

/* From now on each line of the functions below is one JSON object: {"error": …}, {"note": …}, or the key of rd_line. */
void rd_lines_as_json(bool on);

/* One line on stderr, "NAME: what, which file, at which byte"; returns the exit code for the failure. */
int rd_complain(const char *name, const struct rd_error *err);

/* One line on stderr that is no failure: "NAME: note: …". */
void rd_note(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A file of a folder cannot be used, and the others can: a note. */
void rd_note_left_out(const char *name, const char *path, const struct rd_error *err);

/* One line on stderr, "NAME: BEFORE…"; as JSON {KEY: …}, without what stands before. */
void rd_line(const char *key, const char *name, const char *before, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* One line on stderr about the user's words; returns RD_EXIT_USAGE. */
int rd_usage(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
