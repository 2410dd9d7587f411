/*
 * Thread blocks: rows of size u16 (of what follows it), index varuint64, then kind u8 and its value:
 * 1 name, 2 process id varuint64, 3 thread id varuint64, 4 key and value. An unknown kind hides those behind it.
 */
#include "trace/nettrace/threads.h"

#include "base/error.h"

enum info { NAME = 1, PROCESS = 2, THREAD = 3, KEY_VALUE = 4 };

void rd_nettrace_threads_init(struct rd_nettrace_threads *t)
{
	*t = (struct rd_nettrace_threads){0};
	rd_records_init(&t->rows, sizeof(struct rd_nettrace_thread), sizeof(uint64_t));
}

void rd_nettrace_threads_release(struct rd_nettrace_threads *t)
{
	rd_records_release(&t->rows);
}

void rd_nettrace_threads_reset(struct rd_nettrace_threads *t)
{
	rd_nettrace_threads_release(t);
	rd_nettrace_threads_init(t);
}

/* A number beyond those that the system gives names no process. */
static void take_process(struct rd_cursor *c, struct rd_nettrace_thread *out)
{
	uint64_t pid = rd_varu64(c);
	out->has_pid = pid < UINT32_MAX;
	out->pid = out->has_pid ? (uint32_t)pid : 0;
}

/* The next row; the cursor says whether it was one. */
static struct rd_nettrace_thread take_row(struct rd_cursor *c)
{
	struct rd_cursor row = rd_sub(c, rd_u16(c));
	struct rd_nettrace_thread t = {.index = rd_varu64(&row), .thread = RD_NO_THREAD, .known = true};
	while (rd_left(&row) > 0) {
		switch ((enum info)rd_u8(&row)) {
		case NAME:
			rd_skip(&row, rd_varu32(&row));
			break;
		case PROCESS:
			take_process(&row, &t);
			break;
		case THREAD:
			t.thread = rd_varu64(&row);
			break;
		case KEY_VALUE:
			rd_skip(&row, rd_varu32(&row));
			rd_skip(&row, rd_varu32(&row));
			break;
		default:
			rd_skip(&row, rd_left(&row));
		}
	}
	c->failed |= row.failed;
	return t;
}

bool rd_nettrace_threads_valid(const uint8_t *payload, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	while (rd_left(&c) > 0 && !c.failed)
		(void)take_row(&c);
	return !c.failed;
}

int rd_nettrace_threads_add(struct rd_nettrace_threads *t, const uint8_t *payload, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	while (rd_left(&c) > 0 && !c.failed) {
		struct rd_nettrace_thread row = take_row(&c);
		uint32_t id = rd_records_id(&t->rows, &row.index, NULL);
		if (id == RD_NONE)
			return RD_NOMEM;
		*(struct rd_nettrace_thread *)rd_records_at(&t->rows, id) = row;
	}
	return 0;
}

const struct rd_nettrace_thread *rd_nettrace_threads_find(struct rd_nettrace_threads *t, uint64_t index)
{
	uint32_t id = t->recent;
	if (id >= t->rows.n || ((const struct rd_nettrace_thread *)rd_records_at(&t->rows, id))->index != index)
		id = rd_records_find(&t->rows, &index);
	if (id == RD_NONE)
		return NULL;
	t->recent = id;
	const struct rd_nettrace_thread *row = rd_records_at(&t->rows, id);
	return row->known ? row : NULL;
}

void rd_nettrace_threads_remove(struct rd_nettrace_threads *t, uint64_t index)
{
	uint32_t id = rd_records_find(&t->rows, &index);
	if (id != RD_NONE)
		((struct rd_nettrace_thread *)rd_records_at(&t->rows, id))->known = false;
}
