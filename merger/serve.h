/*
 * serve - a merger's life: the state machine of merger.h between a socket, a store, a forker and a signal.
 */
#ifndef RD_MERGER_SERVE_H
#define RD_MERGER_SERVE_H

#include "base/forker.h"
#include "merger/merger.h"
#include "net/security.h"

struct rd_merger_options {
	const char *broker; /* endpoint */
	const char *http;   /* where pages for those who watch are; NULL: nowhere */
	struct rd_security security;
	const char *state;  /* folder; made if it is not there */
	struct rd_merger_limits limits;
	uint64_t map_bytes; /* as of rd_work_open */
};

/*
 * Serve until SIGTERM or SIGINT: 0. A negative code: the folder is not ours
 * to use, the broker refused this merger, the store failed, or the forker died.
 */
int rd_merger_serve(const struct rd_merger_options *o, struct rd_forker *forker, struct rd_error *err);

#endif
