#include "broker/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "profile/index_codec.h"

/*
 * Records back into jobs, in the order of their keys: the job, its state, what
 * was found behind its inputs, indexes, plans, tasks; with the next job's
 * first record, or the end, it is put together. The table of records stands in
 * docs/journal.md; keep.c writes them.
 *
 * The file is ours, but disks lie: whatever is off is RD_CORRUPT with the name
 * of the record, and nothing is guessed.
 */

int rd_recall_off(struct rd_error *err, const struct rd_job *j, const char *what)
{
	return rd_fail(err, RD_CORRUPT, "the journal: %s of job %s", what, j ? j->id : "?");
}

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static struct rd_span counted(struct rd_cursor *c)
{
	uint32_t n = rd_u32(c);
	const uint8_t *at = rd_take(c, n);
	return (struct rd_span){at, at ? n : 0};
}

static void counted_text(struct rd_cursor *c, char *buf, size_t size)
{
	struct rd_span s = counted(c);

	if (s.size_bytes >= size)
		c->failed = true;
	else if (s.size_bytes > 0)
		memcpy(buf, s.at, s.size_bytes);
	buf[c->failed ? 0 : s.size_bytes] = 0;
}

/* The rest of a value as a message that this sender may send. */
static int rest_as_message(struct rd_cursor *c, enum rd_sender sender, Rd__Kind kind, Rd__Envelope **out,
			   struct rd_error *err)
{
	struct rd_message m = {0};

	int rc = rd_envelope_unpack((struct rd_span){c->at, rd_left(c)}, &m.envelope, err);
	if (rc == 0)
		rc = rd_validate(&m, sender, err);
	if (rc == 0 && m.envelope->kind != kind)
		rc = rd_fail(err, RD_CORRUPT, "another message");
	if (rc < 0) {
		rd_message_release(&m);
		return rc;
	}
	*out = m.envelope;
	return 0;
}

static int forged(int rc, struct rd_error *err, const struct rd_job *j, const char *what)
{
	return rc == RD_NOMEM ? rc : rd_recall_off(err, j, what);
}

/* ---- records */

static int recall_meta(struct rd_broker *b, struct rd_cursor *c, struct rd_error *err)
{
	uint32_t version = rd_u32(c);

	b->jobs_so_far = rd_u64(c);
	if (c->failed)
		return rd_fail(err, RD_CORRUPT, "the journal: its head is cut");
	if (version != RD_JOURNAL_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "a journal of version %" PRIu32 "; this program reads %d", version,
			       RD_JOURNAL_VERSION);
	return 0;
}

static int recall_submit(struct rd_broker *b, uint64_t serial, struct rd_cursor *c, struct rd_error *err)
{
	if (rd_vec_reserve(&b->jobs, 1) < 0)
		return rd_fail_nomem(err);
	struct rd_job *j = rd_realloc(NULL, sizeof *j);
	if (j == NULL)
		return rd_fail_nomem(err);
	*j = (struct rd_job){.serial = serial};
	rd_error_clear(&j->error);
	b->jobs.at[b->jobs.n++] = j;
	counted_text(c, j->id, sizeof j->id);
	if (c->failed || j->id[0] == 0 || serial > b->jobs_so_far)
		return rd_recall_off(err, j, "the name");
	int rc = rest_as_message(c, RD_FROM_CLIENT, RD__KIND__SUBMIT, &j->submitted, err);
	if (rc < 0)
		return forged(rc, err, j, "the request");
	j->submit = j->submitted->submit;
	return rd_job_add_inputs(b, j) < 0 ? rd_fail_nomem(err) : 0;
}

static void recall_error(struct rd_cursor *c, struct rd_error *e)
{
	rd_error_clear(e);
	e->code = rd_i32(c);
	e->sys_errno = rd_i32(c);
	e->offset = rd_u64(c);
	counted_text(c, e->file, sizeof e->file);
	counted_text(c, e->text, sizeof e->text);
	counted_text(c, e->context, sizeof e->context);
}

static int recall_state(struct rd_job *j, struct rd_cursor *c, struct rd_error *err)
{
	uint32_t state = rd_u32(c);

	j->planned = rd_u32(c) != 0;
	j->sweep_due = rd_u32(c) != 0;
	j->shards = rd_u32(c);
	j->shards_done = rd_u32(c);
	j->quarantined = rd_u32(c);
	j->attempts = rd_u32(c);
	j->finish_failures = rd_u32(c);
	j->bytes_total = rd_u64(c);
	j->bytes_done = rd_u64(c);
	j->spent_ns = rd_u64(c);
	const uint8_t *identity = rd_take(c, sizeof j->identity);
	if (identity)
		memcpy(j->identity, identity, sizeof j->identity);
	recall_error(c, &j->error);
	bool finished = rd_u32(c) != 0;
	if (c->failed || state > RD_JOB_CANCELLED || finished != (state == RD_JOB_DONE))
		return rd_recall_off(err, j, "the state");
	j->state = (enum rd_job_state)state;
	if (!finished)
		return rd_left(c) == 0 ? 0 : rd_recall_off(err, j, "the state");
	int rc = rest_as_message(c, RD_FROM_MERGER, RD__KIND__FINISHED, &j->finished, err);
	return rc < 0 ? forged(rc, err, j, "the end") : 0;
}

static int recall_opened(struct rd_broker *b, struct rd_job *j, uint32_t input, struct rd_cursor *c,
			 struct rd_error *err)
{
	Rd__Envelope *e;

	if (input >= j->inputs.n)
		return rd_recall_off(err, j, "an input");
	int rc = rest_as_message(c, RD_FROM_WORKER, RD__KIND__RESULT, &e, err);
	if (rc < 0)
		return forged(rc, err, j, "an input");
	for (size_t i = 0; i < e->opened->n_path && !b->failed; i++) {
		struct rd_trace *t = rd_job_add_trace(b, j, input);
		if (t == NULL)
			break;
		t->path = rd_job_keep_text(b, j, &e->opened->path[i]);
		t->member = rd_job_keep_text(b, j, &e->opened->member[i]);
		t->damage = rd_job_keep_text(b, j, &e->opened->damage[i]);
	}
	rd_envelope_free(e);
	return b->failed ? rd_fail_nomem(err) : 0;
}

struct rd_trace *rd_recall_trace(const struct rd_job *j, uint32_t input, uint32_t place)
{
	if (input >= j->inputs.n || place >= j->inputs.at[input].traces.n)
		return NULL;
	return j->inputs.at[input].traces.at[place];
}

static int recall_index(struct rd_broker *b, struct rd_job *j, uint32_t input, uint32_t place, struct rd_cursor *c,
			struct rd_error *err)
{
	/* An input that is a plain trace itself was not opened into members. */
	if (input < j->inputs.n && j->inputs.at[input].traces.n == 0 && place == 0) {
		struct rd_trace *own = rd_job_add_trace(b, j, input);
		if (own == NULL)
			return rd_fail_nomem(err);
		own->path = j->submit->path[input];
	}
	struct rd_trace *t = rd_recall_trace(j, input, place);
	if (t == NULL || t->indexed)
		return rd_recall_off(err, j, "an index");
	int rc = rd_index_unpack(&t->index, (struct rd_span){c->at, rd_left(c)}, err);
	if (rc < 0)
		return forged(rc, err, j, "an index");
	t->indexed = true;
	return 0;
}

/* Every block in one shard, no shard without its blocks but where there are none at all. */
static bool plan_is_whole(const struct rd_index *ix, const struct rd_plan *p, struct rd_bytes *seen)
{
	uint64_t sum = 0;

	if (p->order.n != ix->blocks.n || p->shards.n == 0 || p->shards.n > RD_SHARDS_MAX)
		return false;
	memset(seen->at, 0, seen->n);
	for (size_t i = 0; i < p->order.n; i++) {
		if (p->order.at[i] >= ix->blocks.n || seen->at[p->order.at[i]]++)
			return false;
	}
	for (size_t i = 0; i < p->shards.n; i++)
		sum += p->shards.at[i].n;
	return sum == p->order.n;
}

static int read_plan(struct rd_plan *p, struct rd_cursor *c, struct rd_error *err)
{
	uint32_t blocks = rd_u32(c), shards = rd_u32(c), first = 0;

	if (c->failed || rd_left(c) != (uint64_t)blocks * 4 + (uint64_t)shards * 12)
		return RD_CORRUPT;
	if (rd_vec_reserve(&p->order, blocks) < 0 || rd_vec_reserve(&p->shards, shards) < 0)
		return rd_fail_nomem(err);
	while (p->order.n < blocks)
		p->order.at[p->order.n++] = rd_u32(c);
	while (p->shards.n < shards) {
		struct rd_plan_shard *s = &p->shards.at[p->shards.n++];
		s->first = first;
		s->n = rd_u32(c);
		s->bytes = rd_u64(c);
		first += s->n;
	}
	return 0;
}

static int recall_plan(struct rd_job *j, uint32_t input, uint32_t place, struct rd_cursor *c, struct rd_error *err)
{
	struct rd_trace *t = rd_recall_trace(j, input, place);
	struct rd_bytes seen = {0};

	if (t == NULL || !t->indexed || t->plan.shards.n)
		return rd_recall_off(err, j, "a plan");
	int rc = read_plan(&t->plan, c, err);
	if (rc == 0 && rd_bytes_extend(&seen, t->index.blocks.n + 1) == NULL)
		rc = rd_fail_nomem(err);
	if (rc == 0 && !plan_is_whole(&t->index, &t->plan, &seen))
		rc = RD_CORRUPT;
	rd_bytes_release(&seen);
	return rc < 0 ? forged(rc, err, j, "a plan") : 0;
}

static int recall_task(struct rd_broker *b, struct rd_job *j, uint32_t number, struct rd_cursor *c,
		       struct rd_error *err)
{
	struct rd_task_record r = {.number = number};

	r.work = (uint8_t)rd_u32(c);
	r.state = (uint8_t)rd_u32(c);
	r.input = rd_u32(c);
	r.place = rd_u32(c);
	r.shard = rd_u32(c);
	r.attempts = rd_u32(c);
	r.failures = rd_u32(c);
	r.vanished = rd_u32(c);
	if (c->failed || rd_left(c) || number == 0 || r.input >= j->inputs.n || r.state == RD_TASK_RUNNING ||
	    r.state > RD_TASK_QUARANTINED || (r.state == RD_TASK_QUARANTINED && r.work != RD__WORK__DECODE))
		return rd_recall_off(err, j, "a task");
	struct rd_task_record *slot = rd_vec_add(&b->recalled);
	if (slot == NULL)
		return rd_fail_nomem(err);
	*slot = r;
	return 0;
}

/* ---- */

int rd_broker_recall(struct rd_broker *b, struct rd_span key, struct rd_span value, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(value.at, value.size_bytes);
	struct rd_job *j = b->jobs.n ? b->jobs.at[b->jobs.n - 1] : NULL;

	if (key.size_bytes != sizeof((struct rd_record_key *)0)->at)
		return rd_fail(err, RD_CORRUPT, "the journal: a key of %zu bytes", key.size_bytes);
	uint64_t serial = (uint64_t)be32(key.at) << 32 | be32(key.at + 4);
	uint32_t a = be32(key.at + 9), place = be32(key.at + 13);
	if (key.at[8] == RD_RECORD_META)
		return recall_meta(b, &c, err);
	if (key.at[8] == RD_RECORD_SUBMIT) {
		int rc = rd_recall_put_together(b, err);
		return rc < 0 ? rc : recall_submit(b, serial, &c, err);
	}
	if (j == NULL || j->serial != serial)
		return rd_fail(err, RD_CORRUPT, "the journal: a record of no job");
	switch (key.at[8]) {
	case RD_RECORD_STATE:
		return recall_state(j, &c, err);
	case RD_RECORD_OPENED:
		return recall_opened(b, j, a, &c, err);
	case RD_RECORD_INDEX:
		return recall_index(b, j, a, place, &c, err);
	case RD_RECORD_PLAN:
		return recall_plan(j, a, place, &c, err);
	case RD_RECORD_TASK:
		return recall_task(b, j, a, &c, err);
	default:
		return rd_recall_off(err, j, "an unknown record");
	}
}

int rd_broker_recalled(struct rd_broker *b, struct rd_error *err)
{
	int rc = rd_recall_put_together(b, err);

	if (rc == 0 && b->jobs.n > 0)
		rd_log(RD_LOG_INFO, "recalled", "jobs=%zu", b->jobs.n);
	return rc;
}
