#include "profile/names.h"

_Static_assert(sizeof(struct rd_code_key) == 24, "keys are compared as bytes");

void rd_modules_init(struct rd_modules *m)
{
	*m = (struct rd_modules){0};
	rd_records_init(&m->keys, sizeof(struct rd_code_key), sizeof(struct rd_code_key));
}

int rd_modules_add(struct rd_modules *m, const struct rd_code_key *key, struct rd_when when, struct rd_error *err)
{
	uint32_t id = rd_records_id(&m->keys, key, NULL);
	return id == RD_NONE ? rd_fail_nomem(err) : rd_timeline_add(&m->timeline, id, when, err);
}

/*
 * A life begins at its first load since the module's last unload; when no load tells, at that unload; with neither
 * it was there from ever.
 */
static uint64_t life_begin(const struct rd_timeline_fact *fact, const struct rd_timeline_fact *before,
			   uint64_t before_since)
{
	if (before == NULL)
		return fact->when.op == RD_OP_LOAD ? fact->when.time : 0;
	if (rd_alive_from(before->when.op))
		return before_since;
	return fact->when.op == RD_OP_LOAD ? fact->when.time : before->when.time;
}

int rd_modules_seal(struct rd_modules *m, struct rd_error *err)
{
	size_t n = m->timeline.facts.n;

	rd_timeline_seal(&m->timeline);
	if (rd_vec_reserve(&m->since, n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct rd_timeline_fact *fact = &m->timeline.facts.at[i];
		bool first = i == 0 || fact[-1].key != fact->key;
		m->since.at[i] = life_begin(fact, first ? NULL : fact - 1, first ? 0 : m->since.at[i - 1]);
	}
	m->since.n = n;
	return 0;
}

uint32_t rd_modules_name(const struct rd_modules *m, const struct rd_code_key *key, uint64_t time)
{
	uint32_t id = rd_records_find(&m->keys, key);
	const struct rd_when *when = id == RD_NONE ? NULL : rd_timeline_at(&m->timeline, id, time);
	return when ? when->id : 0;
}

bool rd_modules_there(const struct rd_modules *m, const struct rd_code_key *key, uint64_t time,
		      const struct rd_when *later, uint64_t *until)
{
	uint32_t id = rd_records_find(&m->keys, key);
	uint32_t last = id == RD_NONE ? RD_NONE : rd_timeline_last(&m->timeline, id, later);

	if (last == RD_NONE || m->since.at[last] <= time)
		return true;
	if (m->since.at[last] < *until)
		*until = m->since.at[last];
	return false;
}

void rd_modules_release(struct rd_modules *m)
{
	rd_records_release(&m->keys);
	rd_timeline_release(&m->timeline);
	rd_vec_release(&m->since);
}

void rd_method_namer_init(struct rd_method_namer *n)
{
	*n = (struct rd_method_namer){0};
	rd_records_init(&n->keys, sizeof(struct rd_code_key), sizeof(struct rd_code_key));
	rd_records_init(&n->names, sizeof(struct rd_method_names), sizeof(struct rd_method_names));
}

int rd_method_namer_want(struct rd_method_namer *n, const struct rd_code_key *key, struct rd_error *err)
{
	return rd_records_id(&n->keys, key, NULL) == RD_NONE ? rd_fail_nomem(err) : 0;
}

bool rd_method_namer_wants(const struct rd_method_namer *n, const struct rd_code_key *key)
{
	return rd_records_find(&n->keys, key) != RD_NONE;
}

int rd_method_namer_add(struct rd_method_namer *n, const struct rd_code_key *key, struct rd_when when,
			const struct rd_method_names *names, struct rd_error *err)
{
	uint32_t id = rd_records_find(&n->keys, key);

	if (id == RD_NONE)
		return 0;
	when.id = rd_records_id(&n->names, names, NULL);
	return when.id == RD_NONE ? rd_fail_nomem(err) : rd_timeline_add(&n->timeline, id, when, err);
}

void rd_method_namer_seal(struct rd_method_namer *n)
{
	rd_timeline_seal(&n->timeline);
}

const struct rd_method_names *rd_method_namer_names(const struct rd_method_namer *n, const struct rd_code_key *key,
						    uint64_t time)
{
	uint32_t id = rd_records_find(&n->keys, key);
	const struct rd_when *when = id == RD_NONE ? NULL : rd_timeline_at(&n->timeline, id, time);
	return when ? rd_records_at(&n->names, when->id) : NULL;
}

void rd_method_namer_release(struct rd_method_namer *n)
{
	rd_records_release(&n->keys);
	rd_records_release(&n->names);
	rd_timeline_release(&n->timeline);
}
