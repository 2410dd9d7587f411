/*
 * loop - the broker's machine with a real socket, clock and signals.
 *
 * Ends by SIGTERM or SIGINT, with 0; or with an error that the caller tells.
 */
#ifndef RD_BROKER_LOOP_H
#define RD_BROKER_LOOP_H

#include "broker/broker.h"
#include "net/security.h"

struct rd_broker_place {
	const char *endpoint;
	int listen_fd;     /* a listening socket of the endpoint that is there already, or -1 */
	const char *state; /* folder of the journal; NULL: none */
	const char *http;  /* where pages for those who watch are; NULL: nowhere */
	struct rd_security security;
};

/* opt->epoch and the journal are filled in here. */
int rd_broker_serve(const struct rd_broker_place *at, const struct rd_broker_options *opt, struct rd_error *err);

#endif
