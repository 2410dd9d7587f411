#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/version.h"
#include "net/wire_error.h"

/*
 * A ROUTER is not told when a peer goes. Three things say so: a send that
 * finds nobody (hence the pings after some connection ended, again a little
 * later because the socket learns it last), a lease that runs out, and a
 * HELLO of the same process on a new connection.
 */

static size_t place_of(const struct rd_broker *b, rd_peer id)
{
	size_t low = 0, high = b->members.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->members.at[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct rd_member *rd_member_find(const struct rd_broker *b, rd_peer id)
{
	size_t i = place_of(b, id);
	struct rd_member *m = i < b->members.n ? b->members.at[i] : NULL;

	return m && m->id == id && !m->gone ? m : NULL;
}

/* The peer's own limit. One that takes another's place begins anew. */
static struct rd_log_limit *limit_of(struct rd_broker *b, rd_peer id)
{
	struct rd_refused *r = &b->refused[id % RD_REFUSED_KEPT];

	if (r->id != id)
		*r = (struct rd_refused){.id = id};
	return &r->limit;
}

/* Whether it deserves an answer: a peer that goes on with what is refused gets neither an answer nor a line each time.
 */
static bool tell_refusal(struct rd_broker *b, rd_peer id, const struct rd_error *why)
{
	uint64_t unsaid, all_unsaid;
	char quoted[600];

	rd_log_quote(why->text, quoted, sizeof quoted);
	if (why->code == RD_NOT_FOUND) {
		/* It comes from before our start, and learns by the answer what to do. */
		rd_log(RD_LOG_DEBUG, "refused", "peer=%" PRIu64 " error=%s", id, quoted);
		return true;
	}
	if (!rd_log_may(limit_of(b, id), &unsaid))
		return false;
	if (rd_log_may(&b->refusals, &all_unsaid))
		rd_log(RD_LOG_WARN, "refused", "peer=%" PRIu64 " error=%s unsaid=%" PRIu64, id, quoted,
		       unsaid + all_unsaid);
	return true;
}

void rd_refuse(struct rd_broker *b, rd_peer id, const struct rd_error *why)
{
	Rd__Envelope e = rd_envelope(RD__KIND__REFUSED);
	Rd__Error error;

	if (!tell_refusal(b, id, why))
		return;
	rd_wire_error(&error, why, false);
	e.error = &error;
	rd_say(b, id, &e, NULL, NULL);
}

static struct rd_member *insert(struct rd_broker *b, rd_peer id)
{
	if (rd_vec_reserve(&b->members, 1) < 0)
		return NULL;
	struct rd_member *m = rd_realloc(NULL, sizeof *m);
	if (m == NULL)
		return NULL;
	*m = (struct rd_member){.id = id};
	size_t i = place_of(b, id);
	memmove(b->members.at + i + 1, b->members.at + i, (b->members.n - i) * sizeof *b->members.at);
	b->members.at[i] = m;
	b->members.n++;
	return m;
}

/* The same process on a new connection: what went out on the old one is void, and that is not its fault. */
static void replace_old_self(struct rd_broker *b, const Rd__Hello *hello)
{
	for (size_t i = 0; i < b->members.n; i++) {
		struct rd_member *old = b->members.at[i];
		if (!old->gone && memcmp(old->uuid, hello->uuid.data, sizeof old->uuid) == 0)
			rd_member_leave(b, old);
	}
}

static void welcome(struct rd_broker *b, rd_peer id)
{
	Rd__Envelope e = rd_envelope(RD__KIND__WELCOME);
	Rd__Welcome w = RD__WELCOME__INIT;

	w.epoch = (ProtobufCBinaryData){sizeof b->opt.epoch, b->opt.epoch};
	w.version = rd_field(RD_VERSION);
	w.progress_ms = b->opt.progress_ms;
	e.welcome = &w;
	rd_say(b, id, &e, NULL, NULL);
}

/*
 * What was handed out before and is not settled may be merged all the same:
 * the merger died, or we did, between its commit and MERGED. A commit of no
 * chunks asks; until the answer is there nobody decodes it again.
 */
void rd_ask_for_merged(struct rd_broker *b, struct rd_job *j)
{
	for (size_t i = 0; i < j->tasks.n; i++) {
		struct rd_task *t = &j->tasks.at[i];
		t->asked = t->work == RD__WORK__DECODE && t->state == RD_TASK_WAITING && t->attempts > 0;
		if (!t->asked)
			continue;
		struct rd_attempt last = {.job = j, .task = (uint32_t)i, .number = t->attempts};
		rd_say_attempt(b, b->merger->id, RD__KIND__COMMIT, &last);
	}
}

/* It may never have heard of the end of a job: we were gone, or it was. */
static void drop_again(struct rd_broker *b, const struct rd_job *j)
{
	Rd__Envelope e = rd_envelope(RD__KIND__DROP);

	e.job = rd_field(j->id);
	rd_say(b, b->merger->id, &e, NULL, NULL);
}

/* The newest merger holds the store; what the one before did not acknowledge counts for nothing. */
static void new_merger(struct rd_broker *b, struct rd_member *m)
{
	if (b->merger) {
		struct rd_error why = {0};
		rd_fail(&why, RD_EXISTS, "another merger has come");
		rd_refuse(b, b->merger->id, &why);
		rd_member_gone(b, b->merger);
	}
	b->merger = m;
	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		if (j->state == RD_JOB_FINISHING)
			rd_finish_ask(b, j);
		else if (j->state == RD_JOB_RUNNING)
			rd_ask_for_merged(b, j);
		else if (j->state == RD_JOB_FAILED || j->state == RD_JOB_CANCELLED)
			drop_again(b, j);
	}
}

void rd_member_hello(struct rd_broker *b, rd_peer id, const Rd__Hello *hello)
{
	char quoted[400], host[256];

	if (b->members.n >= RD_MEMBERS_MAX) {
		struct rd_error why = {0};
		rd_fail(&why, RD_LIMIT, "the broker has as many peers as it takes");
		rd_refuse(b, id, &why);
		return;
	}
	replace_old_self(b, hello);
	/* The old self may have been this very connection. */
	rd_members_sweep(b);
	struct rd_member *m = insert(b, id);
	if (m == NULL) {
		b->failed = true;
		return;
	}
	m->role = hello->role;
	m->capacity = hello->capacity;
	memcpy(m->uuid, hello->uuid.data, sizeof m->uuid);
	snprintf(m->name, sizeof m->name, "%s:%" PRIu64, rd_field_text(&hello->host, host, sizeof host), hello->pid);
	rd_log(RD_LOG_DEBUG, "hello", "peer=%" PRIu64 " role=%d name=%s", id, (int)m->role,
	       rd_log_quote(m->name, quoted, sizeof quoted));
	welcome(b, id);
	if (m->role == RD__ROLE__MERGER)
		new_merger(b, m);
	rd_dispatch(b);
}

static void give_back(struct rd_broker *b, struct rd_member *m, enum rd_blame blame)
{
	struct rd_error why = {0};
	size_t i = 0;

	rd_fail(&why, RD_IO, "the worker %s vanished", m->name);
	while (i < b->attempts.n) {
		struct rd_attempt *a = &b->attempts.at[i];
		if (a->worker != m->id) {
			i++;
		} else if (a->committed) {
			/* All of it is with the merger: it may still be merged. */
			a->worker = 0;
			i++;
		} else {
			rd_attempt_lost(b, a, blame, &why);
			i = 0; /* its job may have ended, and others with it */
		}
	}
}

static void take_out(struct rd_broker *b, struct rd_member *m, enum rd_blame blame)
{
	if (m->gone)
		return;
	m->gone = true;
	b->sweep = true;
	rd_log(RD_LOG_DEBUG, "gone", "peer=%" PRIu64 " role=%d", m->id, (int)m->role);
	if (m == b->merger) {
		b->merger = NULL;
		rd_attempts_merger_lost(b);
		rd_top_give_up(b, NULL);
	}
	if (m->role == RD__ROLE__WORKER)
		give_back(b, m, blame);
}

void rd_member_leave(struct rd_broker *b, struct rd_member *m)
{
	take_out(b, m, RD_BLAMELESS);
}

void rd_member_gone(struct rd_broker *b, struct rd_member *m)
{
	take_out(b, m, RD_VANISHED);
}

void rd_members_sweep(struct rd_broker *b)
{
	size_t kept = 0;

	b->sweep = false;
	for (size_t i = 0; i < b->members.n; i++) {
		if (b->members.at[i]->gone)
			rd_free(b->members.at[i]);
		else
			b->members.at[kept++] = b->members.at[i];
	}
	b->members.n = kept;
}

uint32_t rd_members_workers(const struct rd_broker *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < b->members.n; i++)
		n += b->members.at[i]->role == RD__ROLE__WORKER && !b->members.at[i]->gone;
	return n;
}
