#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/file.h"

#define NO_FENCE  98
#define NOT_ASKED 99

/* How a child ends that put the fences up, or did not, and then asked: a code, or minus its signal. */
static int asked(bool fenced, const char *folder, int (*probe)(void))
{
	struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		if (fenced && rd_confine(folder ? (const char *const[]){folder, NULL} : NULL, NULL) < 0)
			_exit(NO_FENCE);
		_exit(probe());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* 0: it went well; else the errno. */
static int outcome(long rc)
{
	return rc < 0 ? errno : 0;
}

static int opens_a_file(void)
{
	return outcome(open("/etc/passwd", O_RDONLY));
}

static int makes_a_file(void)
{
	return outcome(open(scratch_path("made"), O_WRONLY | O_CREAT, 0600));
}

static int opens_a_socket(void)
{
	return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int runs_a_program(void)
{
	execl("/bin/true", "true", NULL);
	return errno;
}

static int forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return outcome(pid);
}

static int traces_its_parent(void)
{
	return outcome(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int signals_its_parent(void)
{
	return outcome(kill(getppid(), 0));
}

static int signals_its_parents_thread(void)
{
	return outcome(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int reads_its_parent(void)
{
	return outcome(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}

static int makes_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : 0;
}

static int turns_data_into_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NOT_ASKED : outcome(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int asks_by_the_other_table(void)
{
#ifdef __x86_64__
	return outcome(syscall(0x40000000 | SYS_getpid));
#else
	return -SIGSYS;
#endif
}

/* What a parser does; each would show as a code of its own. */
static int computes(void)
{
	char *p = malloc(40 << 20);
	int ends[2] = {STDERR_FILENO, STDERR_FILENO};
	struct stat st;

	if (p == NULL)
		return 1;
	memset(p, 1, 40 << 20);
	p = realloc(p, 60 << 20);
	free(p);
	if (write(ends[1], "", 0) != 0 || fstat(ends[1], &st) != 0)
		return 2;
	char text[64];
	snprintf(text, sizeof text, "%.3f", (double)rd_now_ns());
	return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? 3 : 0;
}

static int aborts(void)
{
	abort();
}

static unsigned fences(void)
{
	unsigned offered = rd_confine_offered();

	if (offered == 0)
		skip_test("neither seccomp nor Landlock here");
	return offered;
}

static void who_computes_is_not_disturbed(void **state)
{
	fences();
	assert_int_equal(asked(true, NULL, computes), 0);
	assert_int_equal(asked(true, scratch_folder(), computes), 0);
	assert_int_equal(asked(true, NULL, aborts), -SIGABRT);
}

static void what_only_an_intruder_asks_for_is_his_end(void **state)
{
	int (*const probes[])(void) = {opens_a_socket,    runs_a_program,     forks,
				       traces_its_parent, signals_its_parent, signals_its_parents_thread,
				       reads_its_parent};

	if (!(fences() & RD_CONFINE_CALLS))
		skip_test("no seccomp here");
	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		assert_int_equal(asked(true, NULL, probes[i]), -SIGSYS);
		assert_int_equal(asked(true, scratch_folder(), probes[i]), -SIGSYS);
	}
#ifdef __x86_64__
	assert_int_equal(asked(true, NULL, asks_by_the_other_table), -SIGSYS);
#endif
	assert_int_equal(asked(true, NULL, makes_code), EPERM);
	assert_int_equal(asked(true, NULL, turns_data_into_code), EPERM);
	/* Without the fence all of it goes. */
	assert_int_equal(asked(false, NULL, opens_a_socket), 0);
	assert_int_equal(asked(false, NULL, runs_a_program), 0);
	assert_int_equal(asked(false, NULL, signals_its_parent), 0);
	assert_int_equal(asked(false, NULL, makes_code), 0);
}

static void no_file_is_opened(void **state)
{
	fences();
	assert_true(asked(true, NULL, opens_a_file) == EPERM || asked(true, NULL, opens_a_file) == EACCES);
	assert_int_not_equal(asked(true, NULL, makes_a_file), 0);
	assert_int_equal(access(scratch_path("made"), F_OK), -1);
	assert_int_equal(asked(false, NULL, opens_a_file), 0);
}

static int works_in_its_folder(void)
{
	char inside[4200];
	struct rd_error err;

	snprintf(inside, sizeof inside, "%s/job", scratch_folder());
	if (mkdir(inside, 0700) != 0)
		return 1;
	if (rd_confine_narrow(inside, &err) < 0)
		return 2;
	/* Beside it, above it, and through a link. */
	if (makes_a_file() != EACCES || opens_a_file() != EACCES)
		return 3;
	if (open(scratch_path("link"), O_RDONLY) >= 0 || errno != EACCES)
		return 4;
	snprintf(inside, sizeof inside, "%s/job/plain", scratch_folder());
	int fd = open(inside, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || pwrite(fd, "abc", 3, 0) != 3 || ftruncate(fd, 1000) != 0)
		return 5;
	if (mmap(NULL, 1000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		return 6;
	snprintf(inside, sizeof inside, "%s/job", scratch_folder());
	/* All in it may go; the folder itself is its parent's. */
	(void)rd_remove_tree(inside, NULL);
	snprintf(inside, sizeof inside, "%s/job/plain", scratch_folder());
	return access(inside, F_OK) == 0 ? 7 : 0;
}

static void files_of_one_folder(void **state)
{
	if (!(fences() & RD_CONFINE_FILES))
		skip_test("no Landlock here");
	assert_int_equal(symlink("/etc/passwd", scratch_path("link")), 0);
	assert_int_equal(asked(true, scratch_folder(), works_in_its_folder), 0);
	assert_int_equal(asked(true, scratch_folder(), opens_a_file), EACCES);
	assert_code(RD_IO, rd_confine_narrow("/no/such/folder", NULL));
}

static int moves_files(void)
{
	char here[4200], there[4200], out[4200];

	snprintf(here, sizeof here, "%s/here", scratch_folder());
	snprintf(there, sizeof there, "%s/there", scratch_folder());
	if (mkdir(here, 0700) != 0 || mkdir(there, 0700) != 0)
		return 1;
	if (rd_confine_moves((const char *const[]){here, there, NULL}, NULL) < 0)
		return 2;
	snprintf(here, sizeof here, "%s/here/folder", scratch_folder());
	snprintf(there, sizeof there, "%s/there/folder", scratch_folder());
	snprintf(out, sizeof out, "%s/folder", scratch_folder());
	if (mkdir(here, 0700) != 0 || rename(here, there) != 0)
		return 3;
	if (rename(there, out) == 0 || opens_a_file() != EACCES || makes_a_file() != EACCES)
		return 4;
	/* A second fence within the first. */
	*strrchr(there, '/') = 0;
	if (rd_confine((const char *const[]){there, NULL}, NULL) < 0)
		return 5;
	strcat(there, "/folder");
	return mkdir(here, 0700) == 0 || rmdir(there) != 0 ? 6 : 0;
}

static void files_move_between_folders(void **state)
{
	/* The first version says at once that it cannot. */
	if (!(fences() & RD_CONFINE_FILES) || syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 2)
		skip_test("no Landlock of version 2 here");
	assert_int_equal(asked(false, NULL, moves_files), 0);
}

static void who_needs_all_fences_says_so(void **state)
{
	struct rd_error err;
	bool all = rd_confine_offered() == RD_CONFINE_ALL;

	rd_error_clear(&err);
	assert_int_equal(rd_confine_look(false, "guests", &err), 0);
	assert_int_equal(rd_confine_look(true, "guests", &err), all ? 0 : RD_UNSUPPORTED);
	assert_true(all || strstr(err.text, "guests cannot be fenced in: there is no "));
}

static void putting_fences_up_costs_little(void **state)
{
	uint64_t best = UINT64_MAX;

	fences();
	for (int i = 0; i < 20; i++) {
		int ends[2], status;
		uint64_t took = 0;
		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		if (pid == 0) {
			uint64_t from = rd_now_ns();
			rd_confine(NULL, NULL);
			took = rd_now_ns() - from;
			_exit(write(ends[1], &took, sizeof took) != sizeof took);
		}
		assert_int_equal(read(ends[0], &took, sizeof took), sizeof took);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		best = took < best ? took : best;
		close(ends[0]);
		close(ends[1]);
	}
	print_message("fences cost %.3f ms\n", (double)best / 1e6);
	assert_true(best < 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_computes_is_not_disturbed),
		cmocka_unit_test(what_only_an_intruder_asks_for_is_his_end),
		cmocka_unit_test(files_move_between_folders),
		cmocka_unit_test(who_needs_all_fences_says_so),
		cmocka_unit_test(no_file_is_opened),
		cmocka_unit_test(files_of_one_folder),
		cmocka_unit_test(putting_fences_up_costs_little),
	};
	/* Children must not fail for want of a folder that is made when it is first asked for. */
	scratch_folder();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
