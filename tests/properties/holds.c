#include "tests/properties/holds.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gen/play.h"
#include "tests/properties/compare.h"
#include "tests/properties/delivery.h"
#include "tests/random.h"
#include "tests/support.h"

#define SECONDS_MOST 30

static void say(struct rd_bytes *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct rd_bytes *why, const char *fmt, ...)
{
	char line[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	(void)rd_bytes_append(why, line, strlen(line));
}

static void write_file(const char *path, const struct rd_bytes *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes->at, bytes->n) != (ssize_t)bytes->n)
		abort();
	close(fd);
}

/* In so many shards; the digest of the answer, which must be the truth, if that is known. */
static int one_way(const struct opened_trace *t, const char *folder, uint32_t shards, const struct gen_truth *truth,
		   char digest[33], struct rd_bytes *why)
{
	struct rd_result result;
	struct rd_error err;
	int rc = deliver_and_finish(t, folder, shards, &result, &err);

	if (rc < 0) {
		say(why, "%u shards: %s\n", shards, err.text);
		return 1;
	}
	size_t before = why->n;
	if (truth)
		compare_with_truth(&result, truth, why);
	if (why->n > before)
		say(why, "in %u shards\n", shards);
	rc = rd_result_digest(&result, digest, &err);
	rd_result_release(&result);
	return why->n > before || rc < 0;
}

static int all_ways(const struct opened_trace *t, const char *folder, const struct gen_truth *truth,
		    struct rd_bytes *why)
{
	uint32_t ways[] = {1, 2 + pick(6), 1 + pick(60)};
	char first[33], digest[33];

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (one_way(t, folder, ways[i], truth, i ? digest : first, why))
			return 1;
		if (i && strcmp(first, digest) != 0) {
			say(why, "another digest in %u shards\n", ways[i]);
			return 1;
		}
	}
	return 0;
}

/* The file cut somewhere, or some of its bytes changed. */
static void damage(struct rd_bytes *bytes)
{
	if (pick(2)) {
		bytes->n = pick((uint32_t)bytes->n);
		return;
	}
	for (uint32_t i = 1 + pick(6); i > 0; i--)
		bytes->at[pick((uint32_t)bytes->n)] ^= (uint8_t)(1 + pick(255));
}

/* All ways of a file give one answer: the truth, or for truth NULL any. A damaged file may have no index. */
static int file_holds(const char *path, const char *folder, const struct gen_truth *truth, struct rd_bytes *why)
{
	struct opened_trace t;
	struct rd_error err;

	if (open_trace(&t, path, &err) < 0) {
		if (truth)
			say(why, "no index: %s\n", err.text);
		return truth != NULL;
	}
	int rc = all_ways(&t, folder, truth, why);
	close_trace(&t);
	if (rc && truth == NULL)
		say(why, "of a damaged file\n");
	return rc;
}

int scenario_holds(const struct gen_options *o, const char *folder, struct rd_bytes *why)
{
	struct gen_output out = {.fd = -1};
	struct gen_truth truth;
	char path[4200];

	gen_play(o, &out, &truth);
	snprintf(path, sizeof path, "%s/trace", folder);
	write_file(path, &out.bytes);
	random_begin(o->seed ^ 0xde11);
	int rc = file_holds(path, folder, &truth, why);
	if (rc == 0) {
		damage(&out.bytes);
		write_file(path, &out.bytes);
		rc = file_holds(path, folder, NULL, why);
	}
	rd_bytes_release(&out.bytes);
	if (o->sound && truth.misled) {
		say(why, "%llu frames of a sound scenario are not what ran\n", (unsigned long long)truth.misled);
		rc = 1;
	}
	unlink(path);
	gen_truth_release(&truth);
	return rc;
}

/* ---- apart */

static void child(const struct gen_options *o, const char *folder, int fd)
{
	/* A death is the parent's to tell, not cmocka's. */
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct rd_bytes why = {0};

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_DFL);
	alarm(SECONDS_MOST);
	int rc = scenario_holds(o, folder, &why);
	if (why.n && write(fd, why.at, why.n) != (ssize_t)why.n)
		rc = 2;
	rd_bytes_release(&why);
	_exit(rc);
}

int scenario_holds_apart(const struct gen_options *o, struct rd_bytes *why)
{
	const char *folder = scratch_folder();
	char chunk[4096];
	int fds[2], status;
	ssize_t n;

	why->n = 0;
	if (pipe(fds) != 0)
		abort();
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		close(fds[0]);
		child(o, folder, fds[1]);
	}
	close(fds[1]);
	while ((n = read(fds[0], chunk, sizeof chunk)) > 0)
		(void)rd_bytes_append(why, chunk, (size_t)n);
	close(fds[0]);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	remove_store(folder);
	if (WIFSIGNALED(status))
		say(why, "died of signal %d\n", WTERMSIG(status));
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* ---- the smallest form */

#define TRIES_MOST 4000

/* Set a bit for [at, at + n) where it is not set. Whether that changed anything. */
static bool drop_some(uint8_t *drop, size_t at, size_t n, uint8_t bit, uint8_t *before)
{
	bool changed = false;

	memcpy(before, drop + at, n);
	for (size_t i = at; i < at + n; i++) {
		changed |= !(drop[i] & (bit | 1));
		drop[i] |= bit;
	}
	return changed;
}

static size_t one_round(struct gen_options *o, uint8_t *drop, uint8_t bit, size_t size, struct rd_bytes *why,
			unsigned *tries)
{
	uint8_t *before = malloc(size);
	struct rd_bytes now = {0};
	size_t dropped = 0;

	if (before == NULL)
		abort();
	for (size_t at = 0; at < o->drop_n && *tries < TRIES_MOST; at += size) {
		size_t n = o->drop_n - at < size ? o->drop_n - at : size;
		if (!drop_some(drop, at, n, bit, before))
			continue;
		++*tries;
		if (scenario_holds_apart(o, &now)) {
			struct rd_bytes swap = *why;
			*why = now;
			now = swap;
			dropped++;
		} else {
			memcpy(drop + at, before, n);
		}
	}
	rd_bytes_release(&now);
	free(before);
	return dropped;
}

void shrink_scenario(struct gen_options *o, uint8_t *drop, struct rd_bytes *why)
{
	unsigned tries = 0;
	size_t dropped;

	do {
		dropped = 0;
		for (size_t size = o->drop_n / 2; size > 0; size = size > 1 ? size / 2 : 0)
			dropped += one_round(o, drop, 1, size, why, &tries);
		dropped += one_round(o, drop, 2, o->drop_n, why, &tries);
		if (dropped == 0 || tries >= TRIES_MOST)
			break;
	} while (dropped);
	one_round(o, drop, 2, 1, why, &tries);
}
