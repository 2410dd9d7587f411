#include "report/gzip.h"

#include <limits.h>

/* zlib's window of 32 KiB, and 16 more for gzip's head and tail around it. */
#define GZIP_WINDOW (15 + 16)
#define PIECE_BYTES 16384

static void *take(void *ctx, unsigned n, unsigned size)
{
	size_t bytes;

	(void)ctx;
	return __builtin_mul_overflow((size_t)n, (size_t)size, &bytes) ? NULL : rd_realloc(NULL, bytes);
}

static void give(void *ctx, void *p)
{
	(void)ctx;
	rd_free(p);
}

int rd_gzip_init(struct rd_gzip *g, struct rd_out *out)
{
	*g = (struct rd_gzip){.z = {.zalloc = take, .zfree = give}, .out = out};
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return RD_NOMEM;
	return 0;
}

static void deflate_all(struct rd_gzip *g, int flush)
{
	uint8_t piece[PIECE_BYTES];
	int code = Z_OK;

	do {
		g->z.next_out = piece;
		g->z.avail_out = sizeof piece;
		code = deflate(&g->z, flush);
		rd_out_bytes(g->out, piece, sizeof piece - g->z.avail_out);
	} while (code == Z_OK && (g->z.avail_out == 0 || flush == Z_FINISH));
	/* No progress is what a full piece that was the last looks like. */
	g->failed |= code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
}

void rd_gzip_put(struct rd_gzip *g, const void *bytes, size_t size_bytes)
{
	const uint8_t *p = bytes;

	while (size_bytes) {
		unsigned n = size_bytes < UINT_MAX ? (unsigned)size_bytes : UINT_MAX;
		g->z.next_in = (uint8_t *)(uintptr_t)p;
		g->z.avail_in = n;
		deflate_all(g, Z_NO_FLUSH);
		p += n;
		size_bytes -= n;
	}
}

int rd_gzip_close(struct rd_gzip *g)
{
	deflate_all(g, Z_FINISH);
	deflateEnd(&g->z);
	return g->failed ? RD_NOMEM : 0;
}
