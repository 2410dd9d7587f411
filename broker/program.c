/*
 * program - rundown-broker: the queue of jobs, for workers, a merger and clients.
 */
#include "broker/program.h"
#include "base/log.h"
#include "broker/loop.h"
#include "cli/command.h"
#include "cli/options.h"
#include "net/http.h"
#include "net/security.h"

struct settings {
	const char *listen, *state, *roots, *http;
	struct rd_security security;
	uint64_t listen_fd, attempts, lease_ns, progress_ns;
	int log;
};

static bool check(const struct settings *s, int *exit_code)
{
	struct rd_error err = {0};

	if (s->listen == NULL)
		rd_fail(&err, RD_USAGE, "--listen ENDPOINT is missing");
	else if (rd_security_check(&s->security, s->listen, &err) == 0 && rd_endpoint_is_tcp(s->listen) &&
		 s->roots == NULL)
		rd_fail(&err, RD_USAGE, "over tcp --root DIR must say which folders jobs may name");
	if (err.code == 0 && s->http)
		rd_http_check(s->http, &err);
	if (err.code == 0)
		return true;
	*exit_code = rd_usage("rundown-broker", "%s", err.text);
	return false;
}

static bool read_settings(struct settings *s, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		{"listen", 'l', "ENDPOINT", "where to listen: ipc:///FOLDER/NAME or tcp://HOST:PORT", RD_OPT_TEXT,
		 &s->listen, 0, 0, NULL},
		{"listen-fd", 0, "N", "descriptor N listens there already", RD_OPT_NUMBER, &s->listen_fd, 3, 1000000,
		 NULL},
		{"state", 's', "DIR",
		 "keep the queue in DIR, on a disk of this machine: a broker that comes back goes on (default: the "
		 "queue "
		 "dies with the broker)",
		 RD_OPT_TEXT, &s->state, 0, 0, NULL},
		{"root", 0, "DIRS",
		 "jobs may name paths below these folders only, with : between (default: any, over ipc; tcp needs it)",
		 RD_OPT_TEXT, &s->roots, 0, 0, NULL},
		RD_OPTIONS_SECURITY_BROKER(&s->security),
		{"attempts", 0, "N", "give a shard up after N failed attempts (default 3)", RD_OPT_NUMBER, &s->attempts,
		 1, 100, NULL},
		{"lease", 0, "TIME", "an attempt without progress for so long is lost (default 1m)", RD_OPT_SECONDS,
		 &s->lease_ns, 1000000, 0, NULL},
		{"progress", 0, "TIME", "how often workers tell how far they are (default 1s)", RD_OPT_SECONDS,
		 &s->progress_ns, 1000000, 60000000000u, NULL},
		RD_OPTION_HTTP(&s->http),
		RD_OPTION_LOG(&s->log, "how much to tell on stderr (default warn)"),
	};
	const struct rd_command_line line = {
		.name = "rundown-broker",
		.about = "Keep the queue of jobs: cut traces into shards, hand them to workers, pass partials to the "
			 "merger.",
		.options = options,
		.options_n = sizeof options / sizeof *options,
	};
	int first_word;

	if (!rd_options_parse(&line, argc, argv, &first_word, exit_code))
		return false;
	return check(s, exit_code);
}

int rd_broker_program(int argc, char **argv)
{
	struct settings s = {.attempts = 3, .lease_ns = 60000000000u, .progress_ns = 1000000000u, .log = RD_LOG_WARN};
	struct rd_error err;
	int exit_code;

	if (!read_settings(&s, argc, argv, &exit_code))
		return exit_code;
	rd_log_init((enum rd_log_level)s.log, "broker");
	struct rd_broker_options opt = {
		.attempts = (uint32_t)s.attempts,
		.lease_ns = s.lease_ns,
		.roots = s.roots,
		.progress_ms = (uint32_t)(s.progress_ns / 1000000),
		.status_ms = s.progress_ns < 100000000u ? (uint32_t)(s.progress_ns / 1000000) : 100,
	};
	struct rd_broker_place at = {.endpoint = s.listen,
				     .listen_fd = s.listen_fd ? (int)s.listen_fd : -1,
				     .state = s.state,
				     .http = s.http,
				     .security = s.security};
	if (rd_broker_serve(&at, &opt, &err) < 0)
		return rd_complain("rundown-broker", &err);
	return 0;
}
