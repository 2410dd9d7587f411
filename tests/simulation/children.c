/* What children of daemons say, frame by frame, at times of the world's choice. */
#include <string.h>

#include "tests/simulation/world.h"

void child_begins(struct child *c, uint64_t id, struct rd_bytes *words)
{
	child_release(c);
	c->id = id;
	c->words = *words;
	*words = (struct rd_bytes){0};
	c->crashes = world.storm && chance((unsigned)world.crash_percent);
	c->hangs = world.storm && chance(2);
	c->pause_ns = roll(chance(10) ? 5 * SECOND : 100 * MILLI) + 1;
}

void child_release(struct child *c)
{
	rd_bytes_release(&c->words);
	*c = (struct child){0};
}

bool child_next(struct child *c, struct rd_pipe_frame *f)
{
	struct rd_cursor at = rd_cursor_of(c->words.at + c->at, c->words.n - c->at);
	uint32_t size_bytes = rd_u32(&at);
	uint8_t type = rd_u8(&at);
	const uint8_t *body = rd_take(&at, size_bytes);

	if (at.failed)
		return false;
	*f = (struct rd_pipe_frame){type, {body, size_bytes}};
	c->at += RD_PIPE_HEAD_BYTES + size_bytes;
	return true;
}
