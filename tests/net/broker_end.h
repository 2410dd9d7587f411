/*
 * broker_end - a broker that a test plays by hand, for one worker or merger in a process of its own.
 *
 * All of it fails the test when a socket fails, or when the peer says nothing
 * for ten seconds or what it must not.
 */
#ifndef RD_TESTS_NET_BROKER_END_H
#define RD_TESTS_NET_BROKER_END_H

#include "net/socket.h"
#include "net/validate.h"

struct broker_end {
	struct rd_net *net;
	struct rd_socket *socket;
	rd_peer peer; /* who spoke last */
	struct rd_message m;
};

void broker_listen(struct broker_end *b, const char *endpoint);
/* The next message, from this kind of sender; it lives until the next call. */
const Rd__Envelope *broker_hear(struct broker_end *b, enum rd_sender from);
/* The next one that is no progress and no acknowledgement of a chunk, unless they are wanted; it is of this kind. */
const Rd__Envelope *broker_expect(struct broker_end *b, enum rd_sender from, Rd__Kind kind);
void broker_tell(struct broker_end *b, const Rd__Envelope *e, struct rd_blob *blob);
void broker_welcome(struct broker_end *b);
/* No ZeroMQ context crosses a fork: close it before. May be called again. */
void broker_close(struct broker_end *b);

#endif
