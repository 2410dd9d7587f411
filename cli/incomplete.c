#include "cli/incomplete.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "net/message.h"
#include "net/wire_error.h"
#include "store/store.h"

void rd_left_out_take(struct rd_left_out *l, const Rd__Status *s)
{
	l->shards = s->shards_total;
	l->quarantined = s->shards_quarantined;
	if (s->shards_quarantined > 0 && s->error)
		rd_wire_error_take(&l->last_failure, s->error);
	if (s->finished == NULL)
		return;
	l->lost_events = s->finished->lost_events;
	rd_field_text(&s->finished->output, l->result, sizeof l->result);
}

static void note_quarantined(const char *name, const struct rd_inputs *in, const struct rd_left_out *l)
{
	struct rd_error why = l->last_failure;
	char line[1024];

	if (l->quarantined == 0)
		return;
	if (in)
		rd_inputs_show(in, &why);
	rd_note(name, "%" PRIu32 " of %" PRIu32 " shards could not be decoded and are left out: %s", l->quarantined,
		l->shards, rd_error_line(&why, line, sizeof line));
}

static void note_trace(const char *name, const struct rd_inputs *in, const struct rd_result_trace *t)
{
	const char *shown = in ? rd_inputs_shown(in, t->path) : NULL;
	bool why = t->info.damage[0] != 0;
	char cut[48] = "";

	if (rd_trace_is_left_out(&t->info)) {
		rd_note(name, "%s%s%s is left out: %s", shown ? shown : t->path, t->member[0] ? ", " : "", t->member,
			t->info.damage);
		return;
	}
	if (t->cut_at != RD_NO_OFFSET)
		snprintf(cut, sizeof cut, " from byte %" PRIu64 " on", t->cut_at);
	rd_note(name, "%s%s%s is incomplete%s%s%s%s; what came whole is counted", shown ? shown : t->path,
		t->member[0] ? ", " : "", t->member, cut, why ? " (" : "", t->info.damage, why ? ")" : "");
}

void rd_note_incomplete(const char *name, const struct rd_inputs *in, const struct rd_left_out *l,
			const struct rd_result *r, bool strict)
{
	const struct rd_trust *t = &r->trust;
	size_t damaged = 0;

	note_quarantined(name, in, l);
	for (size_t i = 0; i < r->traces.n; i++) {
		const struct rd_result_trace *one = &r->traces.at[i];
		bool quarantined = l->quarantined > 0 && one->cut_at == RD_NO_OFFSET;
		if (one->complete || (quarantined && !rd_trace_is_left_out(&one->info)))
			continue;
		damaged++;
		note_trace(name, in, one);
	}
	if (t->complete && strict && damaged == 0)
		rd_note(name, "%" PRIu64 " events and %" PRIu64 " buffers were lost while it was recorded",
			t->lost_events, t->lost_buffers);
}

void rd_note_incomplete_job(const char *name, const struct rd_inputs *in, const struct rd_left_out *l, bool strict)
{
	struct rd_result r = {0};
	struct rd_error err;
	char line[1024];

	if (rd_store_read(l->result, &r, &err) == 0) {
		rd_note_incomplete(name, in, l, &r, strict);
	} else {
		note_quarantined(name, in, l);
		rd_note(name, "the result is of an incomplete input, and cannot be read here to tell why: %s",
			rd_error_line(&err, line, sizeof line));
	}
	rd_result_release(&r);
}
