/*
 * csv - the rows of methods for spreadsheets (RFC 4180: CRLF, quotes doubled).
 *
 * A cell that begins like a formula gets an apostrophe in front: a method's
 * name comes from a trace, and must not become a command when it is opened.
 */
#include "report/csv.h"
#include "base/text.h"
#include "report/format.h"
#include "report/label.h"

#include <string.h>

/* What spreadsheets take for the beginning of a formula: four characters, also of full width, and what they skip. */
static bool begins_formula(const struct rd_bytes *text)
{
	static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		if (text->n >= 3 && memcmp(text->at, wide[i], 3) == 0)
			return true;
	return text->n && memchr("=+-@\t\r\n", text->at[0], 7) != NULL;
}

void rd_csv_cell(struct rd_out *o, struct rd_bytes *clean, struct rd_span text)
{
	const uint8_t *p, *end;
	bool quote = false;

	clean->n = 0;
	rd_utf8_append(clean, text);
	p = clean->at;
	end = clean->n ? p + clean->n : p;
	for (const uint8_t *at = p; at < end && !quote; at++)
		quote = *at == ',' || *at == '"' || *at == '\r' || *at == '\n';
	if (quote)
		rd_out_bytes(o, "\"", 1);
	if (begins_formula(clean))
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

void rd_csv_names(struct rd_out *o, struct rd_bytes *scratch, const struct rd_view_method *m, bool tiers)
{
	char tier[32];

	rd_csv_cell(o, scratch, m->module);
	rd_csv_cell(o, scratch, m->ns);
	rd_csv_cell(o, scratch, m->name);
	rd_csv_cell(o, scratch, m->signature);
	if (tiers)
		rd_out_printf(o, "%s,", rd_tier_name(m->tier, tier));
}

static void put_row(struct rd_out *out, struct rd_bytes *clean, const struct rd_view *v, const struct rd_view_row *row)
{
	const struct rd_view_method *m = &v->methods.at[row->method];
	const struct rd_result_process *p = &v->result->processes.at[m->process];

	rd_csv_cell(out, clean, rd_strings_at(&v->result->strings, p->name));
	rd_out_printf(out, "%lld,", (long long)rd_pid_number(p->pid));
	if (v->filter.by_thread)
		rd_out_printf(out, "%llu,", (unsigned long long)row->thread);
	rd_out_printf(out, "%u,", m->clr);
	rd_csv_names(out, clean, m, v->filter.tiers);
	rd_out_printf(out, "%llu,%llu,%llu,%llu", (unsigned long long)row->exclusive,
		      (unsigned long long)row->inclusive, (unsigned long long)row->exclusive_weight,
		      (unsigned long long)row->inclusive_weight);
	if (rd_view_has_direct(v))
		rd_out_printf(out, ",%llu,%llu", (unsigned long long)row->direct,
			      (unsigned long long)row->direct_weight);
	rd_out_text(out, "\r\n");
}

int rd_report_csv(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_bytes clean = {0};

	rd_out_printf(out,
		      "process,pid,%sclr,module,namespace,name,signature,%sexclusive,inclusive,exclusive_weight,"
		      "inclusive_weight%s\r\n",
		      v->filter.by_thread ? "thread," : "", v->filter.tiers ? "tier," : "",
		      rd_view_has_direct(v) ? ",direct,direct_weight" : "");
	for (size_t i = 0; i < rd_report_rows(v, o); i++)
		put_row(out, &clean, v, &v->rows.at[i]);
	int code = clean.failed ? rd_fail_nomem(err) : 0;
	rd_bytes_release(&clean);
	return code;
}
