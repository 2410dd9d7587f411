#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "net/hello.h"
#include "net/wire_error.h"
#include "worker/inside.h"

static uint64_t now(const struct rd_worker *w)
{
	return w->acts.now_ns(w->acts.ctx);
}

/* ---- deadlines: each returns the moment, UINT64_MAX when there is none */

static uint64_t after(uint64_t start_ns, uint64_t wait_ns)
{
	uint64_t at;
	return __builtin_add_overflow(start_ns, wait_ns, &at) ? UINT64_MAX : at;
}

/* Only while the worker listens to the child can its silence be held against it. */
static uint64_t hang_at(const struct rd_worker *w)
{
	bool listens = w->child && !w->child_killed && rd_worker_wants_frames(w);
	return listens ? after(w->heard_at_ns, w->limits.hang_ns) : UINT64_MAX;
}

static uint64_t ack_at(const struct rd_worker *w)
{
	bool waits = w->phase == RD_WORKER_WORKING && w->sent > w->acked;
	return waits ? after(w->acked_at_ns, w->limits.ack_ns) : UINT64_MAX;
}

static uint64_t word_at(const struct rd_worker *w)
{
	return w->phase == RD_WORKER_SAID && !w->word_due ? after(w->word_at_ns, w->limits.repeat_ns) : UINT64_MAX;
}

static uint64_t hello_at(const struct rd_worker *w)
{
	bool said = !w->welcome && !w->hello_due && w->hello_at_ns;
	return said ? after(w->hello_at_ns, w->limits.hello_ns) : UINT64_MAX;
}

/* While acknowledgements are awaited the worker is well, whatever the child does. */
static uint64_t progress_at(const struct rd_worker *w)
{
	bool due = w->welcome && w->phase == RD_WORKER_WORKING && (w->alive || w->chunk_due);
	return due ? after(w->progress_at_ns, w->progress_ns) : UINT64_MAX;
}

uint64_t rd_worker_wake_ns(const struct rd_worker *w)
{
	uint64_t at[] = {hang_at(w), ack_at(w), word_at(w), hello_at(w), progress_at(w)};
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		first = at[i] < first ? at[i] : first;
	return first;
}

static void fire_late(struct rd_worker *w, uint64_t t)
{
	char text[128];

	if (hang_at(w) <= t) {
		snprintf(text, sizeof text, "the parser said nothing for %" PRIu64 " s and was killed",
			 w->limits.hang_ns / 1000000000);
		rd_worker_fail(w, RD_LIMIT, text);
	}
	if (ack_at(w) <= t)
		rd_worker_fail(w, RD_IO, "no chunk was acknowledged in time");
	if (word_at(w) <= t)
		w->word_due = true;
	if (hello_at(w) <= t)
		w->hello_due = true;
}

/* ---- messages; each returns as acts.send does */

static Rd__Envelope about_task(const struct rd_worker *w, Rd__Kind kind)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field(w->task.job);
	e.task = w->task.number;
	e.attempt = w->task.attempt;
	return e;
}

static int send_message(struct rd_worker *w, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err)
{
	return w->acts.send(w->acts.ctx, e, blob, err);
}

static int say_hello(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	struct rd_hello hello;

	rd_hello(&hello, RD__ROLE__WORKER, w->uuid);
	hello.message.capacity = 1;
	e.hello = &hello.message;
	int sent = send_message(w, &e, NULL, err);
	if (sent == 1) {
		w->hello_due = false;
		w->hello_at_ns = now(w);
	}
	return sent;
}

static int say_progress(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = about_task(w, RD__KIND__PROGRESS);

	e.bytes = w->answer.bytes;
	int sent = send_message(w, &e, NULL, err);
	if (sent == 1) {
		w->alive = false;
		w->progress_at_ns = now(w);
	}
	return sent;
}

static int send_chunk(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = about_task(w, RD__KIND__CHUNK);
	Rd__Chunk chunk = RD__CHUNK__INIT;

	chunk.trace = w->task.trace;
	chunk.shard = w->task.shard;
	chunk.table = w->answer.table;
	chunk.seq = w->answer.seq;
	e.chunk = &chunk;
	int sent = send_message(w, &e, &w->chunk, err);
	if (sent == 1) {
		w->chunk_due = false;
		/* The clocks of the merger and of the child start when each has something to do. */
		if (w->sent++ == w->acked)
			w->acked_at_ns = now(w);
		w->heard_at_ns = now(w);
		rd_worker_settle(w);
	}
	return sent;
}

static int say_failed(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = about_task(w, RD__KIND__FAILED);
	Rd__Error error = RD__ERROR__INIT;

	rd_wire_error(&error, &w->word_error, w->word_retry);
	e.error = &error;
	return send_message(w, &e, NULL, err);
}

/* An OPEN task's files. The arrays are views into the answer. */
static int say_opened(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = about_task(w, RD__KIND__RESULT);
	Rd__Opened opened = RD__OPENED__INIT;
	size_t n = w->answer.members.n;
	ProtobufCBinaryData *texts = rd_realloc(NULL, 3 * n * sizeof *texts);
	uint64_t *sizes = rd_realloc(NULL, n * sizeof *sizes);
	int sent = RD_NOMEM;

	if (texts && sizes) {
		for (size_t i = 0; i < n; i++) {
			texts[i] = rd_field(w->answer.members.at[i].path);
			texts[n + i] = rd_field(w->answer.members.at[i].name);
			texts[2 * n + i] = rd_field(w->answer.members.at[i].damage);
			sizes[i] = w->answer.members.at[i].size_bytes;
		}
		opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = n;
		opened.path = texts;
		opened.member = texts + n;
		opened.damage = texts + 2 * n;
		opened.size_bytes = sizes;
		e.opened = &opened;
		sent = send_message(w, &e, NULL, err);
	} else {
		rd_fail_nomem(err);
	}
	rd_free(texts);
	rd_free(sizes);
	return sent;
}

/* The index is kept, because it may have to be said again. */
static int say_index(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = about_task(w, RD__KIND__RESULT);
	struct rd_blob copy = {0};
	int sent = rd_blob_share(&copy, &w->answer.index, err);

	if (sent == 0)
		sent = send_message(w, &e, &copy, err);
	rd_blob_release(&copy);
	return sent;
}

static int say_commit(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = about_task(w, RD__KIND__COMMIT);

	e.count = w->sent;
	return send_message(w, &e, NULL, err);
}

static int say_word(struct rd_worker *w, struct rd_error *err)
{
	int sent;

	if (w->word == RD_WORD_FAILED)
		sent = say_failed(w, err);
	else if (w->word == RD_WORD_COMMIT)
		sent = say_commit(w, err);
	else
		sent = w->answer.members.n ? say_opened(w, err) : say_index(w, err);
	if (sent == 1) {
		w->word_due = false;
		w->word_at_ns = now(w);
	}
	return sent;
}

static int say_leave(struct rd_worker *w, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__LEAVE);
	int sent = send_message(w, &e, NULL, err);

	if (sent == 1)
		w->leave_due = false;
	return sent;
}

/* ---- */

bool rd_worker_wants_frames(const struct rd_worker *w)
{
	return w->phase == RD_WORKER_WORKING && !w->pipe_ended && !w->chunk_due;
}

/* What is due now, the most urgent first; NULL nothing. */
static int (*next_message(const struct rd_worker *w, uint64_t t))(struct rd_worker *, struct rd_error *)
{
	if (w->hello_due && !w->leaving)
		return say_hello;
	if (!w->welcome)
		return NULL;
	if (w->word_due)
		return say_word;
	if (progress_at(w) <= t)
		return say_progress;
	if (w->chunk_due && w->sent - w->acked < w->task.window)
		return send_chunk;
	return w->leave_due ? say_leave : NULL;
}

int rd_worker_pump(struct rd_worker *w, struct rd_error *err)
{
	uint64_t t = now(w);
	int (*act)(struct rd_worker *, struct rd_error *);

	fire_late(w, t);
	rd_worker_bury(w);
	while (!w->refused && (act = next_message(w, t)) != NULL) {
		int sent = act(w, err);
		if (sent <= 0)
			return sent < 0 ? sent : 1;
	}
	return 0;
}

bool rd_worker_over(const struct rd_worker *w)
{
	return w->refused ||
	       (w->leaving && w->child == 0 && (!w->welcome || w->down || (!w->leave_due && !w->word_due)));
}
