/*
 * program - rundown-merger: keeps the partials of jobs and makes their results.
 *
 * The forker of the finishes comes before everything else, so that no child
 * ever holds a socket or the store of the merger.
 */
#include "merger/program.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/roots.h"
#include "cli/command.h"
#include "cli/options.h"
#include "merger/finish.h"
#include "merger/serve.h"
#include "net/http.h"
#include "net/security.h"

struct settings {
	const char *broker, *http;
	struct rd_security security;
	const char *state, *roots;
	bool thrown_away;
	uint64_t memory_bytes;
	bool require_sandbox;
	int log;
};

static bool read_settings(struct settings *s, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		RD_OPTION_BROKER(&s->broker),
		RD_OPTIONS_SECURITY(&s->security),
		{"state", 's', "DIR", "keep partials in DIR, on a disk of this machine", RD_OPT_TEXT, &s->state, 0, 0,
		 NULL},
		{"root", 0, "DIRS",
		 "write results below these folders only, whatever links lead out of them (default: anywhere)",
		 RD_OPT_TEXT, &s->roots, 0, 0, NULL},
		{"volatile", 0, NULL, "DIR is thrown away when the merger ends: do not wait for the disk", RD_OPT_FLAG,
		 &s->thrown_away, 0, 0, NULL},
		{"finish-memory", 0, "SIZE", "a job whose finish needs more memory fails (default 4GiB)", RD_OPT_SIZE,
		 &s->memory_bytes, RD_FINISH_MEMORY_MIN_BYTES, 0, NULL},
		{"require-sandbox", 0, NULL, "do not start where the kernel cannot fence finishes in", RD_OPT_FLAG,
		 &s->require_sandbox, 0, 0, NULL},
		RD_OPTION_HTTP(&s->http),
		RD_OPTION_LOG(&s->log, "how much to tell on stderr (default warn)"),
	};
	const struct rd_command_line line = {
		.name = "rundown-merger",
		.about = "Keep the partials of a broker's jobs, each shard's once, and make results of them.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.notes = "One merger works in DIR at a time. It may be killed at any moment and started again.\n",
	};
	int first_word;

	if (!rd_options_parse(&line, argc, argv, &first_word, exit_code))
		return false;
	struct rd_error err = {0};
	if (!(s->broker && s->state))
		rd_fail(&err, RD_USAGE, "%s is missing", s->broker ? "--state DIR" : "--broker ENDPOINT");
	else
		rd_security_check(&s->security, s->broker, &err);
	if (err.code == 0 && s->http)
		rd_http_check(s->http, &err);
	if (err.code == 0)
		return true;
	*exit_code = rd_usage(line.name, "%s", err.text);
	return false;
}

int rd_merger_program(int argc, char **argv)
{
	struct settings s = {.memory_bytes = RD_FINISH_MEMORY_BYTES, .log = RD_LOG_WARN};
	struct rd_merger_options o = {.limits = RD_MERGER_LIMITS};
	struct rd_forker forker;
	struct rd_forker_child child;
	struct rd_error err;
	int exit_code;

	if (!read_settings(&s, argc, argv, &exit_code))
		return exit_code;
	rd_log_init((enum rd_log_level)s.log, "merger");
	if (rd_confine_look(s.require_sandbox, "finishes", &err) < 0)
		return rd_complain("rundown-merger", &err);
	/* As long as the process. */
	struct rd_bytes roots = {0};
	if (s.roots && rd_roots_resolve(s.roots, NULL, &roots, &err) < 0)
		return rd_complain("rundown-merger", &err);
	int code = rd_forker_start(&forker, "rundown-finish", &child, &err);
	if (code == RD_FORKER_CHILD)
		return rd_finish_child(&child, s.state, (const char *)roots.at, s.memory_bytes);
	if (code == RD_FORKER_ENDED)
		return 0;
	if (code == RD_FORKER_OWNER) {
		o.broker = s.broker;
		o.http = s.http;
		o.security = s.security;
		o.state = s.state;
		o.limits.thrown_away = s.thrown_away;
		code = rd_merger_serve(&o, &forker, &err);
		rd_forker_stop(&forker);
	}
	if (code < 0)
		return rd_complain("rundown-merger", &err);
	return 0;
}
