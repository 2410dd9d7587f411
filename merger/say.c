#include "merger/inside.h"

#include <string.h>

#include "base/log.h"
#include "net/hello.h"
#include "net/wire_error.h"

/* While so many words wait, no more messages are heard that would add to them. */
#define REPLIES_MAX 1024

struct rd_reply *rd_merger_reply(struct rd_merger *m, Rd__Kind kind, const char *job, struct rd_error *err)
{
	struct rd_reply *r = rd_realloc(NULL, sizeof *r);

	if (r == NULL || rd_vec_reserve(&m->replies, 1) < 0) {
		rd_free(r);
		rd_fail_nomem(err);
		return NULL;
	}
	*r = (struct rd_reply){.kind = kind};
	strcpy(r->job, job);
	rd_error_clear(&r->error);
	m->replies.at[m->replies.n++] = r;
	return r;
}

/* ---- messages; each returns as acts.send does */

static int say_hello(struct rd_merger *m, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	struct rd_hello hello;

	rd_hello(&hello, RD__ROLE__MERGER, m->uuid);
	e.hello = &hello.message;
	int sent = m->acts.send(m->acts.ctx, &e, err);
	if (sent == 1) {
		m->hello_due = false;
		m->hello_at_ns = rd_merger_now(m);
	}
	return sent;
}

static int say_reply(struct rd_merger *m, struct rd_error *err)
{
	const struct rd_reply *r = m->replies.at[0];
	Rd__Envelope e = rd_envelope(r->kind);
	Rd__Finished finished = RD__FINISHED__INIT;
	Rd__Error error = RD__ERROR__INIT;

	e.job = rd_field(r->job);
	e.task = r->task;
	e.attempt = r->attempt;
	e.duplicate = r->duplicate;
	if (r->kind == RD__KIND__FAILED) {
		rd_wire_error(&error, &r->error, r->retry);
		e.error = &error;
	}
	if (r->kind == RD__KIND__FINISHED) {
		finished.output = rd_field(r->record.output);
		finished.samples = r->record.row.samples;
		finished.complete = r->record.row.complete;
		finished.lost_events = r->record.row.lost_events;
		e.finished = &finished;
	}
	int sent = m->acts.send(m->acts.ctx, &e, err);
	if (sent == 1) {
		rd_free(m->replies.at[0]);
		m->replies.n--;
		memmove(m->replies.at, m->replies.at + 1, m->replies.n * sizeof *m->replies.at);
	}
	return sent;
}

static int say_ack(struct rd_merger *m, struct rd_incoming *in, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__CHUNK_ACK);

	e.job = rd_field(in->job);
	e.task = in->task;
	e.attempt = in->attempt;
	e.count = in->received;
	int sent = m->acts.send(m->acts.ctx, &e, err);
	if (sent == 1)
		in->ack_due = false;
	return sent;
}

static int say_acks(struct rd_merger *m, struct rd_error *err)
{
	int sent = 1;

	for (size_t i = 0; i < m->incoming.n && sent == 1; i++)
		if (m->incoming.at[i].ack_due)
			sent = say_ack(m, &m->incoming.at[i], err);
	return sent;
}

static int say_progress(struct rd_merger *m, struct rd_finishing *f, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__FINISH_PROGRESS);

	e.job = rd_field(f->job);
	e.bytes = f->done;
	e.total = f->total;
	int sent = m->acts.send(m->acts.ctx, &e, err);
	if (sent == 1) {
		f->progress_due = false;
		f->progress_at_ns = rd_merger_now(m);
	}
	return sent;
}

/* ---- deadlines */

static uint64_t after(uint64_t start_ns, uint64_t wait_ns)
{
	uint64_t at;
	return __builtin_add_overflow(start_ns, wait_ns, &at) ? UINT64_MAX : at;
}

static uint64_t hello_at(const struct rd_merger *m)
{
	bool said = !m->welcome && !m->hello_due && m->hello_at_ns;
	return said ? after(m->hello_at_ns, m->limits.hello_ns) : UINT64_MAX;
}

static uint64_t progress_at(const struct rd_merger *m)
{
	const struct rd_finishing *f = m->finishing.n ? m->finishing.at[0] : NULL;
	bool due = m->welcome && f && f->progress_due && !f->dropped;
	return due ? after(f->progress_at_ns, m->limits.progress_ns) : UINT64_MAX;
}

static uint64_t patience_at(const struct rd_merger *m)
{
	const struct rd_finishing *f = m->finishing.n ? m->finishing.at[0] : NULL;
	return f && f->child && !f->killed ? after(f->heard_ns, m->limits.patience_ns) : UINT64_MAX;
}

static uint64_t idle_at(const struct rd_merger *m)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < m->incoming.n; i++)
		if (m->incoming.at[i].heard_ns < first)
			first = m->incoming.at[i].heard_ns;
	return m->incoming.n ? after(first, m->limits.idle_ns) : UINT64_MAX;
}

uint64_t rd_merger_wake_ns(const struct rd_merger *m)
{
	uint64_t retry = m->held.envelope ? m->retry_at_ns : UINT64_MAX;
	uint64_t wait =
		m->finishing.n && m->finishing.at[0]->wait_until_ns ? m->finishing.at[0]->wait_until_ns : UINT64_MAX;
	uint64_t at[] = {hello_at(m), progress_at(m), patience_at(m), idle_at(m), retry, wait};
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		first = at[i] < first ? at[i] : first;
	return first;
}

static void forget_idle(struct rd_merger *m, uint64_t t)
{
	for (size_t i = m->incoming.n; i > 0; i--) {
		struct rd_incoming *in = &m->incoming.at[i - 1];
		if (after(in->heard_ns, m->limits.idle_ns) > t)
			continue;
		rd_log(RD_LOG_INFO, "attempt_idle", "job=%s task=%llu attempt=%u", in->job,
		       (unsigned long long)in->task, in->attempt);
		rd_spool_release(&in->spool);
		*in = m->incoming.at[--m->incoming.n];
	}
}

static void fire_late(struct rd_merger *m, uint64_t t)
{
	if (hello_at(m) <= t)
		m->hello_due = true;
	if (idle_at(m) <= t)
		forget_idle(m, t);
	if (patience_at(m) <= t) {
		struct rd_finishing *f = m->finishing.at[0];
		rd_fail(&f->error, RD_LIMIT, "the finish said nothing for %llu s and was killed",
			(unsigned long long)(m->limits.patience_ns / 1000000000));
		f->killed = true;
		m->acts.kill(m->acts.ctx, f->child);
	}
}

/* The message that a full disk kept back. */
static int retry_held(struct rd_merger *m, uint64_t t, struct rd_error *err)
{
	if (m->held.envelope == NULL || m->retry_at_ns > t)
		return 0;
	struct rd_message msg = m->held;
	m->held = (struct rd_message){0};
	int code = rd_merger_message(m, &msg, err);
	if (code == 0 && m->held.envelope == NULL) {
		rd_log(RD_LOG_INFO, "disk_has_room", "held=0");
		m->retry_at_ns = 0;
	}
	rd_message_release(&msg);
	return code;
}

/* ---- */

bool rd_merger_listens(const struct rd_merger *m)
{
	return m->held.envelope == NULL && m->replies.n < REPLIES_MAX;
}

int rd_merger_pump(struct rd_merger *m, struct rd_error *err)
{
	uint64_t t = rd_merger_now(m);
	int sent = 1;

	fire_late(m, t);
	int code = retry_held(m, t, err);
	if (code == 0)
		code = rd_merger_advance(m, err);
	if (code < 0 || m->leaving)
		return code;
	if (m->hello_due)
		sent = say_hello(m, err);
	if (sent == 1 && m->welcome)
		sent = say_acks(m, err);
	while (sent == 1 && m->welcome && m->replies.n)
		sent = say_reply(m, err);
	if (sent == 1 && progress_at(m) <= t)
		sent = say_progress(m, m->finishing.at[0], err);
	return sent < 0 ? sent : sent == 0;
}

bool rd_merger_over(const struct rd_merger *m)
{
	return m->leaving && m->finishing.n == 0;
}
