#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/pipe.h"
#include "merger/beside.h"
#include "merger/compute.h"
#include "merger/finish.h"
#include "merger/look.h"
#include "merger/work.h"
#include "store/store.h"
#include "tests/merger/job.h"

/* Real partials in a real store; each step runs in a child, as it does for the merger. */

#define SHARDS 5

struct fixture {
	char state[4096], out[4096], output[4200];
	const char *roots;     /* NULL: anywhere */
	uint64_t memory_bytes; /* of a step; 0 no limit */
	struct rd_job_record record;
	struct rd_finish_ready ready;
	uint64_t done, total;
	int status;             /* how it ended */
	struct rd_error answer; /* of the last step; code RD_OK: it went well */
	struct rd_error err;
};

static struct test_job job;
static uint64_t budget = (uint64_t)1 << 30;

static void merge(const char *state, unsigned shards)
{
	struct rd_work_options o = {.thrown_away = true};
	char folder[4200];
	struct rd_work *w;
	struct rd_error err;

	snprintf(folder, sizeof folder, "%s/work", state);
	assert_ok(rd_work_open(folder, &o, &w, &err), &err);
	for (unsigned i = 0; i < shards; i++) {
		struct rd_shard_id id = {.job = "job-1", .shard = i};
		struct rd_spool s;
		rd_spool_init(&s, NULL, NULL, &budget);
		for (size_t b = 0; b < job.blocks[i].n; b++)
			assert_ok(rd_spool_add(&s, job.blocks[i].at[b].table, job.blocks[i].at[b].seq,
					       job.blocks[i].at[b].bytes, &err),
				  &err);
		struct rd_ledger_row row = {.task = i + 1,
					    .attempt = 1,
					    .blocks = s.blocks.n,
					    .bytes = s.bytes,
					    .checksum = s.checksum,
					    .merge_ns = 10};
		assert_ok(rd_work_commit(w, &id, &row, &s, &err), &err);
		rd_spool_release(&s);
	}
	rd_work_close(w);
}

static int setup(void **state)
{
	static unsigned number;
	struct fixture *f = calloc(1, sizeof *f);
	char name[64];

	snprintf(name, sizeof name, "state-%u", number);
	strcpy(f->state, scratch_path(name));
	snprintf(name, sizeof name, "out-%u", number++);
	strcpy(f->out, scratch_path(name));
	assert_int_equal(mkdir(f->state, 0700), 0);
	assert_int_equal(mkdir(f->out, 0700), 0);
	snprintf(f->output, sizeof f->output, "%s/shop.rundown", f->out);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void take(struct fixture *f, const struct rd_pipe_frame *frame)
{
	struct rd_cursor c = rd_cursor_of(frame->body.at, frame->body.size_bytes);

	if (frame->type == RD_FINISH_PROGRESS) {
		f->done = rd_u64(&c);
		f->total = rd_u64(&c);
	} else if (frame->type == RD_FINISH_READY) {
		assert_int_equal(frame->body.size_bytes, sizeof f->ready);
		memcpy(&f->ready, frame->body.at, sizeof f->ready);
		f->record.row.device = f->ready.device;
		f->record.row.inode = f->ready.inode;
	} else if (frame->type == RD_FINISH_ERROR) {
		assert_int_equal(rd_pipe_error_unpack(&f->answer, frame->body), 0);
	} else if (frame->type != RD_FINISH_TOP) {
		assert_int_equal(frame->type, RD_FINISH_END);
	}
}

/* What the test left free of its heap would do for a small finish. */
static void use_up_heap(void)
{
	struct rd_error err;

	if (rd_limit(RLIMIT_DATA, 1, "memory", &err) == 0)
		while (rd_realloc(NULL, 4096))
			;
}

/* Run one step; the code of its answer. */
static int run_step(struct fixture *f, enum rd_finish_step step, bool replace, unsigned given_up)
{
	struct rd_pipe_frame frame;
	struct rd_message order;
	struct rd_pipe pipe;
	int ends[2], status;

	rd_error_clear(&f->answer);
	job_order(&job, "job-1", f->output, replace, given_up, &order);
	if (f->record.folder[0] == 0) {
		strcpy(f->record.output, f->output);
		assert_ok(rd_beside_folder(f->record.folder, sizeof f->record.folder, f->output, "job-1", "0badcafe",
					   &f->err),
			  &f->err);
	}
	int fd = rd_finish_task_file(step, &order, &f->record, &f->err);
	assert_ok(fd, &f->err);
	assert_ok(rd_pipe_make(ends, &f->err), &f->err);
	pid_t pid = fork();
	if (pid == 0) {
		struct rd_forker_child child = {.fds = {fd, ends[1]}, .fds_n = 2};
		if (f->memory_bytes == 1)
			use_up_heap();
		_exit(rd_finish_child(&child, f->state, f->roots, f->memory_bytes));
	}
	close(fd);
	close(ends[1]);
	assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
	rd_pipe_init(&pipe, ends[0], RD_ENVELOPE_BYTES);
	while (!pipe.ended) {
		assert_ok(rd_pipe_fill(&pipe, &f->err), &f->err);
		while (rd_pipe_next(&pipe, &frame, &f->err) == 1)
			take(f, &frame);
	}
	assert_int_equal(rd_pipe_left(&pipe), 0);
	rd_pipe_release(&pipe);
	rd_message_release(&order);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	f->status = status;
	return f->answer.code;
}

/* A step, and after a failure the sweep, as the merger has it. */
static int run(struct fixture *f, enum rd_finish_step step, bool replace, unsigned given_up)
{
	int code = run_step(f, step, replace, given_up);

	assert_int_equal(f->status, 0);
	if (code == 0 || step != RD_STEP_FINISH)
		return code;
	struct rd_error answer = f->answer;
	uint64_t memory_bytes = f->memory_bytes;
	f->memory_bytes = 0;
	/* It may find no folder to sweep. */
	(void)run_step(f, RD_STEP_SWEEP, replace, given_up);
	assert_int_equal(f->status, 0);
	f->memory_bytes = memory_bytes;
	f->answer = answer;
	return code;
}

/* What lies in a folder, but for . and .. */
static unsigned entries(const char *folder)
{
	struct dirent *e;
	unsigned n = 0;
	DIR *d = opendir(folder);

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

static void digest_of(struct fixture *f, char digest[33])
{
	struct rd_result r = {0};

	assert_ok(rd_store_read(f->output, &r, &f->err), &f->err);
	assert_int_equal(r.samples, JOB_SAMPLES);
	assert_int_equal(r.stats.shards, SHARDS);
	assert_int_equal(r.stats.merge_ns, 10 * SHARDS);
	assert_string_equal(r.traces.at[0].path, "shop-small.nettrace");
	assert_ok(rd_result_digest(&r, digest, &f->err), &f->err);
	rd_result_release(&r);
}

static void a_result_is_made_and_delivered(void **state)
{
	struct fixture *f = *state;
	char digest[33];

	merge(f->state, SHARDS);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_int_equal(f->ready.samples, JOB_SAMPLES);
	assert_int_equal(f->ready.complete, 1);
	assert_int_equal(f->ready.lost_events, 0);
	assert_int_not_equal(access(f->output, F_OK), 0);
	assert_int_equal(entries(f->out), 1);
	assert_ok(run(f, RD_STEP_DELIVER, false, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 1);
	digest_of(f, digest);
	/* Told again, by a merger that died behind the rename. */
	assert_ok(run(f, RD_STEP_DELIVER, false, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 1);
	/* The merger's own folder holds the store alone. */
	assert_int_equal(entries(f->state), 1);
}

static void an_output_is_not_overwritten(void **state)
{
	struct fixture *f = *state;
	char digest[33];

	merge(f->state, SHARDS);
	assert_int_equal(mkdir(f->output, 0700), 0);
	assert_code(RD_EXISTS, run(f, RD_STEP_FINISH, false, SHARDS));
	assert_int_equal(entries(f->out), 1);
	/* It came while the result was made. */
	rmdir(f->output);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_int_equal(mkdir(f->output, 0700), 0);
	assert_code(RD_EXISTS, run(f, RD_STEP_DELIVER, false, SHARDS));
	assert_int_equal(entries(f->output), 0);
	assert_int_equal(entries(f->out), 2);
	assert_ok(run(f, RD_STEP_SWEEP, false, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 1);
	rmdir(f->output);
	/* With replace a result goes. */
	for (int i = 0; i < 2; i++) {
		assert_ok(run(f, RD_STEP_FINISH, true, SHARDS), &f->answer);
		assert_ok(run(f, RD_STEP_DELIVER, true, SHARDS), &f->answer);
	}
	digest_of(f, digest);
	assert_int_equal(entries(f->out), 1);
}

static void a_missing_shard_leaves_nothing(void **state)
{
	struct fixture *f = *state;

	merge(f->state, SHARDS - 1);
	assert_code(RD_NOT_FOUND, run(f, RD_STEP_FINISH, false, SHARDS));
	assert_string_equal(f->answer.text, "shard 4 of trace 0 is not merged");
	assert_int_equal(entries(f->out), 0);
	/* Given up, it is told by the trust. */
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS - 1), &f->answer);
	assert_int_equal(f->ready.complete, 0);
	assert_true(f->ready.samples < JOB_SAMPLES && f->ready.samples > 0);
}

static void a_given_up_shard_counts_no_more(void **state)
{
	struct fixture *f = *state;
	uint64_t samples;

	merge(f->state, SHARDS);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS - 1), &f->answer);
	samples = f->ready.samples;
	assert_true(samples < JOB_SAMPLES);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_int_equal(f->ready.samples, JOB_SAMPLES);
}

static void put_file(const char *folder, const char *name)
{
	char path[4500];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
}

static bool holds(const char *folder, const char *name)
{
	char path[4500];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* Whatever is no result is never replaced, whenever it comes. */
static void only_results_are_replaced(void **state)
{
	struct fixture *f = *state;

	merge(f->state, SHARDS);
	assert_int_equal(mkdir(f->output, 0700), 0);
	put_file(f->output, "file");
	assert_code(RD_EXISTS, run(f, RD_STEP_FINISH, true, SHARDS));
	assert_string_equal(f->answer.text, "not a result: the folder has no seal");
	assert_true(holds(f->output, "file"));
	/* It comes while the result is made. */
	assert_int_equal(rename(f->output, scratch_path("theirs")), 0);
	assert_ok(run(f, RD_STEP_FINISH, true, SHARDS), &f->answer);
	assert_int_equal(rename(scratch_path("theirs"), f->output), 0);
	assert_code(RD_EXISTS, run(f, RD_STEP_DELIVER, true, SHARDS));
	assert_true(holds(f->output, "file"));
	assert_ok(run(f, RD_STEP_SWEEP, true, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 1);
	/* And into a result. */
	assert_ok(rd_remove_tree(f->output, &f->err), &f->err);
	assert_ok(run(f, RD_STEP_FINISH, true, SHARDS), &f->answer);
	assert_ok(run(f, RD_STEP_DELIVER, true, SHARDS), &f->answer);
	put_file(f->output, "notes");
	assert_code(RD_EXISTS, run(f, RD_STEP_FINISH, true, SHARDS));
	assert_string_equal(f->answer.text, "it holds notes, which is no part of a result");
	assert_true(holds(f->output, "notes") && holds(f->output, "data.mdb"));
	assert_int_equal(entries(f->out), 1);
}

/* The folder that the dead leave, as far as they came. */
static void leave(struct fixture *f, const char *of, const char *output, char path[4096])
{
	int lock;

	assert_ok(rd_beside_folder(path, 4096, output, of, "deadbeef", &f->err), &f->err);
	assert_ok(rd_beside_make(path, &lock, &f->err), &f->err);
	close(lock);
}

static void make_inside(const char *folder, const char *name)
{
	char path[4500];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void what_the_dead_left_is_swept(void **state)
{
	struct fixture *f = *state;
	char path[4096], other[4300], inside[4300];

	merge(f->state, SHARDS);
	/* At once; while it was written; before its lock was there; of another job. */
	leave(f, "job-1", f->output, path);
	leave(f, "job-2", f->output, path);
	make_inside(path, "making");
	snprintf(inside, sizeof inside, "%s/making", path);
	put_file(inside, "data.mdb");
	assert_ok(rd_beside_folder(path, sizeof path, f->output, "job-3", "deadbeef", &f->err), &f->err);
	assert_int_equal(mkdir(path, 0700), 0);
	/* Another output's is not looked at. */
	snprintf(other, sizeof other, "%s/shop.rundown2", f->out);
	leave(f, "job-1", other, path);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_ok(run(f, RD_STEP_DELIVER, false, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 2);
	assert_int_equal(access(path, F_OK), 0);
}

/* A merger dies behind the exchange: what it replaced goes, as it would have gone. */
static void what_was_replaced_is_swept(void **state)
{
	struct fixture *f = *state;
	char path[4096], result[4200], digest[33];

	merge(f->state, SHARDS);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_ok(run(f, RD_STEP_DELIVER, false, SHARDS), &f->answer);
	leave(f, "job-2", f->output, path);
	snprintf(result, sizeof result, "%s/result", path);
	assert_int_equal(rename(f->output, result), 0);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_ok(run(f, RD_STEP_DELIVER, false, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 1);
	digest_of(f, digest);
}

/* Between two steps nobody holds the folder. */
static void a_swept_result_is_told(void **state)
{
	struct fixture *f = *state;
	int lock;

	merge(f->state, SHARDS);
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_ok(rd_beside_take(f->record.folder, &lock, &f->err), &f->err);
	assert_code(RD_NOT_FOUND, run(f, RD_STEP_DELIVER, false, SHARDS));
	close(lock);
	assert_ok(rd_beside_sweep(f->output, NULL, &f->err), &f->err);
	assert_code(RD_NOT_FOUND, run(f, RD_STEP_DELIVER, false, SHARDS));
	assert_int_equal(entries(f->out), 0);
}

static void no_folder_for_the_output(void **state)
{
	struct fixture *f = *state;

	merge(f->state, SHARDS);
	snprintf(f->output, sizeof f->output, "%s/nowhere/shop.rundown", f->out);
	assert_code(RD_IO, run(f, RD_STEP_FINISH, false, SHARDS));
	assert_non_null(strstr(f->answer.file, "nowhere"));
	assert_int_equal(entries(f->out), 0);
}

static void a_damaged_store_is_no_result(void **state)
{
	struct fixture *f = *state;
	char path[4300];
	size_t n;

	merge(f->state, SHARDS);
	snprintf(path, sizeof path, "%s/work/data.mdb", f->state);
	uint8_t *bytes = read_whole(path, &n);
	struct rd_span block = job.blocks[2].at[2].bytes;
	uint8_t *at = memmem(bytes, n, block.at, block.size_bytes);
	assert_non_null(at);
	int fd = open(path, O_WRONLY);
	uint8_t flipped = (uint8_t)(at[block.size_bytes - 1] ^ 1);
	assert_int_equal(pwrite(fd, &flipped, 1, at + block.size_bytes - 1 - bytes), 1);
	close(fd);
	free(bytes);
	assert_code(RD_CORRUPT, run(f, RD_STEP_FINISH, false, SHARDS));
	assert_int_equal(entries(f->out), 0);
}

static void a_finish_without_memory_names_its_limit(void **state)
{
	struct fixture *f = *state;

	if (!rd_limits_memory())
		skip_test("the sanitizers need the address space");
	merge(f->state, SHARDS);
	f->memory_bytes = 1;
	assert_code(RD_LIMIT, run(f, RD_STEP_FINISH, false, SHARDS));
	assert_string_equal(f->answer.text,
			    "the finish needs more than 1 B of memory; --finish-memory SIZE allows more");
	assert_int_equal(entries(f->out), 0);
	assert_int_equal(entries(f->state), 1);
	f->memory_bytes = RD_FINISH_MEMORY_BYTES;
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
}

/* The hottest methods while some shards are merged; released by rd_envelope_free. */
static Rd__Envelope *look(struct fixture *f, uint64_t deadline_ns)
{
	struct rd_message order;
	struct rd_bytes packed = {0};
	char folder[4200];
	struct rd_work *work;
	Rd__Envelope *answer;

	job_order(&job, "job-1", f->output, false, SHARDS, &order);
	order.envelope->kind = RD__KIND__TOP;
	order.envelope->count = 20;
	snprintf(folder, sizeof folder, "%s/work", f->state);
	assert_ok(rd_work_open_reader(folder, &work, &f->err), &f->err);
	assert_ok(rd_look_child(work, &order, deadline_ns, &packed, &f->err), &f->err);
	rd_work_close(work);
	assert_ok(rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &answer, &f->err), &f->err);
	assert_int_equal(answer->kind, RD__KIND__TOP_ROWS);
	assert_non_null(answer->top);
	rd_bytes_release(&packed);
	rd_message_release(&order);
	return answer;
}

/* Samples of the first rows that nobody has a name for. */
static uint64_t nameless(const Rd__Top *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_name; i++)
		if (t->name[i].len == 1 && t->name[i].data[0] == '?')
			n += t->exclusive[i];
	return n;
}

static void early_answers_are_reconciled(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope *all, *apart, *some;

	merge(f->state, SHARDS);
	all = look(f, UINT64_MAX);
	assert_int_equal(all->top->reconciled, 1);
	assert_int_equal(all->top->shards, SHARDS);
	assert_int_equal(all->top->samples, JOB_SAMPLES);
	assert_int_equal(all->top->n_pid, 20);
	/* No time for that: each shard speaks for itself, and the names are in the last one. */
	apart = look(f, 0);
	assert_int_equal(apart->top->reconciled, 0);
	assert_int_equal(apart->top->shards, SHARDS);
	assert_int_equal(apart->top->samples, JOB_SAMPLES);
	assert_true(nameless(apart->top) > 8 * nameless(all->top));
	rd_envelope_free(apart);
	rd_envelope_free(all);
	snprintf(f->state, sizeof f->state, "%s", scratch_path("state-some"));
	assert_int_equal(mkdir(f->state, 0700), 0);
	merge(f->state, 2);
	some = look(f, UINT64_MAX);
	assert_int_equal(some->top->reconciled, 1);
	assert_int_equal(some->top->shards, 2);
	assert_in_range(some->top->samples, 1, JOB_SAMPLES - 1);
	rd_envelope_free(some);
}

/* ---- the fences: a probe acts in the child's place, and ends it with a code of its own */

#define PROBED 70

static const struct fixture *probed;

static void try_files(void)
{
	char path[4500];

	/* Its store is open, and nothing else of the merger's can be; nor can the output's neighbours. */
	snprintf(path, sizeof path, "%s/work/data.mdb", probed->state);
	if (open(path, O_RDWR) >= 0 || (errno != EACCES && errno != EPERM))
		_exit(PROBED + 1);
	snprintf(path, sizeof path, "%s/other", probed->out);
	if (open(path, O_WRONLY | O_CREAT, 0600) >= 0 || mkdir(path, 0700) == 0)
		_exit(PROBED + 2);
	if (open("/etc/passwd", O_RDONLY) >= 0)
		_exit(PROBED + 3);
	_exit(PROBED);
}

/* Only a finish makes files. */
static void try_its_folder(void)
{
	char path[4500], later[4600];

	snprintf(path, sizeof path, "%s/making", probed->record.folder);
	snprintf(later, sizeof later, "%s/result", probed->record.folder);
	if (mkdir(path, 0700) != 0 || rename(path, later) != 0 || rmdir(later) != 0)
		_exit(PROBED + 4);
	snprintf(later, sizeof later, "%s/making", probed->out);
	if (mkdir(path, 0700) != 0 || rename(path, later) == 0)
		_exit(PROBED + 5);
	_exit(PROBED);
}

static void try_socket(void)
{
	_exit(socket(AF_INET, SOCK_STREAM, 0) < 0 ? PROBED + 6 : PROBED + 7);
}

static int probe(struct fixture *f, enum rd_finish_step step, void (*with)(void))
{
	probed = f;
	rd_finish_fenced = with;
	(void)run_step(f, step, false, SHARDS);
	rd_finish_fenced = NULL;
	return f->status;
}

static void who_finishes_or_looks_is_fenced_in(void **state)
{
	struct fixture *f = *state;
	unsigned offered = rd_confine_offered();

	if (offered == 0)
		skip_test("neither seccomp nor Landlock here");
	merge(f->state, SHARDS);
	for (int i = 0; i < 2; i++) {
		enum rd_finish_step step = i ? RD_STEP_LOOK : RD_STEP_FINISH;
		if (offered & RD_CONFINE_FILES)
			assert_int_equal(WEXITSTATUS(probe(f, step, try_files)), PROBED);
		if (offered & RD_CONFINE_CALLS)
			assert_int_equal(probe(f, step, try_socket), SIGSYS);
	}
	if (offered & RD_CONFINE_FILES)
		assert_int_equal(WEXITSTATUS(probe(f, RD_STEP_FINISH, try_its_folder)), PROBED);
	/* What such a one leaves is swept, and the job can end. */
	assert_ok(run(f, RD_STEP_FINISH, false, SHARDS), &f->answer);
	assert_ok(run(f, RD_STEP_DELIVER, false, SHARDS), &f->answer);
	assert_int_equal(entries(f->out), 1);
	assert_int_equal(run(f, RD_STEP_LOOK, false, SHARDS), 0);
}

static void results_lie_below_the_roots(void **state)
{
	struct fixture *f = *state;
	char link[4200], roots[8300];

	merge(f->state, SHARDS);
	snprintf(roots, sizeof roots, "/usr:%s", f->out);
	f->roots = roots;
	for (int i = 0; i < 2; i++) {
		assert_ok(run(f, RD_STEP_FINISH, true, SHARDS), &f->answer);
		assert_ok(run(f, RD_STEP_DELIVER, true, SHARDS), &f->answer);
	}
	assert_int_equal(entries(f->out), 1);
	/* By text it does, by the link it does not; and the root itself is no result. */
	snprintf(link, sizeof link, "%s/link", f->out);
	assert_int_equal(symlink(f->state, link), 0);
	snprintf(f->output, sizeof f->output, "%s/link/shop", f->out);
	f->record = (struct rd_job_record){0};
	for (enum rd_finish_step step = RD_STEP_FINISH; step <= RD_STEP_SWEEP; step++) {
		assert_code(RD_USAGE, run(f, step, true, SHARDS));
		assert_string_equal(f->answer.text, "this lies outside of where results may be written");
		assert_string_equal(f->answer.file, f->output);
	}
	snprintf(f->output, sizeof f->output, "%s", f->out);
	f->record = (struct rd_job_record){0};
	assert_code(RD_USAGE, run(f, RD_STEP_FINISH, true, SHARDS));
	assert_int_equal(entries(f->state), 1);
	assert_int_equal(entries(f->out), 2);
}

int main(void)
{
#define FINISH_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		FINISH_TEST(a_result_is_made_and_delivered),
		FINISH_TEST(an_output_is_not_overwritten),
		FINISH_TEST(a_missing_shard_leaves_nothing),
		FINISH_TEST(a_given_up_shard_counts_no_more),
		FINISH_TEST(only_results_are_replaced),
		FINISH_TEST(what_the_dead_left_is_swept),
		FINISH_TEST(what_was_replaced_is_swept),
		FINISH_TEST(a_swept_result_is_told),
		FINISH_TEST(no_folder_for_the_output),
		FINISH_TEST(a_damaged_store_is_no_result),
		FINISH_TEST(a_finish_without_memory_names_its_limit),
		FINISH_TEST(early_answers_are_reconciled),
		FINISH_TEST(results_lie_below_the_roots),
		FINISH_TEST(who_finishes_or_looks_is_fenced_in),
	};
	job_make(&job, SHARDS);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	job_release(&job);
	return failed;
}
