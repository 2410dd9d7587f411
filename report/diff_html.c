/*
 * diff_html - a difference as one page that needs nothing else: the built page, and as its data the JSON of the
 * difference by method, with the calls of both sides and what they count.
 */
#include <string.h>

#include "report/diff_show.h"
#include "report/json_parts.h"
#include "report/page.h"

static void put_frames(struct rd_json *j, const struct rd_diff *d)
{
	rd_json_array(j, "frames");
	for (uint32_t i = 0; i < d->names.methods.n; i++) {
		struct rd_view_method m = rd_method_names_at(&d->names, i);
		rd_json_object(j, NULL);
		rd_json_names(j, &m, d->side[RD_BEFORE]->filter.tiers);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static void put_calls(struct rd_json *j, const struct rd_diff *d)
{
	rd_json_object(j, "calls");
	for (int frames = 0; frames < 2; frames++) {
		rd_json_array(j, frames ? "frame" : "caller");
		for (uint32_t i = 0; i < d->calls.n; i++) {
			const struct rd_view_call *c = rd_records_at(&d->calls, i);
			rd_json_u64(j, NULL, frames ? c->method : c->caller);
		}
		rd_json_array_end(j);
	}
	rd_json_object_end(j);
}

/* Samples that end in each call; rows are those that have any, in another order. */
static int put_self(struct rd_json *j, const struct rd_diff *d, struct rd_error *err)
{
	RD_VEC(uint64_t) self = {0};

	if (rd_vec_reserve(&self, d->calls.n) != 0)
		return rd_fail_nomem(err);
	rd_json_object(j, "self");
	for (int at = 0; at < 2; at++) {
		if (d->calls.n)
			memset(self.at, 0, d->calls.n * sizeof *self.at);
		for (size_t i = 0; i < d->rows.n; i++)
			self.at[d->rows.at[i].call - 1] = d->rows.at[i].exclusive[at];
		rd_json_array(j, at == RD_BEFORE ? "before" : "after");
		for (size_t i = 0; i < d->calls.n; i++)
			rd_json_u64(j, NULL, self.at[i]);
		rd_json_array_end(j);
	}
	rd_json_object_end(j);
	rd_vec_release(&self);
	return 0;
}

/* The frame of each row of the difference by method: both number methods as they come in the views. */
static void put_tested(struct rd_json *j, const struct rd_diff *d)
{
	rd_json_array(j, "tested");
	for (size_t i = 0; i < d->rows.n; i++)
		rd_json_u64(j, NULL, d->rows.at[i].method);
	rd_json_array_end(j);
}

static int put_page(const struct rd_diff *methods, const struct rd_diff *stacks, const struct rd_diff_show *o,
		    struct rd_out *out, struct rd_error *err)
{
	struct rd_span page = rd_page();
	struct rd_json j;

	rd_out_bytes(out, page.at, page.size_bytes);
	rd_json_init(&j, out, false);
	j.html = true;
	rd_json_object(&j, NULL);
	int code = rd_diff_object(&j, "diff", methods, o, err);
	put_tested(&j, methods);
	put_frames(&j, stacks);
	put_calls(&j, stacks);
	if (code == 0)
		code = put_self(&j, stacks, err);
	rd_json_object_end(&j);
	rd_page_close(out);
	return code;
}

int rd_diff_html(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_diff_options options = {.by = RD_DIFF_STACKS, .norm = d->options.norm};
	struct rd_diff stacks;
	int code = rd_diff_make(&stacks, d->side[RD_BEFORE], d->side[RD_AFTER], &options, err);

	if (code < 0)
		return code;
	code = put_page(d, &stacks, o, out, err);
	rd_diff_release(&stacks);
	return code;
}
