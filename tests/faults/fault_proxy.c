/*
 * fault_proxy - stand between two ends of tcp connections, and carry badly, by a seed.
 *
 *   fault_proxy LISTEN-PORT TARGET-PORT SEED FAULT[,FAULT...]
 *
 * delay: bytes wait up to 300 ms; split: a few bytes at a time; stall: nothing for up to 8 s; cut: the connection is
 * reset in the middle of a frame; flip: a bit is another; replay: what a client said is said once more, on a
 * connection of the proxy's own, when the client's has ended. SIGTERM ends it; a line on stdout says what it did.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/random.h"

#define PAIRS_MAX    256
#define BUFFER_BYTES 65536
#define REPLAY_BYTES 16384
#define MILLI        UINT64_C(1000000)

/* One way of a connection: what was read and is not yet written. */
struct way {
	uint8_t bytes[BUFFER_BYTES];
	size_t n;
	uint64_t not_before_ns;
	bool ended; /* its reader's end is over */
};

struct pair {
	int fd[2]; /* of the client, of the target; -1: the pair is free */
	struct way way[2];
	uint8_t said[REPLAY_BYTES]; /* by the client, from its start */
	size_t said_n;
};

static const char *const fault_names[] = {"delay", "split", "stall", "cut", "flip", "replay"};
enum { DELAY, SPLIT, STALL, CUT, FLIP, REPLAY, FAULTS };

static struct pair pairs[PAIRS_MAX];
static bool wanted[FAULTS];
static unsigned done[FAULTS], connections;
static uint16_t target;
static volatile sig_atomic_t ending;

static void on_end(int number)
{
	(void)number;
	ending = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MILLI + (uint64_t)t.tv_nsec;
}

static bool happens(int fault, uint64_t once_in)
{
	if (!wanted[fault] || roll(once_in) != 0)
		return false;
	done[fault]++;
	return true;
}

static struct sockaddr_in address(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_target(void)
{
	struct sockaddr_in a = address(target);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Without a word of goodbye: what is under way is lost. */
static void reset(int fd)
{
	struct linger none = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	close(fd);
}

static void replay(const struct pair *p)
{
	int fd = p->said_n ? connect_target() : -1;

	if (fd < 0)
		return;
	done[REPLAY] += write(fd, p->said, p->said_n) > 0;
	/* The other end has a moment to do what it must not. */
	usleep(20000);
	close(fd);
}

static void drop(struct pair *p, bool hard)
{
	for (int i = 0; i < 2; i++) {
		if (hard)
			reset(p->fd[i]);
		else
			close(p->fd[i]);
		p->fd[i] = -1;
	}
	if (wanted[REPLAY])
		replay(p);
}

static void take_client(int listener)
{
	int client = accept(listener, NULL, NULL);
	struct pair *p = pairs;

	while (p < pairs + PAIRS_MAX && p->fd[0] >= 0)
		p++;
	int other = client < 0 || p == pairs + PAIRS_MAX ? -1 : connect_target();
	if (other < 0) {
		if (client >= 0)
			reset(client);
		return;
	}
	memset(p, 0, sizeof *p);
	p->fd[0] = client;
	p->fd[1] = other;
	connections++;
}

/* From end i into its way; false: the pair is over. */
static bool read_end(struct pair *p, int i)
{
	struct way *w = &p->way[i];
	ssize_t n = recv(p->fd[i], w->bytes + w->n, BUFFER_BYTES - w->n, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0) {
		w->ended = true;
		return w->n > 0;
	}
	if (i == 0 && p->said_n < REPLAY_BYTES) {
		size_t room = REPLAY_BYTES - p->said_n, some = (size_t)n < room ? (size_t)n : room;
		memcpy(p->said + p->said_n, w->bytes + w->n, some);
		p->said_n += some;
	}
	if (happens(FLIP, 60))
		w->bytes[w->n + roll((uint64_t)n)] ^= (uint8_t)(1 << roll(8));
	w->n += (size_t)n;
	if (happens(DELAY, 4))
		w->not_before_ns = now_ns() + roll(300) * MILLI;
	if (happens(STALL, 150))
		w->not_before_ns = now_ns() + roll(8000) * MILLI;
	return true;
}

static bool write_end(struct pair *p, int i)
{
	struct way *w = &p->way[i];
	size_t n = w->n;

	if (n == 0 || now_ns() < w->not_before_ns)
		return true;
	if (n > 7 && happens(SPLIT, 2))
		n = 1 + roll(7);
	bool cut = n > 1 && happens(CUT, 200);
	ssize_t sent = send(p->fd[!i], w->bytes, cut ? n / 2 : n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (cut || (sent < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	if (sent > 0) {
		w->n -= (size_t)sent;
		memmove(w->bytes, w->bytes + sent, w->n);
	}
	return !(w->ended && w->n == 0);
}

static void serve(int listener)
{
	struct pollfd polls[1 + 2 * PAIRS_MAX] = {{listener, POLLIN, 0}};
	struct pair *of[1 + 2 * PAIRS_MAX];
	nfds_t n = 1;

	for (struct pair *p = pairs; p < pairs + PAIRS_MAX; p++)
		for (int i = 0; p->fd[0] >= 0 && i < 2; i++) {
			of[n] = p;
			polls[n++] = (struct pollfd){p->fd[i],
						     p->way[i].n < BUFFER_BYTES && !p->way[i].ended ? POLLIN : 0, 0};
		}
	poll(polls, n, 5);
	if (polls[0].revents & POLLIN)
		take_client(listener);
	for (nfds_t k = 1; k < n; k += 2) {
		bool good = true;
		for (int i = 0; good && i < 2; i++)
			good = !(polls[k + (nfds_t)i].revents & (POLLIN | POLLHUP | POLLERR)) || read_end(of[k], i);
		for (int i = 0; good && i < 2; i++)
			good = write_end(of[k], i);
		if (!good)
			drop(of[k], wanted[CUT]);
	}
}

static bool read_faults(char *text)
{
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		int i = 0;
		while (i < FAULTS && strcmp(word, fault_names[i]) != 0)
			i++;
		if (i == FAULTS)
			return false;
		wanted[i] = true;
	}
	return true;
}

int main(int argc, char **argv)
{
	int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (argc != 5 || !read_faults(argv[4])) {
		fprintf(stderr, "usage: fault_proxy LISTEN-PORT TARGET-PORT SEED delay,split,stall,cut,flip,replay\n");
		return 2;
	}
	struct sockaddr_in a = address((uint16_t)atoi(argv[1]));
	target = (uint16_t)atoi(argv[2]);
	random_begin(strtoull(argv[3], NULL, 10));
	for (int i = 0; i < PAIRS_MAX; i++)
		pairs[i].fd[0] = pairs[i].fd[1] = -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 64) != 0) {
		perror("fault_proxy");
		return 1;
	}
	signal(SIGTERM, on_end);
	while (!ending)
		serve(listener);
	printf("%u connections", connections);
	for (int i = 0; i < FAULTS; i++)
		if (wanted[i])
			printf(", %s %u", fault_names[i], done[i]);
	printf("\n");
	return 0;
}
