#include "cli/waiting.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/out.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/incomplete.h"
#include "cli/job_status.h"
#include "cli/progress.h"
#include "net/message.h"
#include "net/wire_error.h"

int rd_worse_exit(int a, int b)
{
	return a == RD_EXIT_FAILED || b == RD_EXIT_FAILED ? RD_EXIT_FAILED : a > b ? a : b;
}

struct waiting {
	const struct rd_run_words *words;
	const char *job; /* the one that is waited for now */
	struct rd_progress progress;
	char state[32];
	struct rd_left_out left_out;
	int exit_code;
};

static int hear_status(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct waiting *t = ctx;
	const Rd__Status *s = e->status;

	if (e->kind != RD__KIND__JOB_STATUS)
		return 0;
	if (rd_job_is_unknown(s)) {
		rd_wire_error_take(err, s->error);
		return rd_error_at(err, RD_NOT_FOUND, t->job, RD_NO_OFFSET);
	}
	struct rd_progress_state state = {
		.state = rd_field_text(&s->state, t->state, sizeof t->state),
		.bytes_done = s->bytes_done,
		.bytes_total = s->bytes_total,
		.shards_done = s->shards_done,
		.shards_total = s->shards_total,
		.finish_done = s->finish_done,
		.finish_total = s->finish_total,
	};
	rd_progress_show(&t->progress, &state, rd_now_ns());
	if (!rd_job_is_over(s))
		return 0;
	rd_progress_end(&t->progress);
	t->exit_code = rd_job_exit(s, t->words->strict);
	rd_left_out_take(&t->left_out, s);
	if (t->exit_code != RD_EXIT_FAILED)
		return 1;
	rd_job_error(s, err);
	return rd_error_in(err, err->code < 0 ? err->code : RD_INTERNAL, "job %s", t->job);
}

/* Where the result is, for programs; people have named the place. */
static void tell_result(const struct waiting *t)
{
	struct rd_json j;
	struct rd_out o;

	if (t->words->progress != RD_PROGRESS_JSON || t->exit_code == RD_EXIT_FAILED)
		return;
	rd_out_init(&o, STDERR_FILENO);
	rd_json_init(&j, &o, false);
	rd_json_object(&j, NULL);
	rd_json_text(&j, "job", t->job);
	rd_json_text(&j, "result", t->left_out.result);
	rd_json_object_end(&j);
	(void)rd_out_close(&o, NULL);
}

/* RD_CANCELLED: a signal came; all else is told here. */
static int wait_for(const struct rd_run_words *run, const struct rd_client_words *client, const char *job, bool alone,
		    int *exit_code)
{
	struct waiting t = {.words = run, .job = job};
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);
	struct rd_error err;

	rd_progress_init(&t.progress, run->quiet ? RD_PROGRESS_NONE : (enum rd_progress_form)run->progress, run->name,
			 alone && run->progress != RD_PROGRESS_JSON ? NULL : job, STDERR_FILENO);
	e.job = rd_field(job);
	e.watch = true;
	int rc = rd_client_ask(client, &e, hear_status, &t, &err);
	rd_progress_end(&t.progress);
	/* That a job was cancelled is an error with this code, too. */
	if (rc == RD_CANCELLED && t.exit_code == RD_EXIT_OK)
		return rc;
	if (rc < 0) {
		/* The user's words were right. */
		err.code = err.code == RD_USAGE ? RD_INTERNAL : err.code;
		t.exit_code = rd_complain(run->name, &err);
	} else if (t.exit_code == RD_EXIT_INCOMPLETE) {
		rd_note_incomplete_job(run->name, &run->inputs, &t.left_out, run->strict);
	}
	tell_result(&t);
	*exit_code = rd_worse_exit(*exit_code, t.exit_code);
	return 0;
}

#define JOBS_NAMED 8

/* The user ends his wait, not the work. */
static void tell_going_on(const char *name, const struct rd_waited_job *jobs, size_t n, int number)
{
	char ids[JOBS_NAMED * (RD_JOB_ID_MAX + 1) + 1] = "";

	for (size_t i = 0; i < n && n <= JOBS_NAMED; i++) {
		strcat(ids, i ? " " : "");
		strcat(ids, jobs[i].id);
	}
	if (n == 1)
		rd_note(name,
			"no longer waiting (%s); the job goes on: rundown result %s --wait waits for it, "
			"rundown cancel %s ends it",
			strsignal(number), ids, ids);
	else
		rd_note(name,
			"no longer waiting (%s); %zu jobs go on: rundown status tells of them, "
			"rundown cancel %s ends them",
			strsignal(number), n, n <= JOBS_NAMED ? ids : "JOB...");
}

int rd_wait_for_jobs(const struct rd_run_words *run, const struct rd_client_words *words,
		     const struct rd_waited_job *jobs, size_t n, int *killed_by)
{
	struct rd_client_words client = *words;
	struct rd_error err;
	sigset_t set;
	int exit_code = RD_EXIT_OK;

	rd_signals_ending(&set);
	client.signals = rd_signals_open(&set, &err);
	if (client.signals < 0)
		return rd_complain(run->name, &err);
	for (size_t i = 0; i < n && *killed_by == 0; i++) {
		if (wait_for(run, &client, jobs[i].id, n == 1, &exit_code) == 0)
			continue;
		*killed_by = rd_signals_next(client.signals);
		tell_going_on(run->name, jobs + i, n - i, *killed_by);
	}
	close(client.signals);
	return exit_code;
}
