#include "broker/state.h"

#include <inttypes.h>

#include "net/wire_error.h"

const char *const rd_job_state_names[] = {
	[RD_JOB_QUEUED] = "queued", [RD_JOB_RUNNING] = "running", [RD_JOB_FINISHING] = "finishing",
	[RD_JOB_DONE] = "done",     [RD_JOB_FAILED] = "failed",   [RD_JOB_CANCELLED] = "cancelled",
};

/* Bytes that live attempts have done; of two attempts at one task the better one counts. */
static uint64_t bytes_under_way(const struct rd_broker *b, const struct rd_job *j, uint32_t *running)
{
	uint64_t sum = 0;

	*running = 0;
	for (size_t i = 0; i < b->attempts.n; i++) {
		const struct rd_attempt *a = &b->attempts.at[i];
		const struct rd_task *t = rd_attempt_task(a);
		uint64_t best = a->bytes;
		bool first = true;

		if (a->job != j || t->work != RD__WORK__DECODE)
			continue;
		for (size_t k = 0; k < b->attempts.n; k++) {
			if (b->attempts.at[k].job != j || b->attempts.at[k].task != a->task)
				continue;
			first = first && k >= i;
			best = b->attempts.at[k].bytes > best ? b->attempts.at[k].bytes : best;
		}
		if (first) {
			++*running;
			sum += best < t->bytes ? best : t->bytes;
		}
	}
	return sum;
}

static uint32_t seconds_left(const struct rd_broker *b, const struct rd_job *j, uint64_t done)
{
	if (j->decode_from_ns == 0 || done == 0 || b->now_ns <= j->decode_from_ns)
		return UINT32_MAX;
	if (done <= j->decode_from_bytes)
		return UINT32_MAX;
	double rate = (double)(done - j->decode_from_bytes) / (double)(b->now_ns - j->decode_from_ns);
	double left = (double)(j->bytes_total - done) / rate / 1e9 + 0.5;
	return left < (double)UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

void rd_status_fill(const struct rd_broker *b, const struct rd_job *j, Rd__Status *s, Rd__Error *error)
{
	s->id = rd_field(j->id);
	s->state = rd_field(rd_job_state_names[j->state]);
	s->shards_total = j->shards;
	s->shards_done = j->shards_done;
	s->shards_quarantined = j->quarantined;
	s->bytes_total = j->bytes_total;
	s->bytes_done = j->bytes_done + bytes_under_way(b, j, &s->shards_running);
	s->attempts = j->attempts;
	s->workers = rd_job_ended(j) ? 0 : rd_members_workers(b);
	s->eta_s = seconds_left(b, j, s->bytes_done);
	s->finish_done = j->finish_done;
	s->finish_total = j->finish_total;
	s->path = j->submit->path[0];
	s->inputs = (uint32_t)j->submit->n_path;
	s->output = j->submit->output;
	s->priority = j->submit->priority;
	s->submitted_s = j->submit->submitted_s;
	s->spent_s = (uint32_t)(rd_job_spent_ns(b, j) / RD_SECOND_NS);
	if (j->state == RD_JOB_FAILED || j->quarantined > 0) {
		rd_wire_error(error, &j->error, false);
		s->error = error;
	}
	if (j->finished)
		s->finished = j->finished->finished;
}

void rd_status_tell(struct rd_broker *b, const struct rd_job *j, rd_peer to)
{
	Rd__Envelope e = rd_envelope(RD__KIND__JOB_STATUS);
	Rd__Status s = RD__STATUS__INIT;
	Rd__Error error;

	rd_status_fill(b, j, &s, &error);
	e.job = s.id;
	e.status = &s;
	rd_say(b, to, &e, NULL, NULL);
}

/* Changes of state go out at once, bytes at a pace. */
static bool due(const struct rd_broker *b, const struct rd_job *j)
{
	return j->changed_state || (j->changed && b->now_ns >= j->told_ns + b->opt.status_ms * (RD_SECOND_NS / 1000));
}

void rd_status_push(struct rd_broker *b)
{
	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		if (!due(b, j))
			continue;
		for (size_t k = 0; k < b->members.n; k++) {
			struct rd_member *m = b->members.at[k];
			if (!m->gone && (m->watches_all || m->watches == j))
				rd_status_tell(b, j, m->id);
		}
		j->changed = j->changed_state = false;
		j->told_ns = b->now_ns;
	}
}

uint64_t rd_status_next_ns(const struct rd_broker *b)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < b->jobs.n; i++) {
		const struct rd_job *j = b->jobs.at[i];
		uint64_t at = j->told_ns + b->opt.status_ms * (RD_SECOND_NS / 1000);
		if (j->changed && at < next)
			next = at;
	}
	return next;
}
