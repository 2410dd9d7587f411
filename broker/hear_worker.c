#include "broker/state.h"

#include <string.h>

#include "net/wire_error.h"

/*
 * A message about an attempt that lives no more is answered with ABANDON: its
 * worker was too slow, or the task was settled by another.
 */

/* What goes on to others is made anew of what was checked. */
static Rd__Envelope about(Rd__Kind kind, const Rd__Envelope *heard)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = heard->job;
	e.task = heard->task;
	e.attempt = heard->attempt;
	return e;
}

/* A sign of life. */
static void renew(struct rd_broker *b, struct rd_attempt *a)
{
	a->lease_until_ns = b->now_ns + b->opt.lease_ns;
}

static bool is_decode(const struct rd_attempt *a)
{
	return rd_attempt_task(a)->work == RD__WORK__DECODE;
}

static void progress(struct rd_broker *b, struct rd_attempt *a, const Rd__Envelope *e)
{
	/* Only bytes keep a lease: a worker that says the same again may be stuck. */
	if (e->bytes <= a->bytes)
		return;
	if (is_decode(a))
		rd_count_decoded(b, e->bytes - a->bytes);
	a->bytes = e->bytes;
	a->job->changed = true;
	renew(b, a);
}

static void broken(struct rd_broker *b, struct rd_attempt *a, struct rd_member *from, const char *what)
{
	struct rd_error why = {0};

	rd_fail(&why, RD_PROTOCOL, "the worker %s %s", from->name, what);
	rd_say_attempt(b, from->id, RD__KIND__ABANDON, a);
	rd_attempt_lost(b, a, RD_BLAMED, &why);
}

/* Until a merger is back nothing can be passed on. */
static bool no_merger(struct rd_broker *b, struct rd_attempt *a, struct rd_member *from)
{
	struct rd_error why = {0};

	if (b->merger)
		return false;
	rd_fail(&why, RD_IO, "no merger is there");
	rd_say_attempt(b, from->id, RD__KIND__ABANDON, a);
	rd_attempt_lost(b, a, RD_BLAMELESS, &why);
	return true;
}

static void pass_on(struct rd_broker *b, struct rd_attempt *a, struct rd_member *from, struct rd_message *m)
{
	if (!is_decode(a) || a->committed) {
		broken(b, a, from, "sent a chunk that is not due");
		return;
	}
	if (no_merger(b, a, from))
		return;
	const Rd__Chunk *chunk = m->envelope->chunk;
	Rd__Envelope e = about(RD__KIND__CHUNK, m->envelope);
	Rd__Chunk fresh = RD__CHUNK__INIT;
	fresh.trace = chunk->trace;
	fresh.shard = chunk->shard;
	fresh.table = chunk->table;
	fresh.seq = chunk->seq;
	a->chunks++;
	renew(b, a);
	e.chunk = &fresh;
	rd_say(b, b->merger->id, &e, &m->blob, NULL);
}

static void commit(struct rd_broker *b, struct rd_attempt *a, struct rd_member *from, struct rd_message *m)
{
	if (a->committed) /* said again: the merger has it */
		return;
	if (!is_decode(a) || m->envelope->count != a->chunks) {
		broken(b, a, from, "committed other than it sent");
		return;
	}
	if (no_merger(b, a, from))
		return;
	if (rd_attempt_task(a)->bytes > a->bytes)
		rd_count_decoded(b, rd_attempt_task(a)->bytes - a->bytes);
	a->bytes = rd_attempt_task(a)->bytes;
	a->job->changed = true;
	rd_attempt_commit(b, a);
	Rd__Envelope e = about(RD__KIND__COMMIT, m->envelope);
	e.count = m->envelope->count;
	rd_say(b, b->merger->id, &e, NULL, NULL);
}

static void result(struct rd_broker *b, struct rd_attempt *a, struct rd_member *from, struct rd_message *m)
{
	struct rd_task *t = rd_attempt_task(a);
	struct rd_index index = {0};
	struct rd_bytes room = {0};
	struct rd_job *j = a->job;
	struct rd_error err = {0};
	struct rd_span whole;

	if (is_decode(a) || (m->envelope->opened && t->work != RD__WORK__OPEN)) {
		broken(b, a, from, "sent a result that is not due");
		return;
	}
	if (m->envelope->opened == NULL) {
		int rc = rd_blob_whole(&m->blob, &room, &whole, &err);
		if (rc == 0)
			rc = rd_index_unpack(&index, whole, &err);
		if (rc == 0 && rd_trace_is_left_out(&index.info))
			rc = RD_PROTOCOL;
		rd_bytes_release(&room);
		if (rc < 0) {
			b->failed = b->failed || rc == RD_NOMEM;
			broken(b, a, from, "sent an index that is none");
			return;
		}
	}
	rd_say_attempt(b, from->id, RD__KIND__DONE, a);
	rd_attempt_end(b, a);
	rd_attempts_abandon(b, j, t);
	if (m->envelope->opened)
		rd_job_opened(b, j, t, m->envelope->opened);
	else
		rd_job_indexed(b, j, t, &index);
	rd_job_advance(b, j);
}

/* An unpacked file's name means nothing to anybody: say what the user gave. */
static void name_input(const struct rd_job *j, const struct rd_task *t, struct rd_error *why)
{
	char path[RD_PATH_MAX + 300], plain[RD_PATH_MAX + 1];

	if (t->trace == NULL || t->trace->member.data == NULL)
		return;
	rd_field_text(&t->trace->path, plain, sizeof plain);
	size_t n = strlen(plain), named = strlen(why->file);
	/* A long path was cut to its end. */
	if (named == 0 || named > n || strcmp(plain + n - named, why->file) != 0)
		return;
	why->file[0] = 0;
	rd_error_at(why, why->code, rd_job_display_path(j, t->input, t->trace, path, sizeof path), RD_NO_OFFSET);
}

static void failed(struct rd_broker *b, struct rd_attempt *a, const struct rd_member *from, struct rd_message *m)
{
	const Rd__Error *error = m->envelope->error;
	struct rd_task *t = rd_attempt_task(a);
	struct rd_job *j = a->job;
	struct rd_error why;

	rd_wire_error_take(&why, error);
	name_input(j, t, &why);
	rd_say_attempt(b, from->id, RD__KIND__DONE, a);
	if (error->retry) {
		rd_attempt_lost(b, a, RD_BLAMED, &why);
	} else if (is_decode(a)) {
		rd_job_fail(b, j, &why);
	} else {
		rd_attempt_end(b, a);
		rd_attempts_abandon(b, j, t);
		rd_job_input_failed(b, j, t, &why);
	}
}

void rd_hear_worker(struct rd_broker *b, struct rd_member *from, struct rd_message *m)
{
	const Rd__Envelope *e = m->envelope;

	if (e->kind == RD__KIND__LEAVE) {
		rd_member_leave(b, from);
		return;
	}
	struct rd_attempt *a = rd_attempt_find(b, e);
	if (a == NULL || a->worker != from->id) {
		Rd__Envelope late = about(RD__KIND__ABANDON, e);
		b->totals.late++;
		rd_say(b, from->id, &late, NULL, NULL);
		return;
	}
	switch (e->kind) {
	case RD__KIND__PROGRESS:
		progress(b, a, e);
		break;
	case RD__KIND__CHUNK:
		pass_on(b, a, from, m);
		break;
	case RD__KIND__COMMIT:
		commit(b, a, from, m);
		break;
	case RD__KIND__RESULT:
		result(b, a, from, m);
		break;
	case RD__KIND__FAILED:
		failed(b, a, from, m);
		break;
	default:
		break;
	}
}
