#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

/* Whole lines in one write each, so that the lines of several processes do not mix. */
static __attribute__((format(printf, 3, 0))) void say(const char *name, const char *before, const char *fmt,
						      va_list args, const char *after)
{
	char line[2048];
	size_t room = sizeof line - 1;
	int n = snprintf(line, room, "%s: %s", name, before);
	size_t used = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;

	n = vsnprintf(line + used, room - used, fmt, args);
	used += n < 0 ? 0 : (size_t)n < room - used ? (size_t)n : room - used - 1;
	n = snprintf(line + used, room - used, "%s", after);
	used += n < 0 ? 0 : (size_t)n < room - used ? (size_t)n : room - used - 1;
	/* The words may come from a user's shell or a trace: a line stays a line. */
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[used++] = '\n';
	fwrite(line, 1, used, stderr);
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
	fprintf(stderr, "%s: %s\n", name, line);
	return RD_EXIT_FAILED;
}

void rd_note(const char *name, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	say(name, "note: ", fmt, args, "");
	va_end(args);
}

int rd_usage(const char *name, const char *fmt, ...)
{
	char hint[256];
	va_list args;

	snprintf(hint, sizeof hint, " (see %s --help)", name);
	va_start(args, fmt);
	say(name, "", fmt, args, hint);
	va_end(args);
	return RD_EXIT_USAGE;
}
