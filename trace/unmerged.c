#include "trace/unmerged.h"

#include <string.h>
#include <strings.h>

#define ENDING_BYTES 4

static const struct {
	size_t size_bytes;
	const char *text;
} parts[] = {{7, ".kernel"}, {4, ".clr"}, {5, ".user"}};

static bool is_part_at(struct rd_span name, size_t at)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (name.size_bytes - at >= parts[i].size_bytes + ENDING_BYTES &&
		    strncasecmp((const char *)name.at + at, parts[i].text, parts[i].size_bytes) == 0)
			return true;
	return false;
}

/* How many bytes of the name come before the n-th place where it may be a part's. */
static bool find_stem(struct rd_span name, size_t n, size_t *stem_bytes)
{
	size_t from = name.size_bytes;

	if (name.size_bytes <= ENDING_BYTES ||
	    strncasecmp((const char *)name.at + name.size_bytes - ENDING_BYTES, ".etl", ENDING_BYTES) != 0)
		return false;
	while (from > 0 && name.at[from - 1] != '/' && name.at[from - 1] != '\\')
		from--;
	/* A stem has at least a letter. */
	for (size_t at = from + 1; at < name.size_bytes; at++) {
		if (name.at[at] != '.' || !is_part_at(name, at) || n-- > 0)
			continue;
		*stem_bytes = at;
		return true;
	}
	return false;
}

bool rd_unmerged_main(struct rd_span name, size_t n, char *buf, size_t size)
{
	size_t stem;

	if (!find_stem(name, n, &stem) || stem + ENDING_BYTES >= size)
		return false;
	memcpy(buf, name.at, stem);
	memcpy(buf + stem, name.at + name.size_bytes - ENDING_BYTES, ENDING_BYTES);
	buf[stem + ENDING_BYTES] = 0;
	return true;
}
