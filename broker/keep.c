#include "broker/state.h"

#include <string.h>

#include "profile/index_codec.h"

/*
 * What changed, as records (docs/journal.md has the table). What is written
 * once becomes a record at once; states of jobs and tasks are touched, and
 * become records when the turn ends, so that ten changes of a task are one.
 *
 * Out of memory ends the broker (b->failed): it never sends what it could not
 * keep.
 */

static void put_be32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (24 - 8 * i));
}

void rd_record_key(struct rd_record_key *key, uint64_t serial, enum rd_journal_record kind, uint32_t a, uint32_t c)
{
	put_be32(key->at, (uint32_t)(serial >> 32));
	put_be32(key->at + 4, (uint32_t)serial);
	key->at[8] = (uint8_t)kind;
	put_be32(key->at + 9, a);
	put_be32(key->at + 13, c);
}

/* ---- values: little-endian numbers and counted bytes */

static void put_u32(struct rd_bytes *to, uint32_t v)
{
	uint8_t at[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
	rd_bytes_append(to, at, sizeof at);
}

static void put_u64(struct rd_bytes *to, uint64_t v)
{
	put_u32(to, (uint32_t)v);
	put_u32(to, (uint32_t)(v >> 32));
}

static void put_bytes(struct rd_bytes *to, const void *at, size_t n)
{
	put_u32(to, (uint32_t)n);
	rd_bytes_append(to, at, n);
}

/* A new record; NULL without a journal, or out of memory. */
static struct rd_bytes *put_record(struct rd_broker *b, uint64_t serial, enum rd_journal_record kind, uint32_t a,
				   uint32_t c)
{
	if (b->opt.keep == NULL)
		return NULL;
	struct rd_pending *p = rd_vec_add(&b->pending);
	if (p == NULL) {
		b->failed = true;
		return NULL;
	}
	*p = (struct rd_pending){0};
	rd_record_key(&p->key, serial, kind, a, c);
	return &p->value;
}

/* A packed message behind what is there already. */
static void put_envelope(struct rd_broker *b, struct rd_bytes *to, const Rd__Envelope *e)
{
	if (rd_envelope_pack(e, to, NULL) < 0)
		b->failed = true;
}

/* ---- what is written once */

static void keep_meta(struct rd_broker *b)
{
	struct rd_bytes *v = put_record(b, 0, RD_RECORD_META, 0, 0);

	if (v == NULL)
		return;
	put_u32(v, RD_JOURNAL_VERSION);
	put_u64(v, b->jobs_so_far);
}

void rd_keep_job(struct rd_broker *b, const struct rd_job *j)
{
	struct rd_bytes *v = put_record(b, j->serial, RD_RECORD_SUBMIT, 0, 0);

	if (v == NULL)
		return;
	put_bytes(v, j->id, strlen(j->id));
	put_envelope(b, v, j->submitted);
	keep_meta(b);
}

void rd_keep_opened(struct rd_broker *b, const struct rd_job *j, uint32_t input, const Rd__Opened *opened)
{
	struct rd_bytes *v = put_record(b, j->serial, RD_RECORD_OPENED, input, 0);
	Rd__Envelope e = rd_envelope(RD__KIND__RESULT);

	if (v == NULL)
		return;
	e.job = rd_field(j->id);
	e.task = e.attempt = 1;
	e.opened = (Rd__Opened *)(uintptr_t)opened;
	put_envelope(b, v, &e);
}

void rd_keep_index(struct rd_broker *b, const struct rd_job *j, const struct rd_trace *t)
{
	struct rd_bytes *v = put_record(b, j->serial, RD_RECORD_INDEX, t->input, t->place);

	if (v && rd_index_pack(&t->index, v, NULL) < 0)
		b->failed = true;
}

void rd_keep_plan(struct rd_broker *b, const struct rd_job *j, const struct rd_trace *t)
{
	struct rd_bytes *v = put_record(b, j->serial, RD_RECORD_PLAN, t->input, t->place);

	if (v == NULL)
		return;
	put_u32(v, (uint32_t)t->plan.order.n);
	put_u32(v, (uint32_t)t->plan.shards.n);
	for (size_t i = 0; i < t->plan.order.n; i++)
		put_u32(v, t->plan.order.at[i]);
	for (size_t i = 0; i < t->plan.shards.n; i++) {
		put_u32(v, t->plan.shards.at[i].n);
		put_u64(v, t->plan.shards.at[i].bytes);
	}
}

void rd_keep_less(struct rd_broker *b, const struct rd_job *j, bool nothing)
{
	if (b->opt.keep == NULL)
		return;
	struct rd_pending *p = rd_vec_add(&b->pending);
	if (p == NULL) {
		b->failed = true;
		return;
	}
	*p = (struct rd_pending){.erase = true};
	rd_record_key(&p->key, j->serial, nothing ? RD_RECORD_SUBMIT : RD_RECORD_OPENED, 0, 0);
	rd_record_key(&p->last, j->serial, RD_RECORD_TASK, UINT32_MAX, UINT32_MAX);
}

/* ---- what changes */

void rd_touch_task(struct rd_broker *b, struct rd_job *j, struct rd_task *t)
{
	if (b->opt.keep == NULL || t->dirty)
		return;
	/* Room was made with the task. */
	t->dirty = true;
	j->dirty_tasks.at[j->dirty_tasks.n++] = (uint32_t)(t - j->tasks.at);
}

static void keep_error(struct rd_bytes *v, const struct rd_error *e)
{
	put_u32(v, (uint32_t)e->code);
	put_u32(v, (uint32_t)e->sys_errno);
	put_u64(v, e->offset);
	put_bytes(v, e->file, strlen(e->file));
	put_bytes(v, e->text, strlen(e->text));
	put_bytes(v, e->context, strlen(e->context));
}

static void keep_state(struct rd_broker *b, const struct rd_job *j)
{
	struct rd_bytes *v = put_record(b, j->serial, RD_RECORD_STATE, 0, 0);

	if (v == NULL)
		return;
	put_u32(v, (uint32_t)j->state);
	put_u32(v, j->planned);
	put_u32(v, j->sweep_due);
	put_u32(v, j->shards);
	put_u32(v, j->shards_done);
	put_u32(v, j->quarantined);
	put_u32(v, j->attempts);
	put_u32(v, j->finish_failures);
	put_u64(v, j->bytes_total);
	put_u64(v, j->bytes_done);
	put_u64(v, rd_job_spent_ns(b, j));
	rd_bytes_append(v, j->identity, sizeof j->identity);
	keep_error(v, &j->error);
	put_u32(v, j->finished != NULL);
	if (j->finished)
		put_envelope(b, v, j->finished);
}

static void keep_task(struct rd_broker *b, const struct rd_job *j, const struct rd_task *t)
{
	uint32_t number = (uint32_t)(t - j->tasks.at) + 1;
	struct rd_bytes *v = put_record(b, j->serial, RD_RECORD_TASK, number, 0);
	/* An attempt dies with its broker. */
	enum rd_task_state state = t->state == RD_TASK_RUNNING ? RD_TASK_WAITING : t->state;

	if (v == NULL)
		return;
	put_u32(v, (uint32_t)t->work);
	put_u32(v, (uint32_t)state);
	put_u32(v, t->input);
	put_u32(v, t->trace ? t->trace->place : 0);
	put_u32(v, t->shard);
	put_u32(v, t->attempts);
	put_u32(v, t->failures);
	put_u32(v, t->vanished);
}

/* The time that a job was given is told with what it did in it. */
static bool tells_time(const struct rd_job *j)
{
	return j->submit->seconds && j->dirty_tasks.n > 0;
}

static void collect(struct rd_broker *b)
{
	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		if (j->dirty || tells_time(j))
			keep_state(b, j);
		j->dirty = false;
		for (size_t k = 0; k < j->dirty_tasks.n; k++) {
			struct rd_task *t = &j->tasks.at[j->dirty_tasks.at[k]];
			t->dirty = false;
			keep_task(b, j, t);
		}
		j->dirty_tasks.n = 0;
	}
}

static int commit(struct rd_broker *b, struct rd_error *err)
{
	RD_VEC(struct rd_change) changes = {0};
	int rc = rd_vec_reserve(&changes, b->pending.n);

	if (rc < 0) {
		b->failed = true;
		return rd_fail_nomem(err);
	}
	for (size_t i = 0; i < b->pending.n; i++) {
		const struct rd_pending *p = &b->pending.at[i];
		b->failed = b->failed || p->value.failed;
		changes.at[changes.n++] = (struct rd_change){
			.key = {p->key.at, sizeof p->key.at},
			.value = {p->value.at, p->value.n},
			.last = {p->last.at, p->erase ? sizeof p->last.at : 0},
		};
	}
	rc = b->failed ? rd_fail_nomem(err) : b->opt.keep(b->opt.keep_ctx, changes.at, changes.n, err);
	rd_vec_release(&changes);
	return rc;
}

int rd_keep_commit(struct rd_broker *b, struct rd_error *err)
{
	if (b->opt.keep == NULL)
		return 0;
	collect(b);
	if (b->failed)
		return rd_fail_nomem(err);
	if (b->pending.n == 0)
		return 0;
	int rc = commit(b, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < b->pending.n; i++)
		rd_bytes_release(&b->pending.at[i].value);
	b->pending.n = 0;
	return 0;
}
