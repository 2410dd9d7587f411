#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "net/metrics.h"
#include "net/task.h"

/* The newest so many jobs have a line. */
#define JOBS_SHOWN    200
#define WORKERS_SHOWN 500

static void put_field(struct rd_out *out, const ProtobufCBinaryData *f)
{
	char text[RD_PATH_MAX + 1];
	rd_html_text(out, rd_field_text(f, text, sizeof text));
}

static void put_seconds(struct rd_out *out, uint64_t s)
{
	rd_out_printf(out, s < 3600 ? "%" PRIu64 ":%02" PRIu64 : "%" PRIu64 ":%02" PRIu64 " h",
		      s / (s < 3600 ? 60 : 3600), s < 3600 ? s % 60 : s / 60 % 60);
}

static void put_job(const struct rd_broker *b, const struct rd_job *j, struct rd_out *out)
{
	Rd__Status s = RD__STATUS__INIT;
	Rd__Error error;
	char done[32], total[32], line[800];

	rd_status_fill(b, j, &s, &error);
	rd_out_text(out, "<tr><td>");
	rd_html_text(out, j->id);
	rd_out_printf(out, "<td>%s<td class=n>%" PRIu32 " / %" PRIu32, rd_job_state_names[j->state], s.shards_done,
		      s.shards_total);
	rd_out_printf(out,
		      "<td class=n>%" PRIu32 "<td class=n>%" PRIu32 "<td class=n>%s / %s<td class=n>%" PRIu32
		      "<td class=n>",
		      s.shards_running, s.shards_quarantined, rd_size_text(s.bytes_done, done, sizeof done),
		      rd_size_text(s.bytes_total, total, sizeof total), s.attempts);
	put_seconds(out, s.spent_s);
	rd_out_text(out, "<td class=n>");
	if (s.eta_s != UINT32_MAX && !rd_job_ended(j))
		put_seconds(out, s.eta_s);
	rd_out_text(out, "<td>");
	put_field(out, &s.path);
	if (s.inputs > 1)
		rd_out_printf(out, " and %" PRIu32 " more", s.inputs - 1);
	if (s.error) {
		rd_out_text(out, "<br>");
		rd_html_text(out, rd_error_line(&j->error, line, sizeof line));
	}
	rd_out_text(out, "\n");
}

static void put_jobs(const struct rd_broker *b, struct rd_out *out)
{
	rd_out_text(out, "<h2>Jobs</h2><table><tr><th>job<th>state<th class=n>shards<th class=n>running"
			 "<th class=n>given up<th class=n>bytes<th class=n>attempts<th class=n>time<th class=n>left"
			 "<th>of\n");
	for (size_t i = b->jobs.n; i > 0 && b->jobs.n - i < JOBS_SHOWN; i--)
		put_job(b, b->jobs.at[i - 1], out);
	rd_out_text(out, "</table>\n");
	if (b->jobs.n > JOBS_SHOWN)
		rd_out_printf(out, "<p>and %zu older ones\n", b->jobs.n - JOBS_SHOWN);
}

/* What one has in hand. */
static void put_work(const struct rd_broker *b, const struct rd_member *m, struct rd_out *out)
{
	for (size_t i = 0; i < b->attempts.n; i++) {
		const struct rd_attempt *a = &b->attempts.at[i];
		const struct rd_task *t = rd_attempt_task(a);
		if (a->worker != m->id || a->committed)
			continue;
		rd_out_printf(out, "%s %s attempt=%" PRIu32, a->job->id, rd_task_text(t).at, a->number);
		if (t->bytes > 0)
			rd_out_printf(out, ", %d %%", (int)((double)a->bytes * 100 / (double)t->bytes));
		rd_out_text(out, ", ");
		put_seconds(out, (b->now_ns - a->begun_ns) / RD_SECOND_NS);
		rd_out_text(out, "<br>");
	}
}

static void put_workers(const struct rd_broker *b, struct rd_out *out)
{
	uint32_t shown = 0;

	rd_out_text(out, "<h2>Workers</h2><table><tr><th>host:pid<th>in hand\n");
	for (size_t i = 0; i < b->members.n && shown < WORKERS_SHOWN; i++) {
		const struct rd_member *m = b->members.at[i];
		if (m->role != RD__ROLE__WORKER || m->gone)
			continue;
		shown++;
		rd_out_text(out, "<tr><td>");
		rd_html_text(out, m->name);
		rd_out_text(out, "<td>");
		put_work(b, m, out);
		rd_out_text(out, "\n");
	}
	rd_out_text(out, "</table>\n");
}

void rd_broker_page(struct rd_broker *b, uint64_t now_ns, struct rd_out *out)
{
	char rate[32];

	b->now_ns = now_ns;
	rd_html_begin(out, "rundown");
	rd_out_printf(out, "<p>%" PRIu32 " workers, %s merger, %s a second\n", rd_members_workers(b),
		      b->merger ? "a" : "no",
		      rd_size_text(rd_rate_per_second(&b->totals.rate, now_ns), rate, sizeof rate));
	put_jobs(b, out);
	put_workers(b, out);
	rd_html_end(out);
}
