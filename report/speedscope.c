/*
 * speedscope - a view as speedscope's own file: for each process, or thread, one profile of sampled stacks.
 *
 * Weights are numbers of samples, so that nothing has to be opened and closed
 * in order, and nothing is as long as the trace: each stack stands once. Their
 * order is none of time; the views that put alike stacks together are those to look at.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/format.h"
#include "report/label.h"

static int compare_owners(const void *x, const void *y, void *ctx)
{
	const struct rd_view *v = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct rd_view_stack *a = &v->stacks.at[i], *b = &v->stacks.at[k];

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (i > k) - (i < k);
}

static void put_frames(struct rd_json *j, const struct rd_view *v, struct rd_bytes *label)
{
	rd_json_object(j, "shared");
	rd_json_array(j, "frames");
	for (size_t i = 0; i < v->methods.n; i++) {
		const struct rd_view_method *m = &v->methods.at[i];
		label->n = 0;
		rd_label(label, m, v->filter.tiers);
		rd_json_object(j, NULL);
		rd_json_span(j, "name", (struct rd_span){label->at, label->n});
		if (m->module.size_bytes)
			rd_json_span(j, "file", m->module);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_json_object_end(j);
}

struct chain {
	RD_VEC(uint32_t) methods; /* of the stack in the making, last frame first */
	bool failed;
};

static void put_stack(struct rd_json *j, const struct rd_view *v, const struct rd_view_stack *s, struct chain *chain)
{
	chain->methods.n = 0;
	for (const struct rd_view_call *c = rd_view_call(v, s->call); c; c = rd_view_call(v, c->caller)) {
		uint32_t *method = rd_vec_add(&chain->methods);
		if (method == NULL) {
			chain->failed = true;
			return;
		}
		*method = c->method;
	}
	rd_json_array(j, NULL);
	for (size_t i = chain->methods.n; i-- > 0;)
		rd_json_u64(j, NULL, chain->methods.at[i]);
	rd_json_array_end(j);
}

/* The profile of the stacks order[0..n), which are one owner's. */
static void put_profile(struct rd_json *j, const struct rd_view *v, const uint32_t *order, size_t n,
			struct rd_bytes *label, struct chain *chain)
{
	const struct rd_view_stack *first = &v->stacks.at[order[0]];
	uint64_t total = 0;
	char thread[40];

	label->n = 0;
	rd_label_process(label, v->result, first->process);
	if (v->filter.by_thread)
		rd_bytes_append(
			label, thread,
			(size_t)snprintf(thread, sizeof thread, ", thread %llu", (unsigned long long)first->thread));
	/* Whoever reads the flame graph sees the name, not our documentation. */
	if (rd_view_has_thread_time(v))
		rd_bytes_append(label, ", thread time", 13);
	for (size_t i = 0; i < n; i++)
		total += v->stacks.at[order[i]].count;
	rd_json_object(j, NULL);
	rd_json_text(j, "type", "sampled");
	rd_json_span(j, "name", (struct rd_span){label->at, label->n});
	rd_json_text(j, "unit", "none");
	rd_json_u64(j, "startValue", 0);
	rd_json_u64(j, "endValue", total);
	rd_json_array(j, "samples");
	for (size_t i = 0; i < n; i++)
		put_stack(j, v, &v->stacks.at[order[i]], chain);
	rd_json_array_end(j);
	rd_json_array(j, "weights");
	for (size_t i = 0; i < n; i++)
		rd_json_u64(j, NULL, v->stacks.at[order[i]].count);
	rd_json_array_end(j);
	rd_json_object_end(j);
}

static bool one_owner(const struct rd_view *v, uint32_t a, uint32_t b)
{
	return v->stacks.at[a].process == v->stacks.at[b].process && v->stacks.at[a].thread == v->stacks.at[b].thread;
}

static void put_profiles(struct rd_json *j, const struct rd_view *v, const uint32_t *order, struct rd_bytes *label,
			 struct chain *chain)
{
	size_t n = v->stacks.n;

	rd_json_array(j, "profiles");
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && one_owner(v, order[i], order[end]);)
			end++;
		put_profile(j, v, order + i, end - i, label, chain);
	}
	rd_json_array_end(j);
}

int rd_report_speedscope(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
			 struct rd_error *err)
{
	RD_VEC(uint32_t) order = {0};
	struct rd_bytes label = {0};
	struct chain chain = {0};
	struct rd_json j;

	(void)o;
	if (rd_vec_reserve(&order, v->stacks.n) != 0)
		return rd_fail_nomem(err);
	for (uint32_t i = 0; i < v->stacks.n; i++)
		order.at[order.n++] = i;
	if (order.n)
		qsort_r(order.at, order.n, sizeof *order.at, compare_owners, (void *)(uintptr_t)v);
	rd_json_init(&j, out, true);
	rd_json_object(&j, NULL);
	rd_json_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	rd_json_text(&j, "exporter", "rundown");
	rd_json_text(&j, "name", v->result->traces.n ? v->result->traces.at[0].path : "");
	put_frames(&j, v, &label);
	put_profiles(&j, v, order.at, &label, &chain);
	rd_json_object_end(&j);
	bool failed = chain.failed || label.failed;
	rd_vec_release(&order);
	rd_bytes_release(&label);
	rd_vec_release(&chain.methods);
	return failed ? rd_fail_nomem(err) : 0;
}
