#include "broker/state.h"

#include "net/wire_error.h"

static void say_why(struct rd_broker *b, rd_peer to, const ProtobufCBinaryData *job, int code, const char *text)
{
	Rd__Envelope e = rd_envelope(RD__KIND__TOP_ROWS);
	struct rd_error why = {0};
	Rd__Error error;

	rd_error_clear(&why);
	rd_fail(&why, code, "%s", text);
	rd_wire_error(&error, &why, false);
	e.job = *job;
	e.error = &error;
	rd_say(b, to, &e, NULL, NULL);
}

void rd_top_ask(struct rd_broker *b, struct rd_member *from, const Rd__Envelope *e)
{
	struct rd_job *j = rd_job_find(b, &e->job);
	Rd__Envelope ask = rd_envelope(RD__KIND__TOP);

	if (j == NULL) {
		say_why(b, from->id, &e->job, RD_NOT_FOUND, "no such job");
	} else if (rd_job_ended(j)) {
		say_why(b, from->id, &e->job, RD_EXISTS, "the job has ended; its result tells more");
	} else if (b->merger == NULL) {
		say_why(b, from->id, &e->job, RD_IO, "no merger is there");
	} else {
		from->wants_top = j;
		if (j->planned) {
			rd_finish_ask_top(b, j, e->count);
			return;
		}
		ask.job = e->job;
		ask.count = e->count;
		rd_say(b, b->merger->id, &ask, NULL, NULL);
	}
}

void rd_top_answer(struct rd_broker *b, const Rd__Envelope *e)
{
	const struct rd_job *j = rd_job_find(b, &e->job);

	for (size_t i = 0; i < b->members.n && j; i++) {
		struct rd_member *m = b->members.at[i];
		if (m->gone || m->wants_top != j)
			continue;
		m->wants_top = NULL;
		rd_say(b, m->id, e, NULL, NULL);
	}
}

void rd_top_give_up(struct rd_broker *b, const struct rd_job *j)
{
	for (size_t i = 0; i < b->members.n; i++) {
		struct rd_member *m = b->members.at[i];
		if (m->wants_top == NULL || (j && m->wants_top != j))
			continue;
		ProtobufCBinaryData job = rd_field(m->wants_top->id);
		m->wants_top = NULL;
		if (!m->gone)
			say_why(b, m->id, &job, RD_IO,
				j ? "the job has ended; its result tells more" : "the merger vanished");
	}
}
