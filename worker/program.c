/*
 * program - rundown-worker: decodes shards of traces for a broker.
 *
 * The forker of its parsers comes before everything else, so that no child
 * ever holds a socket of the worker.
 */
#include "worker/program.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/roots.h"
#include "cli/command.h"
#include "cli/options.h"
#include "net/http.h"
#include "net/security.h"
#include "worker/parse.h"
#include "worker/serve.h"

struct settings {
	const char *broker, *http;
	struct rd_security security;
	const char *scratch;
	uint64_t memory_bytes;
	uint64_t hang_ns;
	bool require_sandbox;
	const char *roots;
	int log;
};

static bool read_settings(struct settings *s, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		RD_OPTION_BROKER(&s->broker),
		RD_OPTIONS_SECURITY(&s->security),
		{"scratch", 0, "DIR",
		 "unpack archives below DIR, which all workers must see, instead of the job's folder", RD_OPT_TEXT,
		 &s->scratch, 0, 0, NULL},
		{"memory", 0, "SIZE", "address space of a parser (default 4GiB)", RD_OPT_SIZE, &s->memory_bytes,
		 64u << 20, 0, NULL},
		{"patience", 0, "TIME", "kill a parser that says nothing for so long (default 2m)", RD_OPT_SECONDS,
		 &s->hang_ns, 1000000, 0, NULL},
		{"root", 0, "DIRS",
		 "read traces below these folders only, and no links that lead out of them (default: any)", RD_OPT_TEXT,
		 &s->roots, 0, 0, NULL},
		{"require-sandbox", 0, NULL, "do not start where the kernel cannot fence parsers in", RD_OPT_FLAG,
		 &s->require_sandbox, 0, 0, NULL},
		RD_OPTION_HTTP(&s->http),
		RD_OPTION_LOG(&s->log, "how much to tell on stderr (default warn)"),
	};
	const struct rd_command_line line = {
		.name = "rundown-worker",
		.about = "Decode shards of traces for a broker, one at a time, each in a process of its own.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.notes = "SIGTERM hands the task in work back and ends the worker.\n",
	};
	int first_word;

	if (!rd_options_parse(&line, argc, argv, &first_word, exit_code))
		return false;
	struct rd_error err = {0};
	if (s->broker == NULL)
		rd_fail(&err, RD_USAGE, "--broker ENDPOINT is missing");
	else
		rd_security_check(&s->security, s->broker, &err);
	if (err.code == 0 && s->http)
		rd_http_check(s->http, &err);
	if (err.code == 0)
		return true;
	*exit_code = rd_usage(line.name, "%s", err.text);
	return false;
}

int rd_worker_program(int argc, char **argv)
{
	struct settings s = {.scratch = "", .memory_bytes = (uint64_t)4 << 30, .log = RD_LOG_WARN};
	struct rd_serve_options serve = {.limits = RD_WORKER_LIMITS};
	struct rd_forker forker;
	struct rd_forker_child child;
	struct rd_error err;
	int exit_code;

	s.hang_ns = serve.limits.hang_ns;
	if (!read_settings(&s, argc, argv, &exit_code))
		return exit_code;
	rd_log_init((enum rd_log_level)s.log, "worker");
	if (rd_confine_look(s.require_sandbox, "parsers", &err) < 0)
		return rd_complain("rundown-worker", &err);
	/* As long as the process. */
	struct rd_bytes roots = {0};
	if (s.roots && rd_roots_resolve(s.roots, s.scratch[0] ? s.scratch : NULL, &roots, &err) < 0)
		return rd_complain("rundown-worker", &err);
	int role = rd_forker_start(&forker, "rundown-parser", &child, &err);
	if (role == RD_FORKER_CHILD) {
		struct rd_parse_limits limits = {
			.sandbox = RD_SANDBOX_FENCED, .memory_bytes = s.memory_bytes, .roots = (const char *)roots.at};
		return rd_parse_child(&child, &limits);
	}
	if (role == RD_FORKER_ENDED)
		return 0;

	int code = role;
	if (code == RD_FORKER_OWNER) {
		serve.broker = s.broker;
		serve.http = s.http;
		serve.security = s.security;
		serve.scratch = s.scratch;
		serve.limits.hang_ns = s.hang_ns;
		code = rd_worker_serve(&serve, &forker, &err);
		rd_forker_stop(&forker);
	}
	if (code < 0)
		return rd_complain("rundown-worker", &err);
	return 0;
}
