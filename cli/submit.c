/*
 * submit - `rundown submit TRACE...`: jobs for a broker.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/out.h"
#include "base/signals.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/job_status.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/submission.h"
#include "cli/waiting.h"
#include "net/validate.h"
#include "net/wire_error.h"

#define NAME "rundown submit"

struct words {
	struct rd_run_words run; /* the job, as `run` takes it */
	struct rd_client_words client;
	const char *scratch;
	int priority;
	uint64_t workers_most, attempts, limit_ns;
	bool each, update, wait;
};

struct submitting {
	struct words *words;
	RD_VEC(struct rd_waited_job) jobs;
	struct rd_out out;
};

static const char examples[] =
	"  rundown submit /traces/shop.nettrace -o /results/shop.rundown --broker ipc:///run/rundown/broker\n"
	"  rundown submit --each --update /traces/night -o /results\n"
	"      a result for each trace of a folder; said again, only new and changed traces are worked on\n"
	"  rundown submit --wait machine.etl && rundown report machine.etl.rundown\n";

static const char notes[] =
	"A job's id goes to stdout. All paths must be seen by the broker's workers and merger under the same names;\n"
	"RUNDOWN_BROKER in the environment is --broker.\n"
	"Exit code: 0 submitted, with --wait: the inputs were whole; 1 refused or failed; 2 wrong usage; 3, with\n"
	"--wait, a result of an input that was cut, damaged or partly quarantined.\n";

static size_t own_options(struct words *w, struct rd_option *to)
{
	const struct rd_option rows[] = {
		RD_CLIENT_OPTIONS(&w->client),
		{"each", 0, NULL, "a job for each trace; -o is the folder of their results, made if it is not there",
		 RD_OPT_FLAG, &w->each, 0, 0, NULL},
		{"update", 0, NULL,
		 "nothing to do where a result of the very same traces is there; else it is replaced", RD_OPT_FLAG,
		 &w->update, 0, 0, NULL},
		{"priority", 0, "LEVEL", "before jobs of lower ones (default normal)", RD_OPT_CHOICE, &w->priority, 0,
		 0, rd_priority_words},
		{"max-workers", 0, "N", "use at most N workers at a time", RD_OPT_NUMBER, &w->workers_most, 1, 1000000,
		 NULL},
		{"attempts", 0, "N", "give a shard up after N failed attempts (default: the broker's)", RD_OPT_NUMBER,
		 &w->attempts, 1, RD_ATTEMPTS_MAX, NULL},
		{"time-limit", 0, "TIME", "the job fails when it is not done after TIME of work", RD_OPT_SECONDS,
		 &w->limit_ns, 1000000000, UINT64_C(4000000000000000000), NULL},
		{"scratch", 0, "DIR", "unpack archives below DIR (default: the folder of the result)", RD_OPT_TEXT,
		 &w->scratch, 0, 0, NULL},
		{"wait", 0, NULL, "wait until the jobs have ended", RD_OPT_FLAG, &w->wait, 0, 0, NULL},
		RD_OPTION_STRICT(&w->run.strict),
		{"progress", 0, "FORM", "with --wait, how to show progress on stderr (default: a bar on a terminal)",
		 RD_OPT_CHOICE, &w->run.progress, 0, 0, rd_progress_words},
		{"quiet", 'q', NULL, "say nothing but ids and what goes wrong", RD_OPT_FLAG, &w->run.quiet, 0, 0, NULL},
	};

	memcpy(to, rows, sizeof rows);
	return sizeof rows / sizeof *rows;
}

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	struct rd_option options[RD_JOB_OPTIONS_MAX + 24];
	int first;

	size_t n = rd_run_job_options(&w->run, options);
	n += own_options(w, options + n);
	const struct rd_command_line line = {
		.name = NAME,
		.words = "TRACE...",
		.min_words = 1,
		.max_words = -1,
		.about = "Give traces to a broker, whose workers decode them and whose merger writes the result.",
		.options = options,
		.options_n = n,
		.examples = examples,
		.notes = notes,
	};
	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->run.words = (const char *const *)(argv + first);
	w->run.words_n = (size_t)(argc - first);
	rd_lines_as_json(w->run.progress == RD_PROGRESS_JSON);
	*exit_code = rd_run_check_words(&w->run);
	if (*exit_code == 0 && w->each && w->run.join)
		*exit_code = rd_usage(NAME, "--each and --join contradict each other");
	if (*exit_code == 0)
		*exit_code = rd_client_check(&w->client, NAME);
	/* A result that is there is what --update is about. */
	w->run.force = w->run.force || w->update;
	return *exit_code == 0;
}

/* ---- one job */

/* Where archives are unpacked: of this submission alone, so that two never meet. */
static int name_scratch(const struct words *w, const uint8_t token[16], const char *result, char *buf, size_t size,
			struct rd_error *err)
{
	const char *slash = strrchr(result, '/');
	int n = slash == result ? 1 : (int)(slash - result);
	char real[4096];

	if (w->scratch) {
		if (realpath(w->scratch, real) == NULL)
			return rd_error_at(err, rd_fail_errno(err, "the scratch folder"), w->scratch, RD_NO_OFFSET);
		result = real;
		n = (int)strlen(real);
	}
	return rd_path(buf, size, err, "%.*s%s" RD_SCRATCH_PREFIX "%02x%02x%02x%02x%02x%02x%02x%02x", n, result,
		       n > 1 ? "/" : "", token[0], token[1], token[2], token[3], token[4], token[5], token[6],
		       token[7]);
}

static int hear_submitted(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct submitting *s = ctx;

	if (e->kind != RD__KIND__SUBMITTED)
		return 0;
	if (e->error) {
		rd_wire_error_take(err, e->error);
		/* Wrong for this broker, not for this command. */
		err->code = err->code == RD_USAGE ? RD_UNSUPPORTED : err->code;
		return err->code;
	}
	struct rd_waited_job *j = rd_vec_add(&s->jobs);
	if (j == NULL)
		return rd_fail_nomem(err);
	rd_field_text(&e->job, j->id, sizeof j->id);
	rd_out_printf(&s->out, "%s\n", j->id);
	return rd_out_flush(&s->out, err) < 0 ? err->code : 1;
}

static int submit_one(struct submitting *s, const struct rd_run_words *run, size_t first, size_t n,
		      struct rd_error *err)
{
	const struct words *w = s->words;
	struct rd_submission job;
	char scratch[4400] = "";

	int rc = rd_submission_fill(&job, run, first, n, scratch, err);
	if (rc == 0)
		rc = name_scratch(w, job.token, run->result, scratch, sizeof scratch, err);
	if (rc == 0) {
		job.submit.scratch = rd_field(scratch);
		job.submit.priority = rd_priority_of(w->priority);
		job.submit.workers_most = (uint32_t)w->workers_most;
		job.submit.attempts = (uint32_t)w->attempts;
		job.submit.seconds =
			(uint32_t)(w->limit_ns / 1000000000 < UINT32_MAX ? w->limit_ns / 1000000000 : UINT32_MAX);
		job.submit.update = w->update && access(run->result, F_OK) == 0;
		rc = rd_client_ask(&w->client, &job.envelope, hear_submitted, s, err);
	}
	rd_submission_release(&job);
	return rc;
}

/* ---- a job for each trace */

/* Files of one set follow each other. */
static size_t files_of_set(const struct rd_inputs *in, size_t first)
{
	size_t n = 1;

	while (in->files.at[first].set && first + n < in->files.n &&
	       in->files.at[first + n].set == in->files.at[first].set)
		n++;
	return n;
}

/* Two folders may hold traces of one name; one result cannot be of both. */
static int check_new(struct rd_strings *seen, const char *output)
{
	if (rd_strings_find(seen, output, strlen(output)) != RD_NONE)
		return rd_usage(NAME, "two traces would have the result %s", output);
	if (rd_strings_id(seen, output, strlen(output)) != RD_NONE)
		return 0;
	struct rd_error err;
	rd_fail_nomem(&err);
	return rd_complain(NAME, &err);
}

static int submit_each(struct submitting *s)
{
	const struct words *w = s->words;
	struct rd_strings seen = {0};
	struct rd_error made;
	int worst = 0;
	size_t n;

	/* Once, and not a line for each trace. */
	if (w->run.output && rd_make_folders(w->run.output, 0777, &made) < 0)
		return rd_complain(NAME, &made);
	for (size_t i = 0; i < w->run.inputs.files.n; i += n) {
		struct rd_run_words one = w->run;
		struct rd_error err;
		char output[4400];
		n = files_of_set(&w->run.inputs, i);
		struct rd_span name = rd_base_name(rd_text_span(one.inputs.files.at[i].path));
		snprintf(output, sizeof output, "%s/%.*s.rundown", w->run.output ? w->run.output : ".",
			 (int)name.size_bytes, (const char *)name.at);
		one.output = output;
		int rc = check_new(&seen, output);
		if (rc == 0)
			rc = rd_run_check_result(&one);
		if (rc == 0 && submit_one(s, &one, i, n, &err) < 0)
			rc = rd_complain(NAME, &err);
		worst = rc ? rc : worst;
	}
	rd_strings_release(&seen);
	return worst;
}

static int submit_all(struct submitting *s)
{
	struct rd_run_words *run = &s->words->run;
	struct rd_error err;

	int exit_code = rd_run_check_inputs(run);
	if (exit_code)
		return exit_code;
	if (s->words->each)
		return submit_each(s);
	if ((exit_code = rd_run_check_result(run)) != 0)
		return exit_code;
	return submit_one(s, run, 0, run->inputs.files.n, &err) < 0 ? rd_complain(NAME, &err) : 0;
}

int rd_cmd_submit(int argc, char **argv)
{
	struct words w = {.run = {.name = NAME, .kind = -1, .log = -1},
			  .client = rd_client_words(),
			  .priority = RD_PRIORITY_NORMAL};
	struct submitting s = {.words = &w};
	struct rd_error err;
	int exit_code, killed_by = 0;

	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	rd_out_init(&s.out, STDOUT_FILENO);
	exit_code = submit_all(&s);
	if (rd_out_close(&s.out, &err) < 0)
		exit_code = rd_complain(NAME, &err);
	if (w.wait && s.jobs.n > 0)
		exit_code =
			rd_worse_exit(exit_code, rd_wait_for_jobs(&w.run, &w.client, s.jobs.at, s.jobs.n, &killed_by));
	rd_vec_release(&s.jobs);
	rd_run_words_release(&w.run);
	if (killed_by)
		rd_signals_die(killed_by);
	return exit_code;
}
