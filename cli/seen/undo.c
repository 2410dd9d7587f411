#include "cli/seen/undo.h"

#include <string.h>

void rd_undo_init(struct rd_undo *u, size_t record_bytes, size_t key_bytes, size_t mark_at)
{
	*u = (struct rd_undo){.mark_at = mark_at, .block = 1};
	rd_records_init(&u->rows, record_bytes, key_bytes);
}

void rd_undo_release(struct rd_undo *u)
{
	rd_records_release(&u->rows);
	rd_bytes_release(&u->log);
}

void *rd_undo_change_at(struct rd_undo *u, uint32_t id)
{
	uint8_t *record = rd_records_at(&u->rows, id);
	rd_undo_mark mark;

	memcpy(&mark, record + u->mark_at, sizeof mark);
	if (mark == u->block)
		return record;
	uint8_t *saved = rd_bytes_extend(&u->log, sizeof id + u->rows.record_bytes);
	if (saved == NULL)
		return NULL;
	memcpy(saved, &id, sizeof id);
	memcpy(saved + sizeof id, record, u->rows.record_bytes);
	memcpy(record + u->mark_at, &u->block, sizeof u->block);
	return record;
}

void *rd_undo_change(struct rd_undo *u, const void *key)
{
	uint32_t id = rd_records_id(&u->rows, key, NULL);
	return id == RD_NONE ? NULL : rd_undo_change_at(u, id);
}

void rd_undo_end(struct rd_undo *u, bool undo)
{
	size_t step = sizeof(uint32_t) + u->rows.record_bytes;

	for (size_t at = 0; undo && at + step <= u->log.n; at += step) {
		uint32_t id;
		memcpy(&id, u->log.at + at, sizeof id);
		memcpy(rd_records_at(&u->rows, id), u->log.at + at + sizeof id, u->rows.record_bytes);
	}
	u->log.n = 0;
	/* Marks are of the past from here on. */
	if (++u->block == 0)
		u->block = 1;
}
