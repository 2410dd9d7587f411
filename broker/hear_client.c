#include "broker/state.h"

#include <string.h>

static void submit(struct rd_broker *b, struct rd_member *from, struct rd_message *m)
{
	bool watch = m->envelope->submit->watch;
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMITTED);
	struct rd_job *j = rd_job_submit(b, m);

	if (j == NULL)
		return;
	e.job = rd_field(j->id);
	rd_say(b, from->id, &e, NULL, NULL);
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
	default:
		break;
	}
}
