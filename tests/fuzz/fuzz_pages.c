/*
 * Any bytes as the LMDB file of a result: whatever is asked of it, the answers lie inside of it and are together no
 * longer than it is.
 *
 * Input: the file.
 */
#include <stdlib.h>

#include "store/pages.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_pages p;
	uint64_t sum = 0;

	if (rd_pages_open(&p, (struct rd_span){bytes, size_bytes}, NULL) != 0)
		return 0;
	for (uint32_t table = 0; table < 12; table++) {
		for (uint32_t chunk = 0; chunk < 4; chunk++) {
			uint8_t key[8] = {0, 0, 0, (uint8_t)table, 0, 0, 0, (uint8_t)chunk};
			struct rd_span v;
			if (rd_pages_get(&p, (struct rd_span){key, 8}, &v, NULL) != 1)
				continue;
			if (v.at < bytes || v.size_bytes > size_bytes || v.at + v.size_bytes > bytes + size_bytes)
				abort();
			sum += v.size_bytes;
		}
	}
	if (sum > size_bytes)
		abort();
	return 0;
}
