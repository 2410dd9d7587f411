#include "cli/seen/rate.h"

#include <string.h>

struct stream {
	uint64_t of; /* the key: a thread, or a processor of a record that names none */
	uint32_t era, pad;
	uint64_t last;
};

void rd_rate_init(struct rd_rate *r)
{
	memset(r, 0, sizeof *r);
	r->era = 1;
	rd_records_init(&r->streams, sizeof(struct stream), sizeof(uint64_t));
}

void rd_rate_release(struct rd_rate *r)
{
	rd_records_release(&r->streams);
}

/* Eight buckets an octave; gaps below eight have one each. */
static size_t bucket_of(uint64_t gap)
{
	if (gap < 8)
		return (size_t)gap;
	unsigned top = 63 - (unsigned)__builtin_clzll(gap);
	return (top - 2) * 8 + (size_t)(gap >> (top - 3) & 7);
}

static int take_sample(struct rd_rate *r, const struct rd_event *ev)
{
	/* A record without a process is a processor's: ETL. */
	uint64_t of = ev->pid == RD_NO_PID && ev->thread == 0 ? ev->cpu : ev->thread;
	uint32_t id = rd_records_id(&r->streams, &of, NULL);

	if (id == RD_NONE)
		return RD_NOMEM;
	struct stream *s = rd_records_at(&r->streams, id);
	int64_t gap = (int64_t)(ev->time - s->last);
	if (s->era == r->era && gap > 0) {
		struct rd_rate_bucket *b = &r->buckets[bucket_of((uint64_t)gap)];
		b->n++;
		b->sum += (uint64_t)gap;
		r->changed = true;
	}
	s->era = r->era;
	s->last = ev->time;
	return 0;
}

int rd_rate_take(struct rd_rate *r, const struct rd_event *ev, const struct rd_record *record)
{
	enum { SOURCE_TIMER = 0 };

	if (record->kind == RD_EVENT_INTERVAL && record->interval.source == SOURCE_TIMER &&
	    record->interval.interval_100ns)
		r->interval_100ns = record->interval.interval_100ns;
	return record->kind == RD_EVENT_SAMPLE ? take_sample(r, ev) : 0;
}

void rd_rate_end(struct rd_rate *r, bool undo)
{
	if (undo) {
		memcpy(r->buckets, r->before, sizeof r->buckets);
		r->era++;
	} else if (r->changed) {
		memcpy(r->before, r->buckets, sizeof r->before);
	}
	r->changed = false;
}

uint64_t rd_rate_middle_ns(const struct rd_rate *r, const struct rd_clock *clock)
{
	uint64_t n = 0, so_far = 0;
	size_t i = 0;

	for (size_t k = 0; k < RD_RATE_BUCKETS; k++)
		n += r->buckets[k].n;
	if (n == 0)
		return 0;
	while (so_far + r->buckets[i].n < n / 2 + 1)
		so_far += r->buckets[i++].n;
	uint64_t ticks = r->buckets[i].sum / r->buckets[i].n;
	return (uint64_t)((unsigned __int128)ticks * 1000000000 / clock->frequency_hz);
}
