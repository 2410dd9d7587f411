/*
 * zap - the door of a broker with keys: who gets in, as what, and who is shown out.
 *
 * libzmq asks at inproc://zeromq.zap.01 whether a key may come in (RFC 27).
 * The answer is given by the broker's own thread, whenever it polls: so the
 * list of keys has one reader and needs no lock. A peer's User-Id is its role
 * and key; it comes with each message, and a key that is no longer in the
 * list says nothing more. Inside net/ only.
 *
 * A connection is known by its descriptor, which libzmq owns. To show its peer
 * out the descriptor is shut down, never closed. Should the number belong to
 * another by then, an innocent peer has to connect again.
 */
#ifndef RD_NET_ZAP_H
#define RD_NET_ZAP_H

#include <zmq.h>

#include "net/socket.h"

#define RD_ZAP_DOMAIN "rundown"

struct rd_zap;

/* Before any socket is bound: serve the keys authorised in a folder of keys, and see that a stranger's is refused. */
int rd_zap_open(struct rd_net *n, const char *folder, struct rd_zap **out, struct rd_error *err);
void rd_zap_close(struct rd_zap *z);
/* To be polled for reading; and turned whenever a poll returns, at least each RD_ZAP_TURN_MS. */
void *rd_zap_handle(struct rd_zap *z);
#define RD_ZAP_TURN_MS 250
void rd_zap_turn(struct rd_zap *z, uint64_t now_ns);

/* A connection came, or ended: whether its peer had spoken. */
void rd_zap_came(struct rd_zap *z, int fd, uint64_t now_ns);
bool rd_zap_went(struct rd_zap *z, int fd);
/*
 * Whether this message may be heard: 0, or RD_PROTOCOL and its peer is shown out. `part` is any of its parts but
 * the first, which has no properties after a poll. A HELLO must be of the role of its key.
 */
int rd_zap_admit(struct rd_zap *z, zmq_msg_t *part, const Rd__Envelope *e, struct rd_error *err);

/* Tests only: a door that lets everybody in, which the test of the keys must see. */
extern bool rd_zap_tests_open;

/* self_test.c: 0, or RD_INTERNAL: CURVE does not keep a stranger out. */
int rd_zap_self_test(struct rd_net *n, struct rd_zap *z, struct rd_error *err);

#endif
