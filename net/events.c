#include <string.h>

#include <zmq.h>

#include "base/clock.h"
#include "net/accept.h"
#include "net/inside.h"
#include "net/security.h"
#include "net/zap.h"

/*
 * What a socket's monitor tells. A stranger who comes and goes at a broker
 * with keys is no reason to ask all peers whether they are still there: only
 * the end of a connection that had spoken is, or any end soon after somebody
 * was let in, whose words may still wait to be read.
 */
#define JUST_NOW_NS UINT64_C(5000000000)
/* A key may be authorised again, and what was no message may have been a bad line. */
#define AGAIN_NS    UINT64_C(1000000000)
/* libzmq comes back by itself from most ends of a connection, within a second, and from some never. */
#define GIVEN_UP_NS UINT64_C(3000000000)

int rd_monitor_open(struct rd_net *n, void *handle, int events, void **out, struct rd_error *err)
{
	int linger = 0;
	char name[64];

	snprintf(name, sizeof name, "inproc://monitor-%u", n->monitors++);
	if (zmq_socket_monitor(handle, name, events) != 0)
		return rd_fail_zmq(err, "a socket's monitor");
	*out = zmq_socket(n->context, ZMQ_PAIR);
	if (*out == NULL || zmq_setsockopt(*out, ZMQ_LINGER, &linger, sizeof linger) != 0 ||
	    zmq_connect(*out, name) != 0)
		return rd_fail_zmq(err, "a socket's monitor");
	return 0;
}

unsigned rd_monitor_next(void *monitor, uint32_t *value)
{
	unsigned number = 0;
	zmq_msg_t part;

	zmq_msg_init(&part);
	/* An event is two parts: number and value, then the endpoint. */
	if (zmq_msg_recv(&part, monitor, ZMQ_DONTWAIT) >= 0) {
		if (zmq_msg_size(&part) >= 6) {
			uint16_t event;
			memcpy(&event, zmq_msg_data(&part), sizeof event);
			memcpy(value, (const uint8_t *)zmq_msg_data(&part) + 2, sizeof *value);
			number = event;
		}
		while (zmq_msg_more(&part) && zmq_msg_recv(&part, monitor, ZMQ_DONTWAIT) >= 0)
			;
	}
	zmq_msg_close(&part);
	return number;
}

static void tell_failure(struct rd_socket *s, const char *event, const char *why)
{
	uint64_t unsaid;

	if (rd_log_may(&s->failures, &unsaid))
		rd_log(RD_LOG_WARN, event, "why=\"%s\" unsaid=%llu", why, (unsigned long long)unsaid);
}

/* A handshake came to nothing. */
static unsigned failed(struct rd_socket *s, unsigned event)
{
	if (s->listens) {
		/* Keys that are refused are told by those who refuse them. */
		if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
			tell_failure(s, "handshake_failed", "a peer that has no keys, or not ours");
		return 0;
	}
	if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
		tell_failure(s, "key_refused", "the broker does not let this key in");
		s->again_ns = rd_now_ns() + AGAIN_NS;
		return RD_NET_REFUSED;
	}
	if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
		s->again_ns = rd_now_ns() + AGAIN_NS;
	tell_failure(s, "handshake_failed",
		     s->keyed                          ? "is the server's public key this broker's?"
		     : rd_endpoint_is_tcp(s->endpoint) ? "does this broker want keys?"
						       : "the broker hung up; is it short of descriptors?");
	return RD_NET_FAILED;
}

static unsigned take(struct rd_socket *s, unsigned event, uint32_t value)
{
	struct rd_zap *zap = s->keyed ? s->net->zap : NULL;

	switch (event) {
	case ZMQ_EVENT_ACCEPTED:
		if (zap)
			rd_zap_came(zap, (int)value, rd_now_ns());
		return 0;
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		s->up_ns = rd_now_ns();
		s->up = true;
		s->again_ns = 0;
		return RD_NET_UP;
	case ZMQ_EVENT_DISCONNECTED:
		if (zap && !rd_zap_went(zap, (int)value) && rd_now_ns() - s->up_ns > JUST_NOW_NS)
			return 0;
		if (!s->listens && s->again_ns == 0)
			s->again_ns = rd_now_ns() + GIVEN_UP_NS;
		/* Who connects has one connection; one that never came up cannot have gone. */
		if (!s->listens && !s->up)
			return 0;
		s->up = false;
		return RD_NET_DOWN;
	default:
		return failed(s, event);
	}
}

int rd_socket_watch(struct rd_socket *s, struct rd_error *err)
{
	int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
		     ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

	return rd_monitor_open(s->net, s->handle, s->listens ? events | ZMQ_EVENT_ACCEPTED : events, &s->monitor, err);
}

void rd_socket_again(struct rd_socket *s)
{
	s->again_ns = 0;
	(void)zmq_disconnect(s->handle, s->endpoint);
	(void)zmq_connect(s->handle, s->endpoint);
}

void rd_socket_catch_up(struct rd_socket *s)
{
	unsigned event;
	uint32_t value;

	while ((event = rd_monitor_next(s->monitor, &value)) != 0)
		s->seen |= take(s, event, value);
}

unsigned rd_socket_events(struct rd_socket *s)
{
	/* A broker that always has something to hear does not wait, and so is not woken for its door. */
	if (s->listens && s->net->zap)
		rd_zap_turn(s->net->zap, rd_now_ns());
	if (s->listens && rd_accept_shut_out())
		tell_failure(s, "peers_shut_out", "nearly all descriptors are in use (see ulimit -n)");
	rd_socket_catch_up(s);
	unsigned seen = s->seen;
	s->seen = 0;
	return seen;
}
