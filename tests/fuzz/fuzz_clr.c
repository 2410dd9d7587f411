/* Any bytes as the payload of every event of the runtime, in every version. */
#include <stdlib.h>

#include "base/text.h"
#include "trace/catalogue.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static const uint8_t *input;
static size_t input_bytes;

/* Every span lies inside the payload; names turn into text. */
static void check_span(struct rd_span s)
{
	struct rd_bytes out = {0};
	if (s.size_bytes != 0 &&
	    (s.at < input || s.at > input + input_bytes || s.size_bytes > input_bytes - (size_t)(s.at - input)))
		abort();
	if (rd_utf16_append(&out, s.at, s.size_bytes) != 0)
		abort();
	rd_bytes_release(&out);
}

static void check_record(const struct rd_record *r)
{
	switch (r->kind) {
	case RD_EVENT_METHOD:
		check_span(r->method.ns.text);
		check_span(r->method.name.text);
		check_span(r->method.signature.text);
		break;
	case RD_EVENT_MODULE:
		check_span(r->module.il_path.text);
		check_span(r->module.native_path.text);
		check_span(r->module.pdb_path.text);
		break;
	case RD_EVENT_RUNTIME:
		check_span(r->runtime.command_line.text);
		break;
	default:
		break;
	}
}

static void run_row(const struct rd_event_type *row)
{
	for (uint32_t version = row->version_from; version < 4; version++) {
		struct rd_event_key key = {
			.identity = RD_IDENTITY_NAMED, .id = row->id, .version = version, .type = row};
		struct rd_event ev = {.key = &key,
				      .version = version,
				      .pointer_bytes = 8,
				      .payload = input,
				      .payload_bytes = input_bytes};
		struct rd_record r;
		int rc = row->decode(&ev, &r);
		if (rc != 0 && rc != RD_CORRUPT)
			abort();
		if (rc == 0)
			check_record(&r);
	}
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	static const struct rd_event_table *const tables[] = {
		&rd_table_clr_runtime,
		&rd_table_clr_rundown,
		&rd_table_sample_profiler,
		&rd_table_eventpipe,
	};
	input = bytes;
	input_bytes = size_bytes;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (size_t k = 0; k < tables[i]->n; k++)
			if (tables[i]->rows[k].decode != NULL)
				run_row(&tables[i]->rows[k]);
	return 0;
}
