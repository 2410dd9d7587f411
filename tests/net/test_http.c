#include "tests/support.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http.h"
#include "net/metrics.h"
#include "net/task.h"

/* ---- text */

static char *text_of(struct rd_out *out)
{
	rd_bytes_append(&out->buffer, "", 1);
	return (char *)out->buffer.at;
}

static void families_and_values(void **state)
{
	struct rd_out out;

	rd_out_init(&out, -1);
	rd_metric(&out, "a", "gauge", "Help.");
	rd_metric_u64(&out, "a", "x=\"1\"", UINT64_MAX);
	rd_metric_double(&out, "a", NULL, 0.25);
	rd_metric_counter(&out, "b_total", "More.", 0);
	assert_string_equal("# HELP a Help.\n# TYPE a gauge\na{x=\"1\"} 18446744073709551615\na 0.25\n"
			    "# HELP b_total More.\n# TYPE b_total counter\nb_total 0\n",
			    text_of(&out));
	rd_out_close(&out, NULL);
}

static void every_process_has_these(void **state)
{
	struct rd_out out;
	unsigned long long bytes = 0;

	rd_out_init(&out, -1);
	rd_metrics_process(&out, "broker");
	const char *text = text_of(&out);
	assert_non_null(strstr(text, "rundown_info{role=\"broker\",version=\""));
	assert_int_equal(1, sscanf(strstr(text, "\nprocess_resident_memory_bytes "),
				   "\nprocess_resident_memory_bytes %llu", &bytes));
	assert_true(bytes > 100000);
	assert_int_equal(1, sscanf(strstr(text, "\nprocess_open_fds "), "\nprocess_open_fds %llu", &bytes));
	assert_true(bytes >= 3 && bytes < 1000);
	rd_out_close(&out, NULL);
}

static void html_shows_any_text_as_text(void **state)
{
	struct rd_out out;

	rd_out_init(&out, -1);
	rd_html_text(&out, "<script>\"a\" & 'b'</script>\n\x1b[1m\xff ü");
	assert_string_equal("&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\\n\\x1b[1m\\xff ü",
			    text_of(&out));
	rd_out_close(&out, NULL);
}

static void what_a_task_is(void **state)
{
	assert_string_equal("work=open", rd_work_text(RD__WORK__OPEN, 1, 2).at);
	assert_string_equal("work=index", rd_work_text(RD__WORK__INDEX, 1, 2).at);
	assert_string_equal("work=decode trace=4294967295 shard=4294967295",
			    rd_work_text(RD__WORK__DECODE, UINT32_MAX, UINT32_MAX).at);
}

/* ---- pages */

static int asked;

static const char *page(void *ctx, const char *path, struct rd_out *out)
{
	asked++;
	assert_ptr_equal(&asked, ctx);
	if (strcmp(path, "/big") == 0)
		for (int i = 0; i < 100000; i++)
			rd_out_text(out, "0123456789");
	else if (strcmp(path, "/metrics") == 0)
		rd_out_text(out, "a 1\n");
	else
		return NULL;
	return RD_METRICS_TYPE;
}

static int connect_to(const struct rd_http *h)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_port = htons((uint16_t)atoi(strrchr(rd_http_address(h), ':') + 1));
	assert_int_equal(0, connect(fd, (struct sockaddr *)&a, sizeof a));
	return fd;
}

/* Serve until the client has all, or nothing moves for a while. */
static char *talk(struct rd_http *h, const char *request)
{
	static struct rd_bytes got;
	int fd = connect_to(h);

	got.n = 0;
	assert_true(send(fd, request, strlen(request), MSG_NOSIGNAL) > 0);
	for (int idle = 0; idle < 3;) {
		struct pollfd p[] = {{rd_http_fd(h), POLLIN, 0}, {fd, POLLIN, 0}};
		char piece[65536];
		int wait = rd_http_wait_ms(h);
		idle = poll(p, 2, wait >= 0 && wait < 100 ? wait : 100) == 0 ? idle + 1 : 0;
		rd_http_run(h);
		if (!(p[1].revents & (POLLIN | POLLHUP)))
			continue;
		ssize_t n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
		if (n <= 0)
			break;
		rd_bytes_append(&got, piece, (size_t)n);
	}
	close(fd);
	rd_bytes_append(&got, "", 1);
	return (char *)got.at;
}

static struct rd_http *opened(void)
{
	struct rd_error err;
	struct rd_http *h;
	int rc = rd_http_open("0", page, &asked, &h, &err);

	if (rc == RD_UNSUPPORTED) {
		print_message("# skip: no libmicrohttpd\n");
		skip();
	}
	assert_ok(rc, &err);
	assert_memory_equal("127.0.0.1:", rd_http_address(h), 10);
	asked = 0;
	return h;
}

static void pages_are_served(void **state)
{
	struct rd_http *h = opened();
	const char *got = talk(h, "GET /metrics HTTP/1.0\r\n\r\n");

	assert_non_null(strstr(got, " 200 OK\r\n"));
	assert_non_null(strstr(got, "Content-Type: text/plain; version=0.0.4"));
	assert_non_null(strstr(got, "Content-Security-Policy: default-src 'none'"));
	assert_string_equal("\r\n\r\na 1\n", strstr(got, "\r\n\r\n"));
	got = talk(h, "GET /big HTTP/1.0\r\n\r\n");
	assert_int_equal(1000000, strlen(strstr(got, "\r\n\r\n") + 4));
	got = talk(h, "HEAD /metrics HTTP/1.0\r\n\r\n");
	assert_string_equal("\r\n\r\n", strstr(got, "\r\n\r\n"));
	rd_http_close(h);
}

static void nothing_else_is(void **state)
{
	struct rd_http *h = opened();

	assert_non_null(strstr(talk(h, "GET /../etc/passwd HTTP/1.0\r\n\r\n"), " 404 "));
	assert_non_null(strstr(talk(h, "GET /no HTTP/1.0\r\n\r\n"), " 404 "));
	asked = 0;
	assert_non_null(strstr(talk(h, "POST /metrics HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"), " 405 "));
	assert_non_null(strstr(talk(h, "DELETE /metrics HTTP/1.0\r\n\r\n"), " 405 "));
	talk(h, "\xff\xfe\n\n");
	talk(h, "GET");
	assert_int_equal(0, asked);
	assert_non_null(strstr(talk(h, "GET /metrics HTTP/1.0\r\n\r\n"), " 200 "));
	rd_http_close(h);
}

static void silent_clients_are_bounded(void **state)
{
	struct rd_http *h = opened();
	int fds[50];

	for (int i = 0; i < 50; i++) {
		fds[i] = connect_to(h);
		rd_http_run(h);
	}
	/* Each holds a place for a while; those that are too many wait or are turned away. */
	for (int i = 0; i < 50; i++)
		close(fds[i]);
	for (int i = 0; i < 5; i++)
		rd_http_run(h);
	assert_non_null(strstr(talk(h, "GET /metrics HTTP/1.0\r\n\r\n"), " 200 "));
	rd_http_close(h);
}

static void addresses(void **state)
{
	const char *const good[] = {"0", "9100", "127.0.0.1:9100", "0.0.0.0:1", "[::1]:65535", "[::]:0", NULL};
	const char *const bad[] = {"",      "x",     "65536", "-1",      "host:1", ":1", "127.0.0.1",     "127.0.0.1:",
				   "::1:1", "[::1]", "[x]:1", "1.2.3:1", "1 ",     "+1", "[127.0.0.1]:1", NULL};
	struct rd_error err;

	for (size_t i = 0; good[i]; i++)
		assert_ok(rd_http_check(good[i], &err), &err);
	for (size_t i = 0; bad[i]; i++)
		assert_int_equal(RD_USAGE, rd_http_check(bad[i], &err));
}

static void a_place_that_is_taken(void **state)
{
	struct rd_http *h = opened(), *other;
	struct rd_error err;

	assert_int_equal(RD_IO, rd_http_open(rd_http_address(h), page, &asked, &other, &err));
	assert_string_equal(rd_http_address(h), err.file);
	rd_http_close(h);
	rd_http_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_and_values),
		cmocka_unit_test(every_process_has_these),
		cmocka_unit_test(html_shows_any_text_as_text),
		cmocka_unit_test(what_a_task_is),
		cmocka_unit_test(pages_are_served),
		cmocka_unit_test(nothing_else_is),
		cmocka_unit_test(silent_clients_are_bounded),
		cmocka_unit_test(addresses),
		cmocka_unit_test(a_place_that_is_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
