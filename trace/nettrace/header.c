/* The rare, long numbers of compressed headers. */
#include "trace/nettrace/header.h"

struct rd_nettrace_number rd_nettrace_long_u32(const uint8_t *at, const uint8_t *end)
{
	struct rd_cursor c = rd_cursor_of(at, (size_t)(end - at));
	uint32_t v = rd_varu32(&c);
	return (struct rd_nettrace_number){v, c.failed ? NULL : c.at};
}

struct rd_nettrace_number rd_nettrace_long_u64(const uint8_t *at, const uint8_t *end)
{
	struct rd_cursor c = rd_cursor_of(at, (size_t)(end - at));
	uint64_t v = rd_varu64(&c);
	return (struct rd_nettrace_number){v, c.failed ? NULL : c.at};
}
