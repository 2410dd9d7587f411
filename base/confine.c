#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* ---- calls: a list, walked in order, so that those of every read and write come first */

/* clang-format off */
/* Memory, open descriptors, time, and the end. Descriptors are looked at by calls that can name a file, too. */
static const uint16_t compute[] = {
	SYS_pread64, SYS_write, SYS_read, SYS_writev, SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_fstat,
	SYS_newfstatat, SYS_statx,
	SYS_lseek, SYS_futex, SYS_close, SYS_clock_gettime, SYS_exit_group, SYS_exit, SYS_getpid, SYS_gettid,
	SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_sysinfo, SYS_getrandom, SYS_restart_syscall,
	SYS_sched_yield, SYS_clock_nanosleep, SYS_getrusage,
};

/* Files, where the other fence stands around the folder. */
static const uint16_t files[] = {
	SYS_openat, SYS_pwrite64, SYS_getdents64, SYS_ftruncate, SYS_fallocate,
	SYS_fcntl, SYS_unlinkat, SYS_mkdirat, SYS_fchmodat, SYS_fsync, SYS_fdatasync, SYS_fstatfs, SYS_statfs,
	SYS_readlinkat, SYS_msync, SYS_faccessat, SYS_renameat2, SYS_pwritev, SYS_uname,
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_open
	SYS_open, SYS_mkdir, SYS_unlink, SYS_rmdir, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_rename,
#endif
	SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,
};

/* What nobody asks for who only reads a trace. */
static const uint16_t deadly[] = {
	SYS_execve, SYS_execveat, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept,
	SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_clone, SYS_clone3, SYS_ptrace, SYS_process_vm_readv,
	SYS_process_vm_writev, SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_pidfd_send_signal, SYS_pidfd_open,
	SYS_pidfd_getfd, SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_mount,
	SYS_umount2, SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_io_uring_setup, SYS_userfaultfd,
	SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_reboot, SYS_setuid, SYS_setgid, SYS_setresuid,
	SYS_setresgid, SYS_capset,
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
};

/* clang-format on */

#define LENGTH(list) (sizeof(list) / sizeof *(list))

struct program {
	struct sock_filter at[2 * (LENGTH(compute) + LENGTH(files) + LENGTH(deadly)) + 64];
	unsigned short n;
};

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	p->at[p->n++] = (struct sock_filter){code, jt, jf, k};
}

static void load(struct program *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void give(struct program *p, uint32_t verdict)
{
	add(p, BPF_RET | BPF_K, verdict, 0, 0);
}

static void give_for(struct program *p, const uint16_t *calls, size_t n, uint32_t verdict)
{
	for (size_t i = 0; i < n; i++) {
		add(p, BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		give(p, verdict);
	}
}

#define NUMBER      offsetof(struct seccomp_data, nr)
/* The low half; both machines are little-endian. */
#define ARGUMENT(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#define EPERM_GIVEN (SECCOMP_RET_ERRNO | EPERM)

/* Memory that is not to be run. */
static void give_for_maps(struct program *p, uint16_t call)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
	load(p, ARGUMENT(2));
	add(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
	give(p, EPERM_GIVEN);
	give(p, SECCOMP_RET_ALLOW);
}

/* abort() signals its own process. */
static void give_for_own_signals(struct program *p)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4);
	load(p, ARGUMENT(0));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1);
	give(p, SECCOMP_RET_ALLOW);
	give(p, SECCOMP_RET_KILL_PROCESS);
}

static int fence_calls(bool with_files, struct rd_error *err)
{
#ifdef ARCH
	struct program p = {.n = 0};

	load(&p, offsetof(struct seccomp_data, arch));
	add(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	give(&p, SECCOMP_RET_KILL_PROCESS);
	load(&p, NUMBER);
	/* The other table of x86-64, with a bit in its numbers. */
	add(&p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
	give(&p, SECCOMP_RET_KILL_PROCESS);
	give_for(&p, compute, LENGTH(compute), SECCOMP_RET_ALLOW);
	give_for_maps(&p, SYS_mmap);
	give_for_maps(&p, SYS_mprotect);
	give_for_own_signals(&p);
	if (with_files)
		give_for(&p, files, LENGTH(files), SECCOMP_RET_ALLOW);
	give_for(&p, deadly, LENGTH(deadly), SECCOMP_RET_KILL_PROCESS);
	give(&p, EPERM_GIVEN);
	struct sock_fprog program = {p.n, p.at};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return rd_fail_errno(err, "fencing off calls");
#else
	(void)with_files;
#endif
	return 0;
}

/* ---- files: Landlock, as much of it as this kernel has */

/* By its versions; what the headers at hand may not name yet. */
#define FILES_OF_1  ((UINT64_C(1) << 13) - 1)
#define FILES_REFER (UINT64_C(1) << 13) /* 2 */
#define FILES_CUT   (UINT64_C(1) << 14) /* 3: truncation */
#define FILES_IOCTL (UINT64_C(1) << 15) /* 5: of devices */
#define NET_TCP     UINT64_C(3)         /* 4: bind, connect */
#define SCOPES      UINT64_C(3)         /* 6: abstract sockets, signals */
#define RUN_FILES   UINT64_C(1)

struct ruleset {
	uint64_t files, net, scoped;
};

static long landlock_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static struct ruleset all_of(long version, size_t *size)
{
	struct ruleset r = {.files = FILES_OF_1};

	r.files |= version >= 2 ? FILES_REFER : 0;
	r.files |= version >= 3 ? FILES_CUT : 0;
	r.files |= version >= 5 ? FILES_IOCTL : 0;
	r.net = version >= 4 ? NET_TCP : 0;
	r.scoped = version >= 6 ? SCOPES : 0;
	*size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
	return r;
}

static int allow_below(int rules, uint64_t rights, const char *folder, struct rd_error *err)
{
	struct landlock_path_beneath_attr below = {.allowed_access = rights & ~RUN_FILES};

	below.parent_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (below.parent_fd < 0)
		return rd_error_at(err, rd_fail_errno(err, "fencing in a folder"), folder, RD_NO_OFFSET);
	int rc = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) != 0
			 ? rd_fail_errno(err, "fencing in a folder")
			 : 0;
	close(below.parent_fd);
	return rc;
}

static int fence_files(long version, const char *const *folders, struct rd_error *err)
{
	size_t size;
	struct ruleset r = all_of(version, &size);
	int rules = (int)syscall(SYS_landlock_create_ruleset, &r, size, 0);
	int rc = rules < 0 ? rd_fail_errno(err, "fencing off files") : 0;

	for (; rc == 0 && folders && *folders; folders++)
		rc = allow_below(rules, r.files, *folders, err);
	if (rc == 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
		rc = rd_fail_errno(err, "fencing off files");
	if (rules >= 0)
		close(rules);
	return rc;
}

/* ---- both */

unsigned rd_confine_offered(void)
{
	unsigned offered = 0;

	/* The same builds that cannot have their memory limited. */
	if (!rd_limits_memory())
		return 0;
#ifdef ARCH
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		offered |= RD_CONFINE_CALLS;
#endif
	if (landlock_version() > 0)
		offered |= RD_CONFINE_FILES;
	return offered;
}

int rd_confine_look(bool required, const char *whom, struct rd_error *err)
{
	unsigned offered = rd_confine_offered();

	rd_log(RD_LOG_INFO, "sandbox", "calls=%d files=%d", (offered & RD_CONFINE_CALLS) != 0,
	       (offered & RD_CONFINE_FILES) != 0);
	if (!required || offered == RD_CONFINE_ALL)
		return 0;
	return rd_fail(err, RD_UNSUPPORTED, "%s cannot be fenced in: there is no %s here", whom,
		       offered & RD_CONFINE_CALLS ? "Landlock" : "seccomp");
}

int rd_confine(const char *const *folders, struct rd_error *err)
{
	unsigned offered = rd_confine_offered();
	int rc = 0;

	if (offered && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		rc = rd_fail_errno(err, "giving up new privileges");
	if (rc == 0 && offered & RD_CONFINE_FILES)
		rc = fence_files(landlock_version(), folders, err);
	if (rc == 0 && offered & RD_CONFINE_CALLS)
		rc = fence_calls(folders != NULL, err);
	return rc < 0 ? rc : (int)offered;
}

int rd_confine_narrow(const char *folder, struct rd_error *err)
{
	const char *const only[] = {folder, NULL};

	return rd_confine_offered() & RD_CONFINE_FILES ? fence_files(landlock_version(), only, err) : 0;
}

int rd_confine_moves(const char *const *folders, struct rd_error *err)
{
	if (!(rd_confine_offered() & RD_CONFINE_FILES) || landlock_version() < 2)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return rd_fail_errno(err, "giving up new privileges");
	return fence_files(landlock_version(), folders, err);
}
