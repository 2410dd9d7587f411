/*
 * run - `rundown run TRACE...`: from traces to a result, with daemons of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/signals.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/run_job.h"
#include "cli/terminal.h"
#include "merger/beside.h"
#include "report/stats.h"
#include "report/text.h"
#include "store/store.h"

#define NAME RD_RUN_NAME

static const char *const log_names[] = {"error", "warn", "info", "debug"};

/* The end of a run: the hottest methods, and how far they can be trusted. */
static int tell_result(const struct rd_run_words *w, const struct rd_result *r, struct rd_error *err)
{
	struct rd_report_options opt = {.top = (size_t)w->top, .columns = rd_terminal_columns(STDOUT_FILENO)};
	char folder[4096];
	struct rd_out o;

	opt.folder = getcwd(folder, sizeof folder);
	rd_out_init(&o, STDOUT_FILENO);
	o.has_styles = rd_terminal_has_colors(STDOUT_FILENO, RD_COLOR_AUTO);
	int rc = rd_text_hottest(r, &opt, &o, err);
	if (rc == 0)
		rd_text_trust(r, &opt, &o);
	if (rc == 0 && w->stats)
		rd_text_stats(r, &o);
	int closed = rd_out_close(&o, err);
	return rc < 0 ? rc : closed;
}

static int show(const struct rd_run_words *w, const struct rd_run_end *end, struct rd_error *err)
{
	struct rd_result r = {0};

	int rc = rd_store_read(w->result, &r, err);
	if (rc < 0)
		return rd_complain(NAME, err);
	int exit_code = rd_exit_of(&r.trust, w->strict);
	if (exit_code == RD_EXIT_INCOMPLETE)
		rd_note_incomplete(NAME, &w->inputs, &end->left_out, &r, w->strict);
	if (!w->quiet)
		rc = tell_result(w, &r, err);
	rd_result_release(&r);
	/* Whoever reads has seen enough, as `head` does. */
	if (rc < 0 && err->sys_errno == EPIPE)
		rc = 0;
	if (rc < 0)
		exit_code = rd_complain(NAME, err);
	/* The result is there also when nobody could be shown it. */
	if (!w->quiet || rc < 0)
		rd_line("result", NAME, "the result is in ", "%s", w->result_shown);
	return exit_code;
}

/* Whether there was no room for what lies in the private folder. A daemon that died has left no more than its words. */
static bool is_no_room(const struct rd_family *f, const char *line)
{
	static const int full[] = {ENOSPC, EDQUOT, EFBIG};
	const char *name = strrchr(f->folder, '/');

	for (size_t i = 0; i < sizeof full / sizeof *full; i++)
		if (strstr(line, strerror(full[i])))
			/* By its name, for an error keeps only the end of a long path. */
			return name && strstr(line, name);
	return false;
}

/* A failed job has one line, and exit code 1 whatever went wrong: the user's words were right. */
static int fail_job(const struct rd_run_words *w, const struct rd_family *f, const struct rd_run_end *end,
		    struct rd_error *err)
{
	char line[1024];

	if (end->signal) {
		rd_line("error", NAME, "", "stopped (%s); no result was written", err->text);
		return 128 + end->signal;
	}
	rd_inputs_show(&w->inputs, err);
	rd_error_line(err, line, sizeof line);
	rd_line("error", NAME, "", "%s%s", line,
		is_no_room(f, line) ? "; with TMPDIR set to another folder, temporary files lie there" : "");
	return RD_EXIT_FAILED;
}

/* A merger that died could not take away what it was writing. */
static void clean_up(const struct rd_run_words *w, struct rd_family *f, const struct rd_run_end *end)
{
	struct rd_error left;

	if (rd_family_release(f, &left) < 0)
		rd_complain(NAME, &left);
	if (end->job[0] && rd_beside_sweep(w->result, end->job, &left) < 0)
		rd_complain(NAME, &left);
}

static int run(const struct rd_run_words *w, struct rd_family *f, int *killed_by, struct rd_error *err)
{
	struct rd_progress progress;
	struct rd_run_end end = {0};
	unsigned workers = rd_run_workers(w);

	rd_progress_init(&progress, w->quiet ? RD_PROGRESS_NONE : (enum rd_progress_form)w->progress, NAME, NULL,
			 STDERR_FILENO);
	/* Before anybody is started: what comes early waits in the descriptor. */
	int signals = rd_run_signals(err);
	int rc = signals < 0 ? signals : rd_family_init(f, workers, w->log < 0 ? NULL : log_names[w->log], err);
	f->finish_memory_bytes = w->finish_memory_bytes;
	if (rc == 0)
		rc = rd_family_start(f, err);
	if (rc == 0)
		rc = rd_run_job(w, workers, f, signals, &progress, &end, err);
	if (rc < 0) {
		int exit_code = fail_job(w, f, &end, err);
		rd_run_wind_down(f, signals);
		clean_up(w, f, &end);
		*killed_by = end.signal;
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
	int exit_code, killed_by = 0;

	rd_error_clear(&err);
	if (!rd_run_read_words(&w, argc, argv, &exit_code))
		return exit_code;
	exit_code = rd_run_check(&w);
	if (exit_code == 0)
		exit_code = run(&w, &f, &killed_by, &err);
	if (rd_family_release(&f, &left) < 0)
		rd_complain(NAME, &left);
	rd_run_words_release(&w);
	/* A shell that runs us in a loop must see that it was a signal. */
	if (killed_by)
		rd_signals_die(killed_by);
	return exit_code;
}
