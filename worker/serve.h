/*
 * serve - a worker's life: the state machine of worker.h between a socket, a forker and a signal.
 */
#ifndef RD_WORKER_SERVE_H
#define RD_WORKER_SERVE_H

#include "base/forker.h"
#include "net/security.h"
#include "worker/worker.h"

struct rd_serve_options {
	const char *broker; /* endpoint */
	const char *http;   /* where pages for those who watch are; NULL: nowhere */
	struct rd_security security;
	const char *scratch; /* unpack archives here instead of in the job's folder; "" none */
	struct rd_worker_limits limits;
};

/*
 * Serve until SIGTERM or SIGINT: 0; the task is handed back. The forker's
 * children do the parsing. A negative code: the broker refused this worker,
 * or the forker died, or a socket broke.
 */
int rd_worker_serve(const struct rd_serve_options *o, struct rd_forker *forker, struct rd_error *err);

#endif
