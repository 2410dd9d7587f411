#include "net/watched.h"

#include "base/clock.h"

int rd_watched_open(struct rd_watched *w, const char *address, rd_http_page_fn page, void *ctx, struct rd_error *err)
{
	*w = (struct rd_watched){0};
	int rc = address ? rd_http_open(address, page, ctx, &w->http, err) : 0;

	if (rc < 0)
		return rc;
	rd_watchdog_init(&w->dog);
	rd_notify("READY=1");
	w->ready = true;
	return 0;
}

void rd_watched_close(struct rd_watched *w)
{
	if (w->ready)
		rd_notify("STOPPING=1");
	rd_http_close(w->http);
	*w = (struct rd_watched){0};
}

size_t rd_watched_poll(const struct rd_watched *w, struct rd_poll *item)
{
	if (w->http == NULL)
		return 0;
	*item = (struct rd_poll){.fd = rd_http_fd(w->http), .want = RD_POLL_IN};
	return 1;
}

static int least(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

int rd_watched_wait_ms(struct rd_watched *w, int wait_ms)
{
	if (w->dog.every_ns)
		wait_ms = least(wait_ms, rd_wait_ms(w->dog.due_ns));
	return w->http ? least(wait_ms, rd_http_wait_ms(w->http)) : wait_ms;
}

void rd_watched_turn(struct rd_watched *w)
{
	if (w->dog.every_ns)
		rd_watchdog_turn(&w->dog, rd_now_ns());
	if (w->http)
		rd_http_run(w->http);
}
