#include "capture/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int fault(struct rd_capture_state *s, int code, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int fault(struct rd_capture_state *s, int code, uint64_t offset, const char *fmt, ...)
{
	struct rd_capture_fault *f = rd_vec_add(&s->faults);
	va_list ap;

	if (f == NULL)
		return RD_NOMEM;
	f->code = code;
	f->offset = offset;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, ap);
	va_end(ap);
	return 0;
}

static uint64_t offset_of(size_t provider)
{
	return RD_CAPTURE_HEAD_BYTES + (uint64_t)provider * RD_CAPTURE_GUID_BYTES;
}

/* ---- providers that are no provider, or that are there already */

struct placed {
	struct rd_capture_guid guid;
	size_t place;
	size_t first; /* where the same GUID stands first */
};

static int by_guid(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = memcmp(x->guid.bytes, y->guid.bytes, sizeof x->guid.bytes);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static int tell_providers(struct rd_capture_state *s, struct placed *p, size_t n)
{
	static const struct rd_capture_guid none;
	char text[37];
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		p[i] = (struct placed){s->providers.at[i], i, i};
	qsort(p, n, sizeof *p, by_guid);
	for (size_t i = 1; i < n; i++)
		if (memcmp(&p[i].guid, &p[i - 1].guid, sizeof p[i].guid) == 0)
			p[i].first = p[i - 1].first;
	qsort(p, n, sizeof *p, by_place);
	for (size_t i = 0; i < n && rc == 0; i++) {
		rd_guid_text(p[i].guid.bytes, text);
		if (p[i].first != i)
			rc = fault(s, RD_EXISTS, offset_of(i), "provider %zu, %s, is provider %zu again", i + 1, text,
				   p[i].first + 1);
		else if (memcmp(&p[i].guid, &none, sizeof none) == 0)
			rc = fault(s, RD_CORRUPT, offset_of(i), "provider %zu is a GUID of zeros, which is none",
				   i + 1);
	}
	return rc;
}

static int check_providers(struct rd_capture_state *s)
{
	size_t n = s->providers.n;

	if (n == 0)
		return 0;
	struct placed *p = rd_realloc(NULL, n * sizeof *p);
	if (p == NULL)
		return RD_NOMEM;
	int rc = tell_providers(s, p, n);
	rd_free(p);
	return rc;
}

/* ---- reading */

/* A count of none, or of more than follow. */
static int check_count(struct rd_capture_state *s, uint64_t told, uint64_t left_bytes)
{
	uint64_t wanted = told * RD_CAPTURE_GUID_BYTES;

	if (told == 0)
		return fault(s, RD_CORRUPT, 4, "no provider is named; no bytes at all would switch it off");
	if (left_bytes == 0)
		return fault(s, RD_TRUNCATED, 4,
			     "%" PRIu64 " providers are counted and none follows, as in what Windows answers about its "
			     "limits",
			     told);
	if (left_bytes < wanted)
		return fault(s, RD_TRUNCATED, 4, "%" PRIu64 " providers need %" PRIu64 " bytes, and %" PRIu64 " follow",
			     told, wanted, left_bytes);
	return 0;
}

static int check_end(struct rd_capture_state *s, uint64_t told, uint64_t left_bytes)
{
	uint64_t wanted = told * RD_CAPTURE_GUID_BYTES;

	if (left_bytes <= wanted)
		return 0;
	return fault(s, RD_CORRUPT, RD_CAPTURE_HEAD_BYTES + wanted,
		     "%" PRIu64 " bytes more than %" PRIu64 " providers need", left_bytes - wanted, told);
}

static int read_head(struct rd_capture_state *s, struct rd_cursor *c, uint64_t *told)
{
	s->every_s = rd_u32(c);
	*told = rd_u16(c);
	uint16_t reserved = rd_u16(c);
	int rc = 0;

	if (s->every_s == 0)
		rc = fault(s, RD_CORRUPT, 0, "every 0 seconds");
	if (rc == 0)
		rc = check_count(s, *told, rd_left(c));
	if (rc == 0 && reserved != 0)
		rc = fault(s, RD_CORRUPT, 6, "the reserved bytes are 0x%04x and not 0", reserved);
	return rc;
}

static int read_all(struct rd_capture_state *s, struct rd_cursor *c)
{
	size_t all = rd_left(c);
	uint64_t told;

	if (all < RD_CAPTURE_HEAD_BYTES)
		return fault(s, RD_TRUNCATED, all, "%zu bytes; the head alone has %d", all, RD_CAPTURE_HEAD_BYTES);
	int rc = read_head(s, c, &told);
	/* The bytes are there before anything is allocated for them. */
	uint64_t n = rd_left(c) / RD_CAPTURE_GUID_BYTES < told ? rd_left(c) / RD_CAPTURE_GUID_BYTES : told;
	size_t left = rd_left(c);
	if (rc == 0)
		rc = rd_vec_reserve(&s->providers, n);
	for (uint64_t i = 0; rc == 0 && i < n; i++) {
		const uint8_t *guid = rd_take(c, RD_CAPTURE_GUID_BYTES);
		memcpy(s->providers.at[s->providers.n++].bytes, guid, RD_CAPTURE_GUID_BYTES);
	}
	if (rc == 0)
		rc = check_providers(s);
	if (rc == 0)
		rc = check_end(s, told, left);
	return rc;
}

int rd_capture_read(struct rd_capture_state *s, struct rd_span bytes, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes.at, bytes.size_bytes);

	*s = (struct rd_capture_state){.on = bytes.size_bytes > 0};
	if (s->on && read_all(s, &c) < 0)
		return rd_fail_nomem(err);
	return 0;
}

void rd_capture_release(struct rd_capture_state *s)
{
	rd_vec_release(&s->providers);
	rd_vec_release(&s->faults);
}

int rd_capture_verdict(const struct rd_capture_state *s, struct rd_error *err)
{
	if (s->faults.n == 0)
		return 0;
	const struct rd_capture_fault *f = &s->faults.at[0];
	return rd_error_at(err, rd_fail(err, f->code, "%s", f->text), NULL, f->offset);
}

/* ---- writing */

static void put_le(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* By the rules of reading. The offsets are of bytes that nobody has seen. */
static int check_written(struct rd_span bytes, struct rd_error *err)
{
	struct rd_capture_state s;
	int rc = rd_capture_read(&s, bytes, err);

	if (rc == 0 && s.faults.n > 0)
		rc = rd_fail(err, RD_USAGE, "%s", s.faults.at[0].text);
	rd_capture_release(&s);
	return rc;
}

int rd_capture_write(struct rd_bytes *out, uint32_t every_s, const struct rd_capture_guid *providers, size_t n,
		     struct rd_error *err)
{
	size_t before = out->n;

	if (n == 0 && every_s == 0)
		return 0;
	if (n > RD_CAPTURE_PROVIDERS_MOST)
		return rd_fail(err, RD_LIMIT, "%zu providers; at most %d can be named", n, RD_CAPTURE_PROVIDERS_MOST);
	size_t size_bytes = RD_CAPTURE_HEAD_BYTES + n * RD_CAPTURE_GUID_BYTES;
	uint8_t *at = rd_bytes_extend(out, size_bytes);
	if (at == NULL)
		return rd_fail_nomem(err);
	put_le(at, every_s, 4);
	put_le(at + 4, n, 2);
	put_le(at + 6, 0, 2);
	if (n > 0)
		memcpy(at + RD_CAPTURE_HEAD_BYTES, providers, n * sizeof *providers);
	int rc = check_written((struct rd_span){at, size_bytes}, err);
	if (rc < 0)
		out->n = before;
	return rc;
}
