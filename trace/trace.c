/* The formats, which of them a file is, and what all of them share. */
#include "trace/trace.h"

#include <string.h>

#include "base/table.h"
#include "trace/etl/etl.h"
#include "trace/netperf/netperf.h"
#include "trace/nettrace/nettrace.h"

static const struct rd_format *const formats[] = {
	&rd_format_nettrace,
	&rd_format_etl,
	&rd_format_netperf,
	NULL,
};

const struct rd_format *const *rd_formats(void)
{
	return formats;
}

const struct rd_format *rd_format_by_id(uint32_t id)
{
	for (size_t i = 0; formats[i] != NULL; i++)
		if (formats[i]->id == id)
			return formats[i];
	return NULL;
}

const struct rd_format *rd_format_of(const uint8_t *head, size_t size_bytes)
{
	for (size_t i = 0; formats[i] != NULL; i++)
		if (formats[i]->probe(head, size_bytes))
			return formats[i];
	return NULL;
}

/* Files that people take for traces of a kind read here, by what stands at a place of theirs. */
static const struct {
	uint32_t at;
	uint32_t size_bytes;
	const char *bytes;
	const char *text;
} strangers[] = {
	{0, 24, "\x14\0\0\0!FastSerialization.1", "a file that was made from a trace or a heap (.etlx, .gcdump), not a trace"},
	{0, 8, "PERFILE2", "a file of Linux perf, not a trace of .NET or Windows"},
	{0, 4,
	 "\x7f"
	 "ELF",
	 "a program, not a trace"},
	{0, 4, "MDMP", "a memory dump, not a trace"},
	{0, 2, "\x1f\x8b", "a gzip archive"},
	{0, 4, "\x28\xb5\x2f\xfd", "a zstd archive"},
	{0, 4, "PK\3\4", "a zip archive"},
};

static const char *name_stranger(const uint8_t *head, size_t size_bytes)
{
	for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
		if (size_bytes >= strangers[i].at + strangers[i].size_bytes &&
		    memcmp(head + strangers[i].at, strangers[i].bytes, strangers[i].size_bytes) == 0)
			return strangers[i].text;
	return "not a trace that this build knows (nettrace, netperf, ETL)";
}

int rd_trace_probe(const struct rd_source *s, const struct rd_format **out, struct rd_error *err)
{
	uint8_t head[512];
	int64_t n = rd_source_some(s, head, sizeof head, 0, err);
	if (n < 0)
		return (int)n;
	const struct rd_format *f = rd_format_of(head, (size_t)n);
	if (f != NULL) {
		*out = f;
		return 0;
	}
	int rc = rd_fail(err, RD_UNSUPPORTED, "%s", n == 0 ? "an empty file" : name_stranger(head, (size_t)n));
	return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
}

int64_t rd_clock_ns(const struct rd_clock *c, uint64_t ticks)
{
	/* Times are modulo 2^64, so the distance is a signed one. */
	__int128 distance = (int64_t)(ticks - c->start_ticks);
	__int128 ns = distance * 1000000000 / (c->frequency_hz != 0 ? c->frequency_hz : 1);
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

void rd_index_release(struct rd_index *ix)
{
	rd_vec_release(&ix->blocks);
}

static uint8_t *put_le(uint8_t *p, uint64_t v, unsigned size_bytes)
{
	for (unsigned i = 0; i < size_bytes; i++)
		*p++ = (uint8_t)(v >> 8 * i);
	return p;
}

/* Rows are hashed in batches, each begun with the hash of those before; padding of the struct is not in it. */
uint64_t rd_index_digest(const struct rd_index *ix)
{
	enum { ROW_BYTES = 8 + 8 + 8 + 4 + 2 + 1 + 1 + 1, BATCH = 64 };
	uint8_t bytes[8 + BATCH * ROW_BYTES];
	uint64_t digest = ix->blocks.n;
	for (size_t i = 0; i < ix->blocks.n;) {
		uint8_t *p = put_le(bytes, digest, 8);
		for (size_t end = i + BATCH; i < end && i < ix->blocks.n; i++) {
			const struct rd_block *b = &ix->blocks.at[i];
			p = put_le(p, b->offset, 8);
			p = put_le(p, b->size_bytes, 8);
			p = put_le(p, b->time, 8);
			p = put_le(p, b->ordinal, 4);
			p = put_le(p, b->cpu, 2);
			p = put_le(p, b->kind, 1);
			p = put_le(p, b->provides, 1);
			p = put_le(p, b->resets, 1);
		}
		digest = rd_hash(bytes, (size_t)(p - bytes));
	}
	return digest;
}
