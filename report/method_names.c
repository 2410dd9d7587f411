#include "report/method_names.h"

#include <string.h>

#include "base/text.h"
#include "report/label.h"
#include "report/view_make.h"

struct key {
	uint32_t module, ns, name, signature; /* strings */
	uint32_t tier, what;
};

void rd_method_names_init(struct rd_method_names *n)
{
	*n = (struct rd_method_names){0};
	rd_records_init(&n->methods, sizeof(struct key), sizeof(struct key));
}

void rd_method_names_release(struct rd_method_names *n)
{
	rd_strings_release(&n->strings);
	rd_records_release(&n->methods);
}

static uint32_t string(struct rd_method_names *n, struct rd_span text)
{
	return rd_strings_id(&n->strings, text.size_bytes ? (const void *)text.at : "", text.size_bytes);
}

static uint32_t number_of(struct rd_method_names *n, const struct rd_view *v, const struct rd_view_method *m)
{
	const struct rd_result *r = v->result;
	struct rd_span name = m->name;

	/* A process is called by its name: its pid is another one the next time. */
	if (v->filter.group == RD_GROUP_PROCESS && m->what == RD_VIEW_METHOD &&
	    r->processes.at[m->process].pid != RD_PID_UNOWNED) {
		struct rd_span base = rd_base_name(rd_strings_at(&r->strings, r->processes.at[m->process].name));
		name = base.size_bytes ? base : name;
	}
	struct key key = {.module = string(n, m->module),
			  .ns = string(n, m->ns),
			  .name = string(n, name),
			  .signature = string(n, m->signature),
			  .tier = m->tier,
			  .what = m->what};
	if (key.module == RD_NONE || key.ns == RD_NONE || key.name == RD_NONE || key.signature == RD_NONE)
		return RD_NONE;
	return rd_records_id(&n->methods, &key, NULL);
}

int rd_method_names_add(struct rd_method_names *n, const struct rd_view *v, rd_method_numbers *numbers)
{
	if (rd_vec_reserve(numbers, v->methods.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < v->methods.n; i++) {
		uint32_t number = number_of(n, v, &v->methods.at[i]);
		if (number == RD_NONE)
			return RD_NOMEM;
		numbers->at[numbers->n++] = number;
	}
	return 0;
}

struct rd_view_method rd_method_names_at(const struct rd_method_names *n, uint32_t id)
{
	const struct key *k = rd_records_at(&n->methods, id);

	return (struct rd_view_method){.module = rd_strings_at(&n->strings, k->module),
				       .ns = rd_strings_at(&n->strings, k->ns),
				       .name = rd_strings_at(&n->strings, k->name),
				       .signature = rd_strings_at(&n->strings, k->signature),
				       .tier = k->tier,
				       .what = k->what};
}

int rd_method_names_compare(const struct rd_method_names *n, uint32_t a, uint32_t b)
{
	struct rd_view_method x = rd_method_names_at(n, a), y = rd_method_names_at(n, b);
	int c = rd_compare_spans(x.module, y.module);

	c = c ? c : rd_compare_spans(x.ns, y.ns);
	c = c ? c : rd_compare_spans(x.name, y.name);
	c = c ? c : rd_compare_spans(x.signature, y.signature);
	return c ? c : (int)(x.tier > y.tier) - (int)(x.tier < y.tier);
}

int rd_method_names_count(const struct rd_method_names *n, const struct rd_view *v, const rd_method_numbers *numbers,
			  rd_method_counts *counts)
{
	/* By method: the last stack that counted it, + 1. */
	RD_VEC(uint32_t) seen = {0};

	if (RD_ZEROS(&seen, n->methods.n) != 0 || RD_ZEROS(counts, n->methods.n) != 0) {
		rd_vec_release(&seen);
		return RD_NOMEM;
	}
	for (uint32_t i = 0; i < v->stacks.n; i++) {
		const struct rd_view_stack *stack = &v->stacks.at[i];
		const struct rd_view_call *c = rd_view_call(v, stack->call);
		counts->at[numbers->at[c->method]].exclusive += stack->count;
		for (; c; c = rd_view_call(v, c->caller)) {
			uint32_t number = numbers->at[c->method];
			if (seen.at[number] == i + 1)
				continue;
			seen.at[number] = i + 1;
			counts->at[number].inclusive += stack->count;
		}
	}
	rd_vec_release(&seen);
	return 0;
}
