/*
 * run - `rundown run TRACE...`: from traces to a result, with daemons of its own.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/run_job.h"
#include "merger/finish.h"
#include "report/text.h"
#include "store/store.h"

#define NAME RD_RUN_NAME

static const char *const log_names[] = {"error", "warn", "info", "debug"};

static void tell_stats(const struct rd_finish_stats *s, struct rd_out *o)
{
	char bytes[32], peak[32];

	rd_out_printf(o,
		      "work: %" PRIu64 " shards, %" PRIu64 " facts, %" PRIu64 " stacks, %" PRIu64 " samples, %" PRIu64
		      " stack records, %s of partials\n",
		      s->shards, s->facts, s->raw_stacks, s->samples, s->stack_records,
		      rd_size_text(s->partial_bytes, bytes, sizeof bytes));
	rd_out_printf(o,
		      "      reconciliation changed the method of %" PRIu64
		      " samples; merge %.1f ms, finish %.1f ms, %s\n",
		      s->preliminary_changed, (double)s->merge_ns / 1e6, (double)s->finish_ns / 1e6,
		      rd_size_text(s->finish_peak_bytes, peak, sizeof peak));
}

/* The end of a run: the hottest methods, and how far they can be trusted. */
static int tell_result(const struct rd_run_words *w, const struct rd_result *r, struct rd_error *err)
{
	struct rd_out o;

	rd_out_init(&o, STDOUT_FILENO);
	int rc = rd_text_hottest(r, (size_t)w->top, rd_terminal_columns(STDOUT_FILENO), &o, err);
	if (rc == 0)
		rd_text_trust(r, &o);
	if (rc == 0 && w->stats)
		tell_stats(&r->stats, &o);
	int closed = rd_out_close(&o, err);
	return rc < 0 ? rc : closed;
}

static int show(const struct rd_run_words *w, const struct rd_run_end *end, struct rd_error *err)
{
	struct rd_result r = {0};
	char line[1024];

	int rc = rd_store_read(w->result, &r, err);
	if (rc < 0)
		return rd_complain(NAME, err);
	int exit_code = rd_exit_of(&r.trust, w->strict);
	if (end->quarantined > 0)
		rd_note(NAME, "%" PRIu32 " of %" PRIu32 " shards could not be decoded and are left out: %s",
			end->quarantined, end->shards, rd_error_line(&end->last_failure, line, sizeof line));
	if (!w->quiet)
		rc = tell_result(w, &r, err);
	rd_result_release(&r);
	if (rc < 0)
		return rd_complain(NAME, err);
	if (!w->quiet)
		fprintf(stderr, NAME ": the result is in %s\n", w->result_shown);
	return exit_code;
}

/* A failed job has one line, and exit code 1 whatever went wrong: the user's words were right. */
static int fail_job(const struct rd_run_end *end, const struct rd_error *err)
{
	char line[1024];

	rd_error_line(err, line, sizeof line);
	if (end->signal) {
		fprintf(stderr, NAME ": stopped (%s); no result was written\n", err->text);
		return 128 + end->signal;
	}
	fprintf(stderr, NAME ": %s\n", line);
	return RD_EXIT_FAILED;
}

/* A merger that died could not take away what it was writing. */
static void clean_up(const struct rd_run_words *w, struct rd_family *f, const struct rd_run_end *end)
{
	struct rd_error left;

	if (rd_family_release(f, &left) < 0)
		rd_complain(NAME, &left);
	if (end->job[0] && rd_finish_sweep(w->result, end->job, &left) < 0)
		rd_complain(NAME, &left);
}

static int run(const struct rd_run_words *w, struct rd_family *f, struct rd_error *err)
{
	struct rd_progress progress;
	struct rd_run_end end = {0};
	unsigned workers = rd_run_workers(w);

	rd_progress_init(&progress, w->quiet ? RD_PROGRESS_NONE : (enum rd_progress_form)w->progress, STDERR_FILENO);
	/* Before anybody is started: what comes early waits in the descriptor. */
	int signals = rd_run_signals(err);
	int rc = signals < 0 ? signals : rd_family_init(f, workers, w->log < 0 ? NULL : log_names[w->log], err);
	if (rc == 0)
		rc = rd_family_start(f, err);
	if (rc == 0)
		rc = rd_run_job(w, workers, f, signals, &progress, &end, err);
	if (rc < 0) {
		int exit_code = fail_job(&end, err);
		rd_run_wind_down(f, signals);
		clean_up(w, f, &end);
		return exit_code;
	}
	/* Nothing of theirs is wanted any more; they end while we read. */
	rd_family_kill(f);
	return show(w, &end, err);
}

int rd_cmd_run(int argc, char **argv)
{
	struct rd_run_words w;
	struct rd_family f = {0};
	struct rd_error err, left;
	int exit_code;

	rd_error_clear(&err);
	if (!rd_run_read_words(&w, argc, argv, &exit_code))
		return exit_code;
	exit_code = rd_run_check(&w);
	if (exit_code == 0)
		exit_code = run(&w, &f, &err);
	if (rd_family_release(&f, &left) < 0)
		rd_complain(NAME, &left);
	rd_run_words_release(&w);
	return exit_code;
}
