#include "trace/archive_stream.h"

#include <stdio.h>
#include <string.h>

#include "trace/trace.h"

#define PACKED_BYTES ((size_t)256 << 10)
#define PLAIN_BYTES  ((size_t)256 << 10)
#define HEAD_BYTES   512

struct stream {
	const struct rd_archive_stream *what;
	struct rd_codec_state *state;
	uint8_t *packed, *plain; /* buffers */
	uint64_t position;       /* of the next packed byte to read */
	struct rd_codec_io io;   /* from `packed` to `plain` */
	uint64_t part_at;        /* packed byte at which the open part begins */
	uint64_t written_bytes;  /* plain ones, that left the buffer */
	uint64_t checked_bytes;  /* plain ones, of parts that are whole */
	bool known;              /* whether it is a trace: */
	bool is_trace, is_packed;
	char damage[256];
	bool cut; /* the damage is that */
};

static uint64_t bytes_left(const struct stream *s)
{
	return s->what->source->size_bytes - s->position;
}

static uint64_t packed_at(const struct stream *s)
{
	return s->position - s->io.in_bytes;
}

static uint64_t plain_bytes(const struct stream *s)
{
	return s->written_bytes + (PLAIN_BYTES - s->io.out_bytes);
}

static int damaged(struct stream *s, const char *what, uint64_t at)
{
	snprintf(s->damage, sizeof s->damage, "the compressed file %s byte %llu", what, (unsigned long long)at);
	return 0;
}

static int ends_early(struct stream *s)
{
	s->cut = true;
	snprintf(s->damage, sizeof s->damage, RD_ARCHIVE_ENDS_EARLY, (unsigned long long)s->what->source->size_bytes);
	return 0;
}

/* More packed bytes behind those at hand, if the file has them. */
static int fill(struct stream *s, struct rd_error *err)
{
	uint64_t left = bytes_left(s);
	memmove(s->packed, s->io.in, s->io.in_bytes);
	s->io.in = s->packed;
	size_t room = PACKED_BYTES - s->io.in_bytes;
	size_t want = left < room ? (size_t)left : room;
	int rc = rd_source_read(s->what->source, s->packed + s->io.in_bytes, want, s->position, err);
	if (rc != 0)
		return rc;
	s->position += want;
	s->io.in_bytes += want;
	if (s->what->output != NULL)
		s->what->output->packed_bytes += want;
	if (s->what->progress != NULL)
		s->what->progress(s->what->ctx, s->position);
	return 0;
}

/* Once the first bytes are there: what they are of. */
static int look(struct stream *s, struct rd_error *err)
{
	size_t n = PLAIN_BYTES - s->io.out_bytes;
	s->known = true;
	s->is_trace = rd_format_of(s->plain, n < HEAD_BYTES ? n : HEAD_BYTES) != NULL;
	s->is_packed = rd_archive_begins(s->plain, n);
	if (s->is_trace && s->what->output != NULL)
		return rd_archive_output_begin(s->what->output, "", err);
	return 0;
}

static bool is_over(const struct stream *s)
{
	return s->known && (!s->is_trace || s->what->output == NULL);
}

/* The plain bytes at hand into the file. */
static int flush(struct stream *s, struct rd_error *err)
{
	size_t n = PLAIN_BYTES - s->io.out_bytes;
	int rc = s->known ? 0 : look(s, err);
	if (rc == 0 && !is_over(s))
		rc = rd_archive_output_write(s->what->output, s->plain, n, err);
	s->written_bytes += n;
	s->io.out = s->plain;
	s->io.out_bytes = PLAIN_BYTES;
	return rc;
}

/* Give the decoder what there is: 1 the part ended, 0 it goes on, or it ended early (then there is a damage). */
static int step(struct stream *s, struct rd_error *err)
{
	if (s->io.in_bytes == 0 && bytes_left(s) > 0) {
		int rc = fill(s, err);
		if (rc != 0)
			return rc;
	}
	size_t in = s->io.in_bytes, out = s->io.out_bytes;
	int rc = s->what->codec->step(s->state, &s->io, err);
	if (rc < 0)
		return rd_error_in(err, rc, RD_ARCHIVE_CANNOT);
	if (rc == RD_CODEC_ENDED)
		return rc;
	bool enough = plain_bytes(s) >= HEAD_BYTES && !s->known;
	if (s->io.out_bytes == 0 || enough)
		return flush(s, err);
	if (s->io.in_bytes < in || s->io.out_bytes < out)
		return 0;
	/* With bytes before it and room behind, a decoder moves on. */
	if (in == 0)
		return ends_early(s);
	rc = rd_fail(err, RD_CORRUPT, "its decoder stands still");
	return rd_error_in(err, rc, RD_ARCHIVE_CANNOT);
}

static int unpack_part(struct stream *s, struct rd_error *err)
{
	s->part_at = packed_at(s);
	int rc = s->what->codec->begin(s->state, err);
	while (rc == 0 && s->damage[0] == 0 && !is_over(s))
		rc = step(s, err);
	if (rc == RD_CODEC_ENDED) {
		s->checked_bytes = plain_bytes(s);
		return 0;
	}
	if (rc != RD_CORRUPT || s->checked_bytes == 0)
		return rc;
	/* The parts before it stand. */
	return damaged(s, "is damaged in the part that begins at", s->part_at);
}

/* So many bytes at hand, if the file has them. */
static int need(struct stream *s, size_t size_bytes, struct rd_error *err)
{
	return s->io.in_bytes < size_bytes && bytes_left(s) > 0 ? fill(s, err) : 0;
}

static int pass_zeros(struct stream *s, struct rd_error *err)
{
	int rc = 0;
	while (rc == 0 && s->io.in_bytes > 0 && *s->io.in == 0) {
		s->io.in++;
		s->io.in_bytes--;
		rc = need(s, HEAD_BYTES, err);
	}
	return rc;
}

/* Behind a part: 1 another begins, 0 the file ends, well or not. */
static int next_part(struct stream *s, struct rd_error *err)
{
	const struct rd_codec *codec = s->what->codec;
	int rc = need(s, HEAD_BYTES, err);
	uint64_t from = packed_at(s);
	if (rc == 0 && codec->zeros_behind)
		rc = pass_zeros(s, err);
	if (rc != 0 || s->io.in_bytes == 0)
		return rc;
	/* Zeros in the middle may stand where parts were lost. */
	if (codec->begins(s->io.in, s->io.in_bytes) && (packed_at(s) == from || codec->zeros_between))
		return 1;
	return damaged(s, "goes on with something else at", from);
}

static int unpack_parts(struct stream *s, struct rd_error *err)
{
	int rc = fill(s, err);
	do {
		if (rc >= 0)
			rc = unpack_part(s, err);
		if (rc == 0 && s->damage[0] == 0 && !is_over(s))
			rc = next_part(s, err);
	} while (rc > 0);
	return rc;
}

static int no_trace(const struct stream *s, struct rd_error *err)
{
	if (s->damage[0] != 0)
		return rd_fail(err, s->cut ? RD_TRUNCATED : RD_CORRUPT, "%s, and before that is no trace", s->damage);
	if (s->written_bytes == 0)
		return rd_fail(err, RD_NOT_FOUND, "an empty file, compressed");
	return rd_fail(err, RD_NOT_FOUND, "the archive holds %s",
		       s->is_packed ? "another archive: unpack it first" : "no trace");
}

static int run(struct stream *s, struct rd_error *err)
{
	struct rd_archive_output *o = s->what->output;
	int rc = unpack_parts(s, err);
	if (rc == 0 && !is_over(s))
		rc = flush(s, err);
	if (rc != 0)
		return rc;
	if (!s->is_trace)
		return no_trace(s, err);
	if (o == NULL)
		return 0;
	if (s->damage[0] != 0 && !s->cut)
		rc = rd_archive_output_shorten(o, s->checked_bytes, err);
	if (rc == 0)
		rc = rd_archive_output_end(o, s->damage, err);
	return rc;
}

int rd_archive_stream(const struct rd_archive_stream *what, struct rd_error *err)
{
	struct stream s = {
		.what = what,
		.state = rd_codec_state_new(),
		.packed = rd_realloc(NULL, PACKED_BYTES),
		.plain = rd_realloc(NULL, PLAIN_BYTES),
	};
	s.io = (struct rd_codec_io){s.packed, 0, s.plain, PLAIN_BYTES};
	int rc = s.state != NULL && s.packed != NULL && s.plain != NULL ? run(&s, err) : rd_fail_nomem(err);
	if (s.state != NULL)
		what->codec->end(s.state);
	rd_codec_state_free(s.state);
	rd_free(s.packed);
	rd_free(s.plain);
	return rc;
}
