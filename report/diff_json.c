/*
 * diff_json - a difference for programs: JSON, described in docs/report-json.md, and the same rows as CSV.
 */
#include "report/csv.h"
#include "report/diff_show.h"
#include "report/json_parts.h"
#include "report/label.h"

const char *rd_diff_norm_name(enum rd_diff_norm norm)
{
	static const char *const names[] = {"samples", "time", "none"};

	return names[norm];
}

struct chain {
	uint32_t *at;
	size_t n;
	size_t cap;
};

/* The methods of a stack, the last first. */
static void chain_of(const struct rd_diff *d, const struct rd_diff_row *row, struct chain *chain, struct rd_bytes *b)
{
	for (uint32_t at = row->call; at;) {
		const struct rd_view_call *c = rd_records_at(&d->calls, at - 1);
		uint32_t *method = rd_vec_add(chain);
		if (method == NULL) {
			b->failed = 1;
			return;
		}
		*method = c->method;
		at = c->caller;
	}
}

void rd_diff_label(struct rd_bytes *b, const struct rd_diff *d, const struct rd_diff_row *row, const char *between)
{
	struct chain chain = {0};
	bool tiers = d->side[RD_BEFORE]->filter.tiers;

	if (d->options.by == RD_DIFF_METHODS) {
		struct rd_view_method m = rd_method_names_at(&d->names, row->method);
		rd_label(b, &m, tiers);
		return;
	}
	chain_of(d, row, &chain, b);
	for (size_t i = chain.n; i-- > 0;) {
		struct rd_view_method m = rd_method_names_at(&d->names, chain.at[i]);
		rd_label(b, &m, tiers);
		if (i)
			rd_bytes_append(b, between, strlen(between));
	}
	rd_vec_release(&chain);
}

static const char *state_of(const struct rd_diff *d, const struct rd_diff_row *row)
{
	if (rd_diff_count(d, row, RD_BEFORE) == 0)
		return rd_diff_count(d, row, RD_AFTER) == 0 ? "none" : "new";
	return rd_diff_count(d, row, RD_AFTER) == 0 ? "gone" : "both";
}

/* ---- JSON */

static void put_side(struct rd_json *j, const struct rd_diff *d, const struct rd_diff_show *o, int at)
{
	const struct rd_view *v = d->side[at];

	rd_json_object(j, at == RD_BEFORE ? "before" : "after");
	rd_json_text(j, "path", o->path[at]);
	rd_json_u64(j, "samples", v->samples);
	rd_json_u64(j, "discarded", v->discarded);
	rd_json_object(j, "kinds");
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++)
		if (v->kinds[kind])
			rd_json_u64(j, rd_sample_kind_name(kind), v->kinds[kind]);
	rd_json_object_end(j);
	rd_json_double(j, "denominator", d->denominator[at]);
	rd_json_bool(j, "complete", v->result->trust.complete);
	rd_json_object_end(j);
}

static void put_numbers(struct rd_json *j, const struct rd_diff *d, const struct rd_diff_row *row)
{
	rd_json_u64(j, "exclusive_before", row->exclusive[RD_BEFORE]);
	rd_json_u64(j, "exclusive_after", row->exclusive[RD_AFTER]);
	rd_json_u64(j, "inclusive_before", row->inclusive[RD_BEFORE]);
	rd_json_u64(j, "inclusive_after", row->inclusive[RD_AFTER]);
	rd_json_double(j, "before", row->value[RD_BEFORE]);
	rd_json_double(j, "after", row->value[RD_AFTER]);
	rd_json_double(j, "difference", row->difference);
	if (row->value[RD_BEFORE] > 0)
		rd_json_double(j, "relative", row->value[RD_AFTER] / row->value[RD_BEFORE] - 1);
	else
		rd_json_null(j, "relative");
	rd_json_text(j, "state", state_of(d, row));
	if (row->tested) {
		rd_json_double(j, "p", row->p);
		rd_json_double(j, "p_adjusted", row->p_adjusted);
	} else {
		rd_json_null(j, "p");
		rd_json_null(j, "p_adjusted");
	}
	rd_json_bool(j, "significant", row->significant);
}

/* Frames from the root inward. */
static void put_stack(struct rd_json *j, const struct rd_diff *d, const struct rd_diff_row *row, struct rd_bytes *label)
{
	struct chain chain = {0};

	chain_of(d, row, &chain, label);
	rd_json_array(j, "stack");
	for (size_t i = chain.n; i-- > 0;) {
		struct rd_view_method m = rd_method_names_at(&d->names, chain.at[i]);
		label->n = 0;
		rd_label(label, &m, d->side[RD_BEFORE]->filter.tiers);
		rd_json_span(j, NULL, (struct rd_span){label->at, label->n});
	}
	rd_json_array_end(j);
	rd_vec_release(&chain);
}

static void put_row(struct rd_json *j, const struct rd_diff *d, const struct rd_diff_row *row, struct rd_bytes *label)
{
	rd_json_object(j, NULL);
	if (d->options.by == RD_DIFF_METHODS) {
		struct rd_view_method m = rd_method_names_at(&d->names, row->method);
		rd_json_names(j, &m, d->side[RD_BEFORE]->filter.tiers);
	} else {
		put_stack(j, d, row, label);
	}
	put_numbers(j, d, row);
	rd_json_object_end(j);
}

static void put_test(struct rd_json *j, const struct rd_diff *d)
{
	rd_json_object(j, "test");
	rd_json_text(j, "name", rd_diff_test_name(d->options.norm));
	rd_json_text(j, "correction", "Holm");
	rd_json_double(j, "level", RD_DIFF_LEVEL);
	rd_json_u64(j, "tested", d->tested);
	rd_json_u64(j, "significant", d->significant);
	rd_json_object_end(j);
}

int rd_diff_object(struct rd_json *j, const char *key, const struct rd_diff *d, const struct rd_diff_show *o,
		   struct rd_error *err)
{
	struct rd_bytes label = {0};
	bool by_method = d->options.by == RD_DIFF_METHODS;

	rd_json_object(j, key);
	rd_json_u64(j, "rundown", 1);
	rd_json_text(j, "by", by_method ? "method" : "stack");
	rd_json_text(j, "count", d->options.count == RD_DIFF_EXCLUSIVE ? "exclusive" : "inclusive");
	rd_json_text(j, "normalised", rd_diff_norm_name(d->options.norm));
	rd_json_view(j, d->side[RD_BEFORE]);
	put_side(j, d, o, RD_BEFORE);
	put_side(j, d, o, RD_AFTER);
	put_test(j, d);
	if (o->has_limit) {
		rd_json_double(j, "fail_over", (double)o->limit / 1e6);
		rd_json_bool(j, "failed", rd_diff_is_worse(d, o->limit, NULL));
	}
	rd_json_object(j, "all");
	put_numbers(j, d, &d->all);
	rd_json_object_end(j);
	rd_json_u64(j, "new", d->fresh);
	rd_json_u64(j, "gone", d->gone);
	rd_json_u64(j, "left_out", d->too_few + d->rows.n - rd_diff_shown(d, o));
	rd_json_array(j, by_method ? "methods" : "stacks");
	for (size_t i = 0; i < rd_diff_shown(d, o); i++)
		put_row(j, d, &d->rows.at[i], &label);
	rd_json_array_end(j);
	rd_json_object_end(j);
	int code = label.failed ? rd_fail_nomem(err) : 0;
	rd_bytes_release(&label);
	return code;
}

int rd_diff_json(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_json j;

	rd_json_init(&j, out, true);
	return rd_diff_object(&j, NULL, d, o, err);
}

/* ---- CSV */

static void put_csv_row(struct rd_out *out, const struct rd_diff *d, const struct rd_diff_row *row,
			struct rd_bytes *label, struct rd_bytes *clean)
{
	if (d->options.by == RD_DIFF_METHODS) {
		struct rd_view_method m = rd_method_names_at(&d->names, row->method);
		rd_csv_names(out, clean, &m, d->side[RD_BEFORE]->filter.tiers);
	} else {
		label->n = 0;
		rd_diff_label(label, d, row, " > ");
		rd_csv_cell(out, clean, (struct rd_span){label->at, label->n});
	}
	rd_out_printf(out, "%llu,%llu,%llu,%llu,%.9g,%.9g,%.9g,", (unsigned long long)row->exclusive[RD_BEFORE],
		      (unsigned long long)row->exclusive[RD_AFTER], (unsigned long long)row->inclusive[RD_BEFORE],
		      (unsigned long long)row->inclusive[RD_AFTER], row->value[RD_BEFORE], row->value[RD_AFTER],
		      row->difference);
	if (row->value[RD_BEFORE] > 0)
		rd_out_printf(out, "%.9g", row->value[RD_AFTER] / row->value[RD_BEFORE] - 1);
	rd_out_printf(out, ",%s,", state_of(d, row));
	if (row->tested)
		rd_out_printf(out, "%.9g,%.9g", row->p, row->p_adjusted);
	else
		rd_out_text(out, ",");
	rd_out_printf(out, ",%d\r\n", row->significant);
}

int rd_diff_csv(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_bytes label = {0}, clean = {0};

	rd_out_text(out, d->options.by == RD_DIFF_METHODS ? "module,namespace,name,signature," : "stack,");
	if (d->options.by == RD_DIFF_METHODS && d->side[RD_BEFORE]->filter.tiers)
		rd_out_text(out, "tier,");
	rd_out_text(out, "exclusive_before,exclusive_after,inclusive_before,inclusive_after,before,after,difference,"
			 "relative,state,p,p_adjusted,significant\r\n");
	for (size_t i = 0; i < rd_diff_shown(d, o); i++)
		put_csv_row(out, d, &d->rows.at[i], &label, &clean);
	int code = label.failed || clean.failed ? rd_fail_nomem(err) : 0;
	rd_bytes_release(&label);
	rd_bytes_release(&clean);
	return code;
}
