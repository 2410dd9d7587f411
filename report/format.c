#include "report/format.h"

#include <string.h>

#include "report/text.h"

static int write_text(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		      struct rd_error *err)
{
	(void)err;
	rd_text_report(v, o, out);
	return 0;
}

static const struct rd_report_format formats[] = {
	{.name = "text", .top = 30, .has_methods = true, .write = write_text},
	{.name = "json", .has_methods = true, .write = rd_report_json},
	{.name = "csv", .has_methods = true, .write = rd_report_csv},
	{.name = "folded", .write = rd_report_folded},
};

const struct rd_report_format *rd_report_format(size_t i)
{
	return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}

struct rd_span rd_signature_arguments(struct rd_span signature)
{
	const uint8_t *open = signature.size_bytes ? memchr(signature.at, '(', signature.size_bytes) : NULL;

	if (open == NULL)
		return (struct rd_span){NULL, 0};
	return (struct rd_span){open, signature.size_bytes - (size_t)(open - signature.at)};
}
