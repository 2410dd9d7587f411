/*
 * inspect - `rundown inspect TRACE`: what is in a file, before a night is spent on it.
 */
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/inspect_show.h"
#include "cli/inspection.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "trace/archive.h"

#define NAME "rundown inspect"

enum form { FORM_TEXT, FORM_JSON };

struct words {
	const char *trace, *output;
	int format;
};

static const char *const format_words[] = {"text", "json", NULL};

static const char examples[] = "  rundown inspect shop.nettrace\n"
			       "  rundown inspect server.etl.zip --format json | jq '.events'\n";

static const char notes[] =
	"Events are named by what identifies them in the file: GUID/id/version (ETL), classic:GUID/opcode/version,\n"
	"kernel/GROUP/opcode/version, Provider-Name/id/version (nettrace).\n\n"
	"Exit code: 0 the trace is whole; 1 it cannot be read; 2 wrong usage; 3 it is cut or damaged, and what came\n"
	"whole is told.\n";

/* The traces of one file: a plain one, or the members of an archive. */
struct showing {
	const struct words *w;
	struct rd_output o;
	struct rd_json json;
	bool many; /* members of an archive */
	bool complete;
};

static int show_one(struct showing *s, const struct rd_source *source, const char *member, struct rd_error *err)
{
	struct rd_inspection in;
	int code = rd_inspection_make(&in, source, err);

	if (code == 0) {
		s->complete &= in.complete;
		if (s->w->format == FORM_TEXT) {
			rd_inspect_text(&in, s->w->trace, member, &s->o.out);
		} else {
			rd_json_object(&s->json, NULL);
			rd_inspect_json(&in, s->w->trace, member, &s->json);
			rd_json_object_end(&s->json);
		}
	}
	rd_inspection_release(&in);
	return code;
}

static int show_members(struct showing *s, const rd_unpacked_vec *members, struct rd_error *err)
{
	int code = 0;

	s->many = members->n > 1;
	if (s->many && s->w->format == FORM_JSON) {
		rd_json_object(&s->json, NULL);
		rd_json_array(&s->json, "traces");
	}
	for (size_t i = 0; i < members->n && code == 0; i++) {
		const struct rd_unpacked *m = &members->at[i];
		struct rd_source source;
		if (i && s->w->format == FORM_TEXT)
			rd_out_text(&s->o.out, "\n");
		code = rd_source_open(&source, m->path, err);
		if (code == 0) {
			code = show_one(s, &source, m->name, err);
			rd_source_close(&source);
		}
		if (code < 0) {
			/* The scratch file means nothing to the user: the member and its archive do. */
			err->file[0] = 0;
			rd_error_at(err, code, s->w->trace, err->offset);
			if (m->name[0])
				rd_error_in(err, code, "%.100s", m->name);
		}
	}
	if (s->many && s->w->format == FORM_JSON) {
		rd_json_array_end(&s->json);
		rd_json_object_end(&s->json);
	}
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

static int show(struct showing *s, struct rd_error *err)
{
	struct rd_source source;
	bool packed;
	int code = rd_source_open(&source, s->w->trace, err);

	if (code < 0) {
		/* What cannot be read is a failure, whatever it is: the words were right. */
		err->code = code == RD_USAGE ? RD_IO : code;
		return err->code;
	}
	code = rd_archive_is(&source, &packed, err);
	if (code == 0)
		code = packed ? show_packed(s, &source, err) : show_one(s, &source, "", err);
	rd_source_close(&source);
	return code;
}

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	/* clang-format off */
	const struct rd_option options[] = {
		{.name = "format", .argument = "FORM", .kind = RD_OPT_CHOICE, .target = &w->format,
		 .words = format_words, .help = "the form of the answer (default text)"},
		{.name = "output", .letter = 'o', .argument = "FILE", .kind = RD_OPT_TEXT, .target = &w->output,
		 .help = "write to FILE, which appears whole or not at all"},
	};
	const struct rd_command_line line = {
		.name = NAME, .words = "TRACE", .min_words = 1, .max_words = 1,
		.about = "Tell what is in a trace: format, clock, events of every kind, losses, damage.",
		.options = options, .options_n = sizeof options / sizeof *options,
		.examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->trace = argv[first];
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
	code = show(&s, &err);
	s.o.out.fd = fd;
	if (code < 0)
		s.o.out.buffer.n = 0;
	int closed = rd_output_close(&s.o, code == 0, &err);
	if (code < 0 || closed < 0)
		return rd_complain(NAME, &err);
	return s.complete ? RD_EXIT_OK : RD_EXIT_INCOMPLETE;
}
