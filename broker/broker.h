/*
 * broker - the queue of jobs, as a machine without sockets, files or clock.
 *
 * What happens is told to it (a message came, a peer is gone, time passed);
 * what it wants sent comes out of rd_broker_flush. So a test, or a seeded
 * simulation of a whole night, drives exactly the code that the daemon runs.
 *
 * Messages wait inside until flush, so that whatever keeps the jobs' state can
 * be on disk before anybody hears of a change.
 * It never opens a trace: only workers parse what users bring.
 * Threads: one.
 */
#ifndef RD_BROKER_BROKER_H
#define RD_BROKER_BROKER_H

#include <stdint.h>

#include "net/message.h"

struct rd_broker;

/* What is to be on disk before anything is said (docs/journal.md). Keys are compared as bytes. */
struct rd_change {
	struct rd_span key;
	struct rd_span value; /* put under the key, over what is there */
	struct rd_span last;  /* not empty: the records from key to last, both included, go, and there is no value */
};
/* 0: all of them are on disk, as one. Else none is, and the flush returns this code: it may be tried again. */
typedef int (*rd_broker_keep_fn)(void *ctx, const struct rd_change *changes, size_t n, struct rd_error *err);

struct rd_broker_options {
	uint8_t epoch[16];      /* random, new at each start */
	uint32_t attempts;      /* that may fail before a shard is quarantined; 0: 3 */
	uint32_t progress_ms;   /* how often workers are to tell; 0: 1000 */
	uint32_t status_ms;     /* how often watchers are told of progress at most; 0: 100 */
	uint64_t lease_ns;      /* without progress an attempt is lost; 0: 60 s */
	const char *roots;      /* folders that jobs may name, with : between; borrowed. NULL: any path */
	rd_broker_keep_fn keep; /* NULL: what the broker knows dies with it */
	void *keep_ctx;
};

int rd_broker_new(const struct rd_broker_options *opt, struct rd_broker **out, struct rd_error *err);
void rd_broker_free(struct rd_broker *b);

/*
 * Of a new broker, before anything else: each record of the journal in the
 * order of keys, then the end. RD_CORRUPT, RD_UNSUPPORTED, RD_NOMEM: the broker
 * can only be freed.
 */
int rd_broker_recall(struct rd_broker *b, struct rd_span key, struct rd_span value, struct rd_error *err);
int rd_broker_recalled(struct rd_broker *b, struct rd_error *err);

/* A message came. It is taken: *m is empty afterwards. */
void rd_broker_hear(struct rd_broker *b, struct rd_message *m, uint64_t now_ns);
/* What came from this peer was no message. */
void rd_broker_hear_rubbish(struct rd_broker *b, rd_peer from, const struct rd_error *why, uint64_t now_ns);
/* Some connection ended: ping everybody, so that sends tell whose it was. */
void rd_broker_probe(struct rd_broker *b, uint64_t now_ns);
/* Time passed. */
void rd_broker_tick(struct rd_broker *b, uint64_t now_ns);
/* When to tick next; UINT64_MAX: nothing is due. */
uint64_t rd_broker_next_ns(const struct rd_broker *b);

/*
 * Keep what changed, then send what is to be said. The function returns 1, or
 * anything else when the peer cannot be reached, which then counts as gone.
 * The blob is the function's to empty. When the change could not be kept its
 * code comes back and nothing was sent: flush again before anything else is
 * told. RD_NOMEM of our own: the broker must end.
 */
typedef int (*rd_broker_send_fn)(void *ctx, rd_peer to, struct rd_span envelope, struct rd_blob *blob);
int rd_broker_flush(struct rd_broker *b, uint64_t now_ns, rd_broker_send_fn send, void *ctx, struct rd_error *err);

struct rd_out;
/* What is so now and what happened since the start, as numbers (net/metrics.h), and as a page for people. */
void rd_broker_metrics(const struct rd_broker *b, uint64_t now_ns, struct rd_out *out);
void rd_broker_page(struct rd_broker *b, uint64_t now_ns, struct rd_out *out);

#endif
