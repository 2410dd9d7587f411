#include "cli/seen/rundowns.h"

#include <string.h>

void rd_rundowns_init(struct rd_rundowns *d, uint64_t second_ticks)
{
	memset(d, 0, sizeof *d);
	d->gap_ticks = second_ticks;
	rd_undo_init(&d->runtimes, sizeof(struct rd_seen_runtime), 2 * sizeof(uint32_t),
		     offsetof(struct rd_seen_runtime, mark));
	rd_undo_init(&d->keyframes, sizeof(struct rd_keyframe), sizeof(uint32_t), offsetof(struct rd_keyframe, mark));
}

void rd_rundowns_release(struct rd_rundowns *d)
{
	rd_undo_release(&d->runtimes);
	rd_undo_release(&d->keyframes);
}

/* Times are modulo 2^64; those of several processors overlap. */
static bool near(const struct rd_rundowns *d, const struct rd_keyframe *k, uint64_t time)
{
	int64_t before = (int64_t)(k->from - time), after = (int64_t)(time - k->to);
	return before <= (int64_t)d->gap_ticks && after <= (int64_t)d->gap_ticks;
}

/* The keyframe that an event of this time is in; NULL with *code 0 when it is not kept. */
static struct rd_keyframe *keyframe(struct rd_rundowns *d, uint64_t time, int *code)
{
	struct rd_keyframe *k = NULL;

	*code = RD_NOMEM;
	if (d->current && (k = rd_undo_change_at(&d->keyframes, d->current - 1)) == NULL)
		return NULL;
	if (k == NULL || !near(d, k, time)) {
		uint32_t number = d->current;
		*code = 0;
		if (number >= RD_KEYFRAMES_MOST) {
			d->beyond++;
			return NULL;
		}
		*code = RD_NOMEM;
		k = rd_undo_change(&d->keyframes, &number);
		if (k == NULL)
			return NULL;
		k->from = k->to = time;
		d->current = number + 1;
	}
	*code = 0;
	if ((int64_t)(k->from - time) > 0)
		k->from = time;
	if ((int64_t)(time - k->to) > 0)
		k->to = time;
	return k;
}

static int listed(struct rd_rundowns *d, const struct rd_event *ev, const struct rd_record *r,
		  struct rd_seen_runtime *runtime)
{
	int code;
	struct rd_keyframe *k = keyframe(d, ev->time, &code);

	if (k == NULL)
		return code;
	if (runtime->keyframe != k->number + 1) {
		runtime->keyframe = k->number + 1;
		k->runtimes++;
	}
	if (r->kind == RD_EVENT_MARKER) {
		bool init = r->marker.marker == RD_MARKER_START_INIT || r->marker.marker == RD_MARKER_END_INIT;
		k->begun += init;
		k->complete += !init;
		return 0;
	}
	k->starts += r->op == RD_OP_DCSTART;
	k->ends += r->op == RD_OP_DCEND;
	k->methods += r->kind == RD_EVENT_METHOD;
	return 0;
}

static uint16_t clr_of(const struct rd_record *r)
{
	return r->kind == RD_EVENT_METHOD   ? r->method.clr
	       : r->kind == RD_EVENT_MODULE ? r->module.clr
	       : r->kind == RD_EVENT_MARKER ? r->marker.clr
					    : r->runtime.clr;
}

static bool is_zero(const uint16_t version[4])
{
	return (version[0] | version[1] | version[2] | version[3]) == 0;
}

int rd_rundowns_take(struct rd_rundowns *d, const struct rd_event *ev, const struct rd_record *r)
{
	if (r->kind != RD_EVENT_METHOD && r->kind != RD_EVENT_MODULE && r->kind != RD_EVENT_MARKER &&
	    (r->kind != RD_EVENT_RUNTIME || is_zero(r->runtime.version)))
		return 0;
	uint32_t key[2] = {ev->pid, clr_of(r)};
	struct rd_seen_runtime *runtime = rd_undo_change(&d->runtimes, key);
	if (runtime == NULL)
		return RD_NOMEM;
	switch (r->kind) {
	case RD_EVENT_METHOD:
		runtime->methods[r->op < RD_OPS ? r->op : 0]++;
		break;
	case RD_EVENT_MODULE:
		runtime->modules[r->op < RD_OPS ? r->op : 0]++;
		break;
	case RD_EVENT_MARKER:
		runtime->markers[r->marker.marker < RD_MARKERS ? r->marker.marker : 0]++;
		return listed(d, ev, r, runtime);
	default:
		memcpy(runtime->version, r->runtime.version, sizeof runtime->version);
		return 0;
	}
	return r->op == RD_OP_DCSTART || r->op == RD_OP_DCEND ? listed(d, ev, r, runtime) : 0;
}

void rd_rundowns_end(struct rd_rundowns *d, bool undo)
{
	rd_undo_end(&d->runtimes, undo);
	rd_undo_end(&d->keyframes, undo);
	if (undo)
		d->current = d->current_before;
	d->current_before = d->current;
}

enum rd_listed rd_runtime_listed(const struct rd_seen_runtime *r, bool end)
{
	uint64_t init = r->markers[end ? RD_MARKER_END_INIT : RD_MARKER_START_INIT];
	uint64_t complete = r->markers[end ? RD_MARKER_END_COMPLETE : RD_MARKER_START_COMPLETE];
	enum rd_op op = end ? RD_OP_DCEND : RD_OP_DCSTART;

	/* The last one may have begun and not ended. A runtime of CLR 2 writes no beginning. */
	if (complete > 0 && complete >= init)
		return RD_LISTED_COMPLETE;
	if (init > 0)
		return RD_LISTED_BEGUN;
	return r->methods[op] || r->modules[op] ? RD_LISTED_UNMARKED : RD_LISTED_NONE;
}

const char *rd_listed_name(enum rd_listed listed)
{
	static const char *const names[] = {
		[RD_LISTED_NONE] = "none",
		[RD_LISTED_BEGUN] = "begun",
		[RD_LISTED_UNMARKED] = "without markers",
		[RD_LISTED_COMPLETE] = "complete",
	};
	return names[listed];
}

bool rd_runtime_known(const struct rd_seen_runtime *r)
{
	uint64_t sum = is_zero(r->version) ? 0 : 1;

	for (size_t i = 0; i < RD_OPS; i++)
		sum += r->methods[i] + r->modules[i] + r->markers[i];
	return sum > 0;
}
