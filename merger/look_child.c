#include "base/file.h"
#include "merger/look.h"
#include "merger/work.h"
#include "profile/top.h"

#include <string.h>

struct looking {
	struct rd_work *work;
	struct rd_top top;
	uint32_t shards;
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
	e.job = question->job;
	e.top = &top;
	return rd_envelope_pack(&e, packed, err);
}

int rd_look_child(const char *state, const Rd__Envelope *question, struct rd_bytes *packed, struct rd_error *err)
{
	struct looking l = {0};
	rd_top_rows rows = {0};
	char folder[4096], job[RD_JOB_ID_MAX + 1];
	size_t most = question->count < RD_TOP_MAX ? (size_t)question->count : RD_TOP_MAX;

	rd_top_init(&l.top);
	int code = rd_path(folder, sizeof folder, err, "%s/work", state);
	if (code == 0)
		code = rd_work_open_reader(folder, &l.work, err);
	if (code == 0)
		code = rd_work_each_shard(l.work, rd_field_text(&question->job, job, sizeof job), add_shard, &l, err);
	if (code == 0)
		code = rd_top_hottest(&l.top, most, &rows, err);
	if (code == 0)
		code = pack(&l, question, &rows, packed, err);
	rd_vec_release(&rows);
	rd_top_release(&l.top);
	rd_work_close(l.work);
	return code;
}
