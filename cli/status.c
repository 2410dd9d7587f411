/*
 * status - `rundown status [JOB]`: what a broker is doing.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/job_status.h"
#include "cli/job_top.h"
#include "cli/options.h"
#include "net/message.h"
#include "net/validate.h"
#include "net/wire_error.h"

#define NAME "rundown status"

enum form { FORM_TEXT, FORM_JSON };

struct words {
	struct rd_client_words client;
	const char *job; /* NULL: all */
	bool watch;
	int form;
	uint64_t top; /* 0: the status, not the methods */
};

struct telling {
	const struct words *words;
	struct rd_out out;
	struct rd_json json;
	bool begun, all_told;
	int exit_code;
};

static const char *const form_words[] = {"text", "json", NULL};

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		RD_CLIENT_OPTIONS(&w->client),
		{"watch", 'w', NULL, "go on telling what changes, until the job ends", RD_OPT_FLAG, &w->watch, 0, 0,
		 NULL},
		{"top", 0, "N", "of a job that runs: the N hottest methods so far, before anything is reconciled",
		 RD_OPT_NUMBER, &w->top, 1, RD_TOP_MAX, NULL},
		{"format", 0, "FORM", "text or json (default text)", RD_OPT_CHOICE, &w->form, 0, 0, form_words},
	};
	const struct rd_command_line line = {
		.name = NAME,
		.words = "[JOB]",
		.min_words = 0,
		.max_words = 1,
		.about = "Tell what a broker is doing: all its jobs, or one.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.examples = "  rundown status --broker ipc:///run/rundown/broker\n"
			    "  rundown status 1f2e3d4c-7 --watch\n"
			    "  rundown status 1f2e3d4c-7 --top 20\n",
		.notes = "With --watch --format json each line is an object.\n"
			 "Exit code: 0 told; 1 no broker, no such job; 2 wrong usage.\n",
	};
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->job = first < argc ? argv[first] : NULL;
	if (w->top && (w->job == NULL || w->watch))
		*exit_code = rd_usage(NAME, "--top is of one JOB, and not with --watch");
	else
		*exit_code = rd_client_check(&w->client, NAME);
	return *exit_code == 0;
}

/* One object a line while it is watched; else one value in all. */
static void tell_json(struct telling *t, const Rd__Status *s)
{
	const struct words *w = t->words;

	if (!t->begun || w->watch)
		rd_json_init(&t->json, &t->out, !w->watch);
	if (!t->begun && !w->watch && w->job == NULL)
		rd_json_array(&t->json, NULL);
	t->begun = true;
	if (s)
		rd_job_json(&t->json, s);
}

static void tell_text(struct telling *t, const Rd__Status *s)
{
	const struct words *w = t->words;
	bool rows = w->job == NULL || w->watch;

	if (!t->begun && rows)
		rd_job_row_head(&t->out);
	t->begun = true;
	if (s && rows)
		rd_job_row(&t->out, s);
	else if (s)
		rd_job_lines(&t->out, s);
}

static void tell(struct telling *t, const Rd__Status *s)
{
	if (t->words->form == FORM_JSON)
		tell_json(t, s);
	else
		tell_text(t, s);
}

static int end_list(struct telling *t, struct rd_error *err)
{
	t->all_told = true;
	if (t->words->watch)
		return rd_out_flush(&t->out, err);
	tell(t, NULL);
	if (t->words->form == FORM_JSON)
		rd_json_array_end(&t->json);
	return 1;
}

static int hear(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct telling *t = ctx;

	if (e->kind == RD__KIND__JOBS)
		return end_list(t, err);
	if (e->kind != RD__KIND__JOB_STATUS)
		return 0;
	if (rd_job_is_unknown(e->status)) {
		rd_wire_error_take(err, e->status->error);
		return rd_error_at(err, RD_NOT_FOUND, t->words->job, RD_NO_OFFSET);
	}
	tell(t, e->status);
	int rc = t->words->watch ? rd_out_flush(&t->out, err) : 0;
	if (rc < 0 || t->words->job == NULL)
		return rc;
	return !t->words->watch || rd_job_is_over(e->status);
}

int rd_cmd_status(int argc, char **argv)
{
	struct words w = {.client = rd_client_words()};
	struct telling t = {.words = &w};
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);
	struct rd_error err;
	int exit_code;

	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	rd_out_init(&t.out, STDOUT_FILENO);
	e.job = rd_field(w.job);
	e.watch = w.watch;
	int rc = w.top ? rd_job_top(&w.client, w.job, (uint32_t)w.top, w.form == FORM_JSON, &t.out, &err)
		       : rd_client_ask(&w.client, &e, hear, &t, &err);
	int closed = rd_out_close(&t.out, rc < 0 ? NULL : &err);
	return rc < 0 || closed < 0 ? rd_complain(NAME, &err) : RD_EXIT_OK;
}
