/*
 * inspect - `rundown inspect TRACE...`: what is in files, before a night is spent on it.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "cli/inspect_show.h"
#include "cli/inspection.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "trace/archive.h"

#define NAME "rundown inspect"

enum form { FORM_TEXT, FORM_JSON };

struct words {
	const char *const *traces;
	size_t traces_n;
	const char *output, *member;
	int format;
};

static const char *const format_words[] = {"text", "json", NULL};

static const char examples[] = "  rundown inspect shop.nettrace\n"
			       "  rundown inspect server.etl.zip --format json | jq '.events'\n";

static const char notes[] =
	"Events are named by what identifies them in the file: GUID/id/version (ETL), classic:GUID/opcode/version,\n"
	"kernel/GROUP/opcode/version, Provider-Name/id/version (nettrace).\n"
	"A folder stands for all traces right in it. Each file is told by itself, also those that run joins. JSON is\n"
	"one object for one trace, and {\"traces\": [...]} for an archive of several, a folder and several words.\n\n"
	"Exit code: 0 the trace is whole; 1 it cannot be read; 2 wrong usage; 3 it is cut or damaged, and what came\n"
	"whole is told.\n";

struct showing {
	const struct words *w;
	struct rd_output o;
	struct rd_json json;
	const char *path; /* of the input, as the user gave it */
	size_t shown;
	bool listed; /* JSON: in an array */
	bool complete;
};

static int show_one(struct showing *s, const struct rd_source *source, const char *member, struct rd_error *err)
{
	struct rd_inspection in;
	int code = rd_inspection_make(&in, source, err);

	if (code == 0) {
		s->complete &= in.complete;
		if (s->w->format == FORM_TEXT) {
			if (s->shown > 0)
				rd_out_text(&s->o.out, "\n");
			rd_inspect_text(&in, s->path, member, &s->o.out);
		} else {
			rd_json_object(&s->json, NULL);
			rd_inspect_json(&in, s->path, member, &s->json);
			rd_json_object_end(&s->json);
		}
		s->shown++;
	}
	rd_inspection_release(&in);
	return code;
}

static void begin_list(struct showing *s)
{
	if (s->listed || s->w->format != FORM_JSON)
		return;
	rd_json_object(&s->json, NULL);
	rd_json_array(&s->json, "traces");
	s->listed = true;
}

static void end_list(struct showing *s)
{
	if (!s->listed)
		return;
	rd_json_array_end(&s->json);
	rd_json_object_end(&s->json);
}

static int show_member(struct showing *s, const struct rd_unpacked *m, struct rd_error *err)
{
	struct rd_source source;
	int code = rd_source_open(&source, m->path, err);

	if (code == 0) {
		code = show_one(s, &source, m->name, err);
		rd_source_close(&source);
	}
	if (code < 0) {
		/* The scratch file means nothing to the user: the member and its archive do. */
		err->file[0] = 0;
		rd_error_at(err, code, s->path, err->offset);
		if (m->name[0])
			rd_error_in(err, code, "%.100s", m->name);
	}
	return code;
}

/* The wanted member, or NULL: by its whole name, or by the part behind the last slash when only one has that. */
static const struct rd_unpacked *find_member(const struct showing *s, const rd_unpacked_vec *members,
					     struct rd_error *err)
{
	const struct rd_unpacked *found = NULL;
	size_t found_n = 0;

	for (size_t i = 0; i < members->n; i++) {
		const struct rd_unpacked *m = &members->at[i];
		const char *slash = strrchr(m->name, '/');
		if (strcmp(m->name, s->w->member) == 0)
			return m;
		if (slash == NULL || strcmp(slash + 1, s->w->member) != 0)
			continue;
		found = m;
		found_n++;
	}
	if (found_n == 1)
		return found;
	int code = found_n ? rd_fail(err, RD_NOT_FOUND, "%zu members have this name: %.100s", found_n, s->w->member)
			   : rd_fail(err, RD_NOT_FOUND, "the archive has no trace of this name: %.100s", s->w->member);
	rd_error_at(err, code, s->path, RD_NO_OFFSET);
	return NULL;
}

static int show_members(struct showing *s, const rd_unpacked_vec *members, struct rd_error *err)
{
	int code = 0;

	if (s->w->member) {
		const struct rd_unpacked *m = find_member(s, members, err);
		return m ? show_member(s, m, err) : err->code;
	}
	if (members->n > 1)
		begin_list(s);
	for (size_t i = 0; i < members->n && code == 0; i++)
		code = show_member(s, &members->at[i], err);
	return code;
}

static int show_packed(struct showing *s, const struct rd_source *source, struct rd_error *err)
{
	rd_unpacked_vec members = {0};
	const char *folder = rd_scratch_open(err);

	if (folder == NULL)
		return err->code;
	int code = rd_archive_unpack(source, folder, NULL, &members, NULL, NULL, err);
	if (code == 0)
		code = show_members(s, &members, err);
	rd_vec_release(&members);
	rd_scratch_close();
	return code;
}

static int show(struct showing *s, const char *path, struct rd_error *err)
{
	struct rd_source source;
	bool packed;
	int code = rd_source_open(&source, path, err);

	s->path = path;
	if (code < 0) {
		/* What cannot be read is a failure, whatever it is: the words were right. */
		err->code = code == RD_USAGE ? RD_IO : code;
		return err->code;
	}
	code = rd_archive_is(&source, &packed, err);
	if (code == 0 && !packed && s->w->member)
		code = rd_error_at(err, rd_fail(err, RD_USAGE, "no archive, so it has no members"), path, RD_NO_OFFSET);
	else if (code == 0)
		code = packed ? show_packed(s, &source, err) : show_one(s, &source, "", err);
	rd_source_close(&source);
	return code;
}

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The files behind a folder's name, else the word itself. */
static int show_word(struct showing *s, const char *word, struct rd_error *err)
{
	rd_folder_vec entries = {0};
	char path[4096];

	if (!is_folder(word))
		return show(s, word, err);
	begin_list(s);
	int code = rd_folder_list(word, NULL, &entries, err);
	if (code == 0 && entries.n == 0)
		code = rd_error_at(err, rd_fail(err, RD_NOT_FOUND, "a folder without a trace right in it"), word,
				   RD_NO_OFFSET);
	for (size_t i = 0; i < entries.n && code == 0; i++) {
		bool slash = word[strlen(word) - 1] == '/';
		code = rd_path(path, sizeof path, err, "%s%s%s", word, slash ? "" : "/", entries.at[i].name);
		if (code == 0)
			code = show(s, path, err);
	}
	rd_folder_release(&entries);
	return code;
}

static int show_all(struct showing *s, struct rd_error *err)
{
	int code = 0;

	if (s->w->traces_n > 1)
		begin_list(s);
	for (size_t i = 0; i < s->w->traces_n && code == 0; i++)
		code = show_word(s, s->w->traces[i], err);
	end_list(s);
	return code;
}

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	/* clang-format off */
	const struct rd_option options[] = {
		{.name = "format", .argument = "FORM", .kind = RD_OPT_CHOICE, .target = &w->format,
		 .words = format_words, .help = "the form of the answer (default text)"},
		{.name = "member", .argument = "NAME", .kind = RD_OPT_TEXT, .target = &w->member,
		 .help = "only this trace of an archive, by its name there, with or without its folders"},
		{.name = "output", .letter = 'o', .argument = "FILE", .kind = RD_OPT_TEXT, .target = &w->output,
		 .help = "write to FILE, which appears whole or not at all"},
	};
	const struct rd_command_line line = {
		.name = NAME, .words = "TRACE...", .min_words = 1, .max_words = -1,
		.about = "Tell what is in a trace: format, clock, events of every kind, losses, damage.",
		.options = options, .options_n = sizeof options / sizeof *options,
		.examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->traces = (const char *const *)(argv + first);
	w->traces_n = (size_t)(argc - first);
	return true;
}

int rd_cmd_inspect(int argc, char **argv)
{
	struct words w = {.format = FORM_TEXT};
	struct showing s = {.w = &w, .complete = true};
	struct rd_error err;
	int exit_code;

	rd_error_clear(&err);
	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	int code = rd_output_open(&s.o, w.output, &err);
	if (code < 0)
		return rd_complain(NAME, &err);
	/* Nothing goes out before all is known: an error leaves no half answer. */
	int fd = s.o.out.fd;
	s.o.out.fd = -1;
	rd_json_init(&s.json, &s.o.out, true);
	code = show_all(&s, &err);
	s.o.out.fd = fd;
	if (code < 0)
		s.o.out.buffer.n = 0;
	int closed = rd_output_close(&s.o, code == 0, &err);
	if (code < 0 || closed < 0)
		return rd_complain(NAME, &err);
	return s.complete ? RD_EXIT_OK : RD_EXIT_INCOMPLETE;
}
