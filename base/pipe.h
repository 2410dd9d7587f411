/*
 * pipe - frames from a child process to its daemon.
 *
 * A frame is {u32 size of the body, u8 type, body}, little-endian. The writer
 * is a child that may have been taken over by the input it parses, so the
 * reader trusts nothing: a size above its limit ends the talk before anything
 * is allocated for it.
 */
#ifndef RD_BASE_PIPE_H
#define RD_BASE_PIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

#define RD_PIPE_HEAD_BYTES 5

/* A pipe: ends[0], non-blocking, for the reader, ends[1] for the writer; both closed on exec. */
int rd_pipe_make(int ends[2], struct rd_error *err);

/* Write one frame whole, its body in two parts; waits while the pipe is full. RD_IO; RD_LIMIT beyond a u32. */
int rd_pipe_write(int fd, uint8_t type, struct rd_span head, struct rd_span body, struct rd_error *err);

struct rd_pipe_frame {
	uint8_t type;
	struct rd_span body;
};

struct rd_pipe {
	int fd;
	uint32_t body_max_bytes;
	bool ended; /* the writer is gone; frames may still wait in the buffer */
	struct rd_bytes buffer;
	size_t at; /* bytes of the buffer handed out already */
};

void rd_pipe_init(struct rd_pipe *p, int fd, uint32_t body_max_bytes);
/* Read once what there is, without waiting: the bytes, 0 none (or the end: see `ended`), RD_IO, RD_NOMEM. */
int rd_pipe_fill(struct rd_pipe *p, struct rd_error *err);
/* 1 and a frame, borrowed until the next fill; 0 no whole one is here; RD_PROTOCOL: it claims to be too long. */
int rd_pipe_next(struct rd_pipe *p, struct rd_pipe_frame *out, struct rd_error *err);
/*
 * Both until there is a frame: 1 and it, borrowed until the next call; 0 none now, and none ever when `ended`; RD_IO,
 * RD_NOMEM, RD_PROTOCOL.
 */
int rd_pipe_hear(struct rd_pipe *p, struct rd_pipe_frame *out, struct rd_error *err);
/* Bytes that are here and make no whole frame yet: at the end, a frame that was cut. */
size_t rd_pipe_left(const struct rd_pipe *p);
/* Frees and closes; may be called again. */
void rd_pipe_release(struct rd_pipe *p);

/* An error as the body of a frame, and back: RD_PROTOCOL when it is none. What comes back is one clean line. */
int rd_pipe_error_pack(const struct rd_error *e, struct rd_bytes *out);
int rd_pipe_error_unpack(struct rd_error *e, struct rd_span body);

#endif
