#include "merger/inside.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "merger/beside.h"
#include "merger/finish.h"

void rd_merger_finishing_free(struct rd_finishing *f)
{
	rd_message_release(&f->order);
	rd_free(f);
}

static struct rd_finishing *first(const struct rd_merger *m)
{
	return m->finishing.n ? m->finishing.at[0] : NULL;
}

static void remove_at(struct rd_merger *m, size_t i)
{
	rd_merger_finishing_free(m->finishing.at[i]);
	m->finishing.n--;
	memmove(m->finishing.at + i, m->finishing.at + i + 1, (m->finishing.n - i) * sizeof *m->finishing.at);
}

/* ---- words */

static int say_failed(struct rd_merger *m, const char *job, const struct rd_error *why, bool retry,
		      struct rd_error *err)
{
	struct rd_reply *r = rd_merger_reply(m, RD__KIND__FAILED, job, err);
	char line[1024], quoted[1100];

	if (r == NULL)
		return RD_NOMEM;
	r->error = *why;
	r->retry = retry;
	m->totals.finishes_failed++;
	rd_log(RD_LOG_INFO, "finish_failed", "job=%s error=%s", job,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	return 0;
}

static int say_finished(struct rd_merger *m, const char *job, const struct rd_job_record *record, struct rd_error *err)
{
	struct rd_reply *r = rd_merger_reply(m, RD__KIND__FINISHED, job, err);

	if (r == NULL)
		return RD_NOMEM;
	r->record = *record;
	m->totals.finished++;
	rd_log(RD_LOG_INFO, "finished", "job=%s samples=%" PRIu64, job, record->row.samples);
	return 0;
}

/* ---- the children */

/* Start the child of a step; when that cannot be, the step has failed like any other. */
static void start(struct rd_merger *m, struct rd_finishing *f, enum rd_finish_step step)
{
	f->step = step;
	f->child = ++m->children;
	f->killed = f->gone = f->pipe_ended = f->ready = f->over = false;
	rd_error_clear(&f->error);
	f->heard_ns = rd_merger_now(m);
	int code = m->acts.start(m->acts.ctx, f->child, step, &f->order, &f->record, &f->error);
	if (code == 0)
		return;
	f->over = f->gone = f->pipe_ended = true;
}

static void kill_child(struct rd_merger *m, struct rd_finishing *f)
{
	if (f->child == 0 || f->killed)
		return;
	f->killed = true;
	m->acts.kill(m->acts.ctx, f->child);
}

static bool child_is_over(const struct rd_finishing *f)
{
	return f->child && f->gone && (f->pipe_ended || f->killed);
}

/* How the step went: 0, or a code with the error. */
static int outcome(const struct rd_finishing *f, struct rd_error *why)
{
	char how[128];

	if (f->error.code < 0) {
		*why = f->error;
		return why->code;
	}
	bool well = f->exit.spawn_errno == 0 && f->exit.status == 0;
	if (well && f->over && (f->ready || f->step != RD_STEP_FINISH))
		return 0;
	if (well)
		return rd_fail(why, RD_INTERNAL, "the finish ended without an answer");
	int by = f->exit.spawn_errno == 0 && WIFSIGNALED(f->exit.status) ? WTERMSIG(f->exit.status) : 0;
	return rd_fail(why, RD_INTERNAL, "the finish %s%s", rd_exit_text(&f->exit, how, sizeof how),
		       by == SIGKILL  ? "; the machine may have run out of memory"
		       : by == SIGSYS ? ": it asked for what its fence forbids"
				      : "");
}

/* ---- FINISH arrives */

/* Every shard is merged or quarantined; else the first that is neither. */
static int check_ledger(struct rd_merger *m, const Rd__Finish *finish, const char *job, struct rd_error *err)
{
	struct rd_ledger_row row;
	struct rd_shard_id id;
	uint64_t missing = 0;
	struct rd_shard_id first_missing = {0};

	strcpy(id.job, job);
	for (id.trace = 0; id.trace < finish->n_shards; id.trace++) {
		for (id.shard = 0; id.shard < finish->shards[id.trace]; id.shard++) {
			bool given_up = false;
			for (size_t q = 0; q < finish->n_quarantined_trace && !given_up; q++)
				given_up = finish->quarantined_trace[q] == id.trace &&
					   finish->quarantined_shard[q] == id.shard;
			int there = given_up ? 1 : m->acts.ledger(m->acts.ctx, &id, &row, err);
			if (there < 0)
				return there;
			if (there == 0 && missing++ == 0)
				first_missing = id;
		}
	}
	if (missing == 0)
		return 0;
	return rd_fail(err, RD_NOT_FOUND,
		       "%" PRIu64 " shards are neither merged nor given up, first shard %u of trace %u", missing,
		       first_missing.shard, first_missing.trace);
}

static int fill_record(const struct rd_merger *m, struct rd_finishing *f, struct rd_error *err)
{
	char token[9];

	f->record = (struct rd_job_record){0};
	snprintf(token, sizeof token, "%02x%02x%02x%02x", m->uuid[0], m->uuid[1], m->uuid[2], m->uuid[3]);
	rd_field_text(&f->order.envelope->finish->output, f->record.output, sizeof f->record.output);
	return rd_beside_folder(f->record.folder, sizeof f->record.folder, f->record.output, f->job, token, err);
}

int rd_merger_finish(struct rd_merger *m, struct rd_message *msg, const char *job, struct rd_error *err)
{
	struct rd_job_record record;
	struct rd_error why;

	for (size_t i = 0; i < m->finishing.n; i++)
		if (strcmp(m->finishing.at[i]->job, job) == 0 && !m->finishing.at[i]->dropped)
			return 0;
	int known = m->acts.job(m->acts.ctx, job, &record, err);
	if (known < 0)
		return known;
	if (known == 1 && record.row.state == RD_ROW_FINISHED)
		return say_finished(m, job, &record, err);
	if (known == 1 && record.row.state == RD_ROW_DROPPED) {
		rd_fail(&why, RD_CANCELLED, "the job was dropped");
		return say_failed(m, job, &why, false, err);
	}
	int code = check_ledger(m, msg->envelope->finish, job, &why);
	if (code == RD_NOT_FOUND)
		return say_failed(m, job, &why, false, err);
	if (code < 0) {
		*err = why;
		return code;
	}

	struct rd_finishing *f = rd_realloc(NULL, sizeof *f);
	if (f == NULL || rd_vec_reserve(&m->finishing, 1) < 0) {
		rd_free(f);
		return rd_fail_nomem(err);
	}
	*f = (struct rd_finishing){.order = *msg};
	*msg = (struct rd_message){0};
	strcpy(f->job, job);
	rd_error_clear(&f->failure);
	rd_error_clear(&f->error);
	m->finishing.at[m->finishing.n++] = f;
	if (fill_record(m, f, &f->failure) < 0)
		return 0;
	if (known == 1 && strcmp(record.output, f->record.output) == 0) {
		/* An earlier merger stood before the rename, or behind it. */
		f->record = record;
		f->resumed = true;
	}
	return 0;
}

void rd_merger_drop_finishing(struct rd_merger *m, const char *job)
{
	for (size_t i = m->finishing.n; i > 0; i--) {
		struct rd_finishing *f = m->finishing.at[i - 1];
		if (strcmp(f->job, job) != 0)
			continue;
		f->dropped = true;
		if (f->step == RD_STEP_QUEUED)
			remove_at(m, i - 1);
		else if (f->step == RD_STEP_FINISH)
			kill_child(m, f);
	}
}

/* ---- steps */

/* 0 it is on disk; 1 the disk is full, and it is tried again later. */
static int put_row(struct rd_merger *m, struct rd_finishing *f, enum rd_job_row_state state, struct rd_error *err)
{
	f->record.row.state = state;
	int code = m->acts.job_put(m->acts.ctx, f->job, &f->record, err);
	f->wait_until_ns = 0;
	if (!rd_merger_disk_full(code, err))
		return code;
	rd_error_at(err, code, m->acts.folder, RD_NO_OFFSET);
	if (m->limits.thrown_away)
		return code;
	rd_log(RD_LOG_WARN, "disk_full", "job=%s", f->job);
	f->wait_until_ns = rd_merger_now(m) + m->limits.retry_ns;
	return 1;
}

/* After DELIVER: the job is over. */
static int conclude(struct rd_merger *m, struct rd_finishing *f, struct rd_error *err)
{
	int code = put_row(m, f, RD_ROW_FINISHED, err);

	if (code != 0)
		return code;
	rd_merger_forget_incoming(m, f->job);
	code = say_finished(m, f->job, &f->record, err);
	remove_at(m, 0);
	return code;
}

static int give_up(struct rd_merger *m, struct rd_finishing *f, const struct rd_error *why)
{
	f->failure = *why;
	start(m, f, RD_STEP_SWEEP);
	return 0;
}

/* The result stands in its folder. */
static int deliver(struct rd_merger *m, struct rd_finishing *f, struct rd_error *err)
{
	int code = put_row(m, f, RD_ROW_DELIVERING, err);

	if (code != 0)
		return code;
	start(m, f, RD_STEP_DELIVER);
	return 0;
}

static int swept(struct rd_merger *m, struct rd_finishing *f, struct rd_error *err)
{
	int code = 0;

	if (!f->dropped)
		code = say_failed(m, f->job, &f->failure, f->failure.code == RD_INTERNAL || f->failure.code == RD_NOMEM,
				  err);
	remove_at(m, 0);
	return code;
}

/* The child of the first job is over. 0 and the next step is under way, 1 wait, or negative. */
static int next_step(struct rd_merger *m, struct rd_finishing *f, struct rd_error *err)
{
	struct rd_error why;
	int code = f->killed && f->dropped ? rd_fail(&why, RD_CANCELLED, "the job was dropped") : outcome(f, &why);

	if (f->step == RD_STEP_SWEEP)
		return swept(m, f, err);
	if (f->step == RD_STEP_DELIVER && code == 0)
		return conclude(m, f, err);
	if (f->step == RD_STEP_DELIVER && code == RD_NOT_FOUND && !f->made_again && !f->dropped) {
		/* Nobody held its folder, and another job for the same output took it for a dead one's: make it anew.
		 */
		f->made_again = true;
		if (fill_record(m, f, &why) == 0) {
			start(m, f, RD_STEP_FINISH);
			return 0;
		}
	}
	if (code == 0 && !f->dropped)
		return deliver(m, f, err);
	if (code == 0)
		rd_fail(&why, RD_CANCELLED, "the job was dropped");
	return give_up(m, f, &why);
}

int rd_merger_advance(struct rd_merger *m, struct rd_error *err)
{
	struct rd_finishing *f;
	int code = 0;

	while (code == 0 && (f = first(m)) != NULL && f->wait_until_ns <= rd_merger_now(m)) {
		if (f->step == RD_STEP_QUEUED && f->failure.code < 0) {
			code = swept(m, f, err);
		} else if (f->step == RD_STEP_QUEUED) {
			rd_log(RD_LOG_INFO, "finish_begins", "job=%s traces=%zu", f->job,
			       f->order.envelope->finish->n_path);
			start(m, f, f->resumed ? RD_STEP_DELIVER : RD_STEP_FINISH);
		} else if (child_is_over(f)) {
			code = next_step(m, f, err);
		} else {
			break;
		}
	}
	return code < 0 ? code : 0;
}

/* ---- what the child of the first job says */

static void breach(struct rd_merger *m, struct rd_finishing *f)
{
	rd_fail(&f->error, RD_PROTOCOL, "the finish's answer is off");
	kill_child(m, f);
}

static void take_ready(struct rd_merger *m, struct rd_finishing *f, struct rd_span body)
{
	struct rd_finish_ready ready;

	if (body.size_bytes != sizeof ready || f->step != RD_STEP_FINISH) {
		breach(m, f);
		return;
	}
	memcpy(&ready, body.at, sizeof ready);
	f->record.row.samples = ready.samples;
	f->record.row.lost_events = ready.lost_events;
	f->record.row.device = ready.device;
	f->record.row.inode = ready.inode;
	f->record.row.complete = ready.complete != 0;
	f->ready = true;
}

void rd_merger_frame(struct rd_merger *m, const struct rd_pipe_frame *frame)
{
	struct rd_finishing *f = first(m);
	struct rd_cursor c = rd_cursor_of(frame->body.at, frame->body.size_bytes);

	if (f == NULL || f->child == 0 || f->killed)
		return;
	f->heard_ns = rd_merger_now(m);
	if (f->over) {
		breach(m, f);
		return;
	}
	switch (frame->type) {
	case RD_FINISH_PROGRESS:
		f->done = rd_u64(&c);
		f->total = rd_u64(&c);
		f->progress_due = true;
		break;
	case RD_FINISH_READY:
		take_ready(m, f, frame->body);
		break;
	case RD_FINISH_ERROR:
		f->over = true;
		if (rd_pipe_error_unpack(&f->error, frame->body) < 0)
			breach(m, f);
		break;
	case RD_FINISH_END:
		f->over = true;
		break;
	default:
		breach(m, f);
	}
}

void rd_merger_pipe_end(struct rd_merger *m)
{
	if (first(m))
		first(m)->pipe_ended = true;
}

void rd_merger_child_gone(struct rd_merger *m, const struct rd_forker_exit *e)
{
	struct rd_finishing *f = first(m);

	if (f == NULL || f->child != e->id)
		return;
	f->gone = true;
	f->exit = *e;
	/* One that was never forked has no end of the pipe. */
	if (e->spawn_errno)
		f->pipe_ended = true;
	rd_log(RD_LOG_DEBUG, "finish_child_ends", "job=%s step=%d status=%d peak_bytes=%" PRIu64 " cpu_ms=%" PRIu64,
	       f->job, (int)f->step, e->status, e->peak_bytes, e->cpu_ns / 1000000);
}

void rd_merger_leave(struct rd_merger *m)
{
	m->leaving = true;
	for (size_t i = m->finishing.n; i > 0; i--) {
		char job[RD_JOB_ID_MAX + 1];
		strcpy(job, m->finishing.at[i - 1]->job);
		rd_merger_drop_finishing(m, job);
	}
}
