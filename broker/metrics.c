#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "net/metrics.h"

/* ---- bytes a second */

/* Empty the seconds between the newest that has a place and this one. */
static void go_on_to(struct rd_rate *r, uint64_t second)
{
	uint64_t places = sizeof r->bytes / sizeof *r->bytes;
	uint64_t n = second - r->second;

	for (uint64_t i = 1; i <= (n < places ? n : places); i++)
		r->bytes[(r->second + i) % places] = 0;
	r->second = second;
}

void rd_count_decoded(struct rd_broker *b, uint64_t bytes)
{
	struct rd_rate *r = &b->totals.rate;

	b->totals.decoded_bytes += bytes;
	if (b->now_ns / RD_SECOND_NS > r->second)
		go_on_to(r, b->now_ns / RD_SECOND_NS);
	r->bytes[r->second % (sizeof r->bytes / sizeof *r->bytes)] += bytes;
}

uint64_t rd_rate_per_second(const struct rd_rate *r, uint64_t now_ns)
{
	struct rd_rate at = *r;
	uint64_t sum = 0;

	if (now_ns / RD_SECOND_NS > at.second)
		go_on_to(&at, now_ns / RD_SECOND_NS);
	/* The second that is not over yet counts in the next answer. */
	for (size_t i = 0; i < sizeof at.bytes / sizeof *at.bytes; i++)
		sum += i == at.second % (sizeof at.bytes / sizeof *at.bytes) ? 0 : at.bytes[i];
	return sum / RD_RATE_SECONDS;
}

/* ---- what is so now */

struct now {
	uint64_t jobs[RD_JOB_CANCELLED + 1];
	uint64_t tasks[RD_TASK_QUARANTINED + 1], shards[RD_TASK_QUARANTINED + 1]; /* of jobs that have not ended */
	uint64_t workers, mergers, clients, credit, load;
	uint64_t leases, unmerged, unmerged_since_ns; /* 0 none */
};

static void count_jobs(const struct rd_broker *b, struct now *n)
{
	for (size_t i = 0; i < b->jobs.n; i++) {
		const struct rd_job *j = b->jobs.at[i];
		n->jobs[j->state]++;
		for (size_t k = 0; k < j->tasks.n && !rd_job_ended(j); k++) {
			n->tasks[j->tasks.at[k].state]++;
			n->shards[j->tasks.at[k].state] += j->tasks.at[k].work == RD__WORK__DECODE;
		}
	}
}

static void count_members(const struct rd_broker *b, struct now *n)
{
	for (size_t i = 0; i < b->members.n; i++) {
		const struct rd_member *m = b->members.at[i];
		if (m->gone)
			continue;
		n->workers += m->role == RD__ROLE__WORKER;
		n->mergers += m == b->merger;
		n->clients += m->role == RD__ROLE__CLIENT;
		if (m->role == RD__ROLE__WORKER) {
			n->credit += m->capacity;
			n->load += m->load;
		}
	}
}

static void count_attempts(const struct rd_broker *b, struct now *n)
{
	for (size_t i = 0; i < b->attempts.n; i++) {
		const struct rd_attempt *a = &b->attempts.at[i];
		n->leases += !a->committed;
		n->unmerged += a->committed;
		if (a->committed && (n->unmerged_since_ns == 0 || a->committed_ns < n->unmerged_since_ns))
			n->unmerged_since_ns = a->committed_ns;
	}
}

static void put_states(struct rd_out *out, const char *name, const char *help, const uint64_t *of,
		       const char *const *names, size_t n)
{
	char label[64];

	rd_metric(out, name, "gauge", help);
	for (size_t i = 0; i < n; i++) {
		snprintf(label, sizeof label, "state=\"%s\"", names[i]);
		rd_metric_u64(out, name, label, of[i]);
	}
}

static void put_now(const struct now *n, uint64_t now_ns, struct rd_out *out)
{
	static const char *const task_names[] = {"waiting", "running", "done", "quarantined"};
	uint64_t lag_ns = n->unmerged_since_ns && now_ns > n->unmerged_since_ns ? now_ns - n->unmerged_since_ns : 0;

	put_states(out, "rundown_jobs", "Jobs that are known, by state.", n->jobs, rd_job_state_names,
		   sizeof n->jobs / sizeof *n->jobs);
	put_states(out, "rundown_shards", "Shards of jobs that have not ended, by state.", n->shards, task_names, 4);
	rd_metric_gauge(out, "rundown_queue_depth", "Tasks that wait for a worker.", n->tasks[RD_TASK_WAITING]);
	rd_metric_gauge(out, "rundown_workers", "Workers that are connected.", n->workers);
	rd_metric_gauge(out, "rundown_worker_slots", "Attempts that they take at a time.", n->credit);
	rd_metric_gauge(out, "rundown_worker_slots_used", "Of these in use.", n->load);
	rd_metric_gauge(out, "rundown_mergers", "1: the merger is connected.", n->mergers);
	rd_metric_gauge(out, "rundown_clients", "Clients that are connected.", n->clients);
	rd_metric_gauge(out, "rundown_leases", "Attempts whose lease runs.", n->leases);
	rd_metric_gauge(out, "rundown_unmerged_partials", "Partials that the merger has and has not committed.",
			n->unmerged);
	rd_metric(out, "rundown_merger_lag_seconds", "gauge", "Since when the oldest of these waits.");
	rd_metric_double(out, "rundown_merger_lag_seconds", NULL, (double)lag_ns / 1e9);
}

/* ---- what happened */

static void put_totals(const struct rd_totals *t, uint64_t now_ns, struct rd_out *out)
{
	rd_metric_counter(out, "rundown_jobs_submitted_total", "Jobs that were taken.", t->jobs_submitted);
	rd_metric(out, "rundown_jobs_ended_total", "counter", "Jobs that ended, by how.");
	rd_metric_u64(out, "rundown_jobs_ended_total", "state=\"done\"", t->jobs_done);
	rd_metric_u64(out, "rundown_jobs_ended_total", "state=\"failed\"", t->jobs_failed);
	rd_metric_u64(out, "rundown_jobs_ended_total", "state=\"cancelled\"", t->jobs_cancelled);
	rd_metric_counter(out, "rundown_attempts_total", "Hand-outs of tasks to workers.", t->attempts);
	rd_metric_counter(out, "rundown_retries_total", "Of these, of a task that was handed out before.", t->retries);
	rd_metric_counter(out, "rundown_second_attempts_total", "Of these, beside a slow one.", t->second_attempts);
	rd_metric(out, "rundown_attempts_lost_total", "counter", "Attempts that came to nothing, by why.");
	rd_metric_u64(out, "rundown_attempts_lost_total", "why=\"failed\"", t->lost_failed);
	rd_metric_u64(out, "rundown_attempts_lost_total", "why=\"lease\"", t->lost_lease);
	rd_metric_u64(out, "rundown_attempts_lost_total", "why=\"vanished\"", t->lost_vanished);
	rd_metric_u64(out, "rundown_attempts_lost_total", "why=\"nobody\"", t->lost_blameless);
	rd_metric_counter(out, "rundown_shards_merged_total", "Shards that the merger has.", t->merged);
	rd_metric_counter(out, "rundown_shards_quarantined_total", "Shards that were given up.", t->quarantined);
	rd_metric_counter(out, "rundown_late_words_total", "Messages about attempts that live no more.", t->late);
	rd_metric_counter(out, "rundown_refused_total", "Messages that were refused.", t->refused);
	rd_metric_counter(out, "rundown_decoded_bytes_total", "Bytes of traces that workers decoded.",
			  t->decoded_bytes);
	rd_metric_gauge(out, "rundown_decoded_bytes_per_second", "The same a second, of the last ten.",
			rd_rate_per_second(&t->rate, now_ns));
}

void rd_broker_metrics(const struct rd_broker *b, uint64_t now_ns, struct rd_out *out)
{
	struct now n = {0};

	count_jobs(b, &n);
	count_members(b, &n);
	count_attempts(b, &n);
	put_now(&n, now_ns, out);
	put_totals(&b->totals, now_ns, out);
}
