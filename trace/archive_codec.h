/*
 * archive_codec - gzip, zstd, xz and bzip2, each by its own library, behind one way to ask.
 *
 * A compressed file is parts, one behind the other: members of gzip, frames of
 * zstd, streams of xz and bzip2. A part has the check of its plain bytes at its
 * end, and only then is known whether what came out of it is what went in.
 * (xz and bzip2 also check the blocks inside; their libraries tell the end of a
 * part alone. A zstd frame may be written without a check, and an xz stream too.)
 */
#ifndef RD_TRACE_ARCHIVE_CODEC_H
#define RD_TRACE_ARCHIVE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What may be read and written; a step moves both on. */
struct rd_codec_io {
	const uint8_t *in;
	size_t in_bytes;
	uint8_t *out;
	size_t out_bytes;
};

enum rd_codec_step {
	RD_CODEC_MORE = 0,
	RD_CODEC_ENDED = 1, /* the part is whole, and its check held */
};

struct rd_codec_state;

struct rd_codec {
	const char *name;
	bool zeros_behind;  /* the format allows zeros behind the last part, */
	bool zeros_between; /* and between two */
	/* Whether these bytes are the beginning of a part; of few bytes, whether they may be. */
	bool (*begins)(const uint8_t *at, size_t size_bytes);
	/* To be called at the beginning of each part. 0, RD_NOMEM. */
	int (*begin)(struct rd_codec_state *s, struct rd_error *err);
	/* enum rd_codec_step, RD_CORRUPT (also: the check failed), RD_UNSUPPORTED, RD_NOMEM. */
	int (*step)(struct rd_codec_state *s, struct rd_codec_io *io, struct rd_error *err);
	void (*end)(struct rd_codec_state *s);
};

extern const struct rd_codec rd_codec_gzip, rd_codec_zstd, rd_codec_xz, rd_codec_bzip2;

/* Fit for any codec, for one at a time; NULL without memory. Free after the codec's end. */
struct rd_codec_state *rd_codec_state_new(void);
void rd_codec_state_free(struct rd_codec_state *s);

#endif
