/*
 * socket - messages over ZeroMQ, with the options that make it dependable.
 *
 * A process has one rd_net (a ZeroMQ context) and forks before it opens it.
 * The broker listens (ROUTER), all others connect (DEALER). Nothing blocks:
 * send and receive say at once whether they could, rd_net_poll waits.
 *
 * A send is no delivery: only an answer is. No routing ids are set by hand,
 * so a peer is a number that the listening socket gave its connection.
 * Threads: a socket belongs to the thread that opened it.
 */
#ifndef RD_NET_SOCKET_H
#define RD_NET_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "net/message.h"

struct rd_net;
struct rd_socket;

int rd_net_open(struct rd_net **out, struct rd_error *err);
/* Closes its sockets too; messages not yet on the wire are dropped. NULL is allowed. */
void rd_net_close(struct rd_net *n);

/*
 * Bind a ROUTER, "ipc:///folder/broker" or "tcp://host:port". RD_IO; RD_USAGE: a bad endpoint, or tcp before
 * rd_net_secure; RD_EXISTS: somebody listens at the path, or it is no socket's. What the dead left there is replaced,
 * and our own file goes with the socket.
 */
int rd_socket_listen(struct rd_net *n, const char *endpoint, struct rd_socket **out, struct rd_error *err);
/* The same on a socket that somebody else has bound and listens on: connects that came before us wait there. */
int rd_socket_listen_on(struct rd_net *n, const char *endpoint, int fd, struct rd_socket **out, struct rd_error *err);
/*
 * Connect a DEALER. Returns at once: the other side may come up later, and
 * come back after it was gone. rd_socket_event says when.
 */
int rd_socket_connect(struct rd_net *n, const char *endpoint, struct rd_socket **out, struct rd_error *err);
void rd_socket_close(struct rd_socket *s);
/* Let rd_net_close wait until what was sent is on the wire, at most linger_ms; for last words. */
void rd_socket_linger(struct rd_socket *s, int linger_ms);

/*
 * 1 sent, and *blob (may be NULL) is empty now; 0 not now: poll for RD_POLL_OUT
 * (a connecting socket: the other side is not there yet), all is as before.
 * RD_NOT_FOUND: the peer is gone (listening sockets). `to` is ignored on a
 * connecting socket.
 */
int rd_send(struct rd_socket *s, rd_peer to, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err);

/* The same with an envelope that is packed already. */
int rd_send_packed(struct rd_socket *s, rd_peer to, struct rd_span envelope, struct rd_blob *blob,
		   struct rd_error *err);

/*
 * 1 and *m is a message to be released; 0 none waits. RD_PROTOCOL: what came is
 * no message and was dropped; m->from says who sent it. Validate what comes.
 */
int rd_receive(struct rd_socket *s, struct rd_message *m, struct rd_error *err);

/* What happened to connections since the last call; 0 nothing. Ask whenever a poll returns. */
enum rd_net_event {
	RD_NET_UP = 1,      /* a connection is ready (again): a connecting side says HELLO now */
	RD_NET_DOWN = 2,    /* one ended: a listening side pings its peers to learn which */
	RD_NET_REFUSED = 4, /* the other side does not let our key in; the connection goes on being tried */
	RD_NET_FAILED = 8,  /* it and we do not understand each other: other keys, or none */
};
unsigned rd_socket_events(struct rd_socket *s);

/* One thing to wait for: a socket, or a descriptor when socket is NULL. */
enum rd_poll_bits { RD_POLL_IN = 1, RD_POLL_OUT = 2, RD_POLL_ERROR = 4 };
struct rd_poll {
	struct rd_socket *socket; /* its events end the wait too */
	int fd;
	unsigned want; /* enum rd_poll_bits */
	unsigned got;
};

/*
 * Wait until something is ready, at most timeout_ms (-1 for ever). The number
 * of ready items, 0 after the time, also early when a signal came or a broker's
 * list of keys is to be looked at. RD_IO.
 */
int rd_net_poll(struct rd_poll *items, size_t n, int timeout_ms, struct rd_error *err);

#endif
