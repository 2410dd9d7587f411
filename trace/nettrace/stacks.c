/*
 * Stack blocks: docs/formats/nettrace.md, "Stacks".
 *
 *   first id u32, count u32, then count × (size u32, frames); ids count up from the first
 */
#include "trace/nettrace/stacks.h"

#include "base/error.h"

void rd_nettrace_stacks_release(struct rd_nettrace_stacks *s)
{
	rd_vec_release(&s->entries);
	rd_table_release(&s->table);
	rd_bytes_release(&s->frames);
}

void rd_nettrace_stacks_reset(struct rd_nettrace_stacks *s)
{
	s->entries.n = 0;
	s->frames.n = 0;
	rd_table_release(&s->table);
}

bool rd_nettrace_stacks_valid(const uint8_t *payload, size_t size_bytes, uint32_t pointer_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	rd_skip(&c, 4);
	uint32_t count = rd_u32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		uint32_t bytes = rd_u32(&c);
		if (bytes % pointer_bytes != 0)
			return false;
		rd_skip(&c, bytes);
	}
	return !c.failed;
}

static bool same_id(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_nettrace_stacks *s = ctx;
	return s->entries.at[index].id == *(const uint32_t *)key;
}

/* The index of an id's entry, or RD_NONE. */
static uint32_t find_entry(const struct rd_nettrace_stacks *s, uint32_t id)
{
	if (s->entries.n == 0)
		return RD_NONE;
	uint32_t guess = id - s->entries.at[0].id;
	if (guess < s->entries.n && s->entries.at[guess].id == id)
		return guess;
	if (s->table.n == 0)
		return RD_NONE;
	return rd_table_find(&s->table, rd_hash_u64(id), same_id, s, &id);
}

/* The entry for an id, the old one if it has one; NULL when out of memory. */
static struct rd_nettrace_stack *entry_for(struct rd_nettrace_stacks *s, uint32_t id)
{
	uint32_t index = find_entry(s, id);
	if (index != RD_NONE)
		return &s->entries.at[index];
	struct rd_nettrace_stack *e = rd_vec_add(&s->entries);
	if (e == NULL)
		return NULL;
	e->id = id;
	index = (uint32_t)(s->entries.n - 1);
	if (id - s->entries.at[0].id != index && rd_table_put(&s->table, rd_hash_u64(id), index) != 0)
		return NULL;
	return e;
}

int rd_nettrace_stacks_add(struct rd_nettrace_stacks *s, const uint8_t *payload, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	uint32_t id = rd_u32(&c), count = rd_u32(&c);
	size_t base = s->frames.n - rd_tell(&c);
	if (rd_bytes_append(&s->frames, c.at, rd_left(&c)) != 0)
		return RD_NOMEM;
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		struct rd_nettrace_stack *e = entry_for(s, id + i);
		if (e == NULL)
			return RD_NOMEM;
		e->size_bytes = rd_u32(&c);
		e->at = base + rd_tell(&c);
		rd_skip(&c, e->size_bytes);
	}
	return 0;
}

struct rd_span rd_nettrace_stacks_find(const struct rd_nettrace_stacks *s, uint32_t id)
{
	uint32_t index = find_entry(s, id);
	if (index == RD_NONE || s->entries.at[index].size_bytes == 0)
		return (struct rd_span){0};
	const struct rd_nettrace_stack *e = &s->entries.at[index];
	return (struct rd_span){s->frames.at + e->at, e->size_bytes};
}
