#include "trace/archive_codec.h"

#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory.h"

/* A dictionary of the greatest preset takes 65 MiB, the format's limit 4 GiB. */
#define XZ_MEMORY_BYTES (UINT64_C(1) << 30)

struct rd_codec_state {
	bool begun; /* there is something to end */
	z_stream gzip;
	ZSTD_DCtx *zstd;
	lzma_stream xz;
	bz_stream bzip2;
};

struct rd_codec_state *rd_codec_state_new(void)
{
	struct rd_codec_state *s = rd_realloc(NULL, sizeof *s);
	if (s != NULL)
		*s = (struct rd_codec_state){.xz = LZMA_STREAM_INIT};
	return s;
}

void rd_codec_state_free(struct rd_codec_state *s)
{
	rd_free(s);
}

/* The libraries' texts name what did not fit; the rest is said here. */
static int damaged(struct rd_error *err, const char *what)
{
	return rd_fail(err, RD_CORRUPT, "it is damaged (%s)", what != NULL ? what : "no data of its kind");
}

static bool is_prefix(const uint8_t *at, size_t size_bytes, const char *magic, size_t magic_bytes)
{
	return size_bytes > 0 && memcmp(at, magic, size_bytes < magic_bytes ? size_bytes : magic_bytes) == 0;
}

static unsigned of_int(size_t n)
{
	return n < INT_MAX ? (unsigned)n : INT_MAX;
}

static void move_on(struct rd_codec_io *io, size_t in_left, size_t in_given, size_t out_left, size_t out_given)
{
	io->in += in_given - in_left;
	io->in_bytes -= in_given - in_left;
	io->out += out_given - out_left;
	io->out_bytes -= out_given - out_left;
}

/* ---- gzip */

static bool gzip_begins(const uint8_t *at, size_t size_bytes)
{
	return is_prefix(at, size_bytes, "\x1f\x8b", 2);
}

static int gzip_begin(struct rd_codec_state *s, struct rd_error *err)
{
	/* 15: the largest window; 16 more: with gzip's head and trailer, whose CRC and size are checked. */
	int rc = s->begun ? inflateReset(&s->gzip) : inflateInit2(&s->gzip, 15 + 16);
	if (rc != Z_OK)
		return rd_fail_nomem(err);
	s->begun = true;
	return 0;
}

static int gzip_step(struct rd_codec_state *s, struct rd_codec_io *io, struct rd_error *err)
{
	unsigned in = of_int(io->in_bytes), out = of_int(io->out_bytes);
	s->gzip.next_in = (z_const Bytef *)(uintptr_t)io->in;
	s->gzip.avail_in = in;
	s->gzip.next_out = io->out;
	s->gzip.avail_out = out;
	int rc = inflate(&s->gzip, Z_NO_FLUSH);
	move_on(io, s->gzip.avail_in, in, s->gzip.avail_out, out);
	if (rc == Z_STREAM_END)
		return RD_CODEC_ENDED;
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return RD_CODEC_MORE;
	return rc == Z_MEM_ERROR ? rd_fail_nomem(err) : damaged(err, s->gzip.msg);
}

static void gzip_end(struct rd_codec_state *s)
{
	if (s->begun)
		inflateEnd(&s->gzip);
}

const struct rd_codec rd_codec_gzip = {"gzip", true, false, gzip_begins, gzip_begin, gzip_step, gzip_end};

/* ---- zstd */

static bool zstd_begins(const uint8_t *at, size_t size_bytes)
{
	uint8_t skippable[4] = {0x50, 0x2a, 0x4d, 0x18};
	if (size_bytes > 0)
		skippable[0] |= at[0] & 0x0f;
	return is_prefix(at, size_bytes, "\x28\xb5\x2f\xfd", 4) ||
	       is_prefix(at, size_bytes, (const char *)skippable, sizeof skippable);
}

static int zstd_begin(struct rd_codec_state *s, struct rd_error *err)
{
	if (s->zstd == NULL)
		s->zstd = ZSTD_createDCtx();
	if (s->zstd == NULL)
		return rd_fail_nomem(err);
	ZSTD_DCtx_reset(s->zstd, ZSTD_reset_session_only);
	return 0;
}

static int zstd_step(struct rd_codec_state *s, struct rd_codec_io *io, struct rd_error *err)
{
	ZSTD_inBuffer in = {io->in, io->in_bytes, 0};
	ZSTD_outBuffer out = {io->out, io->out_bytes, 0};
	size_t rc = ZSTD_decompressStream(s->zstd, &out, &in);
	move_on(io, in.size - in.pos, in.size, out.size - out.pos, out.size);
	if (!ZSTD_isError(rc))
		return rc == 0 ? RD_CODEC_ENDED : RD_CODEC_MORE;
	switch (ZSTD_getErrorCode(rc)) {
	case ZSTD_error_memory_allocation:
		return rd_fail_nomem(err);
	case ZSTD_error_frameParameter_windowTooLarge:
	case ZSTD_error_dictionary_wrong:
		return rd_fail(err, RD_UNSUPPORTED, "%s", ZSTD_getErrorName(rc));
	default:
		return damaged(err, ZSTD_getErrorName(rc));
	}
}

static void zstd_end(struct rd_codec_state *s)
{
	ZSTD_freeDCtx(s->zstd);
}

const struct rd_codec rd_codec_zstd = {"zstd", false, false, zstd_begins, zstd_begin, zstd_step, zstd_end};

/* ---- xz */

static bool xz_begins(const uint8_t *at, size_t size_bytes)
{
	return is_prefix(at, size_bytes,
			 "\xfd"
			 "7zXZ",
			 6);
}

static int xz_begin(struct rd_codec_state *s, struct rd_error *err)
{
	lzma_ret rc = lzma_stream_decoder(&s->xz, XZ_MEMORY_BYTES, LZMA_TELL_UNSUPPORTED_CHECK);
	return rc == LZMA_OK ? 0 : rd_fail_nomem(err);
}

static int xz_step(struct rd_codec_state *s, struct rd_codec_io *io, struct rd_error *err)
{
	s->xz.next_in = io->in;
	s->xz.avail_in = io->in_bytes;
	s->xz.next_out = io->out;
	s->xz.avail_out = io->out_bytes;
	lzma_ret rc = lzma_code(&s->xz, LZMA_RUN);
	move_on(io, s->xz.avail_in, io->in_bytes, s->xz.avail_out, io->out_bytes);
	switch (rc) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return RD_CODEC_MORE;
	case LZMA_STREAM_END:
		return RD_CODEC_ENDED;
	case LZMA_MEM_ERROR:
		return rd_fail_nomem(err);
	case LZMA_MEMLIMIT_ERROR:
		return rd_fail(err, RD_UNSUPPORTED, "to unpack it would take too much memory");
	case LZMA_UNSUPPORTED_CHECK:
		return rd_fail(err, RD_UNSUPPORTED, "its check is of a kind that this build's liblzma does not know");
	case LZMA_OPTIONS_ERROR:
		return rd_fail(err, RD_UNSUPPORTED, "it uses filters that this build's liblzma does not know");
	default:
		return damaged(err, rc == LZMA_DATA_ERROR ? "its data does not fit its checks" : NULL);
	}
}

static void xz_end(struct rd_codec_state *s)
{
	lzma_end(&s->xz);
}

const struct rd_codec rd_codec_xz = {"xz", true, true, xz_begins, xz_begin, xz_step, xz_end};

/* ---- bzip2 */

static bool bzip2_begins(const uint8_t *at, size_t size_bytes)
{
	return is_prefix(at, size_bytes, "BZh", 3);
}

static void bzip2_end(struct rd_codec_state *s)
{
	if (s->begun)
		BZ2_bzDecompressEnd(&s->bzip2);
	s->begun = false;
}

static int bzip2_begin(struct rd_codec_state *s, struct rd_error *err)
{
	bzip2_end(s);
	s->bzip2 = (bz_stream){0};
	if (BZ2_bzDecompressInit(&s->bzip2, 0, 0) != BZ_OK)
		return rd_fail_nomem(err);
	s->begun = true;
	return 0;
}

static int bzip2_step(struct rd_codec_state *s, struct rd_codec_io *io, struct rd_error *err)
{
	unsigned in = of_int(io->in_bytes), out = of_int(io->out_bytes);
	s->bzip2.next_in = (char *)(uintptr_t)io->in;
	s->bzip2.avail_in = in;
	s->bzip2.next_out = (char *)io->out;
	s->bzip2.avail_out = out;
	int rc = BZ2_bzDecompress(&s->bzip2);
	move_on(io, s->bzip2.avail_in, in, s->bzip2.avail_out, out);
	if (rc == BZ_STREAM_END)
		return RD_CODEC_ENDED;
	if (rc == BZ_OK)
		return RD_CODEC_MORE;
	return rc == BZ_MEM_ERROR ? rd_fail_nomem(err) : damaged(err, "its data does not fit its checks");
}

const struct rd_codec rd_codec_bzip2 = {"bzip2", false, false, bzip2_begins, bzip2_begin, bzip2_step, bzip2_end};
