#include "base/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#define LINE_BYTES 2048

static enum rd_log_level log_level = RD_LOG_WARN;
static char log_role[64];
static uint64_t began_ns;

const char *const rd_log_level_names[] = {
	[RD_LOG_ERROR] = "error", [RD_LOG_WARN] = "warn", [RD_LOG_INFO] = "info", [RD_LOG_DEBUG] = "debug", NULL,
};

void rd_log_init(enum rd_log_level level, const char *role)
{
	log_level = level;
	if (role && strpbrk(role, " \"=\n"))
		rd_log_quote(role, log_role, sizeof log_role);
	else
		snprintf(log_role, sizeof log_role, "%s", role ? role : "");
	began_ns = rd_now_ns();
}

/* What fits; an over-long line is cut, never split in two. */
static size_t __attribute__((format(printf, 3, 0))) add(char *line, size_t n, const char *fmt, va_list args)
{
	int more = vsnprintf(line + n, LINE_BYTES - n, fmt, args);

	if (more < 0)
		return n;
	return (size_t)more < LINE_BYTES - n ? n + (size_t)more : LINE_BYTES - 1;
}

static size_t __attribute__((format(printf, 3, 4))) addf(char *line, size_t n, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	n = add(line, n, fmt, args);
	va_end(args);
	return n;
}

void rd_log(enum rd_log_level level, const char *event, const char *fmt, ...)
{
	char line[LINE_BYTES + 1];
	va_list args;

	if (level > log_level)
		return;
	uint64_t now_ns = rd_now_ns();
	if (began_ns == 0)
		began_ns = now_ns;
	uint64_t ms = (now_ns - began_ns) / 1000000;
	size_t n = addf(line, 0, "level=%s t=%llu.%03u", rd_log_level_names[level], (unsigned long long)(ms / 1000),
			(unsigned)(ms % 1000));
	if (log_role[0])
		n = addf(line, n, " role=%s", log_role);
	n = addf(line, n, " event=%s", event);
	if (fmt && *fmt) {
		n = addf(line, n, " ");
		va_start(args, fmt);
		n = add(line, n, fmt, args);
		va_end(args);
	}
	/* One happening, one line: nothing that a value holds may look like another. */
	line[n] = 0;
	rd_clean_line(line, LINE_BYTES);
	n = strlen(line);
	line[n++] = '\n';
	/* One write, so that the lines of several processes do not mix; there is nobody to tell a failure. */
	rd_write_all(STDERR_FILENO, line, n, NULL);
}

bool rd_log_may(struct rd_log_limit *l, uint64_t *unsaid)
{
	static const uint64_t pace_ns = UINT64_C(10000000000), forget_ns = UINT64_C(60000000000);
	uint64_t now_ns = rd_now_ns();

	if (l->said && now_ns - l->last_ns >= forget_ns)
		l->said = 0;
	l->last_ns = now_ns;
	if (l->said >= RD_LOG_BURST && now_ns - l->said_ns < pace_ns) {
		l->unsaid++;
		return false;
	}
	*unsaid = l->unsaid;
	l->unsaid = 0;
	l->said_ns = now_ns;
	l->said += l->said < RD_LOG_BURST;
	return true;
}

const char *rd_log_quote(const char *text, char *buf, unsigned size)
{
	unsigned n = 0;

	if (size < 3) {
		if (size)
			buf[0] = 0;
		return buf;
	}
	buf[n++] = '"';
	for (; *text; text++) {
		char c = *text;
		char escape = c == '"' || c == '\\' ? c : c == '\n' ? 'n' : 0;
		/* The last quote and the NUL must fit behind it. */
		if (n + (escape ? 2u : 1u) + 2u > size)
			break;
		if (escape)
			buf[n++] = '\\';
		buf[n++] = escape ? escape : (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
	}
	buf[n++] = '"';
	buf[n] = 0;
	return buf;
}
