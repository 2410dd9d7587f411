#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/clock.h"
#include "net/inside.h"
#include "net/zap.h"

#define PATIENCE_NS UINT64_C(5000000000)

#define VERDICTS                                                                                                       \
	(ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |       \
	 ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)

struct test {
	void *door, *stranger, *monitor;
};

/* A door like the broker's, with keys that live as long as the test, and a stranger before it. */
static int set_up(struct test *t, struct rd_net *n, struct rd_error *err)
{
	struct rd_keys inside = {0}, outside = {0};
	char endpoint[64];
	uint64_t number;
	int linger = 0, once = -1;

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return rd_fail_errno(err, "no random numbers");
	/* An abstract name: no file, and no network. */
	snprintf(endpoint, sizeof endpoint, "ipc://@rundown-%016" PRIx64, number);
	t->door = zmq_socket(n->context, ZMQ_ROUTER);
	t->stranger = zmq_socket(n->context, ZMQ_DEALER);
	if (t->door == NULL || t->stranger == NULL || zmq_curve_keypair(inside.public, inside.secret) != 0 ||
	    zmq_curve_keypair(outside.public, outside.secret) != 0)
		return rd_fail_zmq(err, "a test of the keys");
	memcpy(outside.server, inside.public, sizeof outside.server);
	zmq_setsockopt(t->door, ZMQ_LINGER, &linger, sizeof linger);
	zmq_setsockopt(t->stranger, ZMQ_LINGER, &linger, sizeof linger);
	zmq_setsockopt(t->stranger, ZMQ_RECONNECT_IVL, &once, sizeof once);
	int rc = rd_curve_set(t->door, &inside, true, err);
	if (rc == 0)
		rc = rd_curve_set(t->stranger, &outside, false, err);
	if (rc == 0)
		rc = rd_monitor_open(n, t->stranger, VERDICTS, &t->monitor, err);
	if (rc == 0 && (zmq_bind(t->door, endpoint) != 0 || zmq_connect(t->stranger, endpoint) != 0))
		rc = rd_fail_zmq(err, "a test of the keys");
	return rc;
}

static int wait_for_verdict(struct test *t, struct rd_zap *z, struct rd_error *err)
{
	zmq_pollitem_t items[] = {{.socket = rd_zap_handle(z), .events = ZMQ_POLLIN},
				  {.socket = t->monitor, .events = ZMQ_POLLIN}};
	uint64_t until = rd_now_ns() + PATIENCE_NS;
	uint32_t value;

	while (rd_now_ns() < until) {
		if (zmq_poll(items, 2, 100) < 0 && zmq_errno() != EINTR)
			return rd_fail_zmq(err, "a test of the keys");
		rd_zap_turn(z, rd_now_ns());
		unsigned event = rd_monitor_next(t->monitor, &value);
		if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && value == 400)
			return 0;
		if (event != 0)
			return rd_fail(
				err, RD_INTERNAL,
				"a stranger's key was not refused by the list of keys (event %u, %u): not opened",
				event, value);
	}
	return rd_fail(err, RD_INTERNAL, "a stranger's key was not refused in time: not opened");
}

int rd_zap_self_test(struct rd_net *n, struct rd_zap *z, struct rd_error *err)
{
	struct test t = {0};
	int rc = set_up(&t, n, err);

	if (rc == 0)
		rc = wait_for_verdict(&t, z, err);
	if (t.stranger)
		zmq_socket_monitor(t.stranger, NULL, 0);
	if (t.monitor)
		zmq_close(t.monitor);
	if (t.stranger)
		zmq_close(t.stranger);
	if (t.door)
		zmq_close(t.door);
	return rc;
}
