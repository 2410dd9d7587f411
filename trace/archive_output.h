/*
 * archive_output - the plain files that come out of an archive, and the caps on them.
 *
 * Names are NN.trace, made here. Everything written can be taken back.
 */
#ifndef RD_TRACE_ARCHIVE_OUTPUT_H
#define RD_TRACE_ARCHIVE_OUTPUT_H

#include "trace/archive.h"

struct rd_archive_output {
	const char *folder;
	rd_unpacked_vec *out;
	size_t first;         /* entries of out before ours */
	size_t written;       /* files begun */
	uint64_t plain_bytes; /* of all files so far */
	uint64_t plain_bytes_most;
	uint64_t packed_bytes;      /* read so far */
	uint64_t packed_bytes_most; /* size of the archive: seeking readers read some bytes twice */
	uint32_t ratio_most;
	int fd; /* of the open file, -1 none */
};

/* ratio_most: what the kind of archive allows, unless limits name another. */
void rd_archive_output_init(struct rd_archive_output *o, const char *folder, const struct rd_unpack_limits *limits,
			    uint32_t ratio_most, uint64_t packed_bytes_most, rd_unpacked_vec *out);

/* Whether so many plain bytes more, out of the packed bytes read so far, are within the caps; RD_LIMIT. */
int rd_archive_output_allow(const struct rd_archive_output *o, uint64_t more_bytes, struct rd_error *err);

/* Whether so many plain bytes in all, out of so many packed ones, are; RD_LIMIT. */
int rd_archive_output_allow_all(const struct rd_archive_output *o, uint64_t plain_bytes, uint64_t packed_bytes,
				struct rd_error *err);

/* A new empty file, o->fd; name is the member's, with or without folders. */
int rd_archive_output_begin(struct rd_archive_output *o, const char *name, struct rd_error *err);
/* Append to it, within the caps. */
int rd_archive_output_write(struct rd_archive_output *o, const void *bytes, size_t size_bytes, struct rd_error *err);
/* Give it another size, whatever was written. */
int rd_archive_output_shorten(struct rd_archive_output *o, uint64_t size_bytes, struct rd_error *err);
/* Close it. damage: what is missing at its end, "" nothing. */
int rd_archive_output_end(struct rd_archive_output *o, const char *damage, struct rd_error *err);
/* Close and remove all that was begun. */
void rd_archive_output_undo(struct rd_archive_output *o);

#endif
