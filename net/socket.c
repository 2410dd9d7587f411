#include "net/socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <zmq.h>

#include "base/clock.h"
#include "net/accept.h"
#include "net/frame.h"
#include "net/inside.h"
#include "net/security.h"
#include "net/zap.h"

/*
 * Options and why: docs/reliability.md, the table of ZeroMQ. HWM is no flow
 * control here (credits and windows are), so it is only an upper bound that
 * well-behaved peers never reach.
 */
#define HIGH_WATER           100000
/*
 * Whether the machine at the other end is there is asked by the kernel, of idle connections by keepalives, of others by
 * what is not acknowledged. Heartbeats of libzmq would ask, too, but 4.3.4 aborts the process (an assertion in
 * out_event of stream_engine_base.cpp) when one is due on a connection that it had stopped reading and that failed
 * then; changed bits on the way led there within seconds (tests/faults/fault_proxy.c).
 */
#define KEEPALIVE_S          1
#define KEEPALIVES           2
#define UNACKNOWLEDGED_MS    3000
/* Whoever has not proved himself by then is a stranger. */
#define HANDSHAKE_MS         5000
/* Daemons start at the same time: look again soon, and less and less often when nobody is there. */
#define RECONNECT_MS         1
#define RECONNECT_MAX_MS     1000

/* What CURVE puts around a frame: a name, a nonce, a box, flags. The limit is of what is on the wire. */
#define CURVE_BYTES 33

/* A ROUTER numbers its connections itself: a zero byte and 32 bits. Any other id was set by the peer. */
#define PEER_ID_BYTES 5

int rd_fail_zmq(struct rd_error *err, const char *what)
{
	int e = zmq_errno();
	int code = e == ENOMEM ? RD_NOMEM : e == EINVAL || e == EPROTONOSUPPORT ? RD_USAGE : RD_IO;

	rd_fail(err, code, "%s: %s", what, zmq_strerror(e));
	if (err && code == RD_IO)
		err->sys_errno = e;
	return code;
}

/* The threads that libzmq is about to start: it aborts the process where one cannot be had. */
#define THREADS 2

static void *hold(void *go)
{
	pthread_mutex_lock(go);
	pthread_mutex_unlock(go);
	return NULL;
}

/* Have them all at once, for a moment; their stacks are kept, for those that follow. */
static int check_threads(struct rd_error *err)
{
	pthread_mutex_t go = PTHREAD_MUTEX_INITIALIZER;
	pthread_t threads[THREADS];
	int n = 0, rc = 0;

	pthread_mutex_lock(&go);
	while (rc == 0 && n < THREADS)
		if ((rc = pthread_create(&threads[n], NULL, hold, &go)) == 0)
			n++;
	pthread_mutex_unlock(&go);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&go);
	if (rc == 0)
		return 0;
	errno = rc;
	return rd_fail_errno(err, "cannot start a thread; a limit may be too low (ulimit -v, ulimit -u)");
}

int rd_net_open(struct rd_net **out, struct rd_error *err)
{
	int code = check_threads(err);
	struct rd_net *n = code < 0 ? NULL : rd_realloc(NULL, sizeof *n);

	if (code < 0)
		return code;
	if (n == NULL)
		return rd_fail_nomem(err);
	rd_accept_guard();
	*n = (struct rd_net){.context = zmq_ctx_new()};
	if (n->context == NULL) {
		rd_free(n);
		return rd_fail_zmq(err, "no ZeroMQ context");
	}
	*out = n;
	return 0;
}

void rd_net_close(struct rd_net *n)
{
	if (n == NULL)
		return;
	while (n->sockets)
		rd_socket_close(n->sockets);
	rd_zap_close(n->zap);
	rd_keys_forget(&n->keys);
	zmq_ctx_term(n->context);
	rd_free(n);
}

static void free_socket(struct rd_socket *s)
{
	if (s->made.inode)
		rd_ipc_remove(rd_ipc_path(s->endpoint), &s->made);
	if (s->handle) {
		zmq_socket_monitor(s->handle, NULL, 0);
		zmq_close(s->handle);
	}
	if (s->monitor)
		zmq_close(s->monitor);
	rd_bytes_release(&s->packed);
	rd_free(s->endpoint);
	rd_free(s);
}

void rd_socket_close(struct rd_socket *s)
{
	if (s == NULL)
		return;
	struct rd_socket **at = &s->net->sockets;
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	free_socket(s);
}

static int set_options(struct rd_socket *s, struct rd_error *err)
{
	static const struct {
		int option, value;
	} of_all[] = {
		{ZMQ_LINGER, 0},
		{ZMQ_SNDHWM, HIGH_WATER},
		{ZMQ_RCVHWM, HIGH_WATER},
		{ZMQ_TCP_KEEPALIVE, 1},
		{ZMQ_TCP_KEEPALIVE_IDLE, KEEPALIVE_S},
		{ZMQ_TCP_KEEPALIVE_INTVL, KEEPALIVE_S},
		{ZMQ_TCP_KEEPALIVE_CNT, KEEPALIVES},
		{ZMQ_TCP_MAXRT, UNACKNOWLEDGED_MS},
		{ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS},
		{ZMQ_IMMEDIATE, 1},
		{ZMQ_RECONNECT_IVL, RECONNECT_MS},
		{ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS},
	};
	int64_t max_bytes = RD_FRAME_BYTES + (s->keyed ? CURVE_BYTES : 0);
	int mandatory = 1;

	for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
		if (zmq_setsockopt(s->handle, of_all[i].option, &of_all[i].value, sizeof of_all[i].value) != 0)
			return rd_fail_zmq(err, "a socket's options");
	if (zmq_setsockopt(s->handle, ZMQ_MAXMSGSIZE, &max_bytes, sizeof max_bytes) != 0)
		return rd_fail_zmq(err, "a socket's limit of size");
	if (s->listens && zmq_setsockopt(s->handle, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory) != 0)
		return rd_fail_zmq(err, "a socket's options");
	if (s->keyed)
		return rd_curve_set(s->handle, &s->net->keys, s->listens, err);
	return 0;
}

static int bind_path(struct rd_socket *s, const char *path, struct rd_error *err)
{
	int held = rd_ipc_hold(path);
	int rc = rd_ipc_check(path, err);

	if (rc == 0 && zmq_bind(s->handle, s->endpoint) != 0)
		rc = rd_fail_zmq(err, "cannot listen");
	if (rc == 0)
		rd_ipc_mark(path, &s->made);
	if (held >= 0)
		close(held);
	return rc;
}

/* Bind or connect. fd: as open_socket has it. */
static int attach(struct rd_socket *s, int fd, struct rd_error *err)
{
	const char *path = s->listens && fd < 0 ? rd_ipc_path(s->endpoint) : NULL;
	int rc = 0;

	if (path)
		rc = bind_path(s, path, err);
	else if ((s->listens ? zmq_bind(s->handle, s->endpoint) : zmq_connect(s->handle, s->endpoint)) != 0)
		rc = rd_fail_zmq(err, s->listens ? "cannot listen" : "cannot connect");
	return rc < 0 ? rd_error_in(err, rc, "%s", s->endpoint) : 0;
}

/* fd: a listening socket that is there already, or -1. */
static int open_socket(struct rd_net *n, bool listens, const char *endpoint, int fd, struct rd_socket **out,
		       struct rd_error *err)
{
	bool tcp = rd_endpoint_is_tcp(endpoint);

	if (tcp && !n->tcp)
		return rd_fail(err, RD_USAGE, "tcp without keys");
	struct rd_socket *s = rd_realloc(NULL, sizeof *s);
	if (s == NULL)
		return rd_fail_nomem(err);
	*s = (struct rd_socket){.net = n, .listens = listens, .keyed = tcp && n->keys.secret[0]};
	s->handle = zmq_socket(n->context, listens ? ZMQ_ROUTER : ZMQ_DEALER);
	s->endpoint = rd_realloc(NULL, strlen(endpoint) + 1);
	if (s->endpoint)
		memcpy(s->endpoint, endpoint, strlen(endpoint) + 1);
	int rc = s->endpoint == NULL ? rd_fail_nomem(err)
		 : s->handle         ? set_options(s, err)
				     : rd_fail_zmq(err, "no socket");
	if (rc == 0 && fd >= 0 && zmq_setsockopt(s->handle, ZMQ_USE_FD, &fd, sizeof fd) != 0)
		rc = rd_fail_zmq(err, "a socket that is open already");
	if (rc == 0)
		rc = rd_socket_watch(s, err);
	if (rc == 0)
		rc = attach(s, fd, err);
	if (rc < 0) {
		free_socket(s);
		return rc;
	}
	s->next = n->sockets;
	n->sockets = s;
	*out = s;
	return 0;
}

int rd_socket_listen(struct rd_net *n, const char *endpoint, struct rd_socket **out, struct rd_error *err)
{
	return open_socket(n, true, endpoint, -1, out, err);
}

int rd_socket_listen_on(struct rd_net *n, const char *endpoint, int fd, struct rd_socket **out, struct rd_error *err)
{
	return open_socket(n, true, endpoint, fd, out, err);
}

int rd_socket_connect(struct rd_net *n, const char *endpoint, struct rd_socket **out, struct rd_error *err)
{
	return open_socket(n, false, endpoint, -1, out, err);
}

void rd_socket_linger(struct rd_socket *s, int linger_ms)
{
	(void)zmq_setsockopt(s->handle, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
}

/* 1 sent, 0 not now, RD_NOT_FOUND no such peer. */
static int send_result(int sent, struct rd_error *err)
{
	if (sent >= 0)
		return 1;
	switch (zmq_errno()) {
	case EAGAIN:
		return 0;
	case EHOSTUNREACH:
		return rd_fail(err, RD_NOT_FOUND, "the peer is gone");
	default:
		return rd_fail_zmq(err, "a send");
	}
}

static int send_bytes(struct rd_socket *s, const void *bytes, size_t n, bool more, struct rd_error *err)
{
	int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
	int sent;

	do
		sent = zmq_send(s->handle, bytes, n, flags);
	while (sent < 0 && zmq_errno() == EINTR);
	return send_result(sent, err);
}

/*
 * Once a message's first part is accepted the rest is accepted too: ZeroMQ
 * refuses at the start of a message only. A peer that dies in between makes
 * it swallow the rest, which is a lost message like any other.
 */
int rd_send_packed(struct rd_socket *s, rd_peer to, struct rd_span envelope, struct rd_blob *blob, struct rd_error *err)
{
	size_t frames = blob ? blob->frames.n : 0;
	int rc;

	if (s->listens) {
		uint8_t id[PEER_ID_BYTES] = {0, (uint8_t)(to >> 24), (uint8_t)(to >> 16), (uint8_t)(to >> 8),
					     (uint8_t)to};
		rc = to > UINT32_MAX ? rd_fail(err, RD_NOT_FOUND, "no such peer")
				     : send_bytes(s, id, sizeof id, true, err);
		if (rc <= 0)
			return rc;
	}
	rc = send_bytes(s, envelope.at, envelope.size_bytes, frames > 0, err);
	for (size_t i = 0; rc > 0 && i < frames; i++) {
		int flags = ZMQ_DONTWAIT | (i + 1 < frames ? ZMQ_SNDMORE : 0);
		rc = send_result(zmq_msg_send(&blob->frames.at[i]->part, s->handle, flags), err);
	}
	if (rc > 0 && blob)
		rd_blob_release(blob);
	return rc;
}

int rd_send(struct rd_socket *s, rd_peer to, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err)
{
	s->packed.n = 0;
	s->packed.failed = 0;
	int rc = rd_envelope_pack(e, &s->packed, err);
	return rc < 0 ? rc : rd_send_packed(s, to, (struct rd_span){s->packed.at, s->packed.n}, blob, err);
}

/* Take what is left of a message that is not wanted. */
static void drain(struct rd_socket *s, zmq_msg_t *part)
{
	while (zmq_msg_more(part))
		if (zmq_msg_recv(part, s->handle, ZMQ_DONTWAIT) < 0)
			return;
}

/* The next part: 1, or 0 when none waits, or RD_IO. All parts of a message are there when the first is. */
static int receive_part(struct rd_socket *s, zmq_msg_t *part, struct rd_error *err)
{
	int n;

	do
		n = zmq_msg_recv(part, s->handle, ZMQ_DONTWAIT);
	while (n < 0 && zmq_errno() == EINTR);
	if (n >= 0)
		return 1;
	return zmq_errno() == EAGAIN ? 0 : rd_fail_zmq(err, "a receive");
}

static int receive_peer(struct rd_socket *s, zmq_msg_t *part, struct rd_message *m, struct rd_error *err)
{
	const uint8_t *id = zmq_msg_data(part);
	bool ours = zmq_msg_size(part) == PEER_ID_BYTES && id[0] == 0;

	if (ours)
		m->from = (rd_peer)id[1] << 24 | (rd_peer)id[2] << 16 | (rd_peer)id[3] << 8 | id[4];
	else
		m->from = UINT64_MAX;
	if (!ours || !zmq_msg_more(part)) {
		drain(s, part);
		return rd_fail(err, RD_PROTOCOL, ours ? "an empty message" : "a peer that named itself");
	}
	return receive_part(s, part, err);
}

static int receive_blob(struct rd_socket *s, struct rd_blob *blob, struct rd_error *err)
{
	int rc = 1;

	while (rc > 0) {
		struct rd_frame *f = rd_frame_empty();
		if (f == NULL)
			return rd_fail_nomem(err);
		rc = receive_part(s, &f->part, err);
		bool more = rc > 0 && zmq_msg_more(&f->part);
		if (rc > 0 && rd_blob_add_frame(blob, f, err) < 0) {
			drain(s, &f->part);
			rc = err && err->code == RD_NOMEM ? RD_NOMEM
							  : rd_fail(err, RD_PROTOCOL, "a message of too many frames");
		}
		if (rc <= 0) {
			rd_frame_free(f);
			return rc;
		}
		if (!more)
			return 1;
	}
	return rc;
}

int rd_receive(struct rd_socket *s, struct rd_message *m, struct rd_error *err)
{
	zmq_msg_t part;

	*m = (struct rd_message){0};
	zmq_msg_init(&part);
	int rc = receive_part(s, &part, err);
	if (rc > 0 && s->listens)
		rc = receive_peer(s, &part, m, err);
	if (rc > 0) {
		bool more = zmq_msg_more(&part);
		struct rd_span bytes = {zmq_msg_data(&part), zmq_msg_size(&part)};
		rc = rd_envelope_unpack(bytes, &m->envelope, err);
		if (rc == 0 && s->keyed && s->listens) {
			rd_socket_catch_up(s);
			rc = rd_zap_admit(s->net->zap, &part, m->envelope, err);
		}
		if (rc < 0)
			drain(s, &part);
		else
			rc = more ? receive_blob(s, &m->blob, err) : 1;
	}
	zmq_msg_close(&part);
	if (rc <= 0) {
		rd_peer from = m->from;
		rd_message_release(m);
		m->from = from;
	}
	return rc;
}

#define POLL_MAX 64

/* Whoever knocks at a broker's door is answered by whichever wait comes next. */
static struct rd_zap *zap_of(const struct rd_poll *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].socket && items[i].socket->net->zap)
			return items[i].socket->net->zap;
	return NULL;
}

/* Connect anew when it is time; else how long to wait until it is. */
static int try_again(struct rd_socket *s, int timeout_ms)
{
	if (s == NULL || s->again_ns == 0)
		return timeout_ms;
	int wait_ms = rd_wait_ms(s->again_ns);
	if (wait_ms == 0)
		rd_socket_again(s);
	return timeout_ms < 0 || wait_ms < timeout_ms ? wait_ms : timeout_ms;
}

int rd_net_poll(struct rd_poll *items, size_t n, int timeout_ms, struct rd_error *err)
{
	zmq_pollitem_t at[2 * POLL_MAX + 1];
	struct rd_zap *zap = zap_of(items, n);
	size_t used = 0;
	int ready = 0;

	if (n > POLL_MAX)
		return rd_fail(err, RD_INTERNAL, "%zu things to wait for", n);
	for (size_t i = 0; i < n; i++)
		timeout_ms = try_again(items[i].socket, timeout_ms);
	for (size_t i = 0; i < n; i++) {
		short events = (short)((items[i].want & RD_POLL_IN ? ZMQ_POLLIN : 0) |
				       (items[i].want & RD_POLL_OUT ? ZMQ_POLLOUT : 0) | ZMQ_POLLERR);
		struct rd_socket *s = items[i].socket;
		at[used++] = (zmq_pollitem_t){.socket = s ? s->handle : NULL, .fd = items[i].fd, .events = events};
		if (s)
			at[used++] = (zmq_pollitem_t){.socket = s->monitor, .events = ZMQ_POLLIN};
	}
	if (zap) {
		at[used++] = (zmq_pollitem_t){.socket = rd_zap_handle(zap), .events = ZMQ_POLLIN};
		if (timeout_ms < 0 || timeout_ms > RD_ZAP_TURN_MS)
			timeout_ms = RD_ZAP_TURN_MS;
	}
	if (zmq_poll(at, (int)used, timeout_ms) < 0 && zmq_errno() != EINTR)
		return rd_fail_zmq(err, "a wait");
	if (zap)
		rd_zap_turn(zap, rd_now_ns());
	for (size_t i = 0, k = 0; i < n; i++, k++) {
		short got = at[k].revents;
		items[i].got = (got & ZMQ_POLLIN ? RD_POLL_IN : 0) | (got & ZMQ_POLLOUT ? RD_POLL_OUT : 0) |
			       (got & ZMQ_POLLERR ? RD_POLL_ERROR : 0);
		bool event = items[i].socket && at[++k].revents;
		ready += items[i].got || event;
	}
	return ready;
}
