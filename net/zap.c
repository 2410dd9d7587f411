#include "net/zap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/inside.h"

#define ENDPOINT    "inproc://zeromq.zap.01"
#define FRAMES      7 /* version, request, domain, address, routing id, mechanism, key */
#define FRAME_BYTES 256
#define RAW_KEY     32

/* Questions answered before anything else goes on. */
#define BATCH 64

/*
 * Who has connected and said nothing that may be heard, be it that he is still
 * proving himself: so many at a time, and for so long.
 */
#define SILENT_MAX 128
#define SILENT_NS  UINT64_C(10000000000)
/* A descriptor's number beyond any sensible limit. */
#define FD_MAX     (1 << 20)

/* "worker/KEY" */
#define USER_TEXT (8 + RD_KEY_TEXT)

struct line {
	char user[USER_TEXT]; /* "" it has not spoken */
	bool silent;
	uint64_t came_ns;
	uint64_t list; /* the number of the list that it was found in */
};

struct rd_zap {
	void *handle;
	struct rd_authorised authorised;
	uint64_t list; /* number of the present one */
	uint64_t refresh_ns;
	RD_VEC(struct line) lines; /* by descriptor */
	unsigned silent;
	bool testing; /* refusals are wanted, and not told */
	struct rd_log_limit refusals, turned_away, failures;
};

bool rd_zap_tests_open;

/* ---- RFC 27 */

struct request {
	char part[FRAMES][FRAME_BYTES];
	size_t size[FRAMES];
	int n;
};

/* 1 a question, which may be none that makes sense; 0 none waits. */
static int receive(struct rd_zap *z, struct request *q)
{
	int more = 1;

	q->n = 0;
	while (more) {
		char part[FRAME_BYTES];
		size_t size = sizeof more;
		int got = zmq_recv(z->handle, part, sizeof part - 1, ZMQ_DONTWAIT);
		if (got < 0 && zmq_errno() == EINTR)
			continue;
		if (got < 0)
			return 0;
		/* What was cut is longer than all that we know. */
		if (q->n < FRAMES && (size_t)got < sizeof part) {
			memcpy(q->part[q->n], part, (size_t)got);
			q->part[q->n][got] = 0;
			q->size[q->n] = (size_t)got;
		}
		q->n++;
		if (zmq_getsockopt(z->handle, ZMQ_RCVMORE, &more, &size) != 0)
			return 0;
	}
	return 1;
}

static void answer(struct rd_zap *z, const struct request *q, const char *code, const char *text, const char *user)
{
	(void)zmq_send(z->handle, "1.0", 3, ZMQ_SNDMORE);
	(void)zmq_send(z->handle, q->part[1], q->n > 1 ? q->size[1] : 0, ZMQ_SNDMORE);
	(void)zmq_send(z->handle, code, strlen(code), ZMQ_SNDMORE);
	(void)zmq_send(z->handle, text, strlen(text), ZMQ_SNDMORE);
	(void)zmq_send(z->handle, user, strlen(user), ZMQ_SNDMORE);
	(void)zmq_send(z->handle, "", 0, 0);
}

static void tell_refusal(struct rd_zap *z, const char *address, const char *key, const char *why)
{
	uint64_t unsaid;
	char quoted[300];

	if (!z->testing && rd_log_may(&z->refusals, &unsaid))
		rd_log(RD_LOG_WARN, "key_refused", "address=%s key=\"%s\" why=\"%s\" unsaid=%" PRIu64,
		       rd_log_quote(address, quoted, sizeof quoted), key, why, unsaid);
}

static void judge(struct rd_zap *z, const struct request *q)
{
	char key[RD_KEY_TEXT], user[USER_TEXT];

	if (q->n != FRAMES || strcmp(q->part[0], "1.0") != 0 || strcmp(q->part[2], RD_ZAP_DOMAIN) != 0 ||
	    strcmp(q->part[5], "CURVE") != 0 || q->size[6] != RAW_KEY) {
		tell_refusal(z, q->n > 3 ? q->part[3] : "", "", "it has no key");
		answer(z, q, "400", "no key", "");
		return;
	}
	zmq_z85_encode(key, (const uint8_t *)q->part[6], RAW_KEY);
	const struct rd_key *found = rd_authorised_find(&z->authorised, key);
	if (found == NULL && rd_zap_tests_open) {
		answer(z, q, "200", "OK", "client/");
		return;
	}
	if (found == NULL) {
		tell_refusal(z, q->part[3], key, "it is not authorised");
		answer(z, q, "400", "not authorised", "");
		return;
	}
	snprintf(user, sizeof user, "%s/%s", rd_role_name(found->role), key);
	rd_log(RD_LOG_DEBUG, "key_let_in", "address=%s name=%s", q->part[3], found->name);
	answer(z, q, "200", "OK", user);
}

/* ---- the connections */

static struct line *line_of(struct rd_zap *z, int fd)
{
	if (fd < 0 || fd >= FD_MAX)
		return NULL;
	if ((size_t)fd >= z->lines.n) {
		size_t more = (size_t)fd + 1 - z->lines.n;
		if (rd_vec_reserve(&z->lines, more) < 0)
			return NULL;
		memset(z->lines.at + z->lines.n, 0, more * sizeof *z->lines.at);
		z->lines.n += more;
	}
	return &z->lines.at[fd];
}

static void not_silent(struct rd_zap *z, struct line *l)
{
	z->silent -= l->silent;
	l->silent = false;
}

/* libzmq sees the end of the stream, as if the peer had gone, and closes. */
static void show_out(struct rd_zap *z, int fd)
{
	(void)shutdown(fd, SHUT_RDWR);
	if (fd >= 0 && (size_t)fd < z->lines.n) {
		not_silent(z, &z->lines.at[fd]);
		/* It still is one that had spoken: its end is worth a question to all. */
		z->lines.at[fd].list = 0;
	}
}

void rd_zap_came(struct rd_zap *z, int fd, uint64_t now_ns)
{
	struct line *l = line_of(z, fd);
	uint64_t unsaid;

	if (l == NULL) {
		(void)shutdown(fd, SHUT_RDWR);
		return;
	}
	not_silent(z, l);
	*l = (struct line){.silent = true, .came_ns = now_ns};
	z->silent++;
	if (z->silent <= SILENT_MAX)
		return;
	show_out(z, fd);
	if (rd_log_may(&z->turned_away, &unsaid))
		rd_log(RD_LOG_WARN, "turned_away", "why=\"%d connections have proved nothing yet\" unsaid=%" PRIu64,
		       SILENT_MAX, unsaid);
}

bool rd_zap_went(struct rd_zap *z, int fd)
{
	if (fd < 0 || (size_t)fd >= z->lines.n)
		return false;
	struct line *l = &z->lines.at[fd];
	bool spoke = l->user[0] != 0;
	not_silent(z, l);
	*l = (struct line){0};
	return spoke;
}

/* "worker/KEY" as it stands in the present list; NULL when it does not. */
static const struct rd_key *find_user(const struct rd_zap *z, const char *user)
{
	const char *slash = strchr(user, '/');
	const struct rd_key *key = slash ? rd_authorised_find(&z->authorised, slash + 1) : NULL;

	if (key == NULL || strncmp(user, rd_role_name(key->role), (size_t)(slash - user)) != 0)
		return NULL;
	return key;
}

static int check_hello(const struct rd_key *key, const Rd__Hello *hello, struct rd_error *err)
{
	const char *said = rd_role_name(hello->role);

	if (hello->role == key->role)
		return 0;
	return rd_fail(err, RD_PROTOCOL, "the key %s is a %s's, and cannot be a %s's", key->name,
		       rd_role_name(key->role), said ? said : "stranger");
}

int rd_zap_admit(struct rd_zap *z, zmq_msg_t *part, const Rd__Envelope *e, struct rd_error *err)
{
	const char *user = zmq_msg_gets(part, "User-Id");
	int fd = zmq_msg_get(part, ZMQ_SRCFD);
	struct line *l = line_of(z, fd);

	if (user == NULL || l == NULL || strlen(user) >= sizeof l->user) {
		show_out(z, fd);
		return rd_fail(err, RD_PROTOCOL, "a peer that has proved nothing");
	}
	if (l->list == z->list && strcmp(l->user, user) == 0 && e->hello == NULL)
		return 0;
	const struct rd_key *key = find_user(z, user);
	memcpy(l->user, user, strlen(user) + 1);
	if (key == NULL) {
		show_out(z, fd);
		return rd_fail(err, RD_PROTOCOL, "its key is not authorised any more");
	}
	if (e->hello && check_hello(key, e->hello, err) < 0)
		return RD_PROTOCOL;
	not_silent(z, l);
	l->list = z->list;
	return 0;
}

/* ---- time */

static void show_out_the_revoked(struct rd_zap *z)
{
	unsigned out = 0;

	z->list++;
	for (size_t fd = 0; fd < z->lines.n; fd++) {
		struct line *l = &z->lines.at[fd];
		if (l->user[0] == 0 || find_user(z, l->user)) {
			l->list = l->list ? z->list : 0;
			continue;
		}
		show_out(z, (int)fd);
		out++;
	}
	rd_log(RD_LOG_INFO, "keys_changed", "authorised=%zu shown_out=%u", z->authorised.keys.n, out);
}

static void refresh(struct rd_zap *z, uint64_t now_ns)
{
	struct rd_error err;
	char line[900], quoted[1000];
	uint64_t unsaid;

	rd_error_clear(&err);
	int rc = rd_authorised_refresh(&z->authorised, now_ns, &err);
	if (rc < 0 && rd_log_may(&z->failures, &unsaid))
		rd_log(RD_LOG_ERROR, "keys_unreadable", "authorised=%zu error=%s", z->authorised.keys.n,
		       rd_log_quote(rd_error_line(&err, line, sizeof line), quoted, sizeof quoted));
	if (rc != 0)
		show_out_the_revoked(z);
}

static void show_out_the_silent(struct rd_zap *z, uint64_t now_ns)
{
	for (size_t fd = 0; z->silent > 0 && fd < z->lines.n; fd++)
		if (z->lines.at[fd].silent && now_ns - z->lines.at[fd].came_ns > SILENT_NS)
			show_out(z, (int)fd);
}

void rd_zap_turn(struct rd_zap *z, uint64_t now_ns)
{
	struct request q;

	if (now_ns >= z->refresh_ns) {
		z->refresh_ns = now_ns + (uint64_t)RD_ZAP_TURN_MS * 1000000;
		refresh(z, now_ns);
		show_out_the_silent(z, now_ns);
	}
	for (int i = 0; i < BATCH && receive(z, &q); i++)
		judge(z, &q);
}

void *rd_zap_handle(struct rd_zap *z)
{
	return z->handle;
}

/* ---- its life */

int rd_zap_open(struct rd_net *n, const char *folder, struct rd_zap **out, struct rd_error *err)
{
	struct rd_zap *z = rd_realloc(NULL, sizeof *z);
	int linger = 0;

	if (z == NULL)
		return rd_fail_nomem(err);
	*z = (struct rd_zap){.list = 1};
	int rc = rd_authorised_open(&z->authorised, folder, err);
	if (rc == 0 &&
	    ((z->handle = zmq_socket(n->context, ZMQ_REP)) == NULL ||
	     zmq_setsockopt(z->handle, ZMQ_LINGER, &linger, sizeof linger) != 0 || zmq_bind(z->handle, ENDPOINT) != 0))
		rc = rd_fail_zmq(err, "the door for keys");
	if (rc == 0) {
		z->testing = true;
		rc = rd_zap_self_test(n, z, err);
		z->testing = false;
	}
	if (rc < 0) {
		rd_zap_close(z);
		return rc;
	}
	*out = z;
	return 0;
}

void rd_zap_close(struct rd_zap *z)
{
	if (z == NULL)
		return;
	if (z->handle)
		zmq_close(z->handle);
	rd_authorised_release(&z->authorised);
	rd_vec_release(&z->lines);
	rd_free(z);
}
