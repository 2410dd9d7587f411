/*
 * answer - the language in which a parser child tells its worker what it found.
 *
 * The child parses input of strangers and may have been taken over by it.
 * Whatever it says is checked here before the worker acts on it or passes it
 * on: frames that the task does not call for, blocks out of order or with a
 * wrong checksum, files outside the task's folder, anything behind the end.
 *
 * Frames (base/pipe.h), little-endian:
 *   PROGRESS  u64 bytes of the input done so far, never less than before
 *   RESULT    the next part of the packed index
 *   MEMBER    u64 size of a plain file, then as u16 length and text: its path, the member's name, its damage
 *   BLOCK     u32 table, u32 seq, one block of the partial
 *   ERROR     rd_pipe_error_pack; the last frame
 *   END       nothing; the last frame, all went well
 */
#ifndef RD_WORKER_ANSWER_H
#define RD_WORKER_ANSWER_H

#include "base/pipe.h"
#include "net/message.h"

/* A body's limit: a block in its frame. */
#define RD_ANSWER_BODY_MAX    (RD_FRAME_BYTES + 16)
#define RD_ANSWER_MEMBERS_MAX 1024
/* How much of an index one RESULT frame holds, at most. */
#define RD_ANSWER_PART_BYTES  (1u << 20)

enum rd_answer_type {
	RD_ANSWER_PROGRESS = 1,
	RD_ANSWER_RESULT = 2,
	RD_ANSWER_MEMBER = 3,
	RD_ANSWER_BLOCK = 4,
	RD_ANSWER_ERROR = 5,
	RD_ANSWER_END = 6,
};

struct rd_answer_member {
	uint64_t size_bytes;
	char path[4096];
	char name[256];
	char damage[256]; /* of the archive, at the end of this trace; "" none */
};

/* What a child said so far. */
struct rd_answer {
	Rd__Work work;
	char folder[4096];    /* OPEN: where its files may lie */
	uint64_t bytes;       /* done */
	struct rd_blob index; /* OPEN, INDEX */
	RD_VEC(struct rd_answer_member) members;
	uint64_t blocks;
	uint32_t table, seq;   /* of the last block */
	struct rd_span block;  /* the last one, borrowed from its frame */
	bool over;             /* ERROR or END came */
	struct rd_error error; /* code RD_OK unless ERROR came */
};

void rd_answer_init(struct rd_answer *a, Rd__Work work, const char *folder);
void rd_answer_release(struct rd_answer *a);

/* Take one frame in: its type, or RD_PROTOCOL with what is off, RD_NOMEM, RD_LIMIT (an index without end). */
int rd_answer_take(struct rd_answer *a, const struct rd_pipe_frame *frame, struct rd_error *err);
/* After END: whether something was answered at all. 0 or RD_PROTOCOL. */
int rd_answer_complete(const struct rd_answer *a, struct rd_error *err);

/* The child's side: each writes its frames, and waits while the pipe is full. */
int rd_answer_progress(int fd, uint64_t bytes, struct rd_error *err);
int rd_answer_index(int fd, struct rd_span packed, struct rd_error *err);
int rd_answer_member(int fd, const struct rd_answer_member *m, struct rd_error *err);
int rd_answer_block(int fd, uint32_t table, uint32_t seq, struct rd_span block, struct rd_error *err);
int rd_answer_error(int fd, const struct rd_error *e);
int rd_answer_end(int fd, struct rd_error *err);

#endif
