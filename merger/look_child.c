#include "merger/compute.h"
#include "merger/look.h"
#include "merger/work.h"
#include "profile/top.h"

#include <string.h>

struct looking {
	struct rd_work *work;
	const char *job;
	struct rd_top top;
	uint32_t shards;
	bool reconciled;
};

/* One merged shard as a trace of its own with that one shard. */
struct source {
	struct rd_work *work;
	const struct rd_shard_id *id;
};

static int read_block(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		      struct rd_error *err)
{
	const struct source *s = ctx;

	(void)shard;
	return rd_work_block(s->work, s->id, table, seq, block, err);
}

static int add_shard(void *ctx, const struct rd_shard_id *id, struct rd_error *err)
{
	struct looking *l = ctx;
	struct source source = {l->work, id};
	struct rd_partial_source packed = {.ctx = &source, .shards = 1, .block = read_block};
	struct rd_tables tables = {.shards = 1, .packed = &packed};

	l->shards++;
	return rd_top_add(&l->top, id->trace, &tables, 0, err);
}

/* Cut where a character begins, so that what is left is text. */
static ProtobufCBinaryData cut(struct rd_span text)
{
	size_t n = text.size_bytes;

	if (n > RD_TOP_TEXT_MAX) {
		n = RD_TOP_TEXT_MAX;
		while (n > 0 && (text.at[n] & 0xc0) == 0x80)
			n--;
	}
	return rd_field_of((struct rd_span){text.at, n});
}

static int pack(const struct looking *l, const Rd__Envelope *question, const rd_top_rows *rows, struct rd_bytes *packed,
		struct rd_error *err)
{
	ProtobufCBinaryData texts[4][RD_TOP_MAX];
	uint64_t counts[2][RD_TOP_MAX];
	uint32_t pids[RD_TOP_MAX];
	Rd__Envelope e = rd_envelope(RD__KIND__TOP_ROWS);
	Rd__Top top = RD__TOP__INIT;
	size_t n = rows->n;

	for (size_t i = 0; i < n; i++) {
		const struct rd_top_row *r = &rows->at[i];
		pids[i] = r->pid;
		texts[0][i] = cut(r->module);
		texts[1][i] = cut(r->ns);
		texts[2][i] = cut(r->name);
		texts[3][i] = cut(r->signature);
		counts[0][i] = r->exclusive;
		counts[1][i] = r->inclusive;
	}
	top.samples = l->top.samples;
	top.shards = l->shards;
	top.n_pid = top.n_module = top.n_namespace_ = top.n_name = top.n_signature = n;
	top.n_exclusive = top.n_inclusive = n;
	top.pid = pids;
	top.module = texts[0];
	top.namespace_ = texts[1];
	top.name = texts[2];
	top.signature = texts[3];
	top.exclusive = counts[0];
	top.inclusive = counts[1];
	top.reconciled = l->reconciled;
	e.job = question->job;
	e.top = &top;
	return rd_envelope_pack(&e, packed, err);
}

/* What each shard believes by itself. */
static int add_up(struct looking *l, struct rd_error *err)
{
	rd_top_release(&l->top);
	rd_top_init(&l->top);
	l->shards = 0;
	return rd_work_each_shard(l->work, l->job, add_shard, l, err);
}

/* Too much memory or time is no failure: then each speaks for itself. */
static int reconcile(struct looking *l, const struct rd_message *question, uint64_t deadline_ns, struct rd_error *err)
{
	if (question->envelope->finish == NULL)
		return add_up(l, err);
	int code = rd_compute_so_far(l->work, question, deadline_ns, &l->top, &l->shards, err);
	if (code == RD_LIMIT || code == RD_NOMEM)
		return add_up(l, err);
	l->reconciled = code == 0;
	return code;
}

int rd_look_child(struct rd_work *work, const struct rd_message *question, uint64_t deadline_ns,
		  struct rd_bytes *packed, struct rd_error *err)
{
	const Rd__Envelope *e = question->envelope;
	char job[RD_JOB_ID_MAX + 1];
	struct looking l = {.work = work, .job = rd_field_text(&e->job, job, sizeof job)};
	rd_top_rows rows = {0};

	rd_top_init(&l.top);
	int code = reconcile(&l, question, deadline_ns, err);
	if (code == 0)
		code = rd_top_hottest(&l.top, e->count < RD_TOP_MAX ? (size_t)e->count : RD_TOP_MAX, &rows, err);
	if (code == 0)
		code = pack(&l, e, &rows, packed, err);
	rd_vec_release(&rows);
	rd_top_release(&l.top);
	return code;
}
