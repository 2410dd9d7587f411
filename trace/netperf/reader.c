/*
 * A block is read twice: first to see that all of it is whole, because one
 * that does not decode is dropped whole, and then to define what its metadata
 * says and to hand out its events.
 */
#include <string.h>

#include "trace/description.h"
#include "trace/netperf/event.h"
#include "trace/netperf/frame.h"
#include "trace/netperf/index.h"
#include "trace/netperf/metadata.h"
#include "trace/netperf/netperf.h"
#include "trace/runs.h"

struct rd_decoder {
	struct rd_runs reader;
	struct rd_sink sink;
	uint32_t version; /* of the file */
	uint32_t pointer_bytes;
	uint32_t pid;
	struct rd_nettrace_types types;
	struct rd_netperf_places places; /* versions 1 and 2 */
};

static void decoder_free(struct rd_decoder *d)
{
	if (d == NULL)
		return;
	rd_nettrace_types_release(&d->types);
	rd_netperf_places_release(&d->places);
	rd_runs_release(&d->reader);
	rd_free(d);
}

static int decoder_new(const struct rd_source *s, const struct rd_trace_info *info, const struct rd_sink *sink,
		       struct rd_decoder **out, struct rd_error *err)
{
	if (info->version_major < 1 || info->version_major > 3)
		return rd_fail(err, RD_UNSUPPORTED, "netperf %u: this build reads netperf 1 to 3", info->version_major);
	if (info->pointer_bytes != 4 && info->pointer_bytes != 8)
		return rd_fail(err, RD_CORRUPT, "a trace with pointers of %u bytes", info->pointer_bytes);
	struct rd_decoder *d = rd_realloc(NULL, sizeof *d);
	if (d == NULL)
		return rd_fail_nomem(err);
	memset(d, 0, sizeof *d);
	rd_runs_init(&d->reader, s);
	d->sink = *sink;
	d->version = info->version_major;
	d->pointer_bytes = info->pointer_bytes;
	d->pid = info->pid;
	if (rd_nettrace_types_init(&d->types, sink->want) != 0) {
		decoder_free(d);
		return rd_fail_nomem(err);
	}
	*out = d;
	return 0;
}

/* Where the events of a block stand in it; false when it is not the block that the index saw. */
static bool events_of(const struct rd_decoder *d, const struct rd_block *b, const uint8_t *bytes, struct rd_span *out)
{
	struct rd_frame f;
	if (!rd_netperf_has_blocks(d->version)) {
		*out = (struct rd_span){bytes, (size_t)b->size_bytes};
		return b->kind == RD_NETPERF_RUN;
	}
	if (rd_fastserial_reframe(&rd_netperf_blocks, b, bytes, &f) != 0)
		return false;
	*out = (struct rd_span){bytes + f.payload_at, f.payload_bytes};
	return true;
}

static bool read_metadata(const struct rd_decoder *d, const struct rd_netperf_event *e,
			  struct rd_nettrace_metadata *out)
{
	if (rd_netperf_has_blocks(d->version))
		return rd_nettrace_metadata(e->payload, e->payload_bytes, out);
	return rd_netperf_metadata(d->version, e->payload, e->payload_bytes, out);
}

static void check(const struct rd_decoder *d, const uint8_t *block, struct rd_span events, struct rd_fault *fault)
{
	const uint8_t *at = events.at, *end = events.at + events.size_bytes;
	struct rd_nettrace_metadata m;
	struct rd_netperf_event e;
	while (at < end && fault->what == NULL) {
		uint32_t place = (uint32_t)(at - block);
		if (!rd_netperf_event_next(&at, end, d->pointer_bytes, &e))
			*fault = (struct rd_fault){"an event that does not fit into its block", place};
		else if (e.metadata_id == 0 && !read_metadata(d, &e, &m))
			*fault = (struct rd_fault){"a metadata record that is none", place};
	}
}

/* file_offset: of the record's event. */
static int define(struct rd_decoder *d, const struct rd_netperf_event *e, uint64_t file_offset)
{
	struct rd_nettrace_metadata m;
	if (!read_metadata(d, e, &m))
		return RD_INTERNAL;
	if (!rd_netperf_has_blocks(d->version)) {
		m.id = rd_netperf_places_id(&d->places, (uint32_t)file_offset);
		if (m.id == 0)
			return RD_NOMEM;
	}
	return rd_nettrace_types_define(&d->types, &m);
}

static int deliver(struct rd_decoder *d, const struct rd_netperf_event *e, uint64_t place)
{
	uint32_t id = e->metadata_id;
	if (!rd_netperf_has_blocks(d->version))
		id = rd_netperf_places_find(&d->places, id);
	const struct rd_nettrace_type *type = rd_nettrace_types_find(&d->types, id);
	if (type != NULL && !type->wanted)
		return 0;
	const struct rd_event_key *key = type != NULL ? type->key : rd_nettrace_types_bad(&d->types);
	struct rd_event ev = {
		.key = key,
		.time = e->time,
		.place = place,
		.thread = e->thread,
		.pid = d->pid,
		.cpu = UINT32_MAX,
		.version = key->version,
		.pointer_bytes = (uint8_t)d->pointer_bytes,
		.payload = e->payload,
		.payload_bytes = e->payload_bytes,
		.stack = e->stack_bytes != 0 ? e->stack : NULL,
		.stack_bytes = e->stack_bytes,
		.stack_pointer_bytes = (uint8_t)d->pointer_bytes,
	};
	if (type != NULL)
		ev.said = type->said;
	return d->sink.event(d->sink.ctx, &ev);
}

/* rd_run_block_fn */
static int decode(struct rd_decoder *d, const struct rd_block *b, const uint8_t *bytes, bool counted,
		  struct rd_fault *fault)
{
	struct rd_span events;
	struct rd_netperf_event e;
	int rc = 0;
	if (!events_of(d, b, bytes, &events))
		return RD_CHANGED;
	check(d, bytes, events, fault);
	if (fault->what != NULL)
		return 0;
	const uint8_t *at = events.at, *end = events.at + events.size_bytes;
	while (rc >= 0 && at < end && rd_netperf_event_next(&at, end, d->pointer_bytes, &e)) {
		uint32_t place = (uint32_t)(e.payload - bytes) - RD_NETPERF_EVENT_BYTES;
		if (e.metadata_id == 0) {
			rc = define(d, &e, b->offset + place);
		} else if (counted && d->sink.event != NULL) {
			rd_sink_time(&d->sink, e.time);
			rc = deliver(d, &e, (uint64_t)b->ordinal << 32 | place);
		}
	}
	return rc;
}

static int decoder_context(struct rd_decoder *d, const struct rd_block *b, struct rd_error *err)
{
	return rd_runs_context(&d->reader, d, decode, b, err);
}

static int decoder_blocks(struct rd_decoder *d, const struct rd_block *blocks, size_t n, struct rd_error *err)
{
	return rd_runs_blocks(&d->reader, d, &d->sink, decode, blocks, n, err);
}

const struct rd_format rd_format_netperf = {
	.id = RD_FORMAT_NETPERF,
	.name = "netperf",
	.probe = rd_netperf_probe,
	.index = rd_netperf_index,
	.decoder_new = decoder_new,
	.decoder_context = decoder_context,
	.decoder_blocks = decoder_blocks,
	.decoder_free = decoder_free,
	.describe = rd_describe_netperf,
};
