#include "merger/look.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "merger/finish.h"
#include "net/wire_error.h"

#define WAITING_MAX 64
/* Frames of its child: the packed message is one. */
#define BODY_MAX    RD_ENVELOPE_BYTES

void rd_look_init(struct rd_look *l)
{
	*l = (struct rd_look){.pipe = {.fd = -1}};
}

void rd_look_release(struct rd_look *l)
{
	rd_pipe_release(&l->pipe);
	rd_bytes_release(&l->answer);
	for (size_t i = 0; i < l->waiting.n; i++)
		rd_message_release(&l->waiting.at[i].order);
	rd_vec_release(&l->waiting);
}

/* The newer question knows more of the job; of the counts the greatest will do for all. */
static void take_over(struct rd_look_question *q, struct rd_message *m)
{
	if (q->order.envelope && q->order.envelope->count > m->envelope->count)
		m->envelope->count = q->order.envelope->count;
	rd_message_release(&q->order);
	q->order = *m;
	*m = (struct rd_message){0};
}

void rd_look_ask(struct rd_look *l, struct rd_message *m)
{
	struct rd_look_question q = {.order = {0}};

	rd_field_text(&m->envelope->job, q.job, sizeof q.job);
	for (size_t i = 0; i < l->waiting.n; i++) {
		if (strcmp(l->waiting.at[i].job, q.job) != 0)
			continue;
		/* Many may ask; all hear the longest answer, unless it is being made already. */
		if (i > 0 || l->child == 0)
			take_over(&l->waiting.at[i], m);
		return;
	}
	struct rd_look_question *slot = l->waiting.n < WAITING_MAX ? rd_vec_add(&l->waiting) : NULL;
	if (slot == NULL)
		return;
	*slot = q;
	take_over(slot, m);
}

static int start(struct rd_look *l, struct rd_forker *forker, struct rd_error *err)
{
	struct rd_job_record record = {0};
	int fd = rd_finish_task_file(RD_STEP_LOOK, &l->waiting.at[0].order, &record, err);

	if (fd < 0)
		return fd;
	l->child = RD_LOOK_CHILD | ++l->children;
	int code = rd_forker_spawn_task(forker, l->child, fd, BODY_MAX, &l->pipe, err);
	close(fd);
	return code;
}

void rd_look_pump(struct rd_look *l, struct rd_forker *forker)
{
	if (l->child || l->waiting.n == 0)
		return;
	l->gone = l->ended = false;
	l->answer.n = 0;
	rd_error_clear(&l->error);
	if (start(l, forker, &l->error) < 0)
		l->child = RD_LOOK_CHILD, l->gone = l->ended = true;
}

void rd_look_hear(struct rd_look *l)
{
	struct rd_pipe_frame frame;
	struct rd_error why;

	while (l->pipe.fd >= 0) {
		int got = rd_pipe_hear(&l->pipe, &frame, &why);
		if (got == 0 && !l->pipe.ended)
			return;
		if (got == 1 && frame.type == RD_FINISH_TOP) {
			l->answer.n = 0;
			(void)rd_bytes_append(&l->answer, frame.body.at, frame.body.size_bytes);
		} else if (got == 1 && frame.type == RD_FINISH_ERROR) {
			(void)rd_pipe_error_unpack(&l->error, frame.body);
		} else if (got != 1) {
			rd_pipe_release(&l->pipe);
			l->ended = true;
		}
	}
}

void rd_look_gone(struct rd_look *l, const struct rd_forker_exit *e)
{
	if (e->id != l->child)
		return;
	l->gone = true;
	if (e->spawn_errno) {
		rd_pipe_release(&l->pipe);
		l->ended = true;
	}
}

/* What the child packed is believed no more than any message. */
static int unpack(const struct rd_look *l, Rd__Envelope **to, struct rd_error *err)
{
	struct rd_message m = {0};

	if (l->error.code < 0) {
		*err = l->error;
		return err->code;
	}
	int code = rd_envelope_unpack((struct rd_span){l->answer.at, l->answer.n}, &m.envelope, err);
	if (code == 0)
		code = rd_validate(&m, RD_FROM_MERGER, err);
	if (code == 0 && m.envelope->kind != RD__KIND__TOP_ROWS)
		code = rd_fail(err, RD_PROTOCOL, "another answer");
	if (code < 0) {
		rd_message_release(&m);
		return code;
	}
	*to = m.envelope;
	return 0;
}

int rd_look_take(struct rd_look *l, Rd__Envelope **to)
{
	struct rd_error err = {0};
	Rd__Envelope e = rd_envelope(RD__KIND__TOP_ROWS);
	Rd__Error error;

	if (l->child == 0 || !l->gone || !l->ended)
		return 0;
	int code = unpack(l, to, &err);
	if (code < 0) {
		rd_log(RD_LOG_INFO, "look_failed", "job=%s code=%s", l->waiting.at[0].job, rd_code_name(code));
		rd_error_in(&err, code, "the early answer");
		rd_wire_error(&error, &err, false);
		e.job = rd_field(l->waiting.at[0].job);
		e.error = &error;
		code = rd_envelope_copy(&e, to, NULL);
	}
	l->child = 0;
	rd_message_release(&l->waiting.at[0].order);
	l->waiting.n--;
	memmove(l->waiting.at, l->waiting.at + 1, l->waiting.n * sizeof *l->waiting.at);
	return code == 0;
}
