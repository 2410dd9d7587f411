/*
 * prom - the hottest methods as gauges, for the textfile collector of Prometheus' node exporter.
 *
 * A series is to go on from night to night, so nothing that another recording changes is a label: no pid, no runtime,
 * no address. Rows that are the same without these are one, and their samples are added.
 */
#include "report/format.h"
#include "report/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/metric.h"

struct series {
	uint32_t labels; /* in strings; also its number */
	uint64_t exclusive, inclusive;
};

struct prom {
	const struct rd_view *v;
	struct rd_strings labels;
	RD_VEC(struct series) series; /* by the number of its labels */
	struct rd_bytes text, name;
};

/* The labels of a row, as they stand between the braces. */
static void put_labels(struct prom *p, const struct rd_view_row *row)
{
	const struct rd_view_method *m = &p->v->methods.at[row->method];
	const struct rd_result *r = p->v->result;
	char number[24];

	p->text.n = p->name.n = 0;
	rd_metric_label(&p->text, "process", rd_strings_at(&r->strings, r->processes.at[m->process].name));
	rd_metric_label(&p->text, "module", m->module);
	rd_label_in_module(&p->name, m, p->v->filter.tiers);
	rd_metric_label(&p->text, "method", (struct rd_span){p->name.at, p->name.n});
	if (p->v->filter.by_thread) {
		int n = snprintf(number, sizeof number, "%" PRIu64, row->thread);
		rd_metric_label(&p->text, "thread", (struct rd_span){(const uint8_t *)number, (size_t)n});
	}
	p->text.failed = p->text.failed || p->name.failed;
}

static int collect(struct prom *p, struct rd_error *err)
{
	for (size_t i = 0; i < p->v->rows.n; i++) {
		const struct rd_view_row *row = &p->v->rows.at[i];
		put_labels(p, row);
		uint32_t id = p->text.failed ? RD_NONE : rd_strings_id(&p->labels, p->text.at, p->text.n);
		if (id == RD_NONE || (id == p->series.n && rd_vec_reserve(&p->series, 1) < 0))
			return rd_fail_nomem(err);
		if (id == p->series.n)
			p->series.at[p->series.n++] = (struct series){.labels = id};
		p->series.at[id].exclusive += row->exclusive;
		p->series.at[id].inclusive += row->inclusive;
	}
	return 0;
}

static int by_exclusive(const void *x, const void *y)
{
	const struct series *a = x, *b = y;
	int c = (a->exclusive < b->exclusive) - (a->exclusive > b->exclusive);

	return c ? c : (a->labels > b->labels) - (a->labels < b->labels);
}

static int by_inclusive(const void *x, const void *y)
{
	const struct series *a = x, *b = y;
	int c = (a->inclusive < b->inclusive) - (a->inclusive > b->inclusive);

	return c ? c : by_exclusive(x, y);
}

static void put_series(struct prom *p, size_t n, bool inclusive, struct rd_out *out)
{
	const char *name = inclusive ? "rundown_profile_method_inclusive_samples"
				     : "rundown_profile_method_exclusive_samples";

	rd_metric(out, name, "gauge",
		  inclusive ? "Samples with the method on their stacks." : "Samples whose innermost frame is the method.");
	for (size_t i = 0; i < n; i++) {
		const struct series *s = &p->series.at[i];
		p->text.n = 0;
		struct rd_span labels = rd_strings_at(&p->labels, s->labels);
		rd_bytes_append(&p->text, labels.at, labels.size_bytes);
		rd_bytes_append(&p->text, "", 1);
		if (!p->text.failed)
			rd_metric_u64(out, name, (const char *)p->text.at, inclusive ? s->inclusive : s->exclusive);
	}
}

static void put_trust(const struct rd_view *v, struct rd_out *out)
{
	const struct rd_trust *t = &v->result->trust;

	rd_metric_gauge(out, "rundown_profile_complete", "1: the input was whole.",
			t->complete && t->quarantined.n == 0);
	rd_metric_gauge(out, "rundown_profile_lost_events", "Events that the recording lost.", t->lost_events);
	rd_metric_gauge(out, "rundown_profile_frames", "Frames of all samples.", t->frames);
	rd_metric_gauge(out, "rundown_profile_unresolved_frames", "Those of them that have no name.",
			t->unresolved_frames);
	if (v->result->origin_utc_ns > 0)
		rd_metric_gauge(out, "rundown_profile_start_timestamp_seconds", "When the earliest trace began.",
				(uint64_t)v->result->origin_utc_ns / 1000000000);
}

static void put_samples(const struct rd_view *v, struct rd_out *out)
{
	char label[40];

	rd_metric(out, "rundown_profile_samples", "gauge", "Samples by kind: of CPU time, or of thread time.");
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++) {
		snprintf(label, sizeof label, "kind=\"%s\"", rd_sample_kind_name(kind));
		rd_metric_u64(out, "rundown_profile_samples", label, v->kinds[kind]);
	}
}

int rd_report_prom(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err)
{
	struct prom p = {.v = v};
	int rc = collect(&p, err);

	if (rc == 0) {
		size_t n = o->top && o->top < p.series.n ? o->top : p.series.n;
		if (p.series.n > 1 && v->filter.sort != RD_SORT_NAME)
			qsort(p.series.at, p.series.n, sizeof *p.series.at,
			      v->filter.sort == RD_SORT_INCLUSIVE ? by_inclusive : by_exclusive);
		put_samples(v, out);
		put_series(&p, n, false, out);
		put_series(&p, n, true, out);
		put_trust(v, out);
		rc = p.text.failed ? rd_fail_nomem(err) : 0;
	}
	rd_strings_release(&p.labels);
	rd_vec_release(&p.series);
	rd_bytes_release(&p.text);
	rd_bytes_release(&p.name);
	return rc;
}
