#include "report/format.h"

#include "report/text.h"

static int write_text(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		      struct rd_error *err)
{
	(void)err;
	rd_text_report(v, o, out);
	return 0;
}

static const struct rd_report_format formats[] = {
	{.name = "text", .top = 30, .has_rows = true, .write = write_text},
	{.name = "json", .has_rows = true, .write = rd_report_json},
	{.name = "csv", .has_rows = true, .write = rd_report_csv},
	{.name = "folded", .has_stacks = true, .write = rd_report_folded},
	{.name = "pprof", .has_stacks = true, .is_binary = true, .write = rd_report_pprof},
	{.name = "speedscope", .has_stacks = true, .write = rd_report_speedscope},
	{.name = "prom", .top = 20, .has_rows = true, .write = rd_report_prom},
	{.name = "html", .is_binary = true, .write = rd_report_html},
	{.name = "sqlite", .has_stacks = true, .has_threads = true, .is_binary = true, .write = rd_report_sqlite},
};

const struct rd_report_format *rd_report_format(size_t i)
{
	return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}
