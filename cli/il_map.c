/*
 * il_map - `rundown il-map convert`: offsets of IL between what was compiled and what a profiler made of it.
 */
#include "symbols/il_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"

#define NAME "rundown il-map"

struct words {
	bool to_new, to_old;
	const char *path, *output;
	char *const *offsets; /* none: they come from stdin */
	size_t offsets_n;
};

static const char examples[] = "  rundown il-map convert --to-old method.map 12 25\n"
			       "  rundown il-map convert --to-new method.map < offsets\n";

static const char notes[] =
	"MAP is an array of COR_IL_MAP, as a profiler gives one to SetILInstrumentedCodeMap: for each entry the old\n"
	"offset u32, the new one u32 and accurate i32. It begins with (0, 0), and both offsets rise. An entry holds\n"
	"up to the next one, in either direction; nothing is interpolated. docs/il.md has the rule.\n"
	"Offsets are decimal; without any they are read from stdin, between blanks or on lines of their own.\n"
	"For each there is one line with the converted one, in their order.\n\n"
	"Exit code: 0 done; 1 the map or what stdin has is not good; 2 wrong usage.\n";

static bool parse(struct words *w, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		{.name = "to-new",
		 .kind = RD_OPT_FLAG,
		 .target = &w->to_new,
		 .help = "from the code as it was compiled to the instrumented code"},
		{.name = "to-old",
		 .kind = RD_OPT_FLAG,
		 .target = &w->to_old,
		 .help = "from the instrumented code, which is what was sampled, back"},
		RD_OPTION_OUTPUT(&w->output),
	};
	const struct rd_command_line line = {
		.name = NAME,
		.words = "convert MAP [OFFSET...]",
		.min_words = 1,
		.max_words = -1,
		.about = "Convert offsets of IL by the map of a method that a profiler rewrote.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.examples = examples,
		.notes = notes,
	};
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	if (strcmp(argv[first], "convert") != 0)
		*exit_code = rd_usage(NAME, "'%s' is not convert", argv[first]);
	else if (first + 1 == argc)
		*exit_code = rd_usage(NAME, "convert: which MAP?");
	else if (w->to_new == w->to_old)
		*exit_code = rd_usage(NAME, "convert: one of --to-new and --to-old");
	else {
		w->path = argv[first + 1];
		w->offsets = argv + first + 2;
		w->offsets_n = (size_t)(argc - first - 2);
		return true;
	}
	return false;
}

/* The code for a word that is no offset is the caller's: on the command line it is wrong usage. */
static int convert(const struct words *w, const struct rd_il_map *m, const char *word, int code, struct rd_out *o,
		   struct rd_error *err)
{
	uint64_t offset;

	if (rd_number_parse(word, &offset) < 0 || offset > RD_IL_OFFSET_MOST)
		return rd_fail(err, code, "'%s' is no offset: a number up to %d", word, RD_IL_OFFSET_MOST);
	rd_out_printf(o, "%" PRIu32 "\n", (w->to_new ? rd_il_map_to_new : rd_il_map_to_old)(m, (uint32_t)offset));
	return 0;
}

static int convert_line(const struct words *w, const struct rd_il_map *m, char *line, struct rd_out *o,
			struct rd_error *err)
{
	char *rest = NULL;
	int rc = 0;

	for (char *word = strtok_r(line, " \t\r\n", &rest); rc == 0 && word; word = strtok_r(NULL, " \t\r\n", &rest))
		rc = convert(w, m, word, RD_CORRUPT, o, err);
	return rc;
}

static int convert_stdin(const struct words *w, const struct rd_il_map *m, struct rd_out *o, struct rd_error *err)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	errno = 0;
	while (rc == 0 && (n = getline(&line, &room, stdin)) >= 0)
		rc = strlen(line) < (size_t)n ? rd_fail(err, RD_CORRUPT, "a NUL is no offset")
					      : convert_line(w, m, line, o, err);
	if (rc == 0 && !feof(stdin))
		rc = rd_fail_errno(err, "cannot read");
	free(line);
	return rc < 0 ? rd_error_at(err, rc, "stdin", RD_NO_OFFSET) : 0;
}

static int write_answer(const struct words *w, const struct rd_il_map *m, struct rd_error *err)
{
	struct rd_output output;
	int rc = rd_output_open(&output, w->output, err);

	if (rc < 0)
		return rc;
	if (w->offsets_n == 0)
		rc = convert_stdin(w, m, &output.out, err);
	for (size_t i = 0; rc == 0 && i < w->offsets_n; i++)
		rc = convert(w, m, w->offsets[i], RD_USAGE, &output.out, err);
	int closed = rd_output_close(&output, rc == 0, rc == 0 ? err : NULL);
	return rc < 0 ? rc : closed;
}

static int read_map(const char *path, struct rd_il_map *m, struct rd_error *err)
{
	struct rd_bytes bytes = {0};

	/* A byte more than any has tells that there is more. */
	int rc = rd_read_start(path, RD_IL_MAP_BYTES_MOST + 1, &bytes, err);
	if (rc == 0)
		rc = rd_il_map_read(m, (struct rd_span){bytes.at, bytes.n}, err);
	rd_bytes_release(&bytes);
	return rc < 0 ? rd_error_at(err, rc, path, RD_NO_OFFSET) : 0;
}

int rd_cmd_il_map(int argc, char **argv)
{
	struct words w = {0};
	struct rd_il_map m = {0};
	struct rd_error err;
	int exit_code;

	if (!parse(&w, argc, argv, &exit_code))
		return exit_code;
	rd_error_clear(&err);
	int rc = read_map(w.path, &m, &err);
	if (rc == 0)
		rc = write_answer(&w, &m, &err);
	rd_il_map_release(&m);
	if (rc == RD_USAGE)
		return rd_usage(NAME, "%s", err.text);
	return rc < 0 ? rd_complain(NAME, &err) : RD_EXIT_OK;
}
