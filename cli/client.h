/*
 * client - one question to a broker, until it is answered.
 *
 * Waits for a broker that is not there yet, for as long as the user wants, and
 * asks again on a new connection: a broker that was killed and came back has
 * its jobs, but not its clients. So a question must mean the same when it is
 * asked twice; a SUBMIT does by its token.
 */
#ifndef RD_CLI_CLIENT_H
#define RD_CLI_CLIENT_H

#include <stdbool.h>

#include "base/error.h"
#include "net/security.h"
#include "proto/wire.pb-c.h"

/* Options that every command of a broker's client has. */
struct rd_client_words {
	const char *broker;
	struct rd_security security;
	uint64_t patience_ns; /* how long nobody may answer */
	int signals;          /* of rd_signals_open: one that comes ends the wait; -1 none */
};
#define RD_CLIENT_OPTIONS(w)                                                                                           \
	RD_OPTION_BROKER(&(w)->broker), RD_OPTIONS_SECURITY(&(w)->security),                                          \
	{                                                                                                              \
		.name = "patience", .argument = "TIME", .kind = RD_OPT_SECONDS, .target = &(w)->patience_ns,           \
		.min = 1000000, .help = "how long to wait for the broker (default 30s)",                               \
	}

/* Defaults; the broker is RUNDOWN_BROKER of the environment, the keys RUNDOWN_KEYS, if they are there. */
struct rd_client_words rd_client_words(void);
/* 0, or the exit code and a line is out. */
int rd_client_check(const struct rd_client_words *w, const char *command);

/*
 * Ask, and hear what comes until `hear` returns 1 (0: go on; negative: its
 * error is ours). Messages are valid and the broker's. RD_IO: nobody answered
 * in time; RD_CANCELLED: a signal waits to be read; or what REFUSED said.
 */
typedef int (*rd_client_hear_fn)(void *ctx, const Rd__Envelope *e, struct rd_error *err);
int rd_client_ask(const struct rd_client_words *w, const Rd__Envelope *question, rd_client_hear_fn hear, void *ctx,
		  struct rd_error *err);

#endif
