#include "base/metric.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

void rd_metric(struct rd_out *out, const char *name, const char *type, const char *help)
{
	rd_out_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_name(struct rd_out *out, const char *name, const char *labels)
{
	rd_out_text(out, name);
	if (labels)
		rd_out_printf(out, "{%s}", labels);
}

void rd_metric_u64(struct rd_out *out, const char *name, const char *labels, uint64_t value)
{
	put_name(out, name, labels);
	rd_out_printf(out, " %" PRIu64 "\n", value);
}

void rd_metric_double(struct rd_out *out, const char *name, const char *labels, double value)
{
	put_name(out, name, labels);
	rd_out_printf(out, " %.9g\n", value);
}

void rd_metric_gauge(struct rd_out *out, const char *name, const char *help, uint64_t value)
{
	rd_metric(out, name, "gauge", help);
	rd_metric_u64(out, name, NULL, value);
}

void rd_metric_counter(struct rd_out *out, const char *name, const char *help, uint64_t value)
{
	rd_metric(out, name, "counter", help);
	rd_metric_u64(out, name, NULL, value);
}

void rd_metric_label(struct rd_bytes *b, const char *name, struct rd_span value)
{
	struct rd_bytes clean = {0};

	if (b->n > 0)
		rd_bytes_append(b, ",", 1);
	rd_bytes_append(b, name, strlen(name));
	rd_bytes_append(b, "=\"", 2);
	rd_utf8_append(&clean, value);
	for (size_t i = 0; i < clean.n; i++) {
		uint8_t c = clean.at[i];
		const char *escape = c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : NULL;
		if (escape)
			rd_bytes_append(b, escape, 2);
		else
			rd_bytes_append(b, &c, 1);
	}
	rd_bytes_append(b, "\"", 1);
	b->failed = b->failed || clean.failed;
	rd_bytes_release(&clean);
}
