/*
 * fuzz_il_map - any bytes as an array of COR_IL_MAP.
 * Holds: a map that is read has all the entries of its bytes; each offset of
 * an entry leads to the other one, the offset before it to the entry before;
 * there and back is never above where one began.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbols/il_map.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static void holds(bool what)
{
	if (!what)
		abort();
}

static void try(const struct rd_il_map *m, uint32_t offset)
{
	holds(rd_il_map_to_old(m, rd_il_map_to_new(m, offset)) <= offset);
	holds(rd_il_map_to_new(m, rd_il_map_to_old(m, offset)) <= offset);
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_il_map m;
	int rc = rd_il_map_read(&m, (struct rd_span){bytes, size_bytes}, NULL);

	if (rc == 0) {
		holds(m.entries.n > 0 && m.entries.n * RD_IL_ENTRY_BYTES == size_bytes);
		for (size_t i = 0; i < m.entries.n; i++) {
			const struct rd_il_entry *e = &m.entries.at[i];
			holds(rd_il_map_to_new(&m, e->old_offset) == e->new_offset);
			holds(rd_il_map_to_old(&m, e->new_offset) == e->old_offset);
			holds(i == 0 || rd_il_map_to_new(&m, e->old_offset - 1) == e[-1].new_offset);
			holds(i == 0 || rd_il_map_to_old(&m, e->new_offset - 1) == e[-1].old_offset);
			try(&m, e->old_offset);
			try(&m, e->new_offset + 1);
		}
		try(&m, UINT32_MAX);
	}
	rd_il_map_release(&m);
	return 0;
}
