#include "profile/belief.h"

#include "profile/shard_names.h"

struct believed {
	uint32_t pid, clr;
	uint32_t module, ns, name, signature; /* strings of the content; the key so far */
	uint64_t believed, found;             /* exclusive samples */
};

uint64_t rd_belief_weight(uint64_t i, uint64_t n)
{
	uint64_t run = rd_belief_run(n), first = i - i % run, length = n - first < run ? n - first : run;

	return i - first == rd_hash_u64(first) % length ? length : 0;
}

void rd_belief_init(struct rd_belief *b)
{
	rd_records_init(&b->methods, sizeof(struct believed), offsetof(struct believed, believed));
}

static int add_row(struct rd_belief *b, const struct rd_preliminary_row *row, struct rd_shard_names *names,
		   struct rd_error *err)
{
	struct believed key = {.pid = row->pid, .clr = row->clr};
	int rc = rd_shard_name(names, row->module, &key.module, err);

	if (rc == 0)
		rc = rd_shard_name(names, row->ns, &key.ns, err);
	if (rc == 0)
		rc = rd_shard_name(names, row->name, &key.name, err);
	if (rc == 0)
		rc = rd_shard_name(names, row->signature, &key.signature, err);
	if (rc < 0)
		return rc;
	uint32_t id = rd_records_id(&b->methods, &key, NULL);
	if (id == RD_NONE)
		return rd_fail_nomem(err);
	((struct believed *)rd_records_at(&b->methods, id))->believed += row->exclusive;
	b->samples += row->exclusive;
	return 0;
}

static int add_shard(struct rd_belief *b, struct rd_shard_ref *shard, struct rd_strings *strings, struct rd_error *err)
{
	struct rd_table_reader reader;
	struct rd_shard_names names;
	const struct rd_partial *rows;
	int rc;

	rd_shard_names_init(&names, shard->tables, shard->shard, strings);
	rd_table_open(&reader, shard->tables, shard->shard, RD_TABLE_PRELIMINARY);
	while ((rc = rd_table_next(&reader, &rows, err)) > 0) {
		rc = 0;
		shard->believed |= rows->preliminary.n > 0;
		for (size_t i = 0; rc == 0 && i < rows->preliminary.n; i++)
			rc = add_row(b, &rows->preliminary.at[i], &names, err);
		if (rc < 0)
			break;
	}
	rd_table_close(&reader);
	rd_shard_names_release(&names);
	return rc;
}

int rd_belief_add_group(struct rd_belief *b, struct rd_group *g, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < g->shards.n; i++)
		rc = add_shard(b, &g->shards.at[i], &g->content->strings, err);
	return rc;
}

/* The method of the innermost frame; false for the empty stack. */
static bool innermost(const struct rd_content *c, uint32_t stack, struct believed *key)
{
	const struct rd_result_call *call = rd_content_call_at(c, stack);

	if (call == NULL)
		return false;
	const struct rd_frame_key *frame = rd_content_frame_at(c, call->frame);
	const struct rd_method_key *m = rd_records_at(&c->methods, frame->method);
	*key = (struct believed){
		.pid = c->lives.at[m->life].pid,
		.clr = m->clr,
		.module = m->module,
		.ns = m->ns,
		.name = m->name,
		.signature = m->signature,
	};
	return true;
}

int rd_belief_find(struct rd_belief *b, const struct rd_content *c, uint32_t stack, uint64_t weight,
		   struct rd_error *err)
{
	struct believed key;

	if (!innermost(c, stack, &key))
		return 0;
	uint32_t id = rd_records_id(&b->methods, &key, NULL);
	if (id == RD_NONE)
		return rd_fail_nomem(err);
	((struct believed *)rd_records_at(&b->methods, id))->found += weight;
	return 0;
}

uint64_t rd_belief_changed(const struct rd_belief *b)
{
	uint64_t changed = 0;

	for (uint32_t i = 0; i < b->methods.n; i++) {
		const struct believed *m = rd_records_at(&b->methods, i);
		changed += m->found > m->believed ? m->found - m->believed : 0;
	}
	return changed;
}

void rd_belief_release(struct rd_belief *b)
{
	rd_records_release(&b->methods);
}
