/*
 * Any bytes as what a parser child says over its pipe: a u8 for the work (OPEN,
 * INDEX, DECODE), then frames. What is accepted keeps the promises that the
 * worker relies on.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "worker/answer.h"

#define FOLDER "/s/1-1"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static void check(const struct rd_answer *a, int type, const struct rd_answer *before)
{
	const struct rd_answer_member *m = a->members.n ? &a->members.at[a->members.n - 1] : NULL;

	if (type == RD_ANSWER_BLOCK && (a->work != RD__WORK__DECODE || a->block.size_bytes > RD_FRAME_BYTES ||
					(before->blocks && a->table < before->table)))
		abort();
	if (type == RD_ANSWER_MEMBER && (strncmp(m->path, FOLDER "/", strlen(FOLDER "/")) != 0 ||
					 strstr(m->path, "/../") || strchr(m->path + strlen(FOLDER "/"), '/')))
		abort();
	if (a->bytes < before->bytes || (a->index.frames.n && a->members.n) || (before->over && type >= 0))
		abort();
	if (type == RD_ANSWER_ERROR && (a->error.code >= 0 || strpbrk(a->error.text, "\n\r\x1b")))
		abort();
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_answer a;
	struct rd_pipe pipe;
	struct rd_pipe_frame frame;
	struct rd_error err;
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || (size_bytes && rd_write_all(fd, bytes + 1, size_bytes - 1, NULL) != 0) ||
	    lseek(fd, 0, SEEK_SET) != 0)
		abort();
	rd_answer_init(&a, size_bytes ? 1 + bytes[0] % 3 : RD__WORK__DECODE, FOLDER);
	rd_pipe_init(&pipe, fd, RD_ANSWER_BODY_MAX);
	while (!pipe.ended && rd_pipe_fill(&pipe, &err) >= 0) {
		int got;
		while ((got = rd_pipe_next(&pipe, &frame, &err)) == 1) {
			struct rd_answer before = a;
			int type = rd_answer_take(&a, &frame, &err);
			check(&a, type, &before);
		}
		if (got < 0)
			break;
	}
	rd_pipe_release(&pipe);
	rd_answer_release(&a);
	return 0;
}
