#include "cli/run_words.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/start.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "merger/finish.h"
#include "store/store.h"

#define NAME               RD_RUN_NAME
#define WORKERS_MAX        1024
#define TOP_DEFAULT        10
/* What a broker has open besides its workers' connections. */
#define DESCRIPTORS_BESIDE 32

static const char *const kind_words[] = {"cpu", "managed", "external", NULL};

static const char examples[] = "  rundown run shop.nettrace\n"
			       "      the hottest methods, and all of it in shop.nettrace.rundown/\n"
			       "  rundown run machine.etl.zip -o before.rundown --process shop\n"
			       "  rundown run web1.nettrace web2.nettrace -o both.rundown\n"
			       "      two traces in one result\n";

static const char notes[] =
	"A folder stands for all traces right in it, less those that a note and the result say cannot be used. Packed\n"
	"traces (.gz, .zst, .xz, .bz2, .zip, .7z, .diagsession) are read as they are. An unmerged recording (X.etl with\n"
	"X.kernel*.etl, X.clr*.etl, X.user*.etl beside it) is one trace, given by any of its files; so is a .diagsession.\n"
	"Several traces are several in one result.\n"
	"Without -o the result is TRACE.rundown in this folder, TRACE being the first trace's name.\n"
	"Exit code: 0 the input was whole; 1 no result, as when no sample passes the filter; 2 wrong usage; 3 a result "
	"of\n"
	"an input that was cut, damaged or partly quarantined.\n";

#define OPTIONS_MAX 32

/* What the job is: where its result goes, and which samples count. */
size_t rd_run_job_options(struct rd_run_words *w, struct rd_option *to)
{
	const struct rd_option rows[] = {
		{"output", 'o', "RESULT", "write the result to the folder RESULT", RD_OPT_TEXT, &w->output, 0, 0, NULL},
		{"force", 0, NULL, "replace a result that is there", RD_OPT_FLAG, &w->force, 0, 0, NULL},
		{"process", 0, "NAME|PID", "only samples of this process", RD_OPT_TEXT, &w->process, 0, 0, NULL},
		{"from", 0, "TIME",
		 "only samples since TIME: seconds from the start, or ISO 8601 (UTC unless it has a zone)",
		 RD_OPT_MOMENT, &w->from, 0, 0, NULL},
		{"to", 0, "TIME", "only samples before TIME, likewise", RD_OPT_MOMENT, &w->to, 0, 0, NULL},
		{"kind", 0, "KIND", "only samples of this kind", RD_OPT_CHOICE, &w->kind, 0, 0, kind_words},
		{"join", 0, NULL, "the traces are one: of one machine and one clock", RD_OPT_FLAG, &w->join, 0, 0,
		 NULL},
		{"no-join", 0, NULL,
		 "each file is a trace of its own, an unmerged recording's and a .diagsession's too", RD_OPT_FLAG,
		 &w->apart, 0, 0, NULL},
		{"shards", 0, "N", "cut each trace into at most N shards", RD_OPT_NUMBER, &w->shards, 1, 100000, NULL},
		{"shard-size", 0, "SIZE", "cut each trace into shards of about SIZE (default 64MB)", RD_OPT_SIZE,
		 &w->shard_bytes, 1, 0, NULL},
	};

	_Static_assert(sizeof rows <= RD_JOB_OPTIONS_MAX * sizeof *to, "room for all");
	memcpy(to, rows, sizeof rows);
	return sizeof rows / sizeof *rows;
}

/* How it is worked on here, and what is said of it. */
static size_t run_options(struct rd_run_words *w, struct rd_option *to)
{
	const struct rd_option rows[] = {
		{"workers", 0, "N", "decode in N processes (default: one a processor, fewer for small traces)",
		 RD_OPT_NUMBER, &w->workers, 1, WORKERS_MAX, NULL},
		{"finish-memory", 0, "SIZE", "fail if the reconciliation needs more memory (default 4GiB)", RD_OPT_SIZE,
		 &w->finish_memory_bytes, RD_FINISH_MEMORY_MIN_BYTES, 0, NULL},
		{"top", 0, "N", "show N methods at the end, 0 for all (default 10)", RD_OPT_NUMBER, &w->top, 0, 0,
		 NULL},
		{"stats", 0, NULL, "tell what the work was made of", RD_OPT_FLAG, &w->stats, 0, 0, NULL},
		RD_OPTION_STRICT(&w->strict),
		{"progress", 0, "FORM", "how to show progress on stderr (default: a bar on a terminal)", RD_OPT_CHOICE,
		 &w->progress, 0, 0, rd_progress_words},
		{"quiet", 'q', NULL, "say nothing but what goes wrong", RD_OPT_FLAG, &w->quiet, 0, 0, NULL},
		RD_OPTION_LOG(&w->log, "let the daemons log to stderr"),
	};

	memcpy(to, rows, sizeof rows);
	return sizeof rows / sizeof *rows;
}

/* Words that are right each but not together. */
int rd_run_check_words(const struct rd_run_words *w)
{
	if (w->shards && w->shard_bytes)
		return rd_usage(w->name, "--shards and --shard-size say the same thing twice");
	if (w->progress == RD_PROGRESS_JSON && w->log >= 0)
		return rd_usage(w->name, "--log would write between the lines of --progress json");
	if (w->join && w->apart)
		return rd_usage(w->name, "--join and --no-join contradict each other");
	if (w->from.given && w->to.given && w->from.is_utc == w->to.is_utc && w->from.ns >= w->to.ns)
		return rd_usage(w->name, "--from is not before --to");
	return 0;
}

bool rd_run_read_words(struct rd_run_words *w, int argc, char **argv, int *exit_code)
{
	struct rd_option options[OPTIONS_MAX];
	int first;

	*w = (struct rd_run_words){.name = NAME, .kind = -1, .top = TOP_DEFAULT, .log = -1};
	size_t n = rd_run_job_options(w, options);
	n += run_options(w, options + n);
	const struct rd_command_line line = {
		.name = NAME,
		.words = "TRACE...",
		.min_words = 1,
		.max_words = -1,
		.about = "Work out where the time of traces went: decode them in shards, in parallel, reconcile the "
			 "method\n"
			 "rundown, and write a result.",
		.options = options,
		.options_n = n,
		.examples = examples,
		.notes = notes,
	};
	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->words = (const char *const *)(argv + first);
	w->words_n = (size_t)(argc - first);
	rd_lines_as_json(w->progress == RD_PROGRESS_JSON);
	*exit_code = rd_run_check_words(w);
	return *exit_code == 0;
}

/* ---- inputs */

static int fail_about(const struct rd_run_words *w, const char *path, const char *what)
{
	struct rd_error err;

	rd_error_at(&err, rd_fail(&err, RD_IO, "%s", what), path, RD_NO_OFFSET);
	return rd_complain(w->name, &err);
}

static int fail_errno_about(const struct rd_run_words *w, const char *path, const char *what)
{
	struct rd_error err;

	rd_error_at(&err, rd_fail_errno(&err, "%s", what), path, RD_NO_OFFSET);
	return rd_complain(w->name, &err);
}

#define NAMES_TOLD 20

static void append_text(struct rd_bytes *b, const char *text)
{
	(void)rd_bytes_append(b, text, strlen(text));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Which files are taken for one recording, so that nobody wonders where a file came from. */
static void tell_sets(const struct rd_run_words *w)
{
	const struct rd_input_file *files = w->inputs.files.at;
	struct rd_bytes text = {0};
	size_t n;

	for (size_t i = 0; i < w->inputs.files.n; i += n) {
		n = 1;
		text.n = 0;
		for (; files[i].set && i + n < w->inputs.files.n && files[i + n].set == files[i].set; n++) {
			if (n > NAMES_TOLD)
				continue;
			append_text(&text, n > 1 ? ", " : "");
			append_text(&text, n < NAMES_TOLD ? base_name(files[i + n].shown) : "...");
		}
		if (n > 1)
			rd_note(w->name, "%s is one recording with %.*s", files[i].shown, (int)text.n,
				(const char *)text.at);
	}
	rd_bytes_release(&text);
}

int rd_run_check_inputs(struct rd_run_words *w)
{
	int exit_code = rd_inputs_find(&w->inputs, w->name, w->words, w->words_n, !w->apart);

	if (exit_code == 0 && !w->quiet && !w->join)
		tell_sets(w);
	return exit_code;
}

/* ---- the result */

/* Split into the folder, which must exist, and the name; fills result with its absolute path. A link stays one. */
static int place_result(struct rd_run_words *w, const char *given)
{
	char behind[4096], folder[4096];
	struct rd_error err;

	if (rd_follow(given, behind, sizeof behind, &err) < 0)
		return rd_complain(w->name, (rd_error_at(&err, err.code, given, RD_NO_OFFSET), &err));
	const char *slash = strrchr(behind, '/'), *name = slash ? slash + 1 : behind;
	size_t n = slash ? (size_t)(slash - behind) : 0;

	memcpy(folder, behind, n);
	folder[n] = 0;
	char *absolute = realpath(slash == NULL ? "." : n == 0 ? "/" : folder, NULL);
	if (absolute == NULL)
		return fail_errno_about(w, given, "cannot write the result");
	if (access(absolute, W_OK | X_OK) != 0) {
		free(absolute);
		return fail_errno_about(w, given, "cannot write the result");
	}
	int rc = rd_path(w->result, sizeof w->result, NULL, "%s%s%s", absolute, strcmp(absolute, "/") ? "/" : "", name);
	free(absolute);
	return rc < 0 ? rd_usage(w->name, "the result's path is too long") : 0;
}

static bool is_dots(struct rd_span name)
{
	return name.size_bytes <= 2 && name.at[0] == '.' && name.at[name.size_bytes - 1] == '.';
}

/* After the first word: of a folder, too, that is called by . or with a slash behind its name. */
static void name_result(const char *word, char *buf, size_t size)
{
	char *real = NULL;
	size_t n = strlen(word);

	while (n > 1 && word[n - 1] == '/')
		n--;
	struct rd_span name = rd_base_name((struct rd_span){(const uint8_t *)word, n});
	if (name.size_bytes == 0 || is_dots(name)) {
		real = realpath(word, NULL);
		if (real && strcmp(real, "/") != 0)
			name = rd_base_name(rd_text_span(real));
	}
	if (name.size_bytes == 0)
		snprintf(buf, size, "traces.rundown");
	else
		snprintf(buf, size, "%.*s.rundown", (int)name.size_bytes, (const char *)name.at);
	free(real);
}

int rd_run_check_result(struct rd_run_words *w)
{
	char given[4096];
	struct rd_error err;
	struct stat st;

	if (w->output) {
		snprintf(given, sizeof given, "%.*s", (int)sizeof given - 1, w->output);
		for (size_t n = strlen(given); n > 1 && given[n - 1] == '/'; n--)
			given[n - 1] = 0;
	} else {
		name_result(w->words[0], given, sizeof given);
	}
	snprintf(w->result_shown, sizeof w->result_shown, "%s", given);
	int rc = place_result(w, given);
	if (rc)
		return rc;
	if (lstat(w->result, &st) != 0)
		return errno == ENOENT ? 0 : fail_errno_about(w, given, "cannot write the result");
	if (!w->force)
		return fail_about(w, given, "the result is there already; --force replaces it");
	if (rd_store_own(w->result, &err) == 0)
		return 0;
	err.file[0] = 0;
	rd_error_in(&err, err.code, "--force replaces results only");
	rd_error_at(&err, err.code, given, RD_NO_OFFSET);
	return rd_complain(w->name, &err);
}

/* The broker holds a connection for each worker. */
static int check_descriptors(const struct rd_run_words *w)
{
	uint64_t max = rd_descriptors_max();
	struct rd_error err;

	if (w->workers + DESCRIPTORS_BESIDE <= max)
		return 0;
	rd_fail(&err, RD_LIMIT,
		"%llu workers need %llu open files, and only %llu may be open at a time (see ulimit -n)",
		(unsigned long long)w->workers, (unsigned long long)(w->workers + DESCRIPTORS_BESIDE),
		(unsigned long long)max);
	return rd_complain(w->name, &err);
}

int rd_run_check(struct rd_run_words *w)
{
	int exit_code = check_descriptors(w);

	if (exit_code == 0)
		exit_code = rd_run_check_inputs(w);
	return exit_code ? exit_code : rd_run_check_result(w);
}

/* ---- workers */

/* Less than this is not worth a process more. */
#define BYTES_A_WORKER (UINT64_C(8) << 20)
/* What a packed trace may grow by, at a guess: formats are not known here. */
#define PACKED_GUESS   10

static uint64_t plain_guess(const struct rd_run_words *w)
{
	static const char *const plain[] = {".nettrace", ".netperf", ".etl"};
	uint64_t sum = 0;

	for (size_t i = 0; i < w->inputs.files.n; i++) {
		const struct rd_input_file *file = &w->inputs.files.at[i];
		size_t n = strlen(file->path);
		bool is_plain = false;
		for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
			size_t m = strlen(plain[k]);
			is_plain = is_plain || (n > m && strcasecmp(file->path + n - m, plain[k]) == 0);
		}
		uint64_t size = file->size_bytes < UINT64_MAX / 1000000 ? file->size_bytes : UINT64_MAX / 1000000;
		sum += is_plain ? size : size * PACKED_GUESS;
	}
	return sum;
}

unsigned rd_run_workers(const struct rd_run_words *w)
{
	cpu_set_t set;
	unsigned cpus = 1;

	if (w->workers)
		return (unsigned)w->workers;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		cpus = (unsigned)CPU_COUNT(&set);
	else if (sysconf(_SC_NPROCESSORS_ONLN) > 0)
		cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t worth = plain_guess(w) / BYTES_A_WORKER + 1, files = rd_descriptors_max() - DESCRIPTORS_BESIDE;
	cpus = cpus < WORKERS_MAX ? cpus : WORKERS_MAX;
	cpus = cpus < files ? cpus : (unsigned)files;
	return worth < cpus ? (unsigned)worth : cpus;
}

void rd_run_words_release(struct rd_run_words *w)
{
	rd_inputs_release(&w->inputs);
}
