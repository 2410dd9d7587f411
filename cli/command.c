#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/out.h"
#include "base/start.h"
#include "base/text.h"

static bool as_json;

void rd_lines_as_json(bool on)
{
	as_json = on;
}

/* "key" is what the line is to programs. */
static void put_json(const char *key, const char *text)
{
	struct rd_json j;
	struct rd_out o;

	rd_out_init(&o, STDERR_FILENO);
	rd_json_init(&j, &o, false);
	rd_json_object(&j, NULL);
	rd_json_text(&j, key, text);
	rd_json_object_end(&j);
	(void)rd_out_close(&o, NULL);
}

/* Whole lines in one write each, so that the lines of several processes do not mix. */
static void put_line(const char *key, const char *name, const char *before, const char *text, const char *after)
{
	char line[2048];

	if (as_json) {
		put_json(key, text);
		return;
	}
	snprintf(line, sizeof line - 1, "%s: %s%s%s", name, before, text, after);
	/* The words may come from a user's shell or a trace: a line stays a line. */
	rd_clean_line(line, sizeof line - 1);
	size_t n = strlen(line);
	line[n++] = '\n';
	/* There is nobody to tell a failure. */
	(void)rd_write_all(STDERR_FILENO, line, n, NULL);
}

static __attribute__((format(printf, 5, 0))) void say(const char *key, const char *name, const char *before,
						      const char *after, const char *fmt, va_list args)
{
	char text[1800];

	if (vsnprintf(text, sizeof text, fmt, args) < 0)
		text[0] = 0;
	put_line(key, name, before, text, after);
}

bool rd_begin(const char *program)
{
	struct rd_error err;

	if (rd_start(&err) == 0)
		return true;
	rd_complain(program, &err);
	return false;
}

int rd_exit_of(const struct rd_trust *t, bool strict)
{
	bool lost = t->lost_events || t->lost_buffers;

	return !t->complete || t->quarantined.n || (strict && lost) ? RD_EXIT_INCOMPLETE : RD_EXIT_OK;
}

int rd_complain(const char *name, const struct rd_error *err)
{
	char line[1024];

	rd_error_line(err, line, sizeof line);
	if (err->code == RD_USAGE)
		return rd_usage(name, "%s", line);
	put_line("error", name, "", line, "");
	return RD_EXIT_FAILED;
}

void rd_note(const char *name, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	say("note", name, "note: ", "", fmt, args);
	va_end(args);
}

void rd_note_left_out(const char *name, const char *path, const struct rd_error *err)
{
	struct rd_error bare = *err;
	char line[1024];

	bare.file[0] = 0;
	rd_note(name, "%s is left out: %s", path, rd_error_line(&bare, line, sizeof line));
}

void rd_line(const char *key, const char *name, const char *before, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	say(key, name, before, "", fmt, args);
	va_end(args);
}

int rd_usage(const char *name, const char *fmt, ...)
{
	char hint[256];
	va_list args;

	snprintf(hint, sizeof hint, " (see %s --help)", name);
	va_start(args, fmt);
	say("error", name, "", hint, fmt, args);
	va_end(args);
	return RD_EXIT_USAGE;
}
