/*
 * Samples of the profile interrupt, their interval, and what is counted apart
 * from them (docs/formats/etl.md, "Profile").
 *
 *   sample    instruction pointer P, thread u32, count u16 (unused), flags u8, rank u8
 *   PMC       instruction pointer P, thread u32, source u16, 2 bytes
 *   interval  source u32, new u32, old u32, both in 100 ns; in later versions the source's name
 *   switch    new thread u32, old thread u32, priorities, reasons, states
 */
#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/etl/kernel.h"

int rd_kernel_sample(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	uint64_t pointer = rd_pointer(&c, ev->pointer_bytes), thread = rd_u32(&c);

	/* The most frequent record there is: no more of *out is written than is read of a sample. */
	out->kind = RD_EVENT_SAMPLE;
	out->op = RD_OP_NONE;
	out->sample =
		(struct rd_sample_record){.thread = thread, .pointer = pointer, .kind = RD_SAMPLE_CPU, .weight = 1};
	return c.failed ? RD_CORRUPT : 0;
}

int rd_kernel_interval(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);

	rd_record_begin(out, ev);
	out->interval.source = rd_u32(&c);
	out->interval.interval_100ns = rd_u32(&c);
	return c.failed ? RD_CORRUPT : 0;
}

int rd_kernel_pmc(const struct rd_event *ev, struct rd_record *out)
{
	rd_record_begin(out, ev);
	out->other.what = RD_OTHER_PMC;
	return 0;
}

int rd_kernel_cswitch(const struct rd_event *ev, struct rd_record *out)
{
	rd_record_begin(out, ev);
	out->other.what = RD_OTHER_CSWITCH;
	return 0;
}
