#include "worker/worker.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/log.h"
#include "net/task.h"
#include "net/wire_error.h"
#include "worker/inside.h"

static uint64_t now(const struct rd_worker *w)
{
	return w->acts.now_ns(w->acts.ctx);
}

void rd_worker_init(struct rd_worker *w, const struct rd_worker_acts *acts, const struct rd_worker_limits *limits,
		    const uint8_t uuid[16], const char *scratch)
{
	*w = (struct rd_worker){.acts = *acts, .limits = *limits, .progress_ns = 1000000000};
	memcpy(w->uuid, uuid, sizeof w->uuid);
	snprintf(w->scratch, sizeof w->scratch, "%s", scratch);
	rd_error_clear(&w->refusal);
}

void rd_worker_release(struct rd_worker *w)
{
	rd_answer_release(&w->answer);
	rd_message_release(&w->next);
	rd_blob_release(&w->chunk);
}

/* ---- the end of a task */

/* Forget the task: nothing more is said of it. A child is killed, and its end awaited. */
static void forget(struct rd_worker *w)
{
	if (w->child && !w->child_killed) {
		w->child_killed = w->sweep_due = true;
		w->acts.kill(w->acts.ctx, w->child);
	}
	rd_answer_release(&w->answer);
	w->answer = (struct rd_answer){0};
	rd_blob_release(&w->chunk);
	w->chunk_due = false;
	w->word = RD_WORD_NONE;
	w->word_due = false;
	w->phase = RD_WORKER_IDLE;
}

static void say(struct rd_worker *w, enum rd_worker_word word)
{
	w->word = word;
	w->word_due = true;
	w->phase = RD_WORKER_SAID;
}

static struct rd_work_text work_text(const struct rd_worker *w)
{
	return rd_work_text(w->task.work, w->task.trace, w->task.shard);
}

/* The task failed; its child, if it lives, is of no use. */
static void fail(struct rd_worker *w, const struct rd_error *err, bool retry)
{
	char line[1024], quoted[1100];

	forget(w);
	w->word_error = *err;
	rd_error_at(&w->word_error, err->code, w->task.path, RD_NO_OFFSET);
	w->word_retry = retry;
	w->totals.failed++;
	say(w, RD_WORD_FAILED);
	rd_log(retry ? RD_LOG_WARN : RD_LOG_INFO, "task_failed",
	       "job=%s task=%" PRIu64 " %s attempt=%u code=%s retry=%d error=%s", w->task.job, w->task.number,
	       work_text(w).at, w->task.attempt, rd_code_name(err->code), retry,
	       rd_log_quote(rd_error_line(&w->word_error, line, sizeof line), quoted, sizeof quoted));
}

void rd_worker_fail(struct rd_worker *w, int code, const char *text)
{
	struct rd_error err;

	rd_fail(&err, code, "%s", text);
	fail(w, &err, true);
}

static bool is_signal(const struct rd_forker_exit *e, int number)
{
	return e->spawn_errno == 0 && WIFSIGNALED(e->status) && WTERMSIG(e->status) == number;
}

/* Turn what is known of the child into the last word, once all is known and all its blocks are sent. */
void rd_worker_settle(struct rd_worker *w)
{
	const struct rd_answer *a = &w->answer;
	struct rd_error err;
	char how[128];

	if (w->phase != RD_WORKER_WORKING || !w->child_gone || !w->pipe_ended || w->chunk_due)
		return;
	bool well = w->child_exit.spawn_errno == 0 && w->child_exit.status == 0;
	if (a->error.code != RD_OK) {
		err = a->error;
		fail(w, &err, rd_wire_error_retry(err.code));
	} else if (well && a->over) {
		if (rd_answer_complete(a, &err) < 0) {
			fail(w, &err, true);
			return;
		}
		w->child = 0;
		say(w, w->task.work == RD__WORK__DECODE ? RD_WORD_COMMIT : RD_WORD_RESULT);
	} else if (well) {
		rd_worker_fail(w, RD_INTERNAL, "the parser ended without an answer");
	} else {
		rd_exit_text(&w->child_exit, how, sizeof how);
		rd_fail(&err, RD_INTERNAL, "the parser %s%s", how,
			is_signal(&w->child_exit, SIGSYS) ? ": it asked for what its sandbox forbids" : "");
		fail(w, &err, true);
	}
}

/* ---- a new task */

static bool same_task(const struct rd_worker *w, const Rd__Envelope *e)
{
	return w->phase != RD_WORKER_IDLE && w->task.number == e->task && w->task.attempt == e->attempt &&
	       strlen(w->task.job) == e->job.len && memcmp(w->task.job, e->job.data, e->job.len) == 0;
}

/* The job's id becomes part of a path that is removed again: it must be a plain name. */
static bool plain_name(const char *text)
{
	return text[0] != '.' && text[0] != 0 && strchr(text, '/') == NULL;
}

/* The folder of an OPEN task: each attempt has its own, so that one given up for lost cannot write into another's. */
static int name_folder(const struct rd_worker *w, struct rd_worker_task *t, const Rd__Assignment *work,
		       struct rd_error *err)
{
	char root[4096];
	int code = 0;

	if (!plain_name(t->job))
		return rd_fail(err, RD_PROTOCOL, "a job's id that is no plain name");
	if (w->scratch[0])
		code = rd_path(root, sizeof root, err, "%s/%s", w->scratch, t->job);
	else
		rd_field_text(&work->scratch, root, sizeof root);
	if (code == 0)
		code = rd_path(t->folder, sizeof t->folder, err, "%s/%" PRIu64 "-%u", root, t->number, t->attempt);
	if (code < 0)
		t->folder[0] = 0;
	return code;
}

/* Begin with a TASK while no child is left. */
static void begin(struct rd_worker *w, const struct rd_message *m)
{
	const Rd__Envelope *e = m->envelope;
	struct rd_worker_task *t = &w->task;
	struct rd_error err;

	*t = (struct rd_worker_task){
		.number = e->task,
		.attempt = e->attempt,
		.work = e->work->work,
		.trace = e->work->trace,
		.shard = e->work->shard,
		.window = e->work->window ? e->work->window : 1,
	};
	rd_field_text(&e->job, t->job, sizeof t->job);
	rd_field_text(&e->work->path, t->path, sizeof t->path);
	rd_error_clear(&err);
	w->sent = w->acked = 0;
	w->alive = true;
	w->heard_at_ns = w->acked_at_ns = w->progress_at_ns = now(w);
	w->phase = RD_WORKER_WORKING;
	int code = t->work == RD__WORK__OPEN ? name_folder(w, t, e->work, &err) : 0;
	rd_answer_init(&w->answer, t->work, t->folder);
	if (code == 0) {
		w->child = ++w->children;
		w->child_killed = w->child_gone = w->pipe_ended = w->sweep_due = false;
		code = w->acts.start(w->acts.ctx, w->child, m, t->folder, &err);
		if (code < 0)
			w->child = 0;
	}
	if (code < 0)
		fail(w, &err, rd_wire_error_retry(code));
	else
		rd_log(RD_LOG_DEBUG, "task_begins", "job=%s task=%" PRIu64 " %s attempt=%u", t->job, t->number,
		       work_text(w).at, t->attempt);
}

void rd_worker_bury(struct rd_worker *w)
{
	if (w->child && w->child_killed && w->child_gone) {
		if (w->sweep_due && w->task.folder[0])
			w->acts.clean(w->acts.ctx, w->task.folder);
		w->child = 0;
	}
	if (w->child == 0 && w->next.envelope) {
		struct rd_message m = w->next;
		w->next = (struct rd_message){0};
		begin(w, &m);
		rd_message_release(&m);
	}
}

static void take_task(struct rd_worker *w, struct rd_message *m)
{
	if (same_task(w, m->envelope)) {
		if (w->phase == RD_WORKER_SAID)
			w->word_due = true;
		return;
	}
	if (w->leaving)
		return;
	forget(w);
	rd_message_release(&w->next);
	if (w->child == 0) {
		begin(w, m);
	} else {
		w->next = *m;
		*m = (struct rd_message){0};
	}
}

/* A job's scratch folder is not needed any more. A broker's word removes nothing but such a folder. */
static void sweep(struct rd_worker *w, const Rd__Envelope *e)
{
	char path[4096], job[sizeof w->task.job];

	rd_field_text(&e->job, job, sizeof job);
	if (w->scratch[0] && plain_name(job) && rd_path(path, sizeof path, NULL, "%s/%s", w->scratch, job) == 0)
		w->acts.clean(w->acts.ctx, path);
	else if (w->scratch[0] == 0 && rd_is_scratch(rd_field_span(&e->work->path)))
		w->acts.clean(w->acts.ctx, rd_field_text(&e->work->path, path, sizeof path));
}

/* ---- what happened */

/* On a new connection the worker is a new one to the broker: what it held was given back for it. */
static void start_anew(struct rd_worker *w)
{
	forget(w);
	rd_message_release(&w->next);
	w->welcome = false;
	w->hello_due = true;
}

void rd_worker_up(struct rd_worker *w)
{
	w->down = false;
	start_anew(w);
}

/* Nothing can be said until it is back; one that leaves has nobody to tell. */
void rd_worker_down(struct rd_worker *w)
{
	w->down = true;
}

static void take_welcome(struct rd_worker *w, const Rd__Welcome *welcome)
{
	w->progress_ns = (uint64_t)welcome->progress_ms * 1000000;
	w->welcome = true;
}

static void take_refusal(struct rd_worker *w, const Rd__Error *error)
{
	rd_wire_error_take(&w->refusal, error);
	start_anew(w);
	/* A broker that does not know us wants a HELLO; any other word is final. */
	w->refused = w->refusal.code != RD_NOT_FOUND;
}

static void take_ack(struct rd_worker *w, uint64_t count)
{
	if (w->phase != RD_WORKER_WORKING || count <= w->acked || count > w->sent)
		return;
	w->acked = count;
	w->acked_at_ns = now(w);
	w->alive = true;
}

void rd_worker_message(struct rd_worker *w, struct rd_message *m)
{
	const Rd__Envelope *e = m->envelope;

	switch (e->kind) {
	case RD__KIND__WELCOME:
		take_welcome(w, e->welcome);
		break;
	case RD__KIND__REFUSED:
		take_refusal(w, e->error);
		break;
	case RD__KIND__TASK:
		take_task(w, m);
		break;
	case RD__KIND__SWEEP:
		sweep(w, e);
		break;
	case RD__KIND__CHUNK_ACK:
		if (same_task(w, e))
			take_ack(w, e->count);
		break;
	case RD__KIND__ABANDON:
	case RD__KIND__DONE:
		if (w->next.envelope && w->next.envelope->task == e->task && w->next.envelope->attempt == e->attempt)
			rd_message_release(&w->next);
		if (same_task(w, e))
			forget(w);
		break;
	default:
		break;
	}
}

void rd_worker_frame(struct rd_worker *w, const struct rd_pipe_frame *f)
{
	struct rd_error err;

	if (w->phase != RD_WORKER_WORKING || w->child == 0 || w->child_killed)
		return;
	rd_error_clear(&err);
	w->heard_at_ns = now(w);
	w->alive = true;
	int type = rd_answer_take(&w->answer, f, &err);
	if (type == RD_ANSWER_BLOCK) {
		type = rd_blob_add(&w->chunk, w->answer.block.at, w->answer.block.size_bytes, &err);
		w->chunk_due = type == 0;
	}
	if (type < 0)
		fail(w, &err, true);
}

void rd_worker_pipe_end(struct rd_worker *w, size_t left, const struct rd_error *err)
{
	w->pipe_ended = true;
	if (w->phase != RD_WORKER_WORKING || w->child_killed)
		return;
	w->heard_at_ns = now(w);
	if (err)
		fail(w, err, true);
	else if (left && w->answer.over)
		rd_worker_fail(w, RD_PROTOCOL, "the parser's answer is off: bytes behind the last frame");
	else
		rd_worker_settle(w);
}

void rd_worker_child_gone(struct rd_worker *w, const struct rd_forker_exit *e)
{
	if (e->id != w->child)
		return;
	w->child_gone = true;
	w->child_exit = *e;
	w->totals.cpu_ns += e->cpu_ns;
	w->totals.peak_bytes = e->peak_bytes > w->totals.peak_bytes ? e->peak_bytes : w->totals.peak_bytes;
	rd_log(RD_LOG_DEBUG, "parser_ends",
	       "job=%s task=%" PRIu64 " %s attempt=%u status=%d peak_bytes=%" PRIu64 " cpu_ms=%" PRIu64, w->task.job,
	       w->task.number, work_text(w).at, w->task.attempt, e->status, e->peak_bytes, e->cpu_ns / 1000000);
	if (w->phase == RD_WORKER_WORKING && !w->child_killed && e->spawn_errno)
		w->pipe_ended = true;
	rd_worker_settle(w);
	rd_worker_bury(w);
}

void rd_worker_leave(struct rd_worker *w)
{
	if (w->leaving)
		return;
	w->leaving = true;
	w->leave_due = w->welcome;
	rd_message_release(&w->next);
	if (w->phase == RD_WORKER_WORKING)
		forget(w);
}
