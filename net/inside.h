/*
 * inside - what a socket is made of. Inside net/ only.
 */
#ifndef RD_NET_INSIDE_H
#define RD_NET_INSIDE_H

#include "base/log.h"
#include "net/ipc.h"
#include "net/keys.h"
#include "net/socket.h"

struct rd_zap;

struct rd_net {
	void *context;
	struct rd_socket *sockets;
	unsigned monitors; /* so far, for their names */

	/* rd_net_secure's */
	bool tcp;            /* tcp endpoints may be used at all */
	struct rd_keys keys; /* .secret "" over plain tcp */
	struct rd_zap *zap;  /* of a broker with keys */
};

struct rd_socket {
	struct rd_net *net;
	struct rd_socket *next;
	void *handle;
	void *monitor;
	bool listens;
	bool keyed;     /* tcp, with keys */
	unsigned seen;  /* events that are not told yet */
	bool up;        /* connecting ones: since it went down last */
	uint64_t up_ns; /* when a peer was let in last */
	struct rd_log_limit failures;
	char *endpoint;         /* connecting ones: for another try after our key was refused, */
	uint64_t again_ns;      /* which libzmq does not make by itself; 0 not now */
	struct rd_ipc_mark made; /* by a bind over ipc: it goes with us */
	struct rd_bytes packed; /* room for an envelope on its way out */
};

/* RD_IO, RD_NOMEM or RD_USAGE out of zmq_errno. */
int rd_fail_zmq(struct rd_error *err, const char *what);

/* ---- events.c */

int rd_monitor_open(struct rd_net *n, void *handle, int events, void **out, struct rd_error *err);
/* Open a socket's monitor. */
int rd_socket_watch(struct rd_socket *s, struct rd_error *err);
/* Read the monitor: a connection's beginning stands there before its first message can be received. */
void rd_socket_catch_up(struct rd_socket *s);
/* Connect once more. */
void rd_socket_again(struct rd_socket *s);
/* The next event of a monitor: its number, or 0; *value is a descriptor or a code. */
unsigned rd_monitor_next(void *monitor, uint32_t *value);

/* ---- security.c */

/* CURVE on a socket that is neither bound nor connected. */
int rd_curve_set(void *handle, const struct rd_keys *keys, bool serves, struct rd_error *err);

#endif
