/* Pairs of words from the head of a file. */
#include "trace/trace.h"

void rd_facts_release(struct rd_facts *f)
{
	rd_vec_release(&f->at);
	rd_arena_release(&f->arena);
}

static struct rd_span keep(struct rd_facts *f, struct rd_span text)
{
	const uint8_t *at = rd_arena_copy(&f->arena, text.size_bytes ? text.at : (const uint8_t *)"", text.size_bytes);
	return (struct rd_span){at, text.size_bytes};
}

int rd_facts_add(struct rd_facts *f, struct rd_span key, struct rd_span value)
{
	struct rd_fact fact = {keep(f, key), keep(f, value)};
	struct rd_fact *added = fact.key.at && fact.value.at ? rd_vec_add(&f->at) : NULL;

	if (added == NULL)
		return RD_NOMEM;
	*added = fact;
	return 0;
}
