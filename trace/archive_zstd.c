/*
 * The output file is given its full size, mapped, and handed to the decoder
 * as the one buffer that all plain bytes end up in. Its disk blocks are
 * reserved before, so that a full disk is an error and not a signal.
 *
 * The process keeps little of it. Pages leave it soon after they were written,
 * and matches, which reach back through the whole file, bring back what they
 * need. How much comes with one page is the system's choice: its neighbours up
 * to 64 KiB, and since Linux 6.18 all of the cache's piece that it is part of.
 * Pieces that a mapping makes are of megabytes, so that after a few matches
 * nearly the whole file would be back. Hence zeros are written ahead of the
 * decoder, in pieces of a size of our own.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_d_stableOutBuffer */
#include "trace/archive_zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "trace/archive_stream.h"
#include "trace/trace.h"

#define PACKED_BYTES      ((size_t)256 << 10)
#define LEAST_PLAIN_BYTES (UINT64_C(16) << 20) /* below, the other way costs no more than this much memory */
#define RESIDENT_BYTES    ((size_t)1 << 20)    /* new ones; what matches bring back comes on top */
#define PIECE_BYTES       ((size_t)64 << 10)   /* smaller ones cost more time, larger ones more memory */
#define BLOCK_BYTES       ((size_t)ZSTD_BLOCKSIZE_MAX)
#define HEAD_BYTES        512

struct frame {
	const struct rd_source *source;
	ZSTD_DCtx *decoder;
	uint8_t *packed;     /* buffer */
	size_t packed_bytes; /* in it */
	uint64_t position;   /* of the next packed byte to read */
	ZSTD_inBuffer in;
	ZSTD_outBuffer out; /* the mapped file */
	size_t wanted;      /* packed bytes that make up the next block */
	size_t prepared;    /* plain bytes up to here have their pieces */
	size_t dropped;     /* plain bytes up to here left the process */
	bool ended;         /* the frame is whole, */
	bool cut;           /* or the file ends inside it */
};

static int damaged(struct rd_error *err, const char *what)
{
	return rd_error_in(err, rd_fail(err, RD_CORRUPT, "it is damaged (%s)", what), RD_ARCHIVE_CANNOT);
}

/* The plain size that the file's first frame names; false when it is no frame, names none, or is a small one. */
static bool frame_size(const struct rd_source *s, uint64_t *plain_bytes)
{
	uint8_t head[ZSTD_FRAMEHEADERSIZE_MAX];
	int64_t n = rd_source_some(s, head, sizeof head, 0, NULL);
	if (n < 5 || rd_le32(head) != ZSTD_MAGICNUMBER)
		return false;
	unsigned long long size = ZSTD_getFrameContentSize(head, (size_t)n);
	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size < LEAST_PLAIN_BYTES)
		return false;
	*plain_bytes = size;
	return size <= PTRDIFF_MAX;
}

/* What was written and is not needed just now may go; the file has it. */
static void drop_pages(struct frame *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t upto = f->out.pos / page * page;
	if (upto - f->dropped < RESIDENT_BYTES)
		return;
	madvise(f->out.dst, upto, MADV_DONTNEED);
	f->dropped = upto;
}

/* A call unpacks one block at most, and keeps its literals behind the room of that block. */
static int prepare_block(struct frame *f, const struct rd_archive_output *o, struct rd_error *err)
{
	static const uint8_t zeros[PIECE_BYTES];
	if (f->prepared < f->out.pos)
		f->prepared = f->out.pos;
	while (f->prepared < f->out.size && f->prepared < f->out.pos + 2 * BLOCK_BYTES + PIECE_BYTES) {
		size_t left = f->out.size - f->prepared;
		size_t want = left < PIECE_BYTES ? left : PIECE_BYTES;
		int rc = rd_pwrite_all(o->fd, zeros, want, f->prepared, err);
		if (rc != 0)
			return rd_error_at(err, rc, o->out->at[o->out->n - 1].path, RD_NO_OFFSET);
		f->prepared += want;
	}
	return 0;
}

/* Read and unpack up to one block. */
static int step(struct frame *f, struct rd_archive_output *o, struct rd_error *err)
{
	if (f->in.pos == f->packed_bytes) {
		uint64_t left = f->source->size_bytes - f->position;
		size_t want = left < PACKED_BYTES ? (size_t)left : PACKED_BYTES;
		if (want == 0) {
			f->cut = true;
			return 0;
		}
		int rc = rd_source_read(f->source, f->packed, want, f->position, err);
		if (rc != 0)
			return rc;
		f->position += want;
		o->packed_bytes += want;
		f->in = (ZSTD_inBuffer){f->packed, 0, 0};
		f->packed_bytes = want;
	}
	size_t left = f->packed_bytes - f->in.pos;
	f->in.size = f->in.pos + (f->wanted < left ? f->wanted : left);
	int code = prepare_block(f, o, err);
	if (code != 0)
		return code;
	size_t rc = ZSTD_decompressStream(f->decoder, &f->out, &f->in);
	if (ZSTD_isError(rc))
		return damaged(err, ZSTD_getErrorName(rc));
	f->wanted = rc;
	f->ended = rc == 0;
	drop_pages(f);
	return 0;
}

/* The whole frame, or what there is of it. *is_trace false: its first bytes are of no trace, or too few. */
static int unpack_frame(struct frame *f, struct rd_archive_output *o,
			void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx, bool *is_trace,
			struct rd_error *err)
{
	*is_trace = false;
	while (!f->ended && !f->cut) {
		int rc = step(f, o, err);
		if (rc != 0)
			return rc;
		if (progress != NULL)
			progress(ctx, f->position);
		if (*is_trace || f->out.pos < HEAD_BYTES)
			continue;
		*is_trace = rd_format_of(f->out.dst, HEAD_BYTES) != NULL;
		if (!*is_trace)
			return 0;
	}
	return 0;
}

/* Give the open file its size and map it. RD_ZSTD_NOT_MINE when it cannot be mapped. */
static int map_output(struct rd_archive_output *o, uint64_t plain_bytes, void **at, struct rd_error *err)
{
	int rc = posix_fallocate(o->fd, 0, (off_t)plain_bytes);
	if (rc != 0) {
		errno = rc;
		rc = rd_fail_errno(err, "making room for the unpacked file");
		return rd_error_at(err, rc, o->out->at[o->out->n - 1].path, RD_NO_OFFSET);
	}
	*at = mmap(NULL, (size_t)plain_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
	return *at != MAP_FAILED ? 0 : RD_ZSTD_NOT_MINE;
}

/* Its last block may be half there; what is, was never held against the check at the frame's end. */
static int keep_cut(struct frame *f, struct rd_archive_output *o, struct rd_error *err)
{
	char damage[256];
	snprintf(damage, sizeof damage, RD_ARCHIVE_ENDS_EARLY, (unsigned long long)f->source->size_bytes);
	o->plain_bytes = f->out.pos;
	int rc = rd_archive_output_shorten(o, f->out.pos, err);
	return rc == 0 ? rd_archive_output_end(o, damage, err) : rc;
}

static int run(struct frame *f, struct rd_archive_output *o, uint64_t plain_bytes,
	       void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx, struct rd_error *err)
{
	bool is_trace;
	f->packed = rd_realloc(NULL, PACKED_BYTES);
	f->decoder = ZSTD_createDCtx();
	if (f->packed == NULL || f->decoder == NULL)
		return rd_fail_nomem(err);
	/* Any window will do, as it costs no memory here. */
	if (ZSTD_isError(ZSTD_DCtx_setParameter(f->decoder, ZSTD_d_stableOutBuffer, 1)) ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(f->decoder, ZSTD_d_windowLogMax, ZSTD_WINDOWLOG_MAX)))
		return RD_ZSTD_NOT_MINE;
	int rc = unpack_frame(f, o, progress, ctx, &is_trace, err);
	if (rc != 0)
		return rc;
	if (!is_trace)
		return RD_ZSTD_NOT_MINE;
	if (f->cut)
		return keep_cut(f, o, err);
	/* More frames behind this one are to be put together. */
	if (f->in.pos < f->packed_bytes || f->position < f->source->size_bytes)
		return RD_ZSTD_NOT_MINE;
	if (f->out.pos != plain_bytes)
		return damaged(err, "its frame has another size");
	o->plain_bytes = plain_bytes;
	o->out->at[o->out->n - 1].size_bytes = plain_bytes;
	return rd_archive_output_end(o, "", err);
}

int rd_archive_zstd(const struct rd_source *s, struct rd_archive_output *o,
		    void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx, struct rd_error *err)
{
	struct frame f = {.source = s};
	uint64_t plain_bytes;
	void *at = NULL;
	if (!frame_size(s, &plain_bytes))
		return RD_ZSTD_NOT_MINE;
	/* The whole archive stands for the packed bytes: the room is taken before any of them is read. */
	o->packed_bytes = s->size_bytes;
	int rc = rd_archive_output_allow(o, plain_bytes, err);
	o->packed_bytes = 0;
	if (rc == 0)
		rc = rd_archive_output_begin(o, "", err);
	if (rc == 0)
		rc = map_output(o, plain_bytes, &at, err);
	if (rc == 0) {
		f.wanted = ZSTD_FRAMEHEADERSIZE_MIN(ZSTD_f_zstd1);
		f.out = (ZSTD_outBuffer){at, (size_t)plain_bytes, 0};
		rc = run(&f, o, plain_bytes, progress, ctx, err);
		munmap(at, (size_t)plain_bytes);
	}
	if (rc == RD_ZSTD_NOT_MINE) {
		rd_archive_output_undo(o);
		o->packed_bytes = 0;
	}
	ZSTD_freeDCtx(f.decoder);
	rd_free(f.packed);
	return rc;
}
