/*
 * Records: docs/formats/netperf.md, "Versions 1 and 2".
 *
 *   provider (GUID in version 1, UTF-16 with NUL in version 2), event id u32, version u32, length u32,
 *   and if that is not 0: event id u32, name (UTF-16, NUL), keyword u64, version u32, level u32, fields
 */
#include "trace/netperf/metadata.h"

#include "base/cursor.h"

bool rd_netperf_metadata(uint32_t version, const uint8_t *payload, size_t size_bytes, struct rd_nettrace_metadata *out)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	*out = (struct rd_nettrace_metadata){.record = {payload, size_bytes}};
	if (version == 1)
		out->guid = rd_take(&c, 16);
	else
		out->provider = rd_utf16z(&c);
	out->event_id = rd_u32(&c);
	out->version = rd_u32(&c);
	uint32_t length = rd_u32(&c);
	if (length == 0)
		return !c.failed;
	/* Id and version once more. */
	struct rd_cursor described = rd_sub(&c, length);
	rd_skip(&described, 4);
	out->name = rd_utf16z(&described);
	return !described.failed;
}

void rd_netperf_places_release(struct rd_netperf_places *p)
{
	rd_vec_release(&p->at);
	rd_table_release(&p->table);
}

static bool same_place(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_netperf_places *p = ctx;
	return p->at.at[index] == *(const uint32_t *)key;
}

uint32_t rd_netperf_places_find(const struct rd_netperf_places *p, uint32_t place)
{
	uint32_t index = rd_table_find(&p->table, rd_hash_u64(place), same_place, p, &place);
	return index != RD_NONE ? index + 1 : 0;
}

uint32_t rd_netperf_places_id(struct rd_netperf_places *p, uint32_t place)
{
	uint32_t id = rd_netperf_places_find(p, place);
	if (id != 0)
		return id;
	uint32_t *added = rd_vec_add(&p->at);
	if (added == NULL || rd_table_put(&p->table, rd_hash_u64(place), (uint32_t)(p->at.n - 1)) != 0)
		return 0;
	*added = place;
	return (uint32_t)p->at.n;
}
