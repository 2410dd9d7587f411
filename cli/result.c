/*
 * result - `rundown result JOB`: where a job's result is, or a copy of it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deliver.h"
#include "base/file.h"
#include "base/out.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/incomplete.h"
#include "cli/job_status.h"
#include "cli/options.h"
#include "merger/beside.h"
#include "net/message.h"
#include "net/validate.h"
#include "net/wire_error.h"
#include "store/store.h"

#define NAME "rundown result"

struct words {
	struct rd_client_words client;
	const char *job, *output;
	bool wait, force, strict;
};

struct answer {
	const struct words *words;
	struct rd_left_out left_out;
	int exit_code;
};

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		RD_CLIENT_OPTIONS(&w->client),
		{"output", 'o', "RESULT", "copy the result to the folder RESULT, checked", RD_OPT_TEXT, &w->output, 0,
		 0, NULL},
		{"force", 0, NULL, "replace a result that is there", RD_OPT_FLAG, &w->force, 0, 0, NULL},
		{"wait", 0, NULL, "wait until the job has ended", RD_OPT_FLAG, &w->wait, 0, 0, NULL},
		RD_OPTION_STRICT(&w->strict),
	};
	const struct rd_command_line line = {
		.name = NAME,
		.words = "JOB",
		.min_words = 1,
		.max_words = 1,
		.about = "Print where a job's result is, or fetch a copy of it.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.notes = "Exit code, as that of `rundown run`: 0 the input was whole; 1 there is no result (yet); 2 "
			 "wrong\n"
			 "usage; 3 a result of an input that was cut, damaged or partly quarantined.\n",
	};
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->job = argv[first];
	*exit_code = rd_client_check(&w->client, NAME);
	return *exit_code == 0;
}

static int hear(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct answer *a = ctx;
	const Rd__Status *s = e->status;
	char state[32];

	if (e->kind != RD__KIND__JOB_STATUS)
		return 0;
	if (rd_job_is_unknown(s)) {
		rd_wire_error_take(err, s->error);
		return rd_error_at(err, RD_NOT_FOUND, a->words->job, RD_NO_OFFSET);
	}
	if (!rd_job_is_over(s) && a->words->wait)
		return 0;
	if (!rd_job_is_over(s)) {
		rd_fail(err, RD_NOT_FOUND, "there is no result yet, the job is %s",
			rd_field_text(&s->state, state, sizeof state));
		return rd_error_at(err, RD_NOT_FOUND, a->words->job, RD_NO_OFFSET);
	}
	a->exit_code = rd_job_exit(s, a->words->strict);
	if (a->exit_code == RD_EXIT_FAILED) {
		rd_job_error(s, err);
		return rd_error_in(err, err->code < 0 ? err->code : RD_INTERNAL, "the job came to nothing");
	}
	rd_left_out_take(&a->left_out, s);
	return 1;
}

/* Where the copy goes: behind links, which stay, and without slashes at its end. */
static int find_place(const struct words *w, char *place, size_t size, struct rd_error *err)
{
	char given[4096];
	int rc = rd_path(given, sizeof given, err, "%s", w->output);

	for (size_t n = strlen(given); n > 1 && given[n - 1] == '/'; n--)
		given[n - 1] = 0;
	return rc < 0 ? rc : rd_follow(given, place, size, err);
}

/* Before anything is copied; rd_deliver asks again. */
static int check_place(const struct words *w, const char *place, struct rd_error *err)
{
	struct stat st;

	if (lstat(place, &st) != 0)
		return 0;
	return w->force ? rd_store_own(place, err)
			: rd_fail(err, RD_EXISTS, "the result is there already; --force replaces it");
}

/* In the folder beside the place, which is locked. */
static int copy_beside(const struct words *w, const struct rd_result *r, const char *folder, const char *place,
		       struct rd_error *err)
{
	char making[4200], fresh[4200];
	int rc = rd_path(making, sizeof making, err, "%s/" RD_BESIDE_MAKING, folder);

	if (rc == 0)
		rc = rd_path(fresh, sizeof fresh, err, "%s/" RD_BESIDE_RESULT, folder);
	if (rc == 0)
		rc = rd_store_write(making, r, err);
	if (rc == 0 && rename(making, fresh) != 0)
		rc = rd_fail_errno(err, "naming the result");
	if (rc == 0)
		rc = rd_deliver(fresh, place, w->force ? rd_store_own : NULL, err);
	int removed = rd_beside_remove(folder, rc < 0 ? NULL : err);
	return rc < 0 ? rc : removed;
}

/* Read whole, which checks it, and written anew. */
static int fetch(const struct words *w, const char *from, struct rd_error *err)
{
	struct rd_result r = {0};
	char place[4096], folder[4096], token[9];
	int lock = -1, rc = find_place(w, place, sizeof place, err);

	snprintf(token, sizeof token, "%08lx", (unsigned long)getpid() & 0xffffffff);
	if (rc >= 0)
		rc = check_place(w, place, err);
	if (rc == 0)
		rc = rd_store_read(from, &r, err);
	if (rc == 0)
		rc = rd_beside_sweep(place, NULL, err);
	if (rc == 0)
		rc = rd_beside_folder(folder, sizeof folder, place, "copy", token, err);
	if (rc == 0)
		rc = rd_beside_make(folder, &lock, err);
	if (rc == 0)
		rc = copy_beside(w, &r, folder, place, err);
	if (lock >= 0)
		close(lock);
	rd_result_release(&r);
	return rc < 0 ? rd_error_at(err, rc, w->output, RD_NO_OFFSET) : 0;
}

int rd_cmd_result(int argc, char **argv)
{
	struct words w = {.client = rd_client_words()};
	struct answer a = {.words = &w};
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);
	struct rd_error err;
	struct rd_out o;
	int exit_code;

	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	e.job = rd_field(w.job);
	e.watch = w.wait;
	int rc = rd_client_ask(&w.client, &e, hear, &a, &err);
	if (rc == 0 && w.output)
		rc = fetch(&w, a.left_out.result, &err);
	if (rc < 0)
		return rd_complain(NAME, &err);
	if (a.exit_code == RD_EXIT_INCOMPLETE)
		rd_note_incomplete_job(NAME, NULL, &a.left_out, w.strict);
	rd_out_init(&o, STDOUT_FILENO);
	rd_out_printf(&o, "%s\n", w.output ? w.output : a.left_out.result);
	return rd_out_close(&o, &err) < 0 ? rd_complain(NAME, &err) : a.exit_code;
}
