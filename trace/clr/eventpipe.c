/*
 * What EventPipe itself writes: the sample profiler's thread samples and the
 * process's description. docs/formats/nettrace.md, "The sampler".
 */
#include "base/error.h"
#include "trace/catalogue.h"

/* Payload values of a thread sample. 0 means that the profiler failed on this thread: no sample. */
enum { SAMPLE_EXTERNAL = 1, SAMPLE_MANAGED = 2 };

static int read_sample(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	rd_record_begin(out, ev);
	uint32_t type = rd_u32(&c);
	if (c.failed || (type != SAMPLE_EXTERNAL && type != SAMPLE_MANAGED))
		return RD_CORRUPT;
	out->sample.thread = ev->thread;
	out->sample.kind = type == SAMPLE_MANAGED ? RD_SAMPLE_MANAGED : RD_SAMPLE_EXTERNAL;
	out->sample.weight = 1;
	return 0;
}

/* Command line, operating system, architecture: UTF-16 with NUL. The later ones may come short. */
static int read_process_info(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	rd_record_begin(out, ev);
	out->runtime.command_line = (struct rd_name){.text = rd_utf16z(&c), .utf16 = true};
	if (c.failed)
		return RD_CORRUPT;
	out->runtime.system = (struct rd_name){.text = rd_utf16z(&c), .utf16 = true};
	out->runtime.architecture = (struct rd_name){.text = rd_utf16z(&c), .utf16 = true};
	return 0;
}

#define SAMPLER   "Microsoft-DotNETCore-SampleProfiler"
#define EVENTPIPE "Microsoft-DotNETCore-EventPipe"

static const struct rd_event_type sampler_rows[] = {
	RD_ROW(SAMPLER, 0, 0, "ThreadSample", SAMPLE, NONE, read_sample),
	RD_ROW(SAMPLER, 1, 0, "ThreadStackWalk", OTHER, NONE, NULL),
};

static const struct rd_event_type eventpipe_rows[] = {
	RD_ROW(EVENTPIPE, 1, 0, "ProcessInfo", RUNTIME, NONE, read_process_info),
};

const struct rd_event_table rd_table_sample_profiler = {
	.identity = RD_IDENTITY_EVENT,
	.provider = SAMPLER,
	.guid = RD_GUID(0x3c530d44, 0x97ae, 0x513a, 0x1e, 0x6d, 0x78, 0x3e, 0x8f, 0x8e, 0x03, 0xa9),
	.rows = sampler_rows,
	.n = RD_ROW_COUNT(sampler_rows),
};

const struct rd_event_table rd_table_eventpipe = {
	.identity = RD_IDENTITY_NAMED,
	.provider = EVENTPIPE,
	.rows = eventpipe_rows,
	.n = RD_ROW_COUNT(eventpipe_rows),
};
