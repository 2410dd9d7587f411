/*
 * html - a view as one page that needs nothing else: the built page, and as its data the JSON report with stacks.
 *
 * What counts, draws and filters is in page/. The names in the data are
 * hostile: no byte of them can end the element they are in, and the page
 * sets them as text only.
 */
#include "report/format.h"
#include "report/json_parts.h"
#include "report/page.h"

int rd_report_html(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_report_options all = {.stacks = true, .folder = o->folder};
	struct rd_span page = rd_page();
	struct rd_json j;

	(void)err;
	rd_out_bytes(out, page.at, page.size_bytes);
	rd_json_init(&j, out, false);
	j.html = true;
	rd_json_report(&j, v, &all);
	rd_page_close(out);
	return 0;
}
