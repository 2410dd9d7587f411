#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

#define FLUSH_BYTES ((size_t)1 << 16)

void rd_out_init(struct rd_out *o, int fd)
{
	*o = (struct rd_out){.fd = fd};
}

/* Hand the buffer to the descriptor. After a failure it is only emptied: the output is lost anyhow. */
static void drain(struct rd_out *o)
{
	struct rd_error err;

	if (o->fd < 0 || o->buffer.n == 0)
		return;
	if (o->sys_errno == 0) {
		if (rd_write_all(o->fd, o->buffer.at, o->buffer.n, &err) == RD_OK)
			o->written_bytes += o->buffer.n;
		else
			o->sys_errno = err.sys_errno ? err.sys_errno : EIO;
	}
	o->buffer.n = 0;
}

void rd_out_bytes(struct rd_out *o, const void *p, size_t size_bytes)
{
	rd_bytes_append(&o->buffer, p, size_bytes);
	if (o->fd >= 0 && o->buffer.n >= FLUSH_BYTES)
		drain(o);
}

void rd_out_text(struct rd_out *o, const char *text)
{
	rd_out_bytes(o, text, strlen(text));
}

void rd_out_style(struct rd_out *o, enum rd_style style)
{
	/* SGR of ECMA-48: bold, green, red, faint. */
	static const char *const codes[] = {[RD_STYLE_PLAIN] = "\033[m",
					    [RD_STYLE_HEAD] = "\033[1m",
					    [RD_STYLE_GOOD] = "\033[32m",
					    [RD_STYLE_BAD] = "\033[31m",
					    [RD_STYLE_SOFT] = "\033[2m"};

	if (o->has_styles)
		rd_out_text(o, codes[style]);
}

void rd_out_printf(struct rd_out *o, const char *fmt, ...)
{
	char small[256];
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(small, sizeof small, fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof small) {
		rd_out_bytes(o, small, (size_t)n);
	} else if (n >= 0) {
		/* Straight into the buffer, with its NUL, which does not stay. */
		uint8_t *to = rd_bytes_extend(&o->buffer, (size_t)n + 1);
		if (to) {
			vsnprintf((char *)to, (size_t)n + 1, fmt, again);
			o->buffer.n--;
			rd_out_bytes(o, "", 0);
		}
	} else {
		o->buffer.failed = 1;
	}
	va_end(again);
}

/* Of UTF-8: what is not the middle of a character. */
static size_t characters(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((uint8_t)text[i] & 0xc0) != 0x80;
	return count;
}

size_t rd_out_words(struct rd_out *o, const char *text, size_t column, size_t indent, size_t columns)
{
	bool first = true;

	text += strspn(text, " ");
	while (*text) {
		size_t n = strcspn(text, " "), wide = characters(text, n);
		if (!first && columns && column + 1 + wide > columns && column > indent) {
			rd_out_printf(o, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			rd_out_text(o, " ");
			column++;
		}
		rd_out_bytes(o, text, n);
		column += wide;
		text += n;
		text += strspn(text, " ");
		first = false;
	}
	return column;
}

int rd_out_flush(struct rd_out *o, struct rd_error *err)
{
	drain(o);
	if (o->buffer.failed)
		return rd_fail_nomem(err);
	if (o->sys_errno) {
		errno = o->sys_errno;
		return rd_fail_errno(err, "writing the output");
	}
	return RD_OK;
}

int rd_out_close(struct rd_out *o, struct rd_error *err)
{
	int code = rd_out_flush(o, err);

	rd_bytes_release(&o->buffer);
	return code;
}
