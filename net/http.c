#include "net/http.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/log.h"
#include "base/memory.h"

#define LIBRARY         "libmicrohttpd.so.12"
#define CONNECTIONS_MAX 32
#define PATIENCE_S      10
#define MEMORY_BYTES    ((size_t)16 << 10)
#define BACKLOG         64

/* What is called of the library. */
struct library {
	void *handle;
	__typeof__(&MHD_start_daemon) start;
	__typeof__(&MHD_stop_daemon) stop;
	__typeof__(&MHD_run) run;
	__typeof__(&MHD_get_timeout) timeout;
	__typeof__(&MHD_get_daemon_info) info;
	__typeof__(&MHD_create_response_from_buffer) response;
	__typeof__(&MHD_add_response_header) header;
	__typeof__(&MHD_queue_response) queue;
	__typeof__(&MHD_destroy_response) destroy;
};

struct rd_http {
	struct library lib;
	struct MHD_Daemon *daemon;
	rd_http_page_fn page;
	void *ctx;
	int listen_fd; /* until the daemon has it */
	int fd;
	char address[80];
};

/* ---- the library */

static int load(struct library *l, struct rd_error *err)
{
	const struct {
		const char *name;
		void *target;
	} wanted[] = {
		{"MHD_start_daemon", &l->start},
		{"MHD_stop_daemon", &l->stop},
		{"MHD_run", &l->run},
		{"MHD_get_timeout", &l->timeout},
		{"MHD_get_daemon_info", &l->info},
		{"MHD_create_response_from_buffer", &l->response},
		{"MHD_add_response_header", &l->header},
		{"MHD_queue_response", &l->queue},
		{"MHD_destroy_response", &l->destroy},
	};

	l->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (l->handle == NULL)
		return rd_fail(err, RD_UNSUPPORTED, "pages need " LIBRARY " (Debian: libmicrohttpd12): %s", dlerror());
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *found = dlsym(l->handle, wanted[i].name);
		if (found == NULL)
			return rd_fail(err, RD_UNSUPPORTED, LIBRARY " has no %s", wanted[i].name);
		memcpy(wanted[i].target, &found, sizeof found);
	}
	return 0;
}

/* ---- the address */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_port(const char *text, uint16_t *port)
{
	char *end;

	if (*text < '0' || *text > '9')
		return RD_USAGE;
	unsigned long v = strtoul(text, &end, 10);
	if (*end || v > 65535)
		return RD_USAGE;
	*port = htons((uint16_t)v);
	return 0;
}

static int parse(const char *text, union address *a, socklen_t *size, struct rd_error *err)
{
	char host[INET6_ADDRSTRLEN + 3];
	const char *colon = strrchr(text, ':');
	uint16_t port = 0;
	size_t n = colon ? (size_t)(colon - text) : 0;

	memset(a, 0, sizeof *a);
	if (parse_port(colon ? colon + 1 : text, &port) < 0 || n >= sizeof host)
		return rd_fail(err, RD_USAGE, "%s: no address of the form PORT or ADDRESS:PORT", text);
	memcpy(host, text, n);
	host[n] = 0;
	if (colon == NULL)
		strcpy(host, "127.0.0.1");
	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = 0;
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = port;
		*size = sizeof a->v6;
		if (inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1)
			return 0;
	}
	a->v4.sin_family = AF_INET;
	a->v4.sin_port = port;
	*size = sizeof a->v4;
	if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1)
		return 0;
	return rd_fail(err, RD_USAGE, "%s: no address of the form PORT or ADDRESS:PORT", text);
}

int rd_http_check(const char *address, struct rd_error *err)
{
	union address a;
	socklen_t size;

	return parse(address, &a, &size, err);
}

/* What it says of itself, the port that was found included. */
static bool is_loopback(struct rd_http *h)
{
	union address a;
	socklen_t size = sizeof a;
	char text[INET6_ADDRSTRLEN] = "";

	memset(&a, 0, sizeof a);
	getsockname(h->listen_fd, &a.any, &size);
	if (a.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof text);
		snprintf(h->address, sizeof h->address, "[%s]:%u", text, ntohs(a.v6.sin6_port));
		return IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
	}
	inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof text);
	snprintf(h->address, sizeof h->address, "%s:%u", text, ntohs(a.v4.sin_port));
	return ntohl(a.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int open_listener(struct rd_http *h, const char *address, struct rd_error *err)
{
	const int on = 1;
	union address a;
	socklen_t size;
	int rc = parse(address, &a, &size, err);

	if (rc < 0)
		return rc;
	h->listen_fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listen_fd < 0)
		return rd_fail_errno(err, "a socket for pages");
	/* A daemon that comes back finds its old connections still there. */
	(void)setsockopt(h->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(h->listen_fd, &a.any, size) != 0 || listen(h->listen_fd, BACKLOG) != 0)
		return rd_error_at(err, rd_fail_errno(err, "listening for those who watch"), address, RD_NO_OFFSET);
	return 0;
}

/* ---- requests */

static enum MHD_Result answer(struct rd_http *h, struct MHD_Connection *c, unsigned status, const char *type,
			      const void *body, size_t n)
{
	static const char *const headers[][2] = {
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"},
		{"Referrer-Policy", "no-referrer"},
	};
	struct MHD_Response *r = h->lib.response(n, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);

	if (r == NULL)
		return MHD_NO;
	h->lib.header(r, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		h->lib.header(r, "Allow", "GET, HEAD");
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		h->lib.header(r, headers[i][0], headers[i][1]);
	enum MHD_Result queued = h->lib.queue(c, status, r);
	h->lib.destroy(r);
	return queued;
}

static enum MHD_Result refuse(struct rd_http *h, struct MHD_Connection *c, unsigned status, const char *text)
{
	return answer(h, c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result request(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
			       const char *version, const char *upload, size_t *upload_size, void **own)
{
	struct rd_http *h = ctx;
	struct rd_out out;

	(void)version;
	(void)upload;
	/* What is sent to us is not read: the answer ends the connection. */
	if (*own == NULL && *upload_size == 0) {
		*own = h;
		if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
			return refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
		return MHD_YES;
	}
	if (*upload_size > 0) {
		*upload_size = 0;
		return MHD_YES;
	}
	rd_out_init(&out, -1);
	const char *type = h->page(h->ctx, url, &out);
	enum MHD_Result r;
	if (out.buffer.failed)
		r = refuse(h, c, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	else if (type)
		r = answer(h, c, MHD_HTTP_OK, type, out.buffer.at, out.buffer.n);
	else
		r = refuse(h, c, MHD_HTTP_NOT_FOUND, "no such page\n");
	rd_out_close(&out, NULL);
	return r;
}

/* ---- life */

static int start(struct rd_http *h, struct rd_error *err)
{
	h->daemon =
		h->lib.start(MHD_USE_EPOLL, 0, NULL, NULL, request, h, MHD_OPTION_LISTEN_SOCKET, h->listen_fd,
			     MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
			     (unsigned)PATIENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_BYTES, MHD_OPTION_END);
	if (h->daemon == NULL)
		return rd_fail(err, RD_IO, "pages cannot be served at %s", h->address);
	h->listen_fd = -1;
	const union MHD_DaemonInfo *info = h->lib.info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (info == NULL)
		return rd_fail(err, RD_UNSUPPORTED, LIBRARY " has no epoll");
	h->fd = info->epoll_fd;
	return 0;
}

int rd_http_open(const char *address, rd_http_page_fn page, void *ctx, struct rd_http **out, struct rd_error *err)
{
	struct rd_http *h = rd_realloc(NULL, sizeof *h);

	if (h == NULL)
		return rd_fail_nomem(err);
	*h = (struct rd_http){.page = page, .ctx = ctx, .listen_fd = -1, .fd = -1};
	int rc = open_listener(h, address, err);
	bool near = rc == 0 && is_loopback(h);
	if (rc == 0)
		rc = load(&h->lib, err);
	if (rc == 0)
		rc = start(h, err);
	if (rc < 0) {
		rd_http_close(h);
		return rc;
	}
	rd_log(RD_LOG_INFO, "pages", "address=%s", h->address);
	if (!near)
		rd_log(RD_LOG_WARN, "pages_for_all", "address=%s warning=\"whoever can connect sees names of traces\"",
		       h->address);
	*out = h;
	return 0;
}

void rd_http_close(struct rd_http *h)
{
	if (h == NULL)
		return;
	if (h->daemon)
		h->lib.stop(h->daemon);
	if (h->listen_fd >= 0)
		close(h->listen_fd);
	/* The library stays: what it loaded has threads' keys that cannot be taken back. */
	rd_free(h);
}

int rd_http_fd(const struct rd_http *h)
{
	return h->fd;
}

void rd_http_run(struct rd_http *h)
{
	(void)h->lib.run(h->daemon);
}

int rd_http_wait_ms(struct rd_http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (h->lib.timeout(h->daemon, &ms) != MHD_YES)
		return -1;
	return ms < 60000 ? (int)ms : 60000;
}

const char *rd_http_address(const struct rd_http *h)
{
	return h->address;
}
