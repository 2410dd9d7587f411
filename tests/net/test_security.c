#include "tests/support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/hello.h"
#include "net/keys.h"
#include "net/security.h"
#include "net/zap.h"

struct side {
	struct rd_net *net;
	struct rd_socket *socket;
	unsigned events; /* seen so far */
	struct rd_message m;
	int got; /* of the last receive */
	struct rd_error err;
};

struct door {
	struct side broker;
	char folder[4200];
	char endpoint[64];
	int port;
};

/* A port that was free a moment ago. */
static int free_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	close(fd);
	return ntohs(at.sin_port);
}

static const char *keys_of(const struct door *d, const char *who)
{
	static char path[2][4300];
	static unsigned n;
	char *at = path[n++ % 2];

	snprintf(at, sizeof path[0], "%s/%s", d->folder, who);
	return at;
}

static int open_door(void **state)
{
	static struct door d;
	static unsigned n;
	char name[32];

	d = (struct door){0};
	snprintf(name, sizeof name, "keys-%u", n++);
	snprintf(d.folder, sizeof d.folder, "%s", scratch_path(name));
	assert_ok(rd_keys_make(d.folder, &d.broker.err), &d.broker.err);
	d.port = free_port();
	snprintf(d.endpoint, sizeof d.endpoint, "tcp://127.0.0.1:%d", d.port);
	struct rd_security s = {.keys = d.folder};
	assert_ok(rd_net_open(&d.broker.net, &d.broker.err), &d.broker.err);
	assert_ok(rd_net_secure(d.broker.net, &s, RD__ROLE__ROLE_NONE, d.endpoint, &d.broker.err), &d.broker.err);
	assert_ok(rd_socket_listen(d.broker.net, d.endpoint, &d.broker.socket, &d.broker.err), &d.broker.err);
	*state = &d;
	return 0;
}

static void close_side(struct side *s)
{
	rd_message_release(&s->m);
	rd_net_close(s->net);
	*s = (struct side){0};
}

static int close_door(void **state)
{
	close_side(&((struct door *)*state)->broker);
	return 0;
}

static struct side connect_as(const struct door *d, Rd__Role role, const struct rd_security *words)
{
	struct side s = {0};

	assert_ok(rd_net_open(&s.net, &s.err), &s.err);
	assert_ok(rd_net_secure(s.net, words, role, d->endpoint, &s.err), &s.err);
	assert_ok(rd_socket_connect(s.net, d->endpoint, &s.socket, &s.err), &s.err);
	return s;
}

static struct side connect_with(const struct door *d, Rd__Role role, const char *folder)
{
	return connect_as(d, role, &(struct rd_security){.keys = folder});
}

static void turn(struct side *s)
{
	struct rd_poll item = {.socket = s->socket, .want = RD_POLL_IN};

	assert_ok(rd_net_poll(&item, 1, 5, &s->err), &s->err);
	s->events |= rd_socket_events(s->socket);
	if (s->got != 0)
		return;
	s->got = rd_receive(s->socket, &s->m, &s->err);
}

/* Let both live until one has heard something, an event of the other's came, or the time is over. */
static void live(struct side *a, struct side *b, unsigned events, int ms)
{
	uint64_t until = rd_now_ns() + (uint64_t)ms * 1000000;

	rd_message_release(&a->m);
	a->got = 0;
	b->events = 0;
	while (rd_now_ns() < until && a->got == 0 && !(b->events & events)) {
		turn(a);
		turn(b);
	}
}

static void say_hello(struct side *s, Rd__Role role)
{
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	struct rd_hello h;
	uint8_t uuid[16] = {(uint8_t)role};

	rd_hello(&h, role, uuid);
	h.message.capacity = role == RD__ROLE__WORKER;
	e.hello = &h.message;
	assert_int_equal(rd_send(s->socket, 0, &e, NULL, &s->err), 1);
}

static void who_has_a_key_is_heard(void **state)
{
	struct door *d = *state;

	for (Rd__Role role = RD__ROLE__WORKER; role <= RD__ROLE__CLIENT; role++) {
		struct side peer = connect_with(d, role, keys_of(d, rd_role_name(role)));
		live(&d->broker, &peer, RD_NET_UP, 5000);
		assert_true(peer.events & RD_NET_UP);
		say_hello(&peer, role);
		live(&d->broker, &peer, 0, 5000);
		assert_int_equal(d->broker.got, 1);
		assert_int_equal(d->broker.m.envelope->hello->role, role);
		Rd__Envelope e = rd_envelope(RD__KIND__PING);
		assert_int_equal(rd_send(d->broker.socket, d->broker.m.from, &e, NULL, NULL), 1);
		live(&peer, &d->broker, 0, 5000);
		assert_int_equal(peer.got, 1);
		/* A message of many parts has a sender, too. */
		struct rd_blob blob = {0};
		uint8_t *bytes = calloc(3, RD_FRAME_BYTES);
		assert_ok(rd_blob_add(&blob, bytes, 3 * (size_t)RD_FRAME_BYTES, &peer.err), &peer.err);
		free(bytes);
		assert_int_equal(rd_send(peer.socket, 0, &e, &blob, &peer.err), 1);
		live(&d->broker, &peer, 0, 5000);
		assert_int_equal(d->broker.got, 1);
		assert_int_equal(d->broker.m.blob.frames.n, 3);
		d->broker.events = 0;
		close_side(&peer);
	}
}

static void a_stranger_is_refused(void **state)
{
	struct door *d = *state;
	char other[4300];
	struct rd_error err;

	snprintf(other, sizeof other, "%s-of-another", d->folder);
	assert_ok(rd_keys_make(other, &err), &err);
	/* He knows the broker's public key: it is no secret. */
	char server[4300], mine[4400];
	snprintf(server, sizeof server, "%s/server.public", d->folder);
	snprintf(mine, sizeof mine, "%s/client", other);
	struct side peer = connect_as(d, RD__ROLE__CLIENT, &(struct rd_security){.keys = mine, .server_key = server});
	live(&d->broker, &peer, RD_NET_REFUSED | RD_NET_UP, 5000);
	assert_true(peer.events & RD_NET_REFUSED);
	assert_false(peer.events & RD_NET_UP);
	assert_int_equal(d->broker.got, 0);
	/* His coming and going is no news to anybody. */
	live(&d->broker, &peer, 0, 200);
	assert_false(d->broker.events & (RD_NET_UP | RD_NET_DOWN));
	close_side(&peer);

	/* A key of ours for another broker: he cannot even ask. */
	peer = connect_with(d, RD__ROLE__CLIENT, mine);
	live(&d->broker, &peer, RD_NET_UP, 100);
	assert_false(peer.events & RD_NET_UP);
	close_side(&peer);

	/* Nor who has no keys at all. */
	peer = connect_as(d, RD__ROLE__CLIENT, &(struct rd_security){.plain_tcp = true});
	live(&d->broker, &peer, RD_NET_UP, 100);
	assert_false(peer.events & RD_NET_UP);
	assert_int_equal(d->broker.got, 0);
	close_side(&peer);
}

static void a_key_is_of_one_role(void **state)
{
	struct door *d = *state;

	for (Rd__Role role = RD__ROLE__WORKER; role <= RD__ROLE__CLIENT; role++) {
		Rd__Role other = role == RD__ROLE__CLIENT ? RD__ROLE__WORKER : role + 1;
		struct side peer = connect_with(d, role, keys_of(d, rd_role_name(role)));
		live(&d->broker, &peer, RD_NET_UP, 5000);
		say_hello(&peer, other);
		live(&d->broker, &peer, 0, 5000);
		assert_code(RD_PROTOCOL, d->broker.got);
		assert_non_null(strstr(d->broker.err.text, "cannot be a"));
		assert_int_not_equal(d->broker.m.from, 0);
		close_side(&peer);
	}
}

static void who_is_revoked_is_shown_out(void **state)
{
	struct door *d = *state;
	char file[4400];
	struct side peer = connect_with(d, RD__ROLE__WORKER, keys_of(d, "worker"));
	struct side other = connect_with(d, RD__ROLE__MERGER, keys_of(d, "merger"));

	live(&d->broker, &peer, RD_NET_UP, 5000);
	say_hello(&peer, RD__ROLE__WORKER);
	live(&d->broker, &peer, 0, 5000);
	assert_int_equal(d->broker.got, 1);
	rd_peer id = d->broker.m.from;
	live(&d->broker, &other, RD_NET_UP, 5000);
	say_hello(&other, RD__ROLE__MERGER);
	live(&d->broker, &other, 0, 5000);
	assert_int_equal(d->broker.got, 1);
	rd_peer other_id = d->broker.m.from;

	snprintf(file, sizeof file, "%s/authorised/worker.public", d->folder);
	assert_int_equal(unlink(file), 0);
	uint64_t from = rd_now_ns();
	d->broker.events = 0;
	live(&d->broker, &peer, RD_NET_REFUSED, 5000);
	assert_true(peer.events & RD_NET_REFUSED);
	assert_true(peer.events & RD_NET_DOWN);
	assert_true(rd_now_ns() - from < UINT64_C(3000000000));
	assert_true(d->broker.events & RD_NET_DOWN);
	Rd__Envelope e = rd_envelope(RD__KIND__PING);
	assert_code(RD_NOT_FOUND, rd_send(d->broker.socket, id, &e, NULL, NULL));
	assert_int_equal(rd_send(d->broker.socket, other_id, &e, NULL, NULL), 1);
	live(&other, &d->broker, 0, 5000);
	assert_int_equal(other.got, 1);
	close_side(&peer);
	close_side(&other);
}

static void a_key_that_is_added_is_let_in(void **state)
{
	struct door *d = *state;
	char path[4300];
	struct rd_error err;

	assert_ok(rd_keys_add(d->folder, RD__ROLE__WORKER, "late", path, sizeof path, &err), &err);
	struct side peer = connect_with(d, RD__ROLE__WORKER, path);
	live(&d->broker, &peer, RD_NET_UP, 5000);
	assert_true(peer.events & RD_NET_UP);
	close_side(&peer);
}

/* One that always has something to hear. */
static void a_broker_that_never_waits_opens_its_door(void **state)
{
	struct door *d = *state;
	struct side peer = connect_with(d, RD__ROLE__WORKER, keys_of(d, "worker"));

	for (int i = 0; i < 1000 && !(peer.events & RD_NET_UP); i++) {
		turn(&peer);
		assert_int_equal(rd_receive(d->broker.socket, &d->broker.m, NULL), 0);
		rd_socket_events(d->broker.socket);
	}
	assert_true(peer.events & RD_NET_UP);
	close_side(&peer);
}

static int dial(const struct door *d)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)d->port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	return fd;
}

/* Whether the other side ended the connection. */
static bool is_over(int fd)
{
	char bytes[4096];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
		;
	return n == 0 || (n < 0 && errno != EAGAIN);
}

static void no_large_frame_before_the_handshake(void **state)
{
	struct door *d = *state;
	/* ZMTP 3.0, CURVE, as a client; then a command of 1 TB. */
	uint8_t greeting[64] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E'};
	uint8_t head[9] = {0x06, 0, 0, 1, 0, 0, 0, 0, 0};
	struct side idle = {0};
	int fd = dial(d);

	assert_int_equal(send(fd, greeting, sizeof greeting, MSG_NOSIGNAL), sizeof greeting);
	assert_int_equal(send(fd, head, sizeof head, MSG_NOSIGNAL), sizeof head);
	idle = connect_with(d, RD__ROLE__WORKER, keys_of(d, "worker"));
	for (int i = 0; i < 500 && !is_over(fd); i++)
		turn(&d->broker);
	assert_true(is_over(fd));
	close(fd);
	/* Others are not disturbed. */
	live(&d->broker, &idle, RD_NET_UP, 5000);
	assert_true(idle.events & RD_NET_UP);
	close_side(&idle);
}

static void so_many_may_be_silent(void **state)
{
	struct door *d = *state;
	int fds[160];
	unsigned over = 0;

	for (size_t i = 0; i < 160; i++) {
		fds[i] = dial(d);
		turn(&d->broker);
	}
	for (int i = 0; i < 200 && over < 32; i++) {
		turn(&d->broker);
		over = 0;
		for (size_t k = 0; k < 160; k++)
			over += is_over(fds[k]);
	}
	assert_int_equal(over, 32);
	for (size_t i = 0; i < 160; i++)
		close(fds[i]);
	struct side peer = connect_with(d, RD__ROLE__WORKER, keys_of(d, "worker"));
	live(&d->broker, &peer, RD_NET_UP, 5000);
	assert_true(peer.events & RD_NET_UP);
	close_side(&peer);
}

static void no_tcp_without_a_word(void **state)
{
	struct door *d = *state;
	struct rd_security none = {0}, both = {.keys = d->folder, .plain_tcp = true}, half = {.server_key = "x"};
	struct rd_socket *s;
	struct rd_net *n;
	struct rd_error err;

	assert_ok(rd_net_open(&n, &err), &err);
	assert_code(RD_USAGE, rd_net_secure(n, &none, RD__ROLE__CLIENT, d->endpoint, &err));
	assert_non_null(strstr(err.text, "--plain-tcp"));
	assert_code(RD_USAGE, rd_net_secure(n, &both, RD__ROLE__CLIENT, d->endpoint, &err));
	assert_code(RD_USAGE, rd_net_secure(n, &half, RD__ROLE__CLIENT, d->endpoint, &err));
	assert_ok(rd_net_secure(n, &none, RD__ROLE__CLIENT, "ipc:///x", &err), &err);
	assert_code(RD_USAGE, rd_socket_connect(n, d->endpoint, &s, &err));
	assert_code(RD_USAGE, rd_socket_connect(n, "TCP://127.0.0.1:1", &s, &err));
	assert_code(RD_USAGE, rd_socket_listen(n, "tcp://127.0.0.1:*", &s, &err));
	rd_net_close(n);
}

static void a_door_that_lets_strangers_in_stays_shut(void **state)
{
	struct door *d = *state;
	struct rd_security s = {.keys = d->folder};
	struct rd_socket *socket;
	struct rd_net *n;
	struct rd_error err;

	rd_zap_tests_open = true;
	assert_ok(rd_net_open(&n, &err), &err);
	assert_code(RD_INTERNAL, rd_net_secure(n, &s, RD__ROLE__ROLE_NONE, d->endpoint, &err));
	rd_zap_tests_open = false;
	assert_non_null(strstr(err.text, "a stranger's key was not refused"));
	assert_code(RD_USAGE, rd_socket_listen(n, "tcp://127.0.0.1:*", &socket, &err));
	rd_net_close(n);
}

int main(void)
{
#define DOOR(test) cmocka_unit_test_setup_teardown(test, open_door, close_door)
	const struct CMUnitTest tests[] = {
		DOOR(who_has_a_key_is_heard),
		DOOR(a_stranger_is_refused),
		DOOR(a_key_is_of_one_role),
		DOOR(who_is_revoked_is_shown_out),
		DOOR(a_key_that_is_added_is_let_in),
		DOOR(a_broker_that_never_waits_opens_its_door),
		DOOR(no_large_frame_before_the_handshake),
		DOOR(so_many_may_be_silent),
		DOOR(no_tcp_without_a_word),
		DOOR(a_door_that_lets_strangers_in_stays_shut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
