#include "cli/run_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

static const uint64_t first_ns[RD_WATCH_FAULTS] = {
	[RD_WATCH_STOPPED] = RD_STOPPED_NS,
	[RD_WATCH_SILENT] = RD_SILENT_NS,
	[RD_WATCH_STALLED] = RD_STALLED_NS,
};

void rd_watch_init(struct rd_watch *w, uint64_t now_ns)
{
	*w = (struct rd_watch){.ticked_ns = now_ns, .heard_ns = now_ns, .moved_ns = now_ns};
	memcpy(w->after_ns, first_ns, sizeof first_ns);
}

void rd_watch_heard(struct rd_watch *w, uint64_t now_ns)
{
	w->heard_ns = now_ns;
}

void rd_watch_state(struct rd_watch *w, const struct rd_progress_state *s, uint64_t now_ns)
{
	bool merging = strcmp(s->state, "finishing") == 0 ||
		       (s->bytes_total && s->bytes_done == s->bytes_total && s->shards_done < s->shards_total);

	if (merging != w->merging || s->bytes_done != w->seen.bytes_done || s->shards_done != w->seen.shards_done ||
	    s->shards_total != w->seen.shards_total || s->finish_done != w->seen.finish_done)
		w->moved_ns = now_ns;
	w->seen = *s;
	w->seen.state = NULL; /* borrowed */
	w->merging = merging;
}

/* Whether a silence since then is to be told now. */
static bool due(struct rd_watch *w, enum rd_watch_fault fault, uint64_t since_ns, uint64_t now_ns, uint64_t *seconds)
{
	uint64_t silence = now_ns > since_ns ? now_ns - since_ns : 0;

	if (silence < first_ns[fault])
		w->after_ns[fault] = first_ns[fault];
	if (silence < w->after_ns[fault])
		return false;
	while (w->after_ns[fault] <= silence)
		w->after_ns[fault] *= 2;
	*seconds = silence / SECOND_NS;
	return true;
}

static const struct rd_family_member *stopped_for_longest(const struct rd_family *f)
{
	const struct rd_family_member *found = NULL;

	for (size_t i = 0; i < f->n; i++) {
		const struct rd_family_member *m = &f->members[i];
		if (m->pid && m->stopped_ns && (found == NULL || m->stopped_ns < found->stopped_ns))
			found = m;
	}
	return found;
}

static const struct rd_family_member *member(const struct rd_family *f, enum rd_family_role role)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->members[i].role == role && f->members[i].pid)
			return &f->members[i];
	return NULL;
}

/* When we were stopped ourselves, nobody else was silent all that time. */
static void forgive(struct rd_watch *w, uint64_t now_ns)
{
	uint64_t gap = now_ns - w->ticked_ns;

	w->ticked_ns = now_ns;
	if (gap < RD_STOPPED_NS)
		return;
	w->heard_ns += gap;
	w->moved_ns += gap;
}

bool rd_watch_tick(struct rd_watch *w, const struct rd_family *f, uint64_t now_ns, char *text, size_t size)
{
	const struct rd_family_member *m = stopped_for_longest(f);
	uint64_t s;

	forgive(w, now_ns);
	if (m) {
		bool tell = due(w, RD_WATCH_STOPPED, m->stopped_ns, now_ns, &s);
		if (tell)
			snprintf(text, size,
				 "%s (pid %d) does not answer since %" PRIu64
				 " s: it is stopped, and goes on after kill -CONT %d",
				 rd_family_name(m->role), (int)m->pid, s, (int)m->pid);
		return tell;
	}
	m = member(f, RD_FAMILY_BROKER);
	if (m && due(w, RD_WATCH_SILENT, w->heard_ns, now_ns, &s)) {
		snprintf(text, size, "%s (pid %d) does not answer since %" PRIu64 " s", rd_family_name(m->role),
			 (int)m->pid, s);
		return true;
	}
	m = w->merging ? member(f, RD_FAMILY_MERGER) : NULL;
	if (m && due(w, RD_WATCH_STALLED, w->moved_ns, now_ns, &s)) {
		snprintf(text, size, "%s (pid %d) tells of no progress since %" PRIu64 " s", rd_family_name(m->role),
			 (int)m->pid, s);
		return true;
	}
	return false;
}
