/*
 * program - rundown-broker: the queue of jobs, for workers, a merger and clients.
 */
#include "broker/program.h"
#include "base/log.h"
#include "broker/loop.h"
#include "cli/command.h"
#include "cli/options.h"

struct settings {
	const char *listen;
	uint64_t listen_fd, attempts, lease_ns, progress_ns;
	int log;
};

static bool read_settings(struct settings *s, int argc, char **argv, int *exit_code)
{
	const struct rd_option options[] = {
		{"listen", 'l', "ENDPOINT", "where to listen: ipc:///FOLDER/NAME or tcp://HOST:PORT", RD_OPT_TEXT,
		 &s->listen, 0, 0, NULL},
		{"listen-fd", 0, "N", "descriptor N listens there already", RD_OPT_NUMBER, &s->listen_fd, 3, 1000000,
		 NULL},
		{"attempts", 0, "N", "give a shard up after N failed attempts (default 3)", RD_OPT_NUMBER, &s->attempts,
		 1, 100, NULL},
		{"lease", 0, "TIME", "an attempt without progress for so long is lost (default 1m)", RD_OPT_SECONDS,
		 &s->lease_ns, 1000000, 0, NULL},
		{"progress", 0, "TIME", "how often workers tell how far they are (default 1s)", RD_OPT_SECONDS,
		 &s->progress_ns, 1000000, 60000000000u, NULL},
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
	if (s->listen)
		return true;
	*exit_code = rd_usage(line.name, "--listen ENDPOINT is missing");
	return false;
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
		.progress_ms = (uint32_t)(s.progress_ns / 1000000),
		.status_ms = s.progress_ns < 100000000u ? (uint32_t)(s.progress_ns / 1000000) : 100,
	};
	if (rd_broker_serve(s.listen, s.listen_fd ? (int)s.listen_fd : -1, &opt, &err) < 0)
		return rd_complain("rundown-broker", &err);
	return 0;
}
