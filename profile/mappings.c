#include "profile/mappings.h"

#include <stdlib.h>

/* Symbols of one mapping id, as one process wrote them. */
struct set {
	uint64_t id; /* the key: of the mapping, */
	uint32_t life;
	uint32_t file;
};

/* The life of the set that has the symbols of all processes: ids are the trace's, and forks share them. */
#define EVERYBODY RD_NONE

void rd_mappings_init(struct rd_mappings *m, struct rd_content *content, const struct rd_addresses *sealed)
{
	*m = (struct rd_mappings){.content = content, .addresses = sealed};
	rd_records_init(&m->sets, sizeof(struct set), sizeof(struct set));
	rd_history_init(&m->history, sealed);
	rd_symbols_init(&m->symbols, content, sealed);
}

int rd_mappings_add(struct rd_mappings *m, const struct rd_mapping *mapping, struct rd_error *err)
{
	struct rd_mapping *at = m->at.n < RD_NONE ? rd_vec_add(&m->at) : NULL;

	if (at == NULL)
		return rd_fail_nomem(err);
	*at = *mapping;
	return 0;
}

int rd_mappings_add_symbol(struct rd_mappings *m, uint32_t life, uint64_t id, uint64_t start, uint32_t name,
			   struct rd_when when, uint32_t low, uint32_t high, struct rd_error *err)
{
	uint32_t set = rd_records_id(&m->sets, &(struct set){id, life, when.file}, NULL);

	if (set == RD_NONE)
		return rd_fail_nomem(err);
	return low < high ? rd_symbols_add(&m->symbols, set, name, start, when.place, low, high, err) : 0;
}

/* Time, then id; the same mapping told twice holds as it was told last. */
static int compare(const void *a, const void *b)
{
	const struct rd_mapping *x = a, *y = b;
	int c = RD_COMPARE(x->when.time, y->when.time);

	if (c == 0)
		c = RD_COMPARE(x->id, y->id);
	return c ? c : rd_when_compare(&x->when, &y->when);
}

/* Each mapping's set: that of its own process, unless it wrote no symbols of this id. */
static int find_sets(struct rd_mappings *m)
{
	for (size_t i = 0; i < m->at.n; i++) {
		struct rd_mapping *mapping = &m->at.at[i];
		struct set key = {mapping->id, mapping->life, mapping->when.file};
		mapping->set = rd_records_find(&m->sets, &key);
		if (mapping->set != RD_NONE)
			continue;
		key.life = EVERYBODY;
		mapping->set = rd_records_id(&m->sets, &key, NULL);
		if (mapping->set == RD_NONE)
			return RD_NOMEM;
	}
	return 0;
}

/* By set: that of everybody, if somebody wants it. */
static int seal_symbols(struct rd_mappings *m, struct rd_error *err)
{
	size_t n = m->sets.n;
	uint32_t *also = rd_realloc(NULL, (n ? n : 1) * sizeof *also);

	if (also == NULL)
		return rd_fail_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		struct set key = *(const struct set *)rd_records_at(&m->sets, i);
		bool own = key.life != EVERYBODY;
		key.life = EVERYBODY;
		also[i] = own ? rd_records_find(&m->sets, &key) : RD_NONE;
	}
	int rc = rd_symbols_seal(&m->symbols, also, err);
	rd_free(also);
	return rc;
}

static uint32_t owner_of(const void *ctx, uint32_t id)
{
	return ((const struct rd_mappings *)ctx)->at.at[id].life;
}

int rd_mappings_seal(struct rd_mappings *m, struct rd_error *err)
{
	int rc = 0;

	if (m->at.n > 1)
		qsort(m->at.at, m->at.n, sizeof *m->at.at, compare);
	for (uint32_t i = 0; rc == 0 && i < m->at.n; i++) {
		const struct rd_mapping *mapping = &m->at.at[i];
		struct rd_when when = {.time = mapping->when.time, .place = i, .id = i};
		rc = rd_history_add(&m->history, when, mapping->low, mapping->high, err);
	}
	if (rc == 0)
		rc = rd_history_seal(&m->history, owner_of, m, err);
	if (rc == 0 && find_sets(m) < 0)
		rc = rd_fail_nomem(err);
	return rc < 0 ? rc : seal_symbols(m, err);
}

int rd_mappings_ask(struct rd_mappings *m, uint32_t life, uint32_t rank, uint64_t time, struct rd_verdict *out,
		    struct rd_error *err)
{
	struct rd_near near = rd_history_near(&m->history, life, rank, time);
	uint32_t event = near.before != RD_NONE ? near.before : near.after;

	*out = (struct rd_verdict){.frame = RD_NONE, .until = UINT64_MAX};
	if (near.after != RD_NONE)
		out->until = m->history.events.at[near.after].when.time;
	if (event == RD_NONE)
		return 0;
	const struct rd_mapping *mapping = &m->at.at[m->history.events.at[event].when.id];
	int rc = rd_symbols_ask(&m->symbols, mapping->set, rank, life, mapping->module, &out->frame, &out->ambiguous,
				err);
	if (rc < 0 || out->frame != RD_NONE)
		return rc;
	out->frame = rd_content_unnamed(m->content, life, 0, mapping->module, RD_TIER_NATIVE);
	return out->frame == RD_NONE ? rd_fail_nomem(err) : 0;
}

void rd_mappings_release(struct rd_mappings *m)
{
	rd_vec_release(&m->at);
	rd_history_release(&m->history);
	rd_records_release(&m->sets);
	rd_symbols_release(&m->symbols);
}
