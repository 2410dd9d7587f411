/*
 * csv - the rows of methods for spreadsheets (RFC 4180: CRLF, quotes doubled).
 *
 * A cell that begins like a formula gets an apostrophe in front: a method's
 * name comes from a trace, and must not become a command when it is opened.
 */
#include "report/format.h"

#include <string.h>

static void put_cell(struct rd_out *o, struct rd_span text)
{
	const uint8_t *p = text.at, *end = text.size_bytes ? p + text.size_bytes : p;
	bool formula = p < end && memchr("=+-@\t\r", *p, 6) != NULL;
	bool quote = false;

	for (const uint8_t *at = p; at < end && !quote; at++)
		quote = *at == ',' || *at == '"' || *at == '\r' || *at == '\n';
	if (quote)
		rd_out_bytes(o, "\"", 1);
	if (formula)
		rd_out_bytes(o, "'", 1);
	while (p < end) {
		const uint8_t *mark = memchr(p, '"', (size_t)(end - p));
		const uint8_t *to = mark ? mark + 1 : end;
		rd_out_bytes(o, p, (size_t)(to - p));
		if (mark)
			rd_out_bytes(o, "\"", 1);
		p = to;
	}
	if (quote)
		rd_out_bytes(o, "\"", 1);
	rd_out_bytes(o, ",", 1);
}

static void put_method(struct rd_out *out, const struct rd_view *v, const struct rd_view_method *m)
{
	const struct rd_strings *s = &v->result->strings;
	const struct rd_result_process *p = &v->result->processes.at[m->process];
	struct rd_span none = {NULL, 0}, no_stack = {(const uint8_t *)"[no stack]", 10};

	put_cell(out, rd_strings_at(s, p->name));
	rd_out_printf(out, "%lld,%u,", p->pid == RD_PID_UNOWNED ? -1LL : (long long)p->pid, m->clr);
	put_cell(out, m->no_stack ? none : rd_strings_at(s, m->module));
	put_cell(out, m->no_stack ? none : rd_strings_at(s, m->ns));
	put_cell(out, m->no_stack ? no_stack : rd_strings_at(s, m->name));
	put_cell(out, m->no_stack ? none : rd_strings_at(s, m->signature));
	if (v->tiers) {
		char tier[32];
		rd_out_printf(out, "%s,", rd_tier_name(m->tier, tier));
	}
	rd_out_printf(out, "%llu,%llu,%llu,%llu\r\n", (unsigned long long)m->exclusive,
		      (unsigned long long)m->inclusive, (unsigned long long)m->exclusive_weight,
		      (unsigned long long)m->inclusive_weight);
}

int rd_report_csv(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err)
{
	(void)err;
	rd_out_printf(out,
		      "process,pid,clr,module,namespace,name,signature,%sexclusive,inclusive,exclusive_weight,"
		      "inclusive_weight\r\n",
		      v->tiers ? "tier," : "");
	for (size_t i = 0; i < v->methods.n && (o->top == 0 || i < o->top); i++)
		put_method(out, v, &v->methods.at[i]);
	return 0;
}
