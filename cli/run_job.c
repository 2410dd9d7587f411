#include "cli/run_job.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/run_watch.h"
#include "cli/submission.h"
#include "net/hello.h"
#include "net/socket.h"
#include "net/validate.h"
#include "net/wire_error.h"

#define TICK_NS UINT64_C(1000000000)

struct talk {
	const struct rd_run_words *words;
	unsigned workers;
	struct rd_family *family;
	struct rd_progress *progress;
	struct rd_progress_state state;
	struct rd_watch watch;
	uint64_t tick_ns; /* when the next one is due */
	char state_name[17];
	struct rd_net *net;
	struct rd_socket *socket;
	bool said;  /* HELLO and SUBMIT are on their way */
	bool ended; /* the job is done or failed: *err says */
	struct rd_run_end *end;
};

int rd_run_signals(struct rd_error *err)
{
	sigset_t set;

	rd_signals_ending(&set);
	/* An inherited SIG_IGN would let ends go unnoticed. */
	signal(SIGCHLD, SIG_DFL);
	sigaddset(&set, SIGCHLD);
	return rd_signals_open(&set, err);
}

/* The user's signal, or 0; *child: somebody ended. */
static int read_signals(int fd, bool *child)
{
	int wanted = 0, number;

	*child = false;
	while ((number = rd_signals_next(fd)) != 0) {
		if (number == SIGCHLD)
			*child = true;
		else
			wanted = number;
	}
	return wanted;
}

/* ---- what is said */

static int say_hello(struct talk *t, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	struct rd_hello h;
	uint8_t uuid[16];

	if (getrandom(uuid, sizeof uuid, 0) != sizeof uuid)
		return rd_fail_errno(err, "no random numbers");
	rd_hello(&h, RD__ROLE__CLIENT, uuid);
	e.hello = &h.message;
	return rd_send(t->socket, 0, &e, NULL, err);
}

static int say_submit(struct talk *t, struct rd_error *err)
{
	struct rd_submission s;
	char scratch[4200];

	snprintf(scratch, sizeof scratch, "%s/scratch", t->family->folder);
	int rc = rd_submission_fill(&s, t->words, 0, t->words->inputs.files.n, scratch, err);
	s.submit.workers = t->workers;
	/* Nobody can ask a broker of ours for early answers; what was believed is told by --stats only. */
	s.submit.preliminary = t->words->stats;
	s.submit.watch = true;
	if (rc == 0)
		rc = rd_send(t->socket, 0, &s.envelope, NULL, err);
	rd_submission_release(&s);
	return rc;
}

/* The broker takes both as soon as it is there. */
static int say_both(struct talk *t, struct rd_error *err)
{
	int rc = say_hello(t, err);

	if (rc > 0)
		rc = say_submit(t, err);
	t->said = rc > 0;
	return rc < 0 ? rc : 0;
}

/* Its answer tells that the broker is there. */
static int ask_status(struct talk *t, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);

	if (t->end->job[0] == 0)
		return 0;
	e.job = rd_field(t->end->job);
	e.watch = true;
	int rc = rd_send(t->socket, 0, &e, NULL, err);
	return rc < 0 ? rc : 0;
}

/* ---- what is heard */

static int hear_status(struct talk *t, const Rd__Status *s, struct rd_error *err)
{
	rd_field_text(&s->state, t->state_name, sizeof t->state_name);
	t->state = (struct rd_progress_state){
		.state = t->state_name,
		.bytes_done = s->bytes_done,
		.bytes_total = s->bytes_total,
		.shards_done = s->shards_done,
		.shards_total = s->shards_total,
		.finish_done = s->finish_done,
		.finish_total = s->finish_total,
	};
	rd_progress_show(t->progress, &t->state, rd_now_ns());
	rd_watch_state(&t->watch, &t->state, rd_now_ns());
	rd_left_out_take(&t->end->left_out, s);
	if (s->finished) {
		t->ended = true;
		return 0;
	}
	if (strcmp(t->state_name, "failed") == 0) {
		rd_wire_error_take(err, s->error);
		return err->code;
	}
	return 0;
}

static int hear(struct talk *t, struct rd_error *err)
{
	struct rd_message m;
	int rc;

	while (!t->ended && (rc = rd_receive(t->socket, &m, err)) != 0) {
		if (rc < 0)
			return rc;
		rd_watch_heard(&t->watch, rd_now_ns());
		rc = rd_validate(&m, RD_FROM_BROKER, err);
		if (rc == 0 && m.envelope->kind == RD__KIND__JOB_STATUS) {
			rc = hear_status(t, m.envelope->status, err);
		} else if (rc == 0 && m.envelope->kind == RD__KIND__SUBMITTED) {
			rd_field_text(&m.envelope->job, t->end->job, sizeof t->end->job);
		} else if (rc == 0 && m.envelope->kind == RD__KIND__REFUSED) {
			rd_wire_error_take(err, m.envelope->error);
			rc = rd_error_in(err, err->code, "the broker refused the job");
		}
		rd_message_release(&m);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Every second: whether all are still there. */
static int tick(struct talk *t, struct rd_error *err)
{
	uint64_t now = rd_now_ns();
	char text[256];

	if (now < t->tick_ns)
		return 0;
	t->tick_ns = now + TICK_NS;
	if (rd_watch_tick(&t->watch, t->family, now, text, sizeof text)) {
		rd_progress_end(t->progress);
		rd_note(RD_RUN_NAME, "%s", text);
	}
	return ask_status(t, err);
}

static int turn(struct talk *t, int signals, struct rd_error *err)
{
	struct rd_poll items[] = {
		{.socket = t->socket, .want = RD_POLL_IN | (t->said ? 0u : RD_POLL_OUT)},
		{.fd = signals, .want = RD_POLL_IN},
	};
	bool child;

	int rc = rd_net_poll(items, 2, rd_wait_ms(t->tick_ns), err);
	if (rc < 0)
		return rc;
	(void)rd_socket_events(t->socket);
	t->end->signal = read_signals(signals, &child);
	if (t->end->signal)
		return rd_fail(err, RD_CANCELLED, "%s", strsignal(t->end->signal));
	if (!t->said && (rc = say_both(t, err)) < 0)
		return rc;
	/* What a daemon said before it died counts first. */
	rc = hear(t, err);
	if (rc == 0 && !t->ended && child)
		rc = rd_family_reap(t->family, err);
	return rc == 0 && !t->ended ? tick(t, err) : rc;
}

int rd_run_job(const struct rd_run_words *w, unsigned workers, struct rd_family *f, int signals,
	       struct rd_progress *progress, struct rd_run_end *end, struct rd_error *err)
{
	struct talk t = {.words = w, .workers = workers, .family = f, .progress = progress, .end = end};

	*end = (struct rd_run_end){0};
	rd_error_clear(&end->left_out.last_failure);
	rd_watch_init(&t.watch, rd_now_ns());
	t.tick_ns = rd_now_ns() + TICK_NS;
	int rc = rd_net_open(&t.net, err);
	if (rc == 0)
		rc = rd_socket_connect(t.net, f->endpoint, &t.socket, err);
	while (rc == 0 && !t.ended)
		rc = turn(&t, signals, err);
	rd_progress_end(progress);
	rd_net_close(t.net);
	return rc;
}

#define WIND_DOWN_NS UINT64_C(3000000000)

void rd_run_wind_down(struct rd_family *f, int signals)
{
	uint64_t until = rd_now_ns() + WIND_DOWN_NS, now;
	struct pollfd item = {.fd = signals, .events = POLLIN};
	bool child;

	rd_family_wind_down(f);
	while (!rd_family_merger_gone(f) && (now = rd_now_ns()) < until) {
		if (poll(&item, 1, (int)((until - now) / 1000000) + 1) > 0 && read_signals(signals, &child))
			return;
	}
}
