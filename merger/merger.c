#include "merger/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "net/task.h"
#include "net/wire_error.h"

/* More attempts than any cluster has under way at once; the idlest goes first. */
#define INCOMING_MAX       4096
/* Of memory, for the chunks of all attempts together; beyond it they go to files. */
#define SPOOL_BUDGET_BYTES ((uint64_t)32 << 20)

void rd_merger_init(struct rd_merger *m, const struct rd_merger_acts *acts, const struct rd_merger_limits *limits,
		    const uint8_t uuid[16])
{
	*m = (struct rd_merger){.acts = *acts, .limits = *limits, .spool_budget = SPOOL_BUDGET_BYTES};
	memcpy(m->uuid, uuid, sizeof m->uuid);
	rd_error_clear(&m->refusal);
}

void rd_merger_release(struct rd_merger *m)
{
	rd_merger_forget_incoming(m, NULL);
	for (size_t i = 0; i < m->replies.n; i++)
		rd_free(m->replies.at[i]);
	for (size_t i = 0; i < m->finishing.n; i++)
		rd_merger_finishing_free(m->finishing.at[i]);
	rd_vec_release(&m->incoming);
	rd_vec_release(&m->replies);
	rd_vec_release(&m->finishing);
	rd_message_release(&m->held);
}

/* ---- attempts whose chunks come in */

static void forget_at(struct rd_merger *m, size_t i)
{
	rd_spool_release(&m->incoming.at[i].spool);
	m->incoming.at[i] = m->incoming.at[--m->incoming.n];
}

void rd_merger_forget_incoming(struct rd_merger *m, const char *job)
{
	for (size_t i = m->incoming.n; i > 0; i--)
		if (job == NULL || strcmp(m->incoming.at[i - 1].job, job) == 0)
			forget_at(m, i - 1);
}

static struct rd_incoming *find(struct rd_merger *m, const char *job, const Rd__Envelope *e)
{
	for (size_t i = 0; i < m->incoming.n; i++) {
		struct rd_incoming *in = &m->incoming.at[i];
		if (in->task == e->task && in->attempt == e->attempt && strcmp(in->job, job) == 0)
			return in;
	}
	return NULL;
}

static void make_room(struct rd_merger *m)
{
	size_t idlest = 0;

	if (m->incoming.n < INCOMING_MAX)
		return;
	for (size_t i = 1; i < m->incoming.n; i++)
		if (m->incoming.at[i].heard_ns < m->incoming.at[idlest].heard_ns)
			idlest = i;
	forget_at(m, idlest);
}

static int say_failed(struct rd_merger *m, const char *job, const Rd__Envelope *e, const struct rd_error *why,
		      bool retry, struct rd_error *err)
{
	struct rd_reply *r = rd_merger_reply(m, RD__KIND__FAILED, job, err);
	char line[1024], quoted[1100];

	if (r == NULL)
		return RD_NOMEM;
	r->task = e->task;
	r->attempt = e->attempt;
	r->error = *why;
	r->retry = retry;
	m->totals.refused++;
	rd_log(RD_LOG_WARN, "attempt_refused", "job=%s task=%" PRIu64 " attempt=%u error=%s", job, e->task, e->attempt,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	return 0;
}

/* id NULL: the ledger alone knows whose shard it is. */
static int say_merged(struct rd_merger *m, const char *job, const Rd__Envelope *e, const struct rd_shard_id *id,
		      bool duplicate, struct rd_error *err)
{
	struct rd_work_text text = {"work=decode"};

	struct rd_reply *r = rd_merger_reply(m, RD__KIND__MERGED, job, err);

	if (r == NULL)
		return RD_NOMEM;
	r->task = e->task;
	r->attempt = e->attempt;
	r->duplicate = duplicate;
	m->totals.merged += !duplicate;
	m->totals.duplicates += duplicate;
	if (id)
		text = rd_work_text(RD__WORK__DECODE, id->trace, id->shard);
	rd_log(RD_LOG_DEBUG, "merged", "job=%s task=%" PRIu64 " %s attempt=%u duplicate=%d", job, e->task, text.at,
	       e->attempt, duplicate);
	return 0;
}

/* A new attempt: what its shard has to say about it. 0 and *out, or negative. */
static int begin(struct rd_merger *m, const char *job, const Rd__Envelope *e, struct rd_incoming **out,
		 struct rd_error *err)
{
	struct rd_ledger_row row;
	struct rd_job_record record;

	make_room(m);
	if (rd_vec_reserve(&m->incoming, 1) < 0)
		return rd_fail_nomem(err);
	struct rd_incoming *in = &m->incoming.at[m->incoming.n];
	*in = (struct rd_incoming){.task = e->task, .attempt = e->attempt};
	rd_spool_init(&in->spool, m->acts.spool_file, m->acts.ctx, &m->spool_budget);
	strcpy(in->job, job);
	strcpy(in->id.job, job);
	in->id.trace = e->chunk->trace;
	in->id.shard = e->chunk->shard;
	int code = m->acts.job(m->acts.ctx, job, &record, err);
	if (code == 1 && record.row.state != RD_ROW_DELIVERING) {
		in->state = RD_INCOMING_REFUSED;
		struct rd_error why;
		rd_fail(&why, RD_CANCELLED, "the job has ended");
		code = say_failed(m, job, e, &why, false, err);
	} else if (code >= 0 && (code = m->acts.ledger(m->acts.ctx, &in->id, &row, err)) == 1) {
		in->state = RD_INCOMING_DUPLICATE;
		code = 0;
	}
	if (code < 0)
		return code;
	m->incoming.n++;
	*out = in;
	return 0;
}

/* ---- failures: of the disk, of the attempt, or of us */

bool rd_merger_disk_full(int code, const struct rd_error *err)
{
	return code == RD_IO && (err->sys_errno == ENOSPC || err->sys_errno == EDQUOT);
}

/* Keep the message until there is room. */
static int hold(struct rd_merger *m, struct rd_message *msg, const struct rd_error *why)
{
	char line[1024], quoted[1100];

	if (m->retry_at_ns == 0)
		rd_log(RD_LOG_WARN, "disk_full", "error=%s",
		       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	m->held = *msg;
	*msg = (struct rd_message){0};
	m->retry_at_ns = rd_merger_now(m) + m->limits.retry_ns;
	return 0;
}

static int refuse(struct rd_merger *m, struct rd_incoming *in, const Rd__Envelope *e, const struct rd_error *why,
		  bool retry, struct rd_error *err)
{
	rd_spool_release(&in->spool);
	in->state = RD_INCOMING_REFUSED;
	return say_failed(m, in->job, e, why, retry, err);
}

/* What to do about a chunk or a commit that failed. */
static int failed(struct rd_merger *m, const char *job, struct rd_incoming *in, struct rd_message *msg, int code,
		  struct rd_error *err)
{
	if (rd_merger_disk_full(code, err))
		rd_error_at(err, code, m->acts.folder, RD_NO_OFFSET);
	struct rd_error why = *err;
	bool of_attempt = code == RD_PROTOCOL || code == RD_CORRUPT || code == RD_UNSUPPORTED || code == RD_LIMIT;

	if (rd_merger_disk_full(code, err) && !m->limits.thrown_away)
		return hold(m, msg, err);
	if (in && (of_attempt || rd_merger_disk_full(code, err)))
		return refuse(m, in, msg->envelope, &why, of_attempt, err);
	if (rd_merger_disk_full(code, err))
		return say_failed(m, job, msg->envelope, &why, false, err);
	return code;
}

/* ---- messages */

static int take_chunk(struct rd_merger *m, struct rd_message *msg, const char *job, struct rd_error *err)
{
	const Rd__Envelope *e = msg->envelope;
	struct rd_incoming *in = find(m, job, e);
	uint64_t start = rd_merger_now(m);
	int code = 0;

	if (in == NULL && (code = begin(m, job, e, &in, err)) < 0)
		return failed(m, job, NULL, msg, code, err);
	in->heard_ns = start;
	if (in->state == RD_INCOMING_REFUSED)
		return 0;
	if (in->id.trace != e->chunk->trace || in->id.shard != e->chunk->shard)
		code = rd_fail(err, RD_PROTOCOL, "chunks of two shards in one attempt");
	else if (in->state == RD_INCOMING_OPEN)
		code = rd_spool_add(&in->spool, e->chunk->table, e->chunk->seq, rd_blob_frame(&msg->blob, 0), err);
	if (code < 0)
		return failed(m, in->job, in, msg, code, err);
	in->received++;
	in->ack_due = true;
	in->busy_ns += rd_merger_now(m) - start;
	return 0;
}

/* Other attempts at a shard that is merged now. */
static void outdo(struct rd_merger *m, const struct rd_shard_id *id)
{
	for (size_t i = 0; i < m->incoming.n; i++) {
		struct rd_incoming *in = &m->incoming.at[i];
		if (in->state != RD_INCOMING_OPEN || in->id.trace != id->trace || in->id.shard != id->shard ||
		    strcmp(in->job, id->job) != 0)
			continue;
		rd_spool_release(&in->spool);
		in->state = RD_INCOMING_DUPLICATE;
	}
}

/* A COMMIT of chunks that are not here: said again, or of a merger that died. */
static int commit_unknown(struct rd_merger *m, const Rd__Envelope *e, const char *job, struct rd_error *err)
{
	struct rd_error why;
	int code = m->acts.ledger_task(m->acts.ctx, job, e->task, err);

	if (code < 0)
		return code;
	if (code == 1)
		return say_merged(m, job, e, NULL, true, err);
	rd_fail(&why, RD_PROTOCOL, "the chunks of this partial are not here");
	return say_failed(m, job, e, &why, true, err);
}

static int commit(struct rd_merger *m, struct rd_message *msg, struct rd_incoming *in, struct rd_error *err)
{
	const Rd__Envelope *e = msg->envelope;
	uint64_t start = rd_merger_now(m);
	struct rd_ledger_row row = {
		.task = in->task,
		.attempt = in->attempt,
		.blocks = in->spool.blocks.n,
		.bytes = in->spool.bytes,
		.checksum = in->spool.checksum,
		.merge_ns = in->busy_ns + m->carry_ns,
	};
	int code = 0;

	if (in->received != e->count || in->received == 0)
		code = rd_fail(err, RD_PROTOCOL, "%" PRIu64 " of %" PRIu64 " chunks came", in->received, e->count);
	else if (in->state == RD_INCOMING_OPEN)
		code = m->acts.commit(m->acts.ctx, &in->id, &row, &in->spool, err);
	bool duplicate = in->state == RD_INCOMING_DUPLICATE || code == RD_EXISTS;
	if (code < 0 && !duplicate)
		return failed(m, in->job, in, msg, code, err);
	struct rd_shard_id id = in->id;
	if (!duplicate) {
		m->carry_ns = rd_merger_now(m) - start;
		m->totals.merged_bytes += row.bytes;
		m->totals.commit_ns += m->carry_ns;
	}
	code = say_merged(m, in->job, e, &id, duplicate, err);
	forget_at(m, (size_t)(in - m->incoming.at));
	outdo(m, &id);
	return code;
}

static int take_commit(struct rd_merger *m, struct rd_message *msg, const char *job, struct rd_error *err)
{
	struct rd_incoming *in = find(m, job, msg->envelope);

	if (in == NULL)
		return commit_unknown(m, msg->envelope, job, err);
	if (in->state != RD_INCOMING_REFUSED)
		return commit(m, msg, in, err);
	forget_at(m, (size_t)(in - m->incoming.at));
	return 0;
}

static int take_drop(struct rd_merger *m, struct rd_message *msg, const char *job, struct rd_error *err)
{
	struct rd_job_record record;

	rd_merger_forget_incoming(m, job);
	rd_merger_drop_finishing(m, job);
	int code = m->acts.job(m->acts.ctx, job, &record, err);
	if (code < 0 || (code == 1 && record.row.state != RD_ROW_DELIVERING))
		return code < 0 ? code : 0;
	record = (struct rd_job_record){.row = {.state = RD_ROW_DROPPED}};
	code = m->acts.job_put(m->acts.ctx, job, &record, err);
	/* Nothing waits for this one in a store that is thrown away. */
	if (rd_merger_disk_full(code, err))
		return m->limits.thrown_away ? 0 : hold(m, msg, err);
	return code;
}

static void take_abandon(struct rd_merger *m, const Rd__Envelope *e, const char *job)
{
	struct rd_incoming *in = find(m, job, e);

	if (in)
		forget_at(m, (size_t)(in - m->incoming.at));
}

static void take_refusal(struct rd_merger *m, const Rd__Error *error)
{
	rd_wire_error_take(&m->refusal, error);
	rd_merger_up(m);
	/* A broker that does not know us wants a HELLO; any other word is final. */
	if (m->refusal.code == RD_NOT_FOUND)
		return;
	m->refused = true;
	rd_merger_leave(m);
}

/* On a new connection the merger is a new one to the broker: attempts that were not merged begin again. */
void rd_merger_up(struct rd_merger *m)
{
	rd_merger_forget_incoming(m, NULL);
	m->welcome = false;
	m->hello_due = true;
}

int rd_merger_message(struct rd_merger *m, struct rd_message *msg, struct rd_error *err)
{
	char job[RD_JOB_ID_MAX + 1];

	rd_field_text(&msg->envelope->job, job, sizeof job);
	switch (msg->envelope->kind) {
	case RD__KIND__WELCOME:
		m->welcome = true;
		return 0;
	case RD__KIND__REFUSED:
		take_refusal(m, msg->envelope->error);
		return 0;
	case RD__KIND__CHUNK:
		return take_chunk(m, msg, job, err);
	case RD__KIND__COMMIT:
		return take_commit(m, msg, job, err);
	case RD__KIND__ABANDON:
		take_abandon(m, msg->envelope, job);
		return 0;
	case RD__KIND__FINISH:
		return rd_merger_finish(m, msg, job, err);
	case RD__KIND__DROP:
		return take_drop(m, msg, job, err);
	default:
		return 0;
	}
}
