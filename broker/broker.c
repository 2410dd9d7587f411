#include "broker/state.h"

#include <inttypes.h>
#include <string.h>

#define ATTEMPTS    3
#define PROGRESS_MS 1000
#define STATUS_MS   100
#define LEASE_NS    (60 * RD_SECOND_NS)

int rd_broker_new(const struct rd_broker_options *opt, struct rd_broker **out, struct rd_error *err)
{
	struct rd_broker *b = rd_realloc(NULL, sizeof *b);

	if (b == NULL)
		return rd_fail_nomem(err);
	*b = (struct rd_broker){.opt = *opt};
	b->opt.attempts = opt->attempts ? opt->attempts : ATTEMPTS;
	b->opt.progress_ms = opt->progress_ms ? opt->progress_ms : PROGRESS_MS;
	b->opt.status_ms = opt->status_ms ? opt->status_ms : STATUS_MS;
	b->opt.lease_ns = opt->lease_ns ? opt->lease_ns : LEASE_NS;
	*out = b;
	return 0;
}

static void release_letter(struct rd_letter *l)
{
	rd_bytes_release(&l->envelope);
	rd_blob_release(&l->blob);
}

void rd_broker_free(struct rd_broker *b)
{
	if (b == NULL)
		return;
	for (size_t i = 0; i < b->members.n; i++)
		rd_free(b->members.at[i]);
	for (size_t i = 0; i < b->jobs.n; i++)
		rd_job_free(b->jobs.at[i]);
	for (size_t i = 0; i < b->letters.n; i++)
		release_letter(&b->letters.at[i]);
	rd_vec_release(&b->members);
	rd_vec_release(&b->jobs);
	rd_vec_release(&b->attempts);
	for (size_t i = 0; i < b->pending.n; i++)
		rd_bytes_release(&b->pending.at[i].value);
	rd_vec_release(&b->letters);
	rd_vec_release(&b->pending);
	rd_vec_release(&b->recalled);
	rd_free(b);
}

/* ---- what is to be sent */

int rd_say(struct rd_broker *b, rd_peer to, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err)
{
	struct rd_letter *l = rd_vec_add(&b->letters);

	int rc = l ? 0 : rd_fail_nomem(err);
	if (l) {
		*l = (struct rd_letter){.to = to};
		rc = rd_envelope_pack(e, &l->envelope, err);
	}
	if (rc < 0) {
		if (rc == RD_NOMEM)
			b->failed = true;
		b->letters.n -= l != NULL;
		if (l)
			release_letter(l);
		return rc;
	}
	if (blob) {
		l->blob = *blob;
		*blob = (struct rd_blob){0};
	}
	return 0;
}

void rd_say_attempt(struct rd_broker *b, rd_peer to, Rd__Kind kind, const struct rd_attempt *a)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field(a->job->id);
	e.task = a->task + 1;
	e.attempt = a->number;
	rd_say(b, to, &e, NULL, NULL);
}

static void send_letters(struct rd_broker *b, rd_broker_send_fn send, void *ctx)
{
	/* A peer that is gone makes new letters, which go out in the next round. */
	size_t n = b->letters.n;

	for (size_t i = 0; i < n && !b->failed; i++) {
		struct rd_letter *l = &b->letters.at[i];
		struct rd_span envelope = {l->envelope.at, l->envelope.n};
		int sent = send(ctx, l->to, envelope, &l->blob);
		struct rd_member *m = sent == 1 ? NULL : rd_member_find(b, l->to);
		if (m)
			rd_member_gone(b, m);
	}
	for (size_t i = 0; i < n; i++)
		release_letter(&b->letters.at[i]);
	if (n > 0)
		memmove(b->letters.at, b->letters.at + n, (b->letters.n - n) * sizeof *b->letters.at);
	b->letters.n -= n;
}

int rd_broker_flush(struct rd_broker *b, uint64_t now_ns, rd_broker_send_fn send, void *ctx, struct rd_error *err)
{
	b->now_ns = now_ns;
	do {
		rd_dispatch(b);
		rd_jobs_sweep(b);
		rd_status_push(b);
		int rc = b->failed ? 0 : rd_keep_commit(b, err);
		if (rc < 0 && !b->failed)
			return rc;
		send_letters(b, send, ctx);
	} while (b->letters.n > 0 && !b->failed);
	if (b->sweep)
		rd_members_sweep(b);
	rd_jobs_forget(b);
	return b->failed ? rd_fail_nomem(err) : 0;
}

/* ---- time */

void rd_broker_probe(struct rd_broker *b, uint64_t now_ns)
{
	/* Of a connection that ends, the part that tells us is quicker than the part that fails sends. */
	static const uint64_t after_ns[] = {0, 20 * RD_SECOND_NS / 1000, RD_SECOND_NS};

	for (size_t i = 0; i < sizeof after_ns / sizeof *after_ns; i++)
		b->probe_ns[i] = now_ns + after_ns[i] + 1;
}

static void ping_all(struct rd_broker *b)
{
	Rd__Envelope e = rd_envelope(RD__KIND__PING);

	for (size_t i = 0; i < b->members.n; i++)
		if (!b->members.at[i]->gone)
			rd_say(b, b->members.at[i]->id, &e, NULL, NULL);
}

void rd_broker_tick(struct rd_broker *b, uint64_t now_ns)
{
	bool ping = false;

	b->now_ns = now_ns;
	for (size_t i = 0; i < sizeof b->probe_ns / sizeof *b->probe_ns; i++) {
		if (b->probe_ns[i] == 0 || b->probe_ns[i] > now_ns + 1)
			continue;
		b->probe_ns[i] = 0;
		ping = true;
	}
	if (ping)
		ping_all(b);
	rd_attempts_expire(b);
	rd_jobs_expire(b);
}

uint64_t rd_broker_next_ns(const struct rd_broker *b)
{
	uint64_t at[] = {rd_status_next_ns(b), rd_dispatch_next_ns(b), rd_jobs_next_ns(b)};
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		next = at[i] < next ? at[i] : next;
	for (size_t i = 0; i < sizeof b->probe_ns / sizeof *b->probe_ns; i++)
		if (b->probe_ns[i] && b->probe_ns[i] < next)
			next = b->probe_ns[i];
	for (size_t i = 0; i < b->attempts.n; i++)
		if (!b->attempts.at[i].committed && b->attempts.at[i].lease_until_ns < next)
			next = b->attempts.at[i].lease_until_ns;
	return next;
}

/* ---- what is heard */

static enum rd_sender sender(const struct rd_member *m)
{
	if (m == NULL)
		return RD_FROM_STRANGER;
	return m->role == RD__ROLE__WORKER   ? RD_FROM_WORKER
	       : m->role == RD__ROLE__MERGER ? RD_FROM_MERGER
					     : RD_FROM_CLIENT;
}

/* Whoever breaks the protocol loses its place; a peer from before our start only has to say HELLO. */
static void refuse(struct rd_broker *b, rd_peer from, const struct rd_error *why)
{
	struct rd_member *m = rd_member_find(b, from);

	b->totals.refused++;
	rd_refuse(b, from, why);
	if (m)
		rd_member_gone(b, m);
}

void rd_broker_hear_rubbish(struct rd_broker *b, rd_peer from, const struct rd_error *why, uint64_t now_ns)
{
	b->now_ns = now_ns;
	refuse(b, from, why);
}

void rd_broker_hear(struct rd_broker *b, struct rd_message *m, uint64_t now_ns)
{
	struct rd_member *from = rd_member_find(b, m->from);
	Rd__Kind kind = m->envelope->kind;
	struct rd_error err = {0};

	b->now_ns = now_ns;
	if (from == NULL && kind != RD__KIND__HELLO)
		rd_fail(&err, RD_NOT_FOUND, "say HELLO first");
	else
		rd_validate(m, sender(from), &err);
	if (err.code < 0)
		refuse(b, m->from, &err);
	else if (kind == RD__KIND__HELLO)
		rd_member_hello(b, m->from, m->envelope->hello);
	else if (from->role == RD__ROLE__WORKER)
		rd_hear_worker(b, from, m);
	else if (from->role == RD__ROLE__MERGER)
		rd_hear_merger(b, m);
	else
		rd_hear_client(b, from, m);
	rd_message_release(m);
}
