#include "merger/finish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/deliver.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/place.h"
#include "base/text.h"
#include "merger/beside.h"
#include "merger/compute.h"
#include "merger/copy.h"
#include "merger/look.h"
#include "merger/permit.h"
#include "net/task.h"
#include "store/store.h"

void (*rd_finish_fenced)(void);

/* ---- the task's file */

int rd_finish_task_file(enum rd_finish_step step, const struct rd_message *order, const struct rd_job_record *record,
			struct rd_error *err)
{
	struct rd_finish_head head = {
		.step = step,
		.device = record->row.device,
		.inode = record->row.inode,
		.merger_peak_bytes = rd_peak_bytes(),
	};
	struct rd_bytes packed = {0};
	rd_span_vec parts = {0};
	int fd = rd_envelope_pack(order->envelope, &packed, err);

	memcpy(head.folder, record->folder, sizeof head.folder);
	head.packed_bytes = (uint32_t)packed.n;
	if (fd == 0 && rd_vec_reserve(&parts, order->blob.frames.n + 2) < 0)
		fd = rd_fail_nomem(err);
	if (fd == 0) {
		parts.at[parts.n++] = (struct rd_span){(const uint8_t *)&head, sizeof head};
		parts.at[parts.n++] = (struct rd_span){packed.at, packed.n};
		for (size_t i = 0; i < order->blob.frames.n; i++)
			parts.at[parts.n++] = rd_blob_frame(&order->blob, i);
		fd = rd_memory_file(parts.at, parts.n, err);
	}
	rd_vec_release(&parts);
	rd_bytes_release(&packed);
	return fd;
}

struct task {
	struct rd_bytes bytes;
	struct rd_finish_head head;
	struct rd_message order;
	char job[RD_JOB_ID_MAX + 1];
	char output[RD_PATH_MAX + 1];
	const char *state, *roots;
	uint64_t memory_bytes; /* 0: no limit */
	int pipe;
};

static int read_task(struct task *t, int fd, struct rd_error *err)
{
	struct stat st;
	int code;

	if (fstat(fd, &st) != 0)
		return rd_fail_errno(err, "reading the task");
	if (rd_bytes_extend(&t->bytes, (size_t)st.st_size) == NULL)
		return rd_fail_nomem(err);
	if ((code = rd_pread_all(fd, t->bytes.at, t->bytes.n, 0, err)) < 0)
		return code;
	struct rd_cursor c = rd_cursor_of(t->bytes.at, t->bytes.n);
	const uint8_t *head = rd_take(&c, sizeof t->head);
	if (head)
		memcpy(&t->head, head, sizeof t->head);
	const uint8_t *packed = head ? rd_take(&c, t->head.packed_bytes) : NULL;
	if (packed == NULL)
		return rd_fail(err, RD_INTERNAL, "a task that is cut");
	if ((code = rd_envelope_unpack((struct rd_span){packed, t->head.packed_bytes}, &t->order.envelope, err)) < 0)
		return code;
	rd_field_text(&t->order.envelope->job, t->job, sizeof t->job);
	if (t->order.envelope->finish == NULL)
		return t->head.step == RD_STEP_LOOK ? 0 : rd_fail(err, RD_INTERNAL, "a task without an order");
	rd_field_text(&t->order.envelope->finish->output, t->output, sizeof t->output);
	return rd_blob_add(&t->order.blob, c.at, rd_left(&c), err);
}

/* ---- sweeping */

/* The merger's own folder for results of this job. */
static int local_folder(const struct task *t, char *buf, size_t size, struct rd_error *err)
{
	return rd_path(buf, size, err, "%s/result-%s", t->state, t->job);
}

static int sweep(const struct task *t, struct rd_error *err)
{
	char local[4096];
	int code = rd_beside_sweep(t->output, t->job, err);

	/* Ours, too, where nothing could be locked. */
	if (code == 0)
		code = rd_beside_remove(t->head.folder, err);
	int also = local_folder(t, local, sizeof local, code < 0 ? NULL : err);
	if (also == 0)
		also = rd_remove_tree(local, code < 0 ? NULL : err);
	return code < 0 ? code : also;
}

/* ---- FINISH: make the result */

/* Where the result is made, at once or by a copy; `local` "" or our own folder for it. */
static int write_result(const char *local, const struct rd_result *r, const char *path, struct rd_error *err)
{
	char first[4200];

	if (local[0] == 0)
		return rd_store_write(path, r, err);
	int code = rd_path(first, sizeof first, err, "%s/" RD_BESIDE_MAKING, local);
	if (code == 0)
		code = rd_store_write(first, r, err);
	return code == 0 ? rd_copy_result(first, path, err) : code;
}

/* On a file system of other machines, where LMDB cannot write. The folder is removed by DELIVER or SWEEP. */
static int make_local(const struct task *t, char *local, size_t size, struct rd_error *err)
{
	const char *shared;
	int code = rd_place_shared(t->head.folder, &shared, err);

	local[0] = 0;
	if (code < 0 || shared == NULL || (code = local_folder(t, local, size, err)) < 0 ||
	    (code = rd_remove_tree(local, err)) < 0)
		return code;
	return mkdir(local, 0700) == 0 ? 0
				       : rd_error_at(err, rd_fail_errno(err, "making a folder"), local, RD_NO_OFFSET);
}

/* Refuse early what would be refused at the end. */
static int check_output(const struct task *t, struct rd_error *err)
{
	char folder[4096];
	const char *name;
	struct stat st;
	int code = rd_beside_split(t->output, folder, sizeof folder, &name, err);

	if (code == 0 && lstat(t->output, &st) == 0)
		code = t->order.envelope->finish->replace ? rd_store_own(t->output, err)
							  : rd_fail(err, RD_EXISTS, "the output exists already");
	return code < 0 ? rd_error_at(err, code, t->output, RD_NO_OFFSET) : 0;
}

static int tell_progress(void *ctx, uint64_t done, uint64_t total)
{
	const struct task *t = ctx;
	uint64_t body[2] = {done, total};

	return rd_pipe_write(t->pipe, RD_FINISH_PROGRESS, (struct rd_span){(const uint8_t *)body, sizeof body},
			     (struct rd_span){0}, NULL);
}

static int tell_ready(const struct task *t, const struct rd_result *r, const char *path, struct rd_error *err)
{
	struct rd_finish_ready ready = {
		.samples = r->samples, .lost_events = r->trust.lost_events, .complete = r->trust.complete};
	struct stat st;

	if (lstat(path, &st) != 0)
		return rd_fail_errno(err, "looking at the result");
	ready.device = st.st_dev;
	ready.inode = st.st_ino;
	return rd_pipe_write(t->pipe, RD_FINISH_READY, (struct rd_span){(const uint8_t *)&ready, sizeof ready},
			     (struct rd_span){0}, err);
}

static int part_path(const struct task *t, const char *part, char *buf, size_t size, struct rd_error *err)
{
	return rd_path(buf, size, err, "%s/%s", t->head.folder, part);
}

/* Write it, and only then call it a result. */
static int write_beside(const struct task *t, const char *local, const struct rd_result *r, char *path, size_t size,
			struct rd_error *err)
{
	char making[4096];
	int code = part_path(t, RD_BESIDE_MAKING, making, sizeof making, err);

	if (code == 0)
		code = part_path(t, RD_BESIDE_RESULT, path, size, err);
	if (code == 0)
		code = write_result(local, r, making, err);
	if (code == 0 && rename(making, path) != 0)
		code = rd_fail_errno(err, "naming the result");
	if (code < 0 && err) {
		/* The folder beside the output means nothing to the user. */
		err->file[0] = 0;
		rd_error_at(err, code, t->output, RD_NO_OFFSET);
	}
	return code;
}

/*
 * From here on this process reads what strangers' traces gave rise to. The store is open; all else that it may touch
 * are these folders, up to a NULL, or none.
 */
static int fence(const char *const *folders, struct rd_error *err)
{
	int code = rd_confine(folders, err);

	if (code >= 0 && rd_finish_fenced)
		rd_finish_fenced();
	return code < 0 ? code : 0;
}

static int open_store(const struct task *t, struct rd_work **work, struct rd_error *err)
{
	char folder[4096];
	int code = rd_path(folder, sizeof folder, err, "%s/work", t->state);

	return code == 0 ? rd_work_open_reader(folder, work, err) : code;
}

/* Between the fences: both folders are there and empty. */
static int fill_folder(struct task *t, struct rd_work *work, const char *local, struct rd_error *err)
{
	const char *const folders[] = {t->head.folder, local[0] ? local : NULL, NULL};
	struct rd_result result = {0};
	char path[4096];
	int code = fence(folders, err);

	if (code == 0)
		code = rd_compute(work, &t->order, tell_progress, t, &result, err);
	result.stats.merge_peak_bytes = t->head.merger_peak_bytes;
	if (code == 0)
		code = write_beside(t, local, &result, path, sizeof path, err);
	if (code == 0)
		code = tell_ready(t, &result, path, err);
	rd_result_release(&result);
	return code;
}

/* After a failure SWEEP follows: the folder itself is outside of the fence. */
static int make_result(struct task *t, struct rd_error *err)
{
	struct rd_work *work = NULL;
	char local[4096];
	int lock = -1, code = check_output(t, err);

	if (code == 0)
		code = sweep(t, err);
	if (code == 0)
		code = open_store(t, &work, err);
	if (code == 0)
		code = rd_beside_make(t->head.folder, &lock, err);
	if (code == 0)
		code = make_local(t, local, sizeof local, err);
	if (code == 0)
		code = fill_folder(t, work, local, err);
	rd_work_close(work);
	if (lock >= 0)
		close(lock);
	return code;
}

/* ---- DELIVER */

static bool is_our_result(const struct task *t, const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && st.st_dev == t->head.device && st.st_ino == t->head.inode &&
	       rd_store_own(path, NULL) == 0;
}

/* From its folder, whose lock is held, into its place. */
static int put_in_place(const struct task *t, struct rd_error *err)
{
	char path[4096];
	int code = part_path(t, RD_BESIDE_RESULT, path, sizeof path, err);

	if (code == 0 && !is_our_result(t, path))
		code = rd_fail(err, RD_NOT_FOUND, "the result is gone before it was delivered");
	if (code == 0)
		code = rd_deliver(path, t->output, t->order.envelope->finish->replace ? rd_store_own : NULL, err);
	return code;
}

static int deliver(const struct task *t, struct rd_error *err)
{
	char folder[4096], local[4096];
	const char *name;
	int lock = -1, code = rd_beside_split(t->output, folder, sizeof folder, &name, err);

	/* Behind the rename already, when an earlier merger died there, perhaps before the folder was on disk. */
	if (code == 0 && is_our_result(t, t->output))
		code = rd_sync_path(folder, err);
	else if (code == 0 && (code = rd_beside_take(t->head.folder, &lock, err)) == 0)
		code = put_in_place(t, err);
	/* What stays here costs nothing but its name, unless it is somebody's. */
	if (code == 0 && rd_beside_remove(t->head.folder, err) == RD_EXISTS)
		code = rd_error_in(err, RD_EXISTS, "the result is there, but what it replaced is kept");
	if (lock >= 0)
		close(lock);
	if (code == 0 && local_folder(t, local, sizeof local, NULL) == 0)
		(void)rd_remove_tree(local, NULL);
	return code < 0 ? rd_error_at(err, code, t->output, RD_NO_OFFSET) : 0;
}

/* ---- LOOK */

static int look(const struct task *t, struct rd_error *err)
{
	struct rd_bytes packed = {0};
	struct rd_work *work = NULL;
	int code = t->memory_bytes && rd_limits_memory()
			   ? rd_limit(RLIMIT_DATA, t->memory_bytes / RD_LOOK_MEMORY_PART, "memory", err)
			   : 0;

	if (code == 0)
		code = open_store(t, &work, err);
	if (code == 0)
		code = fence(NULL, err);
	if (code == 0)
		code = rd_look_child(work, &t->order, rd_now_ns() + RD_LOOK_NS, &packed, err);
	if (code == 0)
		code = rd_pipe_write(t->pipe, RD_FINISH_TOP, (struct rd_span){packed.at, packed.n}, (struct rd_span){0},
				     err);
	rd_work_close(work);
	rd_bytes_release(&packed);
	return code;
}

/* ---- */

static int work(struct task *t, int fd, struct rd_error *err)
{
	int code = read_task(t, fd, err);

	if (code == 0 && t->head.step != RD_STEP_LOOK)
		code = rd_permit(t->roots, t->state, t->output, err);
	if (code < 0)
		return code;
	switch (t->head.step) {
	case RD_STEP_FINISH:
		return make_result(t, err);
	case RD_STEP_DELIVER:
		return deliver(t, err);
	case RD_STEP_LOOK:
		return look(t, err);
	default:
		return sweep(t, err);
	}
}

/* What a limit of the kind leaves; `most` when that is less. */
static uint64_t limited_to(int resource, uint64_t most)
{
	struct rlimit now;
	return getrlimit(resource, &now) == 0 && now.rlim_cur < most ? now.rlim_cur : most;
}

/* Out of memory where memory is limited is a limit with a name: another attempt ends likewise. */
static int name_limit(int code, uint64_t memory_bytes, struct rd_error *err)
{
	uint64_t most = memory_bytes ? memory_bytes : UINT64_MAX;
	char size[32];

	if (code != RD_NOMEM || !rd_limits_memory())
		return code;
	/* The user's own, which the programs came with. */
	uint64_t left = limited_to(RLIMIT_AS, limited_to(RLIMIT_DATA, most));
	if (left < most)
		return rd_fail(err, RD_LIMIT, "out of memory: a limit (ulimit -v, ulimit -d) leaves the finish %s",
			       rd_size_text(left, size, sizeof size));
	if (memory_bytes == 0)
		return code;
	return rd_fail(err, RD_LIMIT, "the finish needs more than %s of memory; --finish-memory SIZE allows more",
		       rd_size_text(memory_bytes, size, sizeof size));
}

static int limit_memory(uint64_t memory_bytes, struct rd_error *err)
{
	rd_limit_first_to_go();
	if (memory_bytes == 0 || !rd_limits_memory())
		return 0;
	return rd_limit(RLIMIT_DATA, memory_bytes, "memory", err);
}

int rd_finish_child(const struct rd_forker_child *child, const char *state, const char *roots, uint64_t memory_bytes)
{
	struct rd_span none = {0};
	struct rd_error err;
	int code;

	if (child->fds_n != 2)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	struct task t = {
		.state = state, .roots = roots, .memory_bytes = memory_bytes, .pipe = child->fds[RD_FORKER_PIPE_FD]};
	rd_error_clear(&err);
	code = limit_memory(memory_bytes, &err);
	if (code == 0)
		code = name_limit(work(&t, child->fds[RD_FORKER_TASK_FD], &err), memory_bytes, &err);
	if (code < 0) {
		struct rd_bytes packed = {0};
		rd_error_settle(&err, code);
		code = rd_pipe_error_pack(&err, &packed);
		if (code == 0)
			code = rd_pipe_write(t.pipe, RD_FINISH_ERROR, (struct rd_span){packed.at, packed.n}, none,
					     NULL);
		rd_bytes_release(&packed);
	} else {
		code = rd_pipe_write(t.pipe, RD_FINISH_END, none, none, NULL);
	}
	rd_message_release(&t.order);
	rd_bytes_release(&t.bytes);
	return code < 0 ? 1 : 0;
}
