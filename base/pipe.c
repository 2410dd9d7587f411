#include "base/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"

#define READ_BYTES ((size_t)64 << 10)
/* As much as a user may have by default; more in flight means fewer switches between the two processes. */
#define PIPE_BYTES (1 << 20)

int rd_pipe_make(int ends[2], struct rd_error *err)
{
	if (pipe2(ends, O_CLOEXEC) != 0)
		return rd_fail_errno(err, "making a pipe");
	/* Refused where the user's pipes have too many pages already: slower, not wrong. */
	(void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
		int code = rd_fail_errno(err, "making a pipe");
		close(ends[0]);
		close(ends[1]);
		return code;
	}
	return 0;
}

int rd_pipe_write(int fd, uint8_t type, struct rd_span head, struct rd_span body, struct rd_error *err)
{
	size_t size;
	uint8_t start[RD_PIPE_HEAD_BYTES];

	if (__builtin_add_overflow(head.size_bytes, body.size_bytes, &size) || size > UINT32_MAX)
		return rd_fail(err, RD_LIMIT, "a frame of more than 4 GiB");
	for (int i = 0; i < 4; i++)
		start[i] = (uint8_t)(size >> 8 * i);
	start[4] = type;

	struct iovec io[3] = {{start, sizeof start},
			      {(void *)(uintptr_t)head.at, head.size_bytes},
			      {(void *)(uintptr_t)body.at, body.size_bytes}};
	for (size_t i = 0; i < 3;) {
		ssize_t n = writev(fd, io + i, (int)(3 - i));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rd_fail_errno(err, "writing to the daemon");
		for (; i < 3 && (size_t)n >= io[i].iov_len; i++)
			n -= (ssize_t)io[i].iov_len;
		if (i < 3) {
			io[i].iov_base = (uint8_t *)io[i].iov_base + n;
			io[i].iov_len -= (size_t)n;
		}
	}
	return 0;
}

void rd_pipe_init(struct rd_pipe *p, int fd, uint32_t body_max_bytes)
{
	*p = (struct rd_pipe){.fd = fd, .body_max_bytes = body_max_bytes};
}

size_t rd_pipe_left(const struct rd_pipe *p)
{
	return p->buffer.n - p->at;
}

int rd_pipe_fill(struct rd_pipe *p, struct rd_error *err)
{
	size_t left = rd_pipe_left(p);

	if (p->ended)
		return 0;
	/* One whole frame is here: nobody needs more before it is taken, and so the buffer stays bounded. */
	if (left > RD_PIPE_HEAD_BYTES + (size_t)p->body_max_bytes)
		return 0;
	if (p->at) {
		memmove(p->buffer.at, p->buffer.at + p->at, left);
		p->buffer.n = left;
		p->at = 0;
	}
	uint8_t *room = rd_bytes_extend(&p->buffer, READ_BYTES);
	if (room == NULL) {
		p->buffer.failed = 0;
		return rd_fail_nomem(err);
	}
	ssize_t n;
	do
		n = read(p->fd, room, READ_BYTES);
	while (n < 0 && errno == EINTR);
	p->buffer.n = left + (n > 0 ? (size_t)n : 0);
	if (n == 0)
		p->ended = true;
	if (n < 0 && errno != EAGAIN)
		return rd_fail_errno(err, "reading from a child");
	return n > 0 ? (int)n : 0;
}

int rd_pipe_next(struct rd_pipe *p, struct rd_pipe_frame *out, struct rd_error *err)
{
	/* Before anything came there is no buffer to point into. */
	size_t left = rd_pipe_left(p);
	struct rd_cursor c = rd_cursor_of(left ? p->buffer.at + p->at : NULL, left);

	if (rd_left(&c) < RD_PIPE_HEAD_BYTES)
		return 0;
	uint32_t size = rd_u32(&c);
	uint8_t type = rd_u8(&c);
	if (size > p->body_max_bytes)
		return rd_fail(err, RD_PROTOCOL, "a frame of %u bytes, at most %u are allowed", size,
			       p->body_max_bytes);
	if (size > rd_left(&c))
		return 0;
	*out = (struct rd_pipe_frame){type, {rd_take(&c, size), size}};
	p->at += RD_PIPE_HEAD_BYTES + size;
	return 1;
}

int rd_pipe_hear(struct rd_pipe *p, struct rd_pipe_frame *out, struct rd_error *err)
{
	int got;

	while ((got = rd_pipe_next(p, out, err)) == 0 && !p->ended) {
		got = rd_pipe_fill(p, err);
		if (got < 0 || (got == 0 && !p->ended))
			return got;
	}
	return got;
}

void rd_pipe_release(struct rd_pipe *p)
{
	rd_bytes_release(&p->buffer);
	p->at = 0;
	p->ended = true;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* ---- errors: i32 code, i32 errno, u64 offset, then file, text, context, each behind its u16 length */

static void append_number(struct rd_bytes *out, uint64_t v, unsigned bytes)
{
	uint8_t raw[8];

	for (unsigned i = 0; i < bytes; i++)
		raw[i] = (uint8_t)(v >> 8 * i);
	rd_bytes_append(out, raw, bytes);
}

static void append_text(struct rd_bytes *out, const char *text, size_t max)
{
	size_t n = strnlen(text, max);

	append_number(out, n, 2);
	rd_bytes_append(out, text, n);
}

int rd_pipe_error_pack(const struct rd_error *e, struct rd_bytes *out)
{
	append_number(out, (uint32_t)e->code, 4);
	append_number(out, (uint32_t)e->sys_errno, 4);
	append_number(out, e->offset, 8);
	append_text(out, e->file, sizeof e->file - 1);
	append_text(out, e->text, sizeof e->text - 1);
	append_text(out, e->context, sizeof e->context - 1);
	return out->failed ? RD_NOMEM : 0;
}

/* At most size - 1 bytes, control characters as blanks. */
static void take_text(struct rd_cursor *c, char *to, size_t size)
{
	uint16_t n = rd_u16(c);
	const uint8_t *from = rd_take(c, n);

	to[0] = 0;
	if (from == NULL)
		return;
	if (n >= size) {
		c->failed = true;
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		to[i] = from[i] < ' ' || from[i] == 0x7f ? ' ' : (char)from[i];
	to[n] = 0;
}

int rd_pipe_error_unpack(struct rd_error *e, struct rd_span body)
{
	struct rd_cursor c = rd_cursor_of(body.at, body.size_bytes);

	rd_error_clear(e);
	e->code = rd_i32(&c);
	e->sys_errno = rd_i32(&c);
	e->offset = rd_u64(&c);
	take_text(&c, e->file, sizeof e->file);
	take_text(&c, e->text, sizeof e->text);
	take_text(&c, e->context, sizeof e->context);
	if (c.failed || rd_left(&c) || e->code >= 0 || e->code < RD_INTERNAL)
		return rd_fail(e, RD_PROTOCOL, "an error that is none");
	return 0;
}
