#include "profile/belief.h"

#include "profile/shard_names.h"

struct believed {
	uint32_t pid, clr;
	uint32_t module, ns, name, signature; /* strings of the content; the key so far */
	uint64_t believed, found;             /* exclusive samples */
};

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

static int add_shard(struct rd_belief *b, const struct rd_shard_ref *shard, struct rd_strings *strings,
		     struct rd_error *err)
{
	struct rd_table_reader reader;
	struct rd_shard_names names;
	const struct rd_partial *rows;
	int rc;

	rd_shard_names_init(&names, shard->tables, shard->shard, strings);
	rd_table_open(&reader, shard->tables, shard->shard, RD_TABLE_PRELIMINARY);
	while ((rc = rd_table_next(&reader, &rows, err)) > 0) {
		rc = 0;
		for (size_t i = 0; rc == 0 && i < rows->preliminary.n; i++)
			rc = add_row(b, &rows->preliminary.at[i], &names, err);
		if (rc < 0)
			break;
	}
	rd_table_close(&reader);
	rd_shard_names_release(&names);
	return rc;
}

int rd_belief_add_group(struct rd_belief *b, const struct rd_group *g, struct rd_error *err)
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

int rd_belief_changed(struct rd_belief *b, const struct rd_content *c, uint64_t *changed, struct rd_error *err)
{
	struct believed key;

	*changed = 0;
	if (b->methods.n == 0)
		return 0;
	for (uint32_t i = 0; i < c->rows.n; i++) {
		const struct rd_result_row *row = rd_records_at(&c->rows, i);
		if (!innermost(c, row->stack, &key))
			continue;
		uint32_t id = rd_records_id(&b->methods, &key, NULL);
		if (id == RD_NONE)
			return rd_fail_nomem(err);
		((struct believed *)rd_records_at(&b->methods, id))->found += row->count;
	}
	for (uint32_t i = 0; i < b->methods.n; i++) {
		const struct believed *m = rd_records_at(&b->methods, i);
		*changed += m->found > m->believed ? m->found - m->believed : 0;
	}
	return 0;
}

void rd_belief_release(struct rd_belief *b)
{
	rd_records_release(&b->methods);
}
