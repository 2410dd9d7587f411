#include "broker/state.h"

#include <string.h>

#include "base/roots.h"
#include "net/wire_error.h"

/* ---- which paths a job may name */

static bool below_a_root(const char *roots, const ProtobufCBinaryData *field)
{
	return rd_roots_hold(roots, rd_field_span(field));
}

static int check_roots(const struct rd_broker *b, const Rd__Submit *s, struct rd_error *err)
{
	char text[256];
	const ProtobufCBinaryData *off = NULL;

	for (size_t i = 0; i < s->n_path && off == NULL; i++)
		if (!below_a_root(b->opt.roots, &s->path[i]))
			off = &s->path[i];
	if (off == NULL && !below_a_root(b->opt.roots, &s->output))
		off = &s->output;
	if (off == NULL && !below_a_root(b->opt.roots, &s->scratch))
		off = &s->scratch;
	if (off == NULL)
		return 0;
	rd_fail(err, RD_USAGE, "the broker takes no jobs of this folder");
	return rd_error_at(err, RD_USAGE, rd_field_text(off, text, sizeof text), RD_NO_OFFSET);
}

/* ---- answers */

static void say_submitted(struct rd_broker *b, const struct rd_member *to, const struct rd_job *j,
			  const struct rd_error *why)
{
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMITTED);
	Rd__Error error;

	if (j) {
		e.job = rd_field(j->id);
	} else {
		rd_wire_error(&error, why, false);
		e.error = &error;
	}
	rd_say(b, to->id, &e, NULL, NULL);
}

/* What was said again because the answer was lost, or NULL. */
static struct rd_job *find_token(const struct rd_broker *b, const ProtobufCBinaryData *token)
{
	for (size_t i = b->jobs.n; i > 0 && token->len; i--) {
		struct rd_job *j = b->jobs.at[i - 1];
		const ProtobufCBinaryData *own = &j->submitted->token;
		if (own->len == token->len && memcmp(own->data, token->data, token->len) == 0)
			return j;
	}
	return NULL;
}

/* The job that makes this very result already; what it takes in, it takes in as it is then. */
static struct rd_job *find_update(const struct rd_broker *b, const Rd__Submit *s)
{
	for (size_t i = b->jobs.n; i > 0 && s->update; i--) {
		struct rd_job *j = b->jobs.at[i - 1];
		const ProtobufCBinaryData *output = &j->submit->output;
		if (j->state == RD_JOB_QUEUED && output->len == s->output.len &&
		    memcmp(output->data, s->output.data, output->len) == 0 && rd_job_wishes_same(j->submit, s))
			return j;
	}
	return NULL;
}

static void submit(struct rd_broker *b, struct rd_member *from, struct rd_message *m)
{
	bool watch = m->envelope->submit->watch;
	struct rd_error err = {0};

	if (check_roots(b, m->envelope->submit, &err) < 0) {
		say_submitted(b, from, NULL, &err);
		return;
	}
	struct rd_job *j = find_token(b, &m->envelope->token);
	if (j == NULL)
		j = find_update(b, m->envelope->submit);
	if (j == NULL)
		j = rd_job_submit(b, m);
	if (j == NULL)
		return;
	say_submitted(b, from, j, NULL);
	if (watch) {
		from->watches = j;
		rd_status_tell(b, j, from->id);
	}
}

static void no_such_job(struct rd_broker *b, const struct rd_member *from, const ProtobufCBinaryData *id)
{
	Rd__Envelope e = rd_envelope(RD__KIND__JOB_STATUS);
	Rd__Status s = RD__STATUS__INIT;
	Rd__Error error = RD__ERROR__INIT;

	e.job = s.id = *id;
	e.status = &s;
	s.state = rd_field("failed");
	s.error = &error;
	error.code = RD_NOT_FOUND;
	error.text = rd_field("no such job");
	error.offset = RD_NO_OFFSET;
	rd_say(b, from->id, &e, NULL, NULL);
}

static void status(struct rd_broker *b, struct rd_member *from, const Rd__Envelope *e)
{
	struct rd_job *j = e->job.len ? rd_job_find(b, &e->job) : NULL;

	if (e->job.len && j == NULL) {
		no_such_job(b, from, &e->job);
		return;
	}
	from->watches = e->watch ? j : NULL;
	from->watches_all = e->watch && j == NULL;
	for (size_t i = 0; i < b->jobs.n; i++)
		if (j == NULL || b->jobs.at[i] == j)
			rd_status_tell(b, b->jobs.at[i], from->id);
	if (j == NULL) {
		Rd__Envelope all = rd_envelope(RD__KIND__JOBS);
		all.count = b->jobs.n;
		rd_say(b, from->id, &all, NULL, NULL);
	}
}

static void cancel(struct rd_broker *b, struct rd_member *from, const Rd__Envelope *e)
{
	struct rd_job *j = rd_job_find(b, &e->job);

	if (j == NULL) {
		no_such_job(b, from, &e->job);
		return;
	}
	if (!rd_job_ended(j))
		rd_job_end(b, j, RD_JOB_CANCELLED);
	rd_status_tell(b, j, from->id);
}

/* A job that runs gets its shards back; one that ended, whose partials are gone, is done once more as a new one. */
static void retry(struct rd_broker *b, struct rd_member *from, const Rd__Envelope *e)
{
	struct rd_job *j = rd_job_find(b, &e->job), *again = find_token(b, &e->token);
	struct rd_error why = {0};

	if (again)
		j = again;
	else if (j == NULL)
		rd_fail(&why, RD_NOT_FOUND, "no such job");
	else if (j->state == RD_JOB_FAILED || j->state == RD_JOB_CANCELLED ||
		 (j->state == RD_JOB_DONE && j->quarantined > 0))
		j = rd_job_again(b, j, &e->token);
	else if (j->state != RD_JOB_RUNNING || rd_job_revive(b, j) == 0)
		rd_fail(&why, RD_USAGE, "nothing of this job was given up");
	if (!b->failed)
		say_submitted(b, from, why.code < 0 ? NULL : j, &why);
}

void rd_hear_client(struct rd_broker *b, struct rd_member *from, struct rd_message *m)
{
	switch (m->envelope->kind) {
	case RD__KIND__SUBMIT:
		submit(b, from, m);
		break;
	case RD__KIND__STATUS:
		status(b, from, m->envelope);
		break;
	case RD__KIND__CANCEL:
		cancel(b, from, m->envelope);
		break;
	case RD__KIND__TOP:
		rd_top_ask(b, from, m->envelope);
		break;
	case RD__KIND__RETRY:
		retry(b, from, m->envelope);
		break;
	default:
		break;
	}
}
