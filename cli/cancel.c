/*
 * cancel - `rundown cancel JOB...` and `rundown retry JOB...`: a word about jobs to their broker.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/out.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/job_status.h"
#include "cli/options.h"
#include "net/message.h"
#include "net/wire_error.h"

struct order {
	const char *name;
	Rd__Kind kind;
	struct rd_client_words client;
	const char *job;
	struct rd_out out;
};

static int hear_cancelled(struct order *o, const Rd__Envelope *e, struct rd_error *err)
{
	if (e->kind != RD__KIND__JOB_STATUS)
		return 0;
	if (rd_job_is_unknown(e->status)) {
		rd_wire_error_take(err, e->status->error);
		return rd_error_at(err, RD_NOT_FOUND, o->job, RD_NO_OFFSET);
	}
	/* A job that had ended before stays what it was. */
	char state[32];
	rd_field_text(&e->status->state, state, sizeof state);
	if (strcmp(state, "cancelled") != 0)
		rd_note(o->name, "%s has ended already: %s", o->job, state);
	return 1;
}

static int hear_retried(struct order *o, const Rd__Envelope *e, struct rd_error *err)
{
	if (e->kind != RD__KIND__SUBMITTED)
		return 0;
	if (e->error) {
		rd_wire_error_take(err, e->error);
		return rd_error_at(err, err->code == RD_USAGE ? err->code = RD_EXISTS : err->code, o->job,
				   RD_NO_OFFSET);
	}
	rd_out_printf(&o->out, "%.*s\n", (int)e->job.len, (const char *)e->job.data);
	return 1;
}

static int hear(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct order *o = ctx;
	return o->kind == RD__KIND__CANCEL ? hear_cancelled(o, e, err) : hear_retried(o, e, err);
}

static int order_one(struct order *o, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(o->kind);
	uint8_t token[16];

	if (getrandom(token, sizeof token, 0) != sizeof token)
		return rd_fail_errno(err, "no random numbers");
	e.job = rd_field(o->job);
	if (o->kind == RD__KIND__RETRY)
		e.token = (ProtobufCBinaryData){sizeof token, token};
	return rd_client_ask(&o->client, &e, hear, o, err);
}

static int order_all(struct order *o, const char *about, const char *notes, int argc, char **argv)
{
	const struct rd_option options[] = {RD_CLIENT_OPTIONS(&o->client)};
	const struct rd_command_line line = {
		.name = o->name,
		.words = "JOB...",
		.min_words = 1,
		.max_words = -1,
		.about = about,
		.options = options,
		.options_n = sizeof options / sizeof *options,
		.notes = notes,
	};
	int first, exit_code;
	struct rd_error err;

	if (!rd_options_parse(&line, argc, argv, &first, &exit_code))
		return exit_code;
	if ((exit_code = rd_client_check(&o->client, o->name)) != 0)
		return exit_code;
	rd_out_init(&o->out, STDOUT_FILENO);
	for (int i = first; i < argc; i++) {
		o->job = argv[i];
		if (order_one(o, &err) < 0)
			exit_code = rd_complain(o->name, &err);
	}
	if (rd_out_close(&o->out, &err) < 0)
		exit_code = rd_complain(o->name, &err);
	return exit_code;
}

int rd_cmd_cancel(int argc, char **argv)
{
	struct order o = {.name = "rundown cancel", .kind = RD__KIND__CANCEL, .client = rd_client_words()};

	return order_all(&o, "End jobs that are not done, and forget what was decoded of them.",
			 "Exit code: 0 they have ended; 1 no broker, no such job; 2 wrong usage.\n", argc, argv);
}

int rd_cmd_retry(int argc, char **argv)
{
	struct order o = {.name = "rundown retry", .kind = RD__KIND__RETRY, .client = rd_client_words()};

	return order_all(
		&o,
		"Try again what of jobs was given up, and print the job that goes on.\n"
		"A job that still runs gets its shards back. One that failed, was cancelled, or is done without\n"
		"some shards is done once more, as a new job, whose result takes the place of the old one.",
		"Exit code: 0 they go on; 1 no broker, no such job, nothing was given up; 2 wrong usage.\n", argc,
		argv);
}
