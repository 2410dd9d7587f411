/*
 * A buffer of the session's size is believed at once. Any other size is
 * believed when it leads to another buffer or to the file's end; if it does
 * not, the one of the two that the next findable buffer contradicts is wrong.
 */
#include "trace/etl/framing.h"

#include <fcntl.h>

#include "base/cursor.h"
#include "base/memory.h"

/* A search reads in windows that grow, because the next buffer is mostly near. */
enum { WINDOW_FIRST = 4 << 10, WINDOW = 256 << 10 };

/* How many headers are asked for at once, and the stride for compressed files, whose headers are anywhere. */
enum { AHEAD = 64, AHEAD_PACKED = 1 << 20 };

/* 1 and *b when a possible header stands there, 0 when none, negative when it cannot be read. */
static int peek(const struct rd_etl_framing *f, uint64_t at, struct rd_etl_buffer *b, struct rd_error *err)
{
	uint8_t head[RD_ETL_BUFFER_HEAD];

	if (f->source->size_bytes - at < sizeof head)
		return 0;
	int rc = rd_source_read(f->source, head, sizeof head, at, err);
	if (rc < 0)
		return rc;
	rd_etl_buffer_read(b, head);
	return rd_etl_buffer_plausible(b);
}

/* Whether the buffer *b, found by search, leads on: to another one, or to the end of the file. */
static int leads_on(const struct rd_etl_framing *f, uint64_t at, const struct rd_etl_buffer *b, struct rd_error *err)
{
	struct rd_etl_buffer behind;
	uint64_t left = f->source->size_bytes - at;

	if (b->size_bytes >= left)
		return b->size_bytes == left;
	if (!f->compressed && b->size_bytes == f->nominal_bytes)
		return 1;
	return peek(f, at + b->size_bytes, &behind, err);
}

/* Plain files: the next multiple of the session's buffer size where a buffer stands. 1, 0 none, negative. */
static int search_grid(const struct rd_etl_framing *f, uint64_t at, uint64_t *found, struct rd_error *err)
{
	if (f->nominal_bytes < RD_ETL_BUFFER_HEAD)
		return 0;
	uint64_t p = at < f->base ? f->base : at + f->nominal_bytes - (at - f->base) % f->nominal_bytes;

	for (; p < f->source->size_bytes; p += f->nominal_bytes) {
		struct rd_etl_buffer b;
		int rc = peek(f, p, &b, err);
		if (rc > 0)
			rc = leads_on(f, p, &b, err);
		if (rc != 0) {
			*found = p;
			return rc;
		}
	}
	return 0;
}

/* Whether a compressed buffer's header may stand at p; a cheap test that almost no other bytes pass. */
static bool compressed_head(const struct rd_etl_framing *f, const uint8_t *p)
{
	struct rd_etl_buffer b;

	if ((rd_le16(p + 0x34) & (0xff00 | RD_ETL_BUFFER_COMPRESSED)) != RD_ETL_BUFFER_COMPRESSED)
		return false;
	rd_etl_buffer_read(&b, p);
	return rd_etl_buffer_plausible(&b) && (f->nominal_bytes == 0 || b.used_bytes <= f->nominal_bytes);
}

/* Compressed files: the next byte behind `at` where a buffer stands. 1, 0 none, negative. */
static int search_bytes(const struct rd_etl_framing *f, uint64_t at, uint64_t *found, struct rd_error *err)
{
	uint64_t size = f->source->size_bytes;
	uint8_t *window = rd_realloc(NULL, WINDOW);
	int rc = 0;

	if (window == NULL)
		return rd_fail_nomem(err);
	size_t window_bytes = WINDOW_FIRST;
	for (uint64_t from = at + 1; rc == 0 && size - from >= RD_ETL_BUFFER_HEAD;) {
		size_t n = size - from < window_bytes ? (size_t)(size - from) : window_bytes;
		rc = rd_source_read(f->source, window, n, from, err);
		size_t last = n - RD_ETL_BUFFER_HEAD;
		for (size_t i = 0; rc == 0 && i <= last; i++) {
			struct rd_etl_buffer b;
			if (!compressed_head(f, window + i))
				continue;
			rd_etl_buffer_read(&b, window + i);
			*found = from + i;
			rc = leads_on(f, *found, &b, err);
		}
		from += last + 1;
		window_bytes = window_bytes < WINDOW ? 2 * window_bytes : WINDOW;
	}
	rd_free(window);
	return rc;
}

static int search(const struct rd_etl_framing *f, uint64_t at, uint64_t *found, struct rd_error *err)
{
	return f->compressed ? search_bytes(f, at, found, err) : search_grid(f, at, found, err);
}

/* 1 when all bytes from `at` to the end are zero, else 0. */
static int zeros(const struct rd_etl_framing *f, uint64_t at, struct rd_error *err)
{
	uint64_t size = f->source->size_bytes;
	uint8_t *window = rd_realloc(NULL, WINDOW);
	int rc = 0;

	if (window == NULL)
		return rd_fail_nomem(err);
	for (bool zero = true; zero && rc == 0 && at < size;) {
		size_t n = size - at < WINDOW ? (size_t)(size - at) : WINDOW;
		rc = rd_source_read(f->source, window, n, at, err);
		/* All are zero when the first is and each equals the one before. */
		zero = rc == 0 && window[0] == 0 && memcmp(window, window + 1, n - 1) == 0;
		if (zero)
			at += n;
	}
	rd_free(window);
	return rc < 0 ? rc : at >= size;
}

/* No buffer can stand at `at`: look for the next one, else say what the rest is. */
static int lost(const struct rd_etl_framing *f, uint64_t at, enum rd_etl_frame otherwise, uint64_t *next,
		struct rd_error *err)
{
	int rc = search(f, at, next, err);
	if (rc != 0)
		return rc < 0 ? rc : RD_ETL_FRAME_BROKEN;
	if (otherwise == RD_ETL_FRAME_GARBAGE) {
		rc = zeros(f, at, err);
		if (rc != 0)
			return rc < 0 ? rc : RD_ETL_FRAME_ZEROS;
	}
	return otherwise;
}

int rd_etl_frame_at(const struct rd_etl_framing *f, uint64_t at, struct rd_etl_buffer *b, uint64_t *next,
		    struct rd_error *err)
{
	uint64_t left = f->source->size_bytes - at;

	if (left < RD_ETL_BUFFER_HEAD)
		return RD_ETL_FRAME_CUT;
	int rc = peek(f, at, b, err);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return lost(f, at, RD_ETL_FRAME_GARBAGE, next, err);
	if (b->size_bytes > left)
		return lost(f, at, RD_ETL_FRAME_CUT, next, err);
	rc = leads_on(f, at, b, err);
	if (rc == 0) {
		/* Its size leads nowhere. If a buffer begins before that place, it is this size that is wrong. */
		rc = search(f, at, next, err);
		if (rc > 0 && *next < at + b->size_bytes)
			return RD_ETL_FRAME_BROKEN;
	}
	if (rc < 0)
		return rc;
	*next = at + b->size_bytes;
	return RD_ETL_FRAME_BUFFER;
}

void rd_etl_frame_ahead(struct rd_etl_framing *f, uint64_t at)
{
	uint64_t size = f->source->size_bytes;

	if (at < f->asked_for)
		return;
	f->asked_for = at;
	if (f->compressed) {
		(void)posix_fadvise(f->source->fd, (off_t)at, AHEAD_PACKED, POSIX_FADV_WILLNEED);
		f->asked_for += AHEAD_PACKED;
		return;
	}
	for (int i = 0; i < AHEAD && f->asked_for < size && f->nominal_bytes; i++) {
		(void)posix_fadvise(f->source->fd, (off_t)f->asked_for, RD_ETL_BUFFER_HEAD, POSIX_FADV_WILLNEED);
		f->asked_for += f->nominal_bytes;
	}
}
