/*
 * keys - `rundown keys DIR`: who may speak to a broker over tcp.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out.h"
#include "cli/command.h"
#include "cli/options.h"
#include "net/keys.h"

#define NAME "rundown keys"

#define NO_ROLE (-1)

struct words {
	const char *folder, *name;
	int role;
	bool list;
};

static const char examples[] =
	"  rundown keys /etc/rundown/keys                      the broker's keys, and one of each role\n"
	"  rundown-broker --listen tcp://0.0.0.0:7411 --keys /etc/rundown/keys --root /traces\n"
	"  rundown keys /etc/rundown/keys --add worker node7   one more, for another machine\n"
	"  rundown-worker --broker tcp://10.0.0.1:7411 --keys worker-node7\n"
	"  rm /etc/rundown/keys/authorised/worker-node7.public shut it out again, within a second\n";

static const char notes[] =
	"DIR has server.secret, the broker's and nobody else's; authorised/, the public keys of whom the broker lets "
	"in\n"
	"and as what; and for each of them a folder to be handed out. A broker sees at once what comes and goes in\n"
	"authorised/. Whoever has a worker's key can read what workers are asked to read: give keys as you give "
	"logins.\n\n"
	"Exit code: 0 done; 1 it could not be done, or is there already; 2 wrong usage.\n";

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		{.name = "add",
		 .argument = "ROLE",
		 .kind = RD_OPT_CHOICE,
		 .target = &w->role,
		 .words = rd_role_names,
		 .help = "one more key of this role, called NAME"},
		{.name = "list", .kind = RD_OPT_FLAG, .target = &w->list, .help = "tell whom the broker lets in"},
	};
	const struct rd_command_line line = {
		.name = NAME,
		.words = "DIR [NAME]",
		.min_words = 1,
		.max_words = 2,
		.about = "Make the keys by which broker, workers, merger and clients know each other over tcp.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.examples = examples,
		.notes = notes,
	};
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->folder = argv[first];
	w->name = first + 1 < argc ? argv[first + 1] : NULL;
	if (w->role != NO_ROLE && w->list)
		*exit_code = rd_usage(NAME, "--add and --list: which?");
	else if (w->role != NO_ROLE && w->name == NULL)
		*exit_code = rd_usage(NAME, "--add %s: what is its NAME?", rd_role_names[w->role]);
	else if (w->role == NO_ROLE && w->name)
		*exit_code = rd_usage(NAME, "one word too many: '%s'", w->name);
	else
		return true;
	return false;
}

static int make(const struct words *w, struct rd_out *out, struct rd_error *err)
{
	int rc = rd_keys_make(w->folder, err);

	if (rc < 0)
		return rc;
	rd_out_printf(out, "rundown-broker --keys %s\n", w->folder);
	for (int i = 0; rd_role_names[i]; i++)
		rd_out_printf(out, "%s --keys %s/%s\n",
			      strcmp(rd_role_names[i], "client") == 0   ? "rundown submit"
			      : strcmp(rd_role_names[i], "worker") == 0 ? "rundown-worker"
									: "rundown-merger",
			      w->folder, rd_role_names[i]);
	return 0;
}

static int add(const struct words *w, struct rd_out *out, struct rd_error *err)
{
	char path[4096];
	int rc = rd_keys_add(w->folder, RD__ROLE__WORKER + w->role, w->name, path, sizeof path, err);

	if (rc == 0)
		rd_out_printf(out, "%s\n", path);
	return rc;
}

static int by_role_and_name(const void *a, const void *b)
{
	const struct rd_key *x = a, *y = b;

	return x->role != y->role ? (x->role > y->role) - (x->role < y->role) : strcmp(x->name, y->name);
}

static int list(const struct words *w, struct rd_out *out, struct rd_error *err)
{
	struct rd_authorised a;
	int rc = rd_authorised_open(&a, w->folder, err);

	if (rc == 0 && a.keys.n > 1)
		qsort(a.keys.at, a.keys.n, sizeof *a.keys.at, by_role_and_name);
	for (size_t i = 0; rc == 0 && i < a.keys.n; i++)
		rd_out_printf(out, "%s\t%s\t%s\n", rd_role_name(a.keys.at[i].role), a.keys.at[i].name,
			      a.keys.at[i].public);
	rd_authorised_release(&a);
	return rc;
}

int rd_cmd_keys(int argc, char **argv)
{
	struct words w = {.role = NO_ROLE};
	struct rd_error err, unwritten;
	struct rd_out out;
	int exit_code;

	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	rd_out_init(&out, STDOUT_FILENO);
	int rc = w.list ? list(&w, &out, &err) : w.role != NO_ROLE ? add(&w, &out, &err) : make(&w, &out, &err);
	if (rd_out_close(&out, &unwritten) < 0 && rc == 0)
		return rd_complain(NAME, &unwritten);
	return rc < 0 ? rd_complain(NAME, &err) : RD_EXIT_OK;
}
