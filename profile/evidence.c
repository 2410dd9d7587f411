#include "profile/evidence.h"

#include "base/memory.h"

struct runtime {
	uint32_t life, clr;  /* the key */
	uint64_t markers[5]; /* by enum rd_marker; 0 is not used */
};

struct ending {
	uint32_t life; /* the key */
	uint32_t seen;
	uint64_t begin; /* ticks */
};

void rd_evidence_init(struct rd_evidence *e)
{
	e->first_ending = UINT64_MAX;
	rd_records_init(&e->runtimes, sizeof(struct runtime), offsetof(struct runtime, markers));
	rd_records_init(&e->lives, sizeof(struct ending), offsetof(struct ending, seen));
}

static uint32_t runtime_id(struct rd_evidence *e, uint32_t life, uint32_t clr)
{
	uint32_t key[2] = {life, clr};
	return rd_records_id(&e->runtimes, key, NULL);
}

int rd_evidence_add_method(struct rd_evidence *e, uint32_t life, uint32_t clr, struct rd_error *err)
{
	/* A rundown is a long run of them. */
	const struct runtime *recent = e->recent < e->runtimes.n ? rd_records_at(&e->runtimes, e->recent) : NULL;

	if (recent && recent->life == life && recent->clr == clr)
		return 0;
	e->recent = life == RD_NONE ? RD_NONE : runtime_id(e, life, clr);
	return e->recent == RD_NONE ? rd_fail_nomem(err) : 0;
}

static int note_ending(struct rd_evidence *e, uint32_t life, uint64_t time, struct rd_error *err)
{
	uint32_t id = rd_records_id(&e->lives, &life, NULL);

	if (id == RD_NONE)
		return rd_fail_nomem(err);
	struct ending *ending = rd_records_at(&e->lives, id);
	if (!ending->seen || time < ending->begin)
		ending->begin = time;
	ending->seen = 1;
	if (time < e->first_ending)
		e->first_ending = time;
	return 0;
}

int rd_evidence_add_marker(struct rd_evidence *e, uint32_t life, uint32_t clr, uint32_t marker, uint64_t time,
			   struct rd_error *err)
{
	uint32_t id = life == RD_NONE ? RD_NONE : runtime_id(e, life, clr);

	if (id == RD_NONE)
		return rd_fail_nomem(err);
	if (marker <= RD_MARKER_END_COMPLETE)
		((struct runtime *)rd_records_at(&e->runtimes, id))->markers[marker]++;
	return marker == RD_MARKER_END_INIT ? note_ending(e, life, time, err) : 0;
}

static bool is_complete(const struct runtime *r)
{
	uint64_t start = r->markers[RD_MARKER_START_COMPLETE], end = r->markers[RD_MARKER_END_COMPLETE];

	return start + end > 0 && r->markers[RD_MARKER_START_INIT] <= start && r->markers[RD_MARKER_END_INIT] <= end;
}

enum rd_rundown rd_evidence_rundown(const struct rd_evidence *e)
{
	if (e->runtimes.n == 0)
		return RD_RUNDOWN_NONE;
	for (uint32_t i = 0; i < e->runtimes.n; i++)
		if (!is_complete(rd_records_at(&e->runtimes, i)))
			return RD_RUNDOWN_PARTIAL;
	return RD_RUNDOWN_COMPLETE;
}

bool rd_evidence_in_rundown(const struct rd_evidence *e, uint32_t life, uint64_t time)
{
	uint32_t id = time >= e->first_ending ? rd_records_find(&e->lives, &life) : RD_NONE;

	if (id == RD_NONE)
		return false;
	return time >= ((const struct ending *)rd_records_at(&e->lives, id))->begin;
}

void rd_evidence_release(struct rd_evidence *e)
{
	rd_records_release(&e->runtimes);
	rd_records_release(&e->lives);
}
