/*
 * il_map - the offsets of a method's IL before and after a profiler rewrote it: an array of COR_IL_MAP.
 *
 * An entry holds up to the next one, in either direction, and nothing is
 * interpolated. docs/il.md has the rule and what is refused; a map that was
 * read is a good one, so that every offset has its counterpart.
 */
#ifndef RD_SYMBOLS_IL_MAP_H
#define RD_SYMBOLS_IL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

#define RD_IL_ENTRY_BYTES    12
#define RD_IL_ENTRIES_MOST   (1 << 20)
#define RD_IL_MAP_BYTES_MOST (RD_IL_ENTRIES_MOST * RD_IL_ENTRY_BYTES)
#define RD_IL_OFFSET_MOST    INT32_MAX

struct rd_il_entry {
	uint32_t old_offset, new_offset;
	bool is_accurate;
};

struct rd_il_map {
	RD_VEC(struct rd_il_entry) entries; /* at least one; both offsets rise from 0 */
};

/* RD_TRUNCATED, RD_CORRUPT or RD_LIMIT, with the byte; RD_NOMEM. Release *m in any case. */
int rd_il_map_read(struct rd_il_map *m, struct rd_span bytes, struct rd_error *err);
void rd_il_map_release(struct rd_il_map *m);

/* Where the stretch that the offset lies in begins on the other side. */
uint32_t rd_il_map_to_new(const struct rd_il_map *m, uint32_t old_offset);
uint32_t rd_il_map_to_old(const struct rd_il_map *m, uint32_t new_offset);

#endif
