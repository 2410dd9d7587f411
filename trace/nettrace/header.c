/* The rare, long numbers of compressed headers. */
#include "trace/nettrace/header.h"

bool rd_nettrace_long_var32(const uint8_t **at, const uint8_t *end, uint32_t *v)
{
	struct rd_cursor c = rd_cursor_of(*at, (size_t)(end - *at));
	*v = rd_varu32(&c);
	*at = c.at;
	return !c.failed;
}

bool rd_nettrace_long_var64(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
	struct rd_cursor c = rd_cursor_of(*at, (size_t)(end - *at));
	*v = rd_varu64(&c);
	*at = c.at;
	return !c.failed;
}
