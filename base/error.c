#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *const code_names[] = {
	[-RD_OK] = "ok",
	[-RD_TRUNCATED] = "truncated",
	[-RD_CORRUPT] = "corrupt",
	[-RD_UNSUPPORTED] = "unsupported",
	[-RD_LIMIT] = "limit",
	[-RD_NOMEM] = "no-memory",
	[-RD_IO] = "io",
	[-RD_NOT_FOUND] = "not-found",
	[-RD_EXISTS] = "exists",
	[-RD_CHANGED] = "changed",
	[-RD_USAGE] = "usage",
	[-RD_PROTOCOL] = "protocol",
	[-RD_CANCELLED] = "cancelled",
	[-RD_INTERNAL] = "internal",
};

const char *rd_code_name(int code)
{
	if (code > 0 || code <= -(int)(sizeof code_names / sizeof *code_names))
		return "unknown";
	return code_names[-code];
}

void rd_error_clear(struct rd_error *err)
{
	if (err == NULL)
		return;
	err->code = RD_OK;
	err->sys_errno = 0;
	err->offset = RD_NO_OFFSET;
	err->file[0] = err->text[0] = err->context[0] = 0;
}

static void __attribute__((format(printf, 3, 0))) record(struct rd_error *err, int code, const char *fmt, va_list args)
{
	rd_error_clear(err);
	err->code = code;
	/* Cut short when too long: the code tells what to do, the text is for people. */
	if (vsnprintf(err->text, sizeof err->text, fmt, args) < 0)
		err->text[0] = 0;
	rd_clean_line(err->text, sizeof err->text);
}

int rd_fail(struct rd_error *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list args;
		va_start(args, fmt);
		record(err, code, fmt, args);
		va_end(args);
	}
	return code;
}

int rd_fail_errno(struct rd_error *err, const char *fmt, ...)
{
	int sys_errno = errno;
	int code = sys_errno == ENOMEM ? RD_NOMEM : RD_IO;

	if (err) {
		char why[128];
		va_list args;

		va_start(args, fmt);
		record(err, code, fmt, args);
		va_end(args);
		err->sys_errno = sys_errno;
		/* The GNU strerror_r: thread-safe, and it may return a text of its own. */
		const char *text = strerror_r(sys_errno, why, sizeof why);
		/* The reason matters more than the end of a long text. */
		size_t room = sizeof err->text - strlen(text) - 3;
		size_t n = strnlen(err->text, room);
		snprintf(err->text + n, sizeof err->text - n, "%s%s", n ? ": " : "", text);
	}
	errno = sys_errno;
	return code;
}

int rd_fail_nomem(struct rd_error *err)
{
	return rd_fail(err, RD_NOMEM, "out of memory");
}

int rd_error_settle(struct rd_error *err, int code)
{
	if (err == NULL || code >= 0 || err->code < 0)
		return code;
	/* A place or a layer may be there. */
	err->code = code;
	snprintf(err->text, sizeof err->text, "%s", code == RD_NOMEM ? "out of memory" : rd_code_name(code));
	return code;
}

int rd_error_at(struct rd_error *err, int code, const char *file, uint64_t offset)
{
	if (err == NULL)
		return code;
	if (file && err->file[0] == 0) {
		size_t n = strlen(file);
		size_t skip = n < sizeof err->file ? 0 : n - (sizeof err->file - 1);
		/* Not from within a character. */
		while (skip && ((unsigned char)file[skip] & 0xc0) == 0x80)
			skip++;
		memcpy(err->file, file + skip, n - skip + 1);
		rd_clean_line(err->file, sizeof err->file);
	}
	if (err->offset == RD_NO_OFFSET)
		err->offset = offset;
	return code;
}

int rd_error_in(struct rd_error *err, int code, const char *fmt, ...)
{
	char layer[sizeof err->context];
	va_list args;

	if (err == NULL)
		return code;
	va_start(args, fmt);
	int n = vsnprintf(layer, sizeof layer - 2, fmt, args);
	va_end(args);
	if (n <= 0)
		return code;
	rd_clean_line(layer, sizeof layer - 2);
	/* "outer: inner: "; what no longer fits is cut from the inner end. */
	size_t used = strlen(layer);
	memcpy(layer + used, ": ", 3);
	used += 2;
	size_t kept = strnlen(err->context, sizeof err->context - 1 - used);
	memmove(err->context + used, err->context, kept);
	err->context[used + kept] = 0;
	memcpy(err->context, layer, used);
	return code;
}

const char *rd_error_line(const struct rd_error *err, char *buf, unsigned size)
{
	char where[sizeof err->file + 64] = "";

	if (size == 0)
		return buf;
	if (err->file[0] && err->offset != RD_NO_OFFSET)
		snprintf(where, sizeof where, " (%s, at byte %llu)", err->file, (unsigned long long)err->offset);
	else if (err->file[0])
		snprintf(where, sizeof where, " (%s)", err->file);
	else if (err->offset != RD_NO_OFFSET)
		snprintf(where, sizeof where, " (at byte %llu)", (unsigned long long)err->offset);
	if (snprintf(buf, size, "%s%s%s", err->context, err->text[0] ? err->text : rd_code_name(err->code), where) < 0)
		buf[0] = 0;
	/* A line that came by wire was made by somebody else. */
	rd_clean_line(buf, size);
	return buf;
}
