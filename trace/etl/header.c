/*
 * TRACE_LOGFILE_HEADER, P a pointer: BufferSize u32 @0, OS major u8 @4, OS
 * minor u8 @5, log version 2 × u8, build u32 @8, processors u32 @12, EndTime
 * u64 @16, TimerResolution u32 @24, MaximumFileSize u32, LogFileMode u32 @32,
 * BuffersWritten u32 @36, StartBuffers u32 @40, PointerSize u32 @44, EventsLost
 * u32 @48, CpuSpeedInMHz u32 @52, two P @56, time zone 172 bytes, padding to 8,
 * BootTime u64, PerfFreq u64, StartTime u64, ReservedFlags u32 (the clock),
 * BuffersLost u32, then the session's name and the file's (UTF-16, NUL).
 */
#include "trace/etl/header.h"

#include <string.h>

#include "base/text.h"
#include "trace/etl/etl.h"
#include "trace/etl/records.h"

enum {
	TIME_ZONE_BYTES = 172,
	COMPRESSION_MASK = 0xffff,
	FILETIME_HZ = 10000000,
};

/* From 1601, where FILETIME begins, to 1970. */
static const int64_t epoch_100ns = INT64_C(116444736000000000);

struct times {
	uint64_t first;      /* ticks of the header's event */
	uint64_t start, end; /* FILETIME; end 0 unknown */
	uint64_t perf_hz;
	uint32_t cpu_mhz;
	uint32_t clock; /* as the file says it */
};

static int64_t filetime_ns(uint64_t t)
{
	/* Beyond the year 2262 there are no nanoseconds to say it in. */
	int64_t since;
	if (t > INT64_MAX || __builtin_mul_overflow((int64_t)t - epoch_100ns, 100, &since))
		return t < (uint64_t)epoch_100ns ? INT64_MIN : INT64_MAX;
	return since;
}

/* The clock of files that name none: their event times are either FILETIME or not near it. */
static uint32_t guess_clock(const struct times *t)
{
	const uint64_t day = UINT64_C(86400) * FILETIME_HZ;
	uint64_t apart = t->first > t->start ? t->first - t->start : t->start - t->first;

	return t->perf_hz == 0 || apart < day ? RD_CLOCK_SYSTEM : RD_CLOCK_QPC;
}

static void read_clock(const struct times *t, struct rd_clock *c)
{
	c->kind = t->clock >= RD_CLOCK_QPC && t->clock <= RD_CLOCK_CYCLES ? t->clock : guess_clock(t);
	c->start_ticks = t->first;
	c->start_utc_ns = filetime_ns(t->start);
	if (c->kind == RD_CLOCK_QPC)
		c->frequency_hz = t->perf_hz;
	else if (c->kind == RD_CLOCK_CYCLES)
		c->frequency_hz = (uint64_t)t->cpu_mhz * 1000000;
	else
		c->frequency_hz = FILETIME_HZ;
	if (c->kind == RD_CLOCK_SYSTEM) {
		c->start_ticks = t->start ? t->start : t->first;
		c->start_utc_ns = filetime_ns(c->start_ticks);
	}
	/* A clock that never ticks: times stay in order and the span is wrong, but nothing is divided by 0. */
	if (c->frequency_hz == 0)
		c->frequency_hz = FILETIME_HZ;
}

/* Where EndTime lies on the session's clock; 0 when it is not there or cannot be. */
static uint64_t end_ticks(const struct times *t, const struct rd_clock *c)
{
	if (t->end == 0 || t->end < t->start)
		return 0;
	if (c->kind == RD_CLOCK_SYSTEM)
		return t->end;
	unsigned __int128 ticks = (unsigned __int128)(t->end - t->start) * c->frequency_hz / FILETIME_HZ + t->first;
	return ticks > UINT64_MAX ? 0 : (uint64_t)ticks;
}

/* The session's name, as much of it as fits. */
static void take_recorder(struct rd_span name, struct rd_trace_info *info)
{
	struct rd_bytes utf8 = {0};
	size_t most = (sizeof info->recorder - 1) / 3 * 2;

	if (name.size_bytes == 0)
		return;
	if (name.size_bytes > most) {
		/* Not in the middle of a pair of surrogates. */
		name.size_bytes = (rd_le16(name.at + most - 2) & 0xfc00) == 0xd800 ? most - 2 : most;
	}
	if (rd_utf16_append(&utf8, name.at, name.size_bytes) == 0 && utf8.n < sizeof info->recorder)
		memcpy(info->recorder, utf8.at, utf8.n);
	rd_bytes_release(&utf8);
}

bool rd_etl_session_read(const uint8_t *payload, size_t size_bytes, unsigned by_type, struct rd_session_record *out)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);

	out->buffer_bytes = rd_u32(&c);
	out->os_major = rd_u8(&c);
	out->os_minor = rd_u8(&c);
	rd_skip(&c, 2);
	out->os_build = rd_u32(&c);
	out->cpus = rd_u32(&c);
	out->end = rd_u64(&c);
	rd_skip(&c, 4);
	out->most_mb = rd_u32(&c);
	out->log_file_mode = rd_u32(&c);
	out->buffers_written = rd_u32(&c);
	rd_skip(&c, 4);
	out->pointer_bytes = rd_u32(&c);
	if (out->pointer_bytes == 0)
		out->pointer_bytes = by_type;
	out->lost_events = rd_u32(&c);
	out->cpu_mhz = rd_u32(&c);
	if (c.failed || (out->pointer_bytes != 4 && out->pointer_bytes != 8))
		return !c.failed;
	rd_skip(&c, 2 * out->pointer_bytes + TIME_ZONE_BYTES);
	rd_skip(&c, -rd_tell(&c) & 7);
	out->boot = rd_u64(&c);
	out->perf_hz = rd_u64(&c);
	out->start = rd_u64(&c);
	out->clock = rd_u32(&c);
	out->lost_buffers = rd_u32(&c);
	if (c.failed)
		return false;
	struct rd_span name = rd_utf16z(&c), file = rd_utf16z(&c);
	out->name = (struct rd_name){name, true};
	out->file = (struct rd_name){file, true};
	return true;
}

/* The event's payload; the record's own type tells the pointer size where the header does not. */
static int read_payload(const struct rd_etl_record *r, unsigned by_type, struct rd_trace_info *info,
			struct rd_etl_header *h, struct times *t, struct rd_error *err)
{
	struct rd_session_record s = {0};

	if (!rd_etl_session_read(r->payload, r->payload_bytes, by_type, &s))
		return rd_fail(err, RD_TRUNCATED, "the header event is cut short");
	if (s.pointer_bytes != 4 && s.pointer_bytes != 8)
		return rd_fail(err, RD_UNSUPPORTED, "an ETL file with pointers of %u bytes", s.pointer_bytes);
	h->buffer_bytes = s.buffer_bytes;
	h->buffers_written = s.buffers_written;
	info->version_major = s.os_major;
	info->version_minor = s.os_minor;
	info->cpus = s.cpus;
	info->log_file_mode = s.log_file_mode;
	info->pointer_bytes = s.pointer_bytes;
	info->lost_events = s.lost_events;
	info->lost_buffers = s.lost_buffers;
	*t = (struct times){
		.start = s.start, .end = s.end, .perf_hz = s.perf_hz, .cpu_mhz = s.cpu_mhz, .clock = s.clock};
	take_recorder(s.name.text, info);
	return 0;
}

static int read_compression(const struct rd_etl_buffer *buffer, struct rd_trace_info *info, struct rd_error *err)
{
	if (!(info->log_file_mode & RD_ETL_MODE_COMPRESSED))
		return 0;
	info->compression = buffer->state & COMPRESSION_MASK;
	if (info->compression < RD_ETL_LZNT1 || info->compression > RD_ETL_XPRESS_HUFFMAN)
		return rd_fail(err, RD_UNSUPPORTED, "an ETL file of compression %u", info->compression);
	return 0;
}

int rd_etl_header_read(const struct rd_etl_buffer *buffer, const uint8_t *plain, struct rd_trace_info *info,
		       struct rd_etl_header *h, struct rd_error *err)
{
	struct rd_etl_walk walk;
	struct rd_etl_record first;
	struct times t = {0};

	rd_etl_walk_init(&walk, plain, buffer->used_bytes);
	if (rd_etl_walk_next(&walk, &first) <= 0 || first.identity != RD_IDENTITY_KERNEL || first.group != 0 ||
	    first.id != 0)
		return rd_fail(err, RD_CORRUPT, "the file does not begin with a header event");
	int rc = read_payload(&first, plain[first.at + 2] == 1 ? 4 : 8, info, h, &t, err);
	if (rc == 0)
		rc = read_compression(buffer, info, err);
	if (rc != 0)
		return rc;
	t.first = first.time;
	read_clock(&t, &info->clock);
	info->end_ticks = end_ticks(&t, &info->clock);
	return 0;
}
