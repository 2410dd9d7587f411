/*
 * watched - what a daemon's loop owes to those who watch it: pages and the service manager's words.
 *
 * Of the loop: rd_watched_poll adds to what is waited for, rd_watched_wait_ms
 * shortens the wait, and rd_watched_turn is called each time round.
 */
#ifndef RD_NET_WATCHED_H
#define RD_NET_WATCHED_H

#include "base/notify.h"
#include "net/http.h"
#include "net/socket.h"

struct rd_watched {
	struct rd_http *http; /* NULL none */
	struct rd_watchdog dog;
	bool ready;
};

/* Everything else of the daemon is open: READY is said. `address` NULL: no pages. Codes of rd_http_open. */
int rd_watched_open(struct rd_watched *w, const char *address, rd_http_page_fn page, void *ctx, struct rd_error *err);
/* STOPPING is said when READY was. Zeros are allowed. */
void rd_watched_close(struct rd_watched *w);
/* Fill item, if there is something to wait for: how many. */
size_t rd_watched_poll(const struct rd_watched *w, struct rd_poll *item);
/* wait_ms as for rd_net_poll. */
int rd_watched_wait_ms(struct rd_watched *w, int wait_ms);
void rd_watched_turn(struct rd_watched *w);

#endif
