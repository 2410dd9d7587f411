/*
 * http - pages for those who watch a daemon: GET and HEAD of a few paths, nothing else.
 *
 * libmicrohttpd does it, loaded when a page is wanted and not before: no
 * program that serves none pays for it. It runs inside the daemon's own loop,
 * so a page reads the daemon's state without locks; a client that is slow or
 * silent keeps a descriptor for ten seconds and nobody waiting.
 * Threads: one.
 */
#ifndef RD_NET_HTTP_H
#define RD_NET_HTTP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"

struct rd_http;

/* Write the page of this path into `out` (memory) and return its type, or NULL: there is none. */
typedef const char *(*rd_http_page_fn)(void *ctx, const char *path, struct rd_out *out);

/*
 * Listen at "PORT" (of 127.0.0.1), "ADDRESS:PORT" or "[ADDRESS]:PORT"; port 0:
 * any. RD_USAGE: no such address; RD_IO; RD_UNSUPPORTED: no libmicrohttpd here.
 */
int rd_http_open(const char *address, rd_http_page_fn page, void *ctx, struct rd_http **out, struct rd_error *err);
void rd_http_close(struct rd_http *h);
/* Whether the words are an address: 0 or RD_USAGE. */
int rd_http_check(const char *address, struct rd_error *err);

/* Readable when rd_http_run has something to do. */
int rd_http_fd(const struct rd_http *h);
void rd_http_run(struct rd_http *h);
/* How long to wait for the descriptor at most; -1 for ever. */
int rd_http_wait_ms(struct rd_http *h);
/* "127.0.0.1:9100" */
const char *rd_http_address(const struct rd_http *h);

#endif
