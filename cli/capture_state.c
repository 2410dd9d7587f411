/*
 * capture_state - `rundown capture-state encode|decode|check`: periodic rundowns in a Windows session.
 */
#include "cli/capture_state.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "trace/event.h"

#define NAME "rundown capture-state"

enum verb { ENCODE, DECODE, CHECK };
static const char *const verbs[] = {"encode", "decode", "check", NULL};

enum form { FORM_UNSAID = -1, FORM_BINARY, FORM_HEX, FORM_C, FORM_TEXT, FORM_JSON };
static const char *const forms[] = {"binary", "hex", "c", "text", "json", NULL};

#define SECOND_NS UINT64_C(1000000000)

struct words {
	int verb, form;
	const char *path, *output;
	uint64_t every_ns;
	struct rd_words providers;
	bool disable;
};

static const char examples[] =
	"  rundown capture-state encode --every 60 --provider Microsoft-Windows-DotNETRuntime -o minute.bin\n"
	"  rundown capture-state decode minute.bin\n"
	"  rundown capture-state check minute.bin --format json\n"
	"  rundown capture-state encode --every 5m --provider e13c0d23-ccbc-4e12-931b-d9cc2eee27e4 --format c\n"
	"  rundown capture-state encode --disable -o off.bin    no bytes: what switches it off\n";

static const char notes[] =
	"The bytes are a TRACE_PERIODIC_CAPTURE_STATE_INFO, which TraceSetInformation takes with class 16. Windows\n"
	"has a smallest time between two rundowns: TraceQueryInformation with class 17 tells it, and what is shorter\n"
	"is refused there. Only providers that the session has enabled are asked, and of the .NET ones the runtime's\n"
	"own answers, with methods if its keywords have Jit 0x10 and EndEnumeration 0x80.\n"
	"docs/recording.md tells how to record with it, docs/formats/capture-state.md has the bytes.\n\n"
	"Exit code: 0 done, and good; 1 it cannot be read, or is not good; 2 wrong usage.\n";

static bool parse(struct words *w, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		{.name = "every",
		 .argument = "TIME",
		 .kind = RD_OPT_SECONDS,
		 .target = &w->every_ns,
		 .min = SECOND_NS,
		 .max = UINT32_MAX * SECOND_NS,
		 .help = "encode: so long between two rundowns, in whole seconds: 60, 5m"},
		{.name = "provider",
		 .argument = "NAME|GUID",
		 .kind = RD_OPT_LIST,
		 .target = &w->providers,
		 .help = "encode: a provider to ask; give it again for each"},
		{.name = "disable", .kind = RD_OPT_FLAG, .target = &w->disable, .help = "encode: switch it off"},
		{.name = "format",
		 .argument = "FORM",
		 .kind = RD_OPT_CHOICE,
		 .target = &w->form,
		 .words = forms,
		 .help = "encode: binary (default), hex or c; decode and check: text (default) or json"},
		RD_OPTION_OUTPUT(&w->output),
	};
	const struct rd_command_line line = {
		.name = NAME,
		.words = "encode|decode|check [FILE]",
		.min_words = 1,
		.max_words = -1,
		.about = "Write, read or check which providers a Windows session asks for what is there, again and "
			 "again:\n"
			 "rundowns in the middle of a trace, by which more of its frames have a name.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.examples = examples,
		.notes = notes,
	};
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	for (w->verb = 0; verbs[w->verb] && strcmp(verbs[w->verb], argv[first]) != 0;)
		w->verb++;
	w->path = first + 1 < argc ? argv[first + 1] : NULL;
	if (verbs[w->verb] == NULL)
		*exit_code = rd_usage(NAME, "'%s' is none of encode, decode, check", argv[first]);
	else if (w->path && (w->verb == ENCODE || first + 2 < argc))
		*exit_code = rd_usage(NAME, "one word too many: '%s'%s", argv[first + (w->verb == ENCODE ? 1 : 2)],
				      w->verb == ENCODE ? "; each provider has a --provider" : "");
	else
		return true;
	return false;
}

/* Whether the options go with the verb; else *exit_code. */
static bool agree(struct words *w, int *exit_code)
{
	bool encode = w->verb == ENCODE, any = w->every_ns || w->providers.n || w->disable;

	if (w->form == FORM_UNSAID)
		w->form = encode ? FORM_BINARY : FORM_TEXT;
	if (encode != (w->form <= FORM_C))
		*exit_code = rd_usage(NAME, "%s has no --format %s", verbs[w->verb], forms[w->form]);
	else if (!encode && w->path == NULL)
		*exit_code = rd_usage(NAME, "%s: which FILE?", verbs[w->verb]);
	else if (!encode && any)
		*exit_code = rd_usage(NAME, "--every, --provider and --disable go with encode only");
	else if (encode && w->disable && (w->every_ns || w->providers.n))
		*exit_code = rd_usage(NAME, "--disable goes without --every and --provider");
	else if (encode && !w->disable && w->every_ns == 0)
		*exit_code = rd_usage(NAME, "encode: --every TIME is missing");
	else if (encode && !w->disable && w->providers.n == 0)
		*exit_code = rd_usage(NAME, "encode: --provider NAME|GUID is missing");
	else if (w->every_ns % SECOND_NS)
		*exit_code = rd_usage(NAME, "--every: whole seconds only");
	else
		return true;
	return false;
}

/* ---- encode */

static int find_provider(const char *word, struct rd_capture_guid *guid, struct rd_error *err)
{
	char bare[37] = "";

	/* As logman writes one: {GUID}. */
	if (word[0] == '{' && strlen(word) == 38 && word[37] == '}')
		memcpy(bare, word + 1, 36);
	if (rd_guid_parse(*bare ? bare : word, guid->bytes) == 0 || rd_catalogue_guid(rd_text_span(word), guid->bytes))
		return 0;
	return rd_fail(err, RD_USAGE, "--provider: '%s' is no GUID, and no provider that rundown knows by name", word);
}

static int make(const struct words *w, struct rd_bytes *bytes, struct rd_error *err)
{
	RD_VEC(struct rd_capture_guid) all = {0};
	char remark[160];
	int rc = rd_vec_reserve(&all, w->providers.n) < 0 ? rd_fail_nomem(err) : 0;

	for (size_t i = 0; rc == 0 && i < w->providers.n; i++)
		rc = find_provider(w->providers.at[i], &all.at[all.n++], err);
	if (rc == 0)
		rc = rd_capture_write(bytes, (uint32_t)(w->every_ns / SECOND_NS), all.at, all.n, err);
	for (size_t i = 0; rc == 0 && i < all.n; i++)
		if (rd_capture_remark(&all.at[i], remark, sizeof remark))
			rd_note(NAME, "%s", remark);
	rd_vec_release(&all);
	return rc;
}

/* ---- decode and check */

static int read_bytes(const char *path, struct rd_bytes *bytes, struct rd_error *err)
{
	/* A byte more than any has tells that there is more. */
	int rc = rd_read_start(path, RD_CAPTURE_BYTES_MOST + 1, bytes, err);

	if (rc == 0 && bytes->n > RD_CAPTURE_BYTES_MOST)
		rc = rd_fail(err, RD_CORRUPT, "longer than any capture state, %d bytes", RD_CAPTURE_BYTES_MOST);
	return rc < 0 ? rd_error_at(err, rc, path, RD_NO_OFFSET) : 0;
}

static void show(const struct words *w, const struct rd_capture_state *s, struct rd_span bytes, struct rd_out *o)
{
	bool json = w->form == FORM_JSON;

	if (w->verb == CHECK)
		(json ? rd_capture_put_check_json : rd_capture_put_check_text)(o, s);
	else if (w->verb == DECODE)
		(json ? rd_capture_put_json : rd_capture_put_text)(o, s);
	else if (w->form == FORM_BINARY)
		rd_out_bytes(o, bytes.at, bytes.size_bytes);
	else
		(w->form == FORM_HEX ? rd_capture_put_hex : rd_capture_put_c)(o, bytes);
}

static int write_answer(const struct words *w, const struct rd_capture_state *s, struct rd_span bytes,
			struct rd_error *err)
{
	struct rd_output output;
	int rc = rd_output_open(&output, w->output, err);

	if (rc < 0)
		return rc;
	show(w, s, bytes, &output.out);
	return rd_output_close(&output, true, err);
}

static int run(const struct words *w)
{
	struct rd_bytes bytes = {0};
	struct rd_capture_state s = {0};
	struct rd_error err;

	rd_error_clear(&err);
	int rc = w->verb == ENCODE ? make(w, &bytes, &err) : read_bytes(w->path, &bytes, &err);
	struct rd_span span = {bytes.at, bytes.n};
	if (rc == 0)
		rc = rd_capture_read(&s, span, &err);
	int bad = rc == 0 ? rd_capture_verdict(&s, &err) : 0;
	/* What a check finds is its answer; a decoder that is not sure says nothing. */
	if (rc == 0 && (bad == 0 || w->verb == CHECK))
		rc = write_answer(w, &s, span, bad ? NULL : &err);
	else if (rc == 0)
		rc = bad;
	if (bad)
		rd_error_at(&err, bad, w->path, RD_NO_OFFSET);
	rd_capture_release(&s);
	rd_bytes_release(&bytes);
	if (rc == RD_USAGE)
		return rd_usage(NAME, "%s", err.text);
	return rc < 0 || bad < 0 ? rd_complain(NAME, &err) : RD_EXIT_OK;
}

int rd_cmd_capture_state(int argc, char **argv)
{
	struct words w = {.form = FORM_UNSAID};
	struct rd_error err;
	int exit_code;

	w.providers.at = rd_realloc(NULL, (size_t)argc * sizeof *w.providers.at);
	if (w.providers.at == NULL)
		return rd_complain(NAME, (rd_fail_nomem(&err), &err));
	if (parse(&w, argc, argv, &exit_code) && agree(&w, &exit_code))
		exit_code = run(&w);
	rd_free(w.providers.at);
	return exit_code;
}
