#include "tests/support.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/forker.h"

/* What a child of these tests does: the word in its first descriptor, its answer into the second. */
static void child_work(const struct rd_forker_child *child)
{
	char word[64] = "";

	if (child->fds_n < 1 || pread(child->fds[0], word, sizeof word - 1, 0) < 0)
		_exit(90);
	if (strcmp(word, "three") == 0)
		_exit(3);
	if (strcmp(word, "crash") == 0)
		kill(getpid(), SIGXCPU);
	if (strcmp(word, "answer") == 0)
		_exit(write(child->fds[1], "here", 4) == 4 ? 0 : 91);
	if (strcmp(word, "frame") == 0)
		_exit(rd_pipe_write(child->fds[RD_FORKER_PIPE_FD], 7, (struct rd_span){NULL, 0},
				    (struct rd_span){(const uint8_t *)"here", 4}, NULL) < 0);
	if (strcmp(word, "mask") == 0) {
		sigset_t mask;
		sigprocmask(SIG_SETMASK, NULL, &mask);
		_exit(sigismember(&mask, SIGCHLD) ? 92 : 0);
	}
	if (strcmp(word, "wait") == 0)
		for (;;)
			pause();
	_exit(93);
}

static struct rd_forker start(void)
{
	struct rd_forker f;
	struct rd_forker_child child;
	struct rd_error err;
	int role = rd_forker_start(&f, "test-forker", &child, &err);

	if (role == RD_FORKER_CHILD)
		child_work(&child);
	if (role == RD_FORKER_ENDED)
		_exit(0);
	assert_ok(role, &err);
	return f;
}

static int word_file(const char *word)
{
	struct rd_error err;
	struct rd_span part = {(const uint8_t *)word, strlen(word)};
	int fd = rd_memory_file(&part, 1, &err);

	assert_ok(fd, &err);
	return fd;
}

static void order(struct rd_forker *f, uint64_t id, const char *word, int answer_fd)
{
	struct rd_error err;
	int fds[2] = {word_file(word), answer_fd};

	assert_ok(rd_forker_spawn(f, id, fds, answer_fd < 0 ? 1 : 2, &err), &err);
	close(fds[0]);
}

static struct rd_forker_exit next_end(struct rd_forker *f)
{
	struct rd_forker_exit e;
	struct rd_error err;
	struct pollfd item = {.fd = f->fd, .events = POLLIN};

	assert_int_equal(poll(&item, 1, 10000), 1);
	assert_int_equal(rd_forker_next(f, &e, &err), 1);
	return e;
}

static void ends_are_told(void **state)
{
	struct rd_forker f = start();
	struct rd_forker_exit e;
	struct rd_error err;
	char text[64];

	assert_int_equal(rd_forker_next(&f, &e, &err), 0);
	order(&f, 11, "three", -1);
	e = next_end(&f);
	assert_int_equal(e.id, 11);
	assert_string_equal(rd_exit_text(&e, text, sizeof text), "ended with code 3");
	assert_true(e.peak_bytes > 0);
	order(&f, 12, "crash", -1);
	e = next_end(&f);
	assert_int_equal(e.id, 12);
	assert_string_equal(rd_exit_text(&e, text, sizeof text), "was killed by SIGXCPU (CPU time limit exceeded)");
	order(&f, 13, "mask", -1);
	e = next_end(&f);
	assert_string_equal(rd_exit_text(&e, text, sizeof text), "ended with code 0");
	rd_forker_stop(&f);
}

static void descriptors_reach_the_child(void **state)
{
	struct rd_forker f = start();
	int ends[2];
	char answer[8] = "";

	assert_int_equal(pipe(ends), 0);
	order(&f, 1, "answer", ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], answer, sizeof answer), 4);
	assert_string_equal(answer, "here");
	/* The end of file comes: the forker kept no copy. */
	assert_int_equal(read(ends[0], answer, sizeof answer), 0);
	close(ends[0]);
	assert_int_equal(next_end(&f).status, 0);
	rd_forker_stop(&f);
}

static void a_task_is_answered_by_its_pipe(void **state)
{
	struct rd_forker f = start();
	struct rd_error err;
	struct rd_pipe p;
	struct rd_pipe_frame frame;

	int task = word_file("frame");
	assert_ok(rd_forker_spawn_task(&f, 1, task, 4, &p, &err), &err);
	assert_int_equal(next_end(&f).status, 0);
	assert_int_equal(rd_pipe_fill(&p, &err), RD_PIPE_HEAD_BYTES + 4);
	assert_int_equal(rd_pipe_next(&p, &frame, &err), 1);
	assert_int_equal(frame.type, 7);
	assert_span(frame.body, "here");
	assert_int_equal(rd_pipe_fill(&p, &err), 0);
	assert_true(p.ended);
	rd_pipe_release(&p);
	rd_forker_stop(&f);
	/* Nobody takes orders any more. */
	assert_code(RD_IO, rd_forker_spawn_task(&f, 2, task, 4, &p, &err));
	close(task);
}

static void a_kill_hits_only_its_child(void **state)
{
	struct rd_forker f = start();
	struct rd_error err;

	order(&f, 1, "wait", -1);
	order(&f, 2, "wait", -1);
	assert_ok(rd_forker_kill(&f, 99, &err), &err);
	assert_ok(rd_forker_kill(&f, 2, &err), &err);
	struct rd_forker_exit e = next_end(&f);
	assert_int_equal(e.id, 2);
	assert_true(WIFSIGNALED(e.status) && WTERMSIG(e.status) == SIGKILL);
	assert_ok(rd_forker_kill(&f, 1, &err), &err);
	assert_int_equal(next_end(&f).id, 1);
	rd_forker_stop(&f);
}

/* Whether all writers of this pipe end within ten seconds. */
static bool all_gone(int read_fd)
{
	struct pollfd item = {.fd = read_fd, .events = POLLIN};
	char byte;

	return poll(&item, 1, 10000) == 1 && read(read_fd, &byte, 1) == 0;
}

static void children_end_with_the_forker(void **state)
{
	struct rd_forker f = start();
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	order(&f, 1, "wait", ends[1]);
	close(ends[1]);
	rd_forker_stop(&f);
	assert_true(all_gone(ends[0]));
	close(ends[0]);
}

static void children_end_with_a_killed_forker(void **state)
{
	struct rd_forker f = start();
	struct rd_forker_exit e;
	struct rd_error err;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	order(&f, 1, "wait", ends[1]);
	close(ends[1]);
	/* The child is there once it was told of, or killed: order another and see its end. */
	order(&f, 2, "three", -1);
	assert_int_equal(next_end(&f).id, 2);
	kill(f.pid, SIGKILL);
	assert_true(all_gone(ends[0]));
	struct pollfd item = {.fd = f.fd, .events = POLLIN};
	assert_int_equal(poll(&item, 1, 10000), 1);
	assert_code(RD_IO, rd_forker_next(&f, &e, &err));
	rd_forker_stop(&f);
	close(ends[0]);
}

static void all_end_with_a_killed_owner(void **state)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pid_t owner = fork();
	if (owner == 0) {
		struct rd_forker f = start();
		order(&f, 1, "wait", ends[1]);
		order(&f, 2, "three", -1);
		(void)next_end(&f);
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	assert_int_equal(waitpid(owner, NULL, 0), owner);
	assert_true(all_gone(ends[0]));
	close(ends[0]);
}

static void too_many_descriptors(void **state)
{
	struct rd_forker f = start();
	struct rd_error err;
	int fds[RD_FORKER_FDS + 1] = {0};

	assert_code(RD_INTERNAL, rd_forker_spawn(&f, 1, fds, RD_FORKER_FDS + 1, &err));
	rd_forker_stop(&f);
	rd_forker_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_told),
		cmocka_unit_test(descriptors_reach_the_child),
		cmocka_unit_test(a_task_is_answered_by_its_pipe),
		cmocka_unit_test(a_kill_hits_only_its_child),
		cmocka_unit_test(children_end_with_the_forker),
		cmocka_unit_test(children_end_with_a_killed_forker),
		cmocka_unit_test(all_end_with_a_killed_owner),
		cmocka_unit_test(too_many_descriptors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
