#include "worker/parse.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/roots.h"
#include "base/text.h"
#include "net/task.h"
#include "profile/index_codec.h"
#include "profile/shard.h"
#include "trace/archive.h"
#include "trace/trace.h"
#include "worker/answer.h"

/* Progress is told every so many bytes at most, or a fast index would write more frames than it reads blocks. */
#define PROGRESS_BYTES ((uint64_t)4 << 20)
#define PROGRESS_NS    1000000000u

struct task {
	struct rd_bytes bytes;
	Rd__Envelope *envelope;
	const Rd__Assignment *work;
	char folder[4096];
	struct rd_span info, context, blocks; /* into bytes */
	struct rd_source source;
	int pipe;
	uint64_t told_bytes, told_ns;
	bool fenced, unpacks; /* it may open files only where it unpacks, if it does */
};

/* ---- the task's file */

int rd_parse_task_file(const struct rd_message *task, const char *folder, struct rd_error *err)
{
	rd_span_vec parts = {0};
	struct rd_bytes packed = {0};
	uint8_t sizes[8];
	int fd = rd_envelope_pack(task->envelope, &packed, err);

	if (fd == 0 && rd_vec_reserve(&parts, task->blob.frames.n + 3) != 0)
		fd = rd_fail_nomem(err);
	if (fd == 0) {
		uint32_t folder_n = (uint32_t)strlen(folder), packed_n = (uint32_t)packed.n;
		memcpy(sizes, &folder_n, 4);
		memcpy(sizes + 4, &packed_n, 4);
		parts.at[parts.n++] = (struct rd_span){sizes, sizeof sizes};
		parts.at[parts.n++] = (struct rd_span){(const uint8_t *)folder, folder_n};
		parts.at[parts.n++] = (struct rd_span){packed.at, packed.n};
		for (size_t i = 0; i < task->blob.frames.n; i++)
			parts.at[parts.n++] = rd_blob_frame(&task->blob, i);
		fd = rd_memory_file(parts.at, parts.n, err);
	}
	rd_vec_release(&parts);
	rd_bytes_release(&packed);
	return fd;
}

static int read_whole_file(int fd, struct rd_bytes *out, struct rd_error *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return rd_fail_errno(err, "reading the task");
	if (rd_bytes_extend(out, (size_t)st.st_size) == NULL)
		return rd_fail_nomem(err);
	return rd_pread_all(fd, out->at, out->n, 0, err);
}

static int read_task(struct task *t, int fd, struct rd_error *err)
{
	int code = read_whole_file(fd, &t->bytes, err);

	if (code < 0)
		return code;
	struct rd_cursor c = rd_cursor_of(t->bytes.at, t->bytes.n);
	uint32_t folder_n = rd_u32(&c);
	uint32_t packed_n = rd_u32(&c);
	const uint8_t *folder = rd_take(&c, folder_n);
	const uint8_t *packed = rd_take(&c, packed_n);
	if (packed == NULL || folder == NULL || folder_n >= sizeof t->folder)
		return rd_fail(err, RD_INTERNAL, "a task that is cut");
	memcpy(t->folder, folder, folder_n);
	if ((code = rd_envelope_unpack((struct rd_span){packed, packed_n}, &t->envelope, err)) < 0)
		return code;
	t->work = t->envelope->work;
	if (t->work == NULL)
		return rd_fail(err, RD_INTERNAL, "a task without work");
	struct rd_span *parts[] = {&t->info, &t->context, &t->blocks};
	uint64_t sizes[] = {t->work->info_bytes, t->work->context_bytes, t->work->blocks_bytes};
	for (int i = 0; i < 3; i++) {
		if (sizes[i] > rd_left(&c))
			return rd_fail(err, RD_PROTOCOL, "the task's parts are longer than its blob");
		*parts[i] = (struct rd_span){rd_take(&c, (size_t)sizes[i]), (size_t)sizes[i]};
	}
	return rd_left(&c) ? rd_fail(err, RD_PROTOCOL, "the task's parts are shorter than its blob") : 0;
}

/* ---- the works */

static int tell_progress(void *ctx, uint64_t bytes)
{
	struct task *t = ctx;
	uint64_t now = rd_now_ns();

	/* Slow work is heard of, too, as long as it goes on. */
	if (bytes <= t->told_bytes || (bytes < t->told_bytes + PROGRESS_BYTES && now < t->told_ns + PROGRESS_NS))
		return 0;
	t->told_bytes = bytes;
	t->told_ns = now;
	return rd_answer_progress(t->pipe, bytes, NULL);
}

static void hear_progress(void *ctx, uint64_t bytes)
{
	(void)tell_progress(ctx, bytes);
}

static int index_trace(struct task *t, struct rd_error *err)
{
	const struct rd_format *format;
	struct rd_index index = {0};
	struct rd_bytes packed = {0};
	char damage[sizeof index.info.damage];
	int code = rd_trace_probe(&t->source, &format, err);

	if (code == 0)
		code = format->index(&t->source, &index, hear_progress, t, err);
	if (code == 0) {
		rd_field_text(&t->work->damage, damage, sizeof damage);
		rd_archive_mark(&index.info, damage);
		code = rd_index_pack(&index, &packed, err);
	}
	if (code == 0)
		code = rd_answer_index(t->pipe, (struct rd_span){packed.at, packed.n}, err);
	rd_bytes_release(&packed);
	rd_index_release(&index);
	return code;
}

/* The task's own folder, empty, and the job's above it. */
static int make_folder(char *path, struct rd_error *err)
{
	char *slash = strrchr(path, '/');
	int rc = rd_remove_tree(path, err);

	if (rc < 0)
		return rc;
	if (slash && slash > path) {
		*slash = 0;
		rc = mkdir(path, 0700) != 0 && errno != EEXIST;
		*slash = '/';
	}
	if (rc == 0)
		rc = mkdir(path, 0700) != 0 && errno != EEXIST;
	if (rc)
		return rd_error_at(err, rd_fail_errno(err, "making a folder to unpack into"), path, RD_NO_OFFSET);
	return 0;
}

static int tell_member(const struct task *t, const struct rd_unpacked *u, struct rd_error *err)
{
	struct rd_answer_member m = {.size_bytes = u->size_bytes};

	_Static_assert(sizeof m.path == sizeof u->path && sizeof m.name == sizeof u->name &&
			       sizeof m.damage == sizeof u->damage,
		       "they are copied");
	memcpy(m.path, u->path, sizeof m.path);
	memcpy(m.name, u->name, sizeof m.name);
	memcpy(m.damage, u->damage, sizeof m.damage);
	return rd_answer_member(t->pipe, &m, err);
}

static int unpack_archive(struct task *t, struct rd_error *err)
{
	rd_unpacked_vec files = {0};
	int code = t->unpacks ? make_folder(t->folder, err) : rd_fail(err, RD_IO, "there is no folder to unpack into");

	if (code == 0 && t->fenced)
		code = rd_confine_narrow(t->folder, err);
	if (code < 0)
		return code;
	code = rd_archive_unpack(&t->source, t->folder, NULL, &files, hear_progress, t, err);
	for (size_t i = 0; code == 0 && i < files.n; i++)
		code = tell_member(t, &files.at[i], err);
	rd_vec_release(&files);
	return code;
}

static int open_input(struct task *t, struct rd_error *err)
{
	bool packed;
	int code = rd_archive_is(&t->source, &packed, err);

	if (code < 0)
		return code;
	return packed ? unpack_archive(t, err) : index_trace(t, err);
}

static int tell_block(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	const struct task *t = ctx;
	return rd_answer_block(t->pipe, table, seq, block, err);
}

static int decode_shard(struct task *t, struct rd_error *err)
{
	struct rd_trace_info info;
	rd_block_vec context = {0}, blocks = {0};
	const Rd__Assignment *w = t->work;
	int code = rd_source_same(&t->source, w->size_bytes, w->mtime_ns, err);

	if (code == 0)
		code = rd_info_unpack(&info, t->info, err);
	if (code == 0)
		code = rd_blocks_unpack(&context, t->context, err);
	if (code == 0)
		code = rd_blocks_unpack(&blocks, t->blocks, err);
	if (code == 0 && (info.digest != w->digest || info.size_bytes != w->size_bytes))
		code = rd_fail(err, RD_PROTOCOL, "the plan speaks of another trace than the task");
	if (code == 0) {
		struct rd_shard shard = {&info, context.at, context.n, blocks.at, blocks.n};
		struct rd_shard_options opt = {
			.preliminary = w->preliminary,
			.stack_depth = w->stack_depth,
			.progress = tell_progress,
			.progress_ctx = t,
		};
		code = rd_shard_decode(&t->source, &shard, &opt, tell_block, t, err);
		if (code < 0)
			rd_error_in(err, code, "decoding shard %u", w->shard);
	}
	/* A trace that changed meanwhile explains whatever else went wrong. */
	if (code == 0 || code == RD_CORRUPT || code == RD_TRUNCATED) {
		struct rd_error changed;
		if (rd_source_same(&t->source, w->size_bytes, w->mtime_ns, &changed) < 0) {
			*err = changed;
			code = changed.code;
		}
	}
	rd_vec_release(&blocks);
	rd_vec_release(&context);
	return code;
}

/* Cut the last name off a path; false when there is none but the root's. */
static bool cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return false;
	*slash = 0;
	return true;
}

/* Above the folder to unpack into, which is not there yet: its job's, else the one that has all jobs'. */
static const char *folder_above(const struct task *t, char path[4096])
{
	struct stat st;

	memcpy(path, t->folder, strlen(t->folder) + 1);
	for (int i = 0; i < 2 && cut_name(path); i++)
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			return path;
	return NULL;
}

static int enter_sandbox(struct task *t, const struct rd_parse_limits *limits, struct rd_error *err)
{
	char above[4096];
	/* A packed trace is unpacked through a map of the plain file. */
	bool opens = t->work->work == RD__WORK__OPEN;
	int keep[2] = {t->source.fd, t->pipe};

	if (keep[0] > keep[1]) {
		keep[0] = t->pipe;
		keep[1] = t->source.fd;
	}
	struct rd_sandbox s = {
		.memory_bytes = limits->memory_bytes,
		.maps_files = opens,
		.cpu_s = limits->cpu_s,
		.file_bytes = opens ? UINT64_MAX : 0,
		.keep = keep,
		.keep_n = 2,
		.folder = opens ? folder_above(t, above) : NULL,
	};
	t->fenced = limits->sandbox >= RD_SANDBOX_FENCED;
	t->unpacks = s.folder != NULL;
	return rd_sandbox_enter(limits->sandbox, &s, err);
}

static int work(struct task *t, int task_fd, const struct rd_parse_limits *limits, struct rd_error *err)
{
	char path[4096];
	int code = read_task(t, task_fd, err);

	if (code < 0)
		return code;
	rd_field_text(&t->work->path, path, sizeof path);
	if ((code = rd_source_open(&t->source, path, err)) < 0)
		return rd_error_at(err, code, path, RD_NO_OFFSET);
	if (limits->roots)
		code = rd_roots_check(limits->roots, t->source.fd, err);
	if (code == 0 && (code = enter_sandbox(t, limits, err)) == 0) {
		if (t->work->work == RD__WORK__OPEN)
			code = open_input(t, err);
		else if (t->work->work == RD__WORK__INDEX)
			code = index_trace(t, err);
		else
			code = decode_shard(t, err);
	}
	if (code < 0)
		rd_error_at(err, code, path, RD_NO_OFFSET);
	rd_source_close(&t->source);
	return code;
}

/* Another worker may allow more, so it stays what it is; the user reads what to change. */
static int name_limit(int code, const struct rd_parse_limits *limits, struct rd_error *err)
{
	char size[32];

	if (code != RD_NOMEM || limits->memory_bytes == 0 || limits->memory_bytes == UINT64_MAX || !rd_limits_memory())
		return code;
	snprintf(err->text, sizeof err->text, "out of memory (a parser may have %s; --memory allows more)",
		 rd_size_text(limits->memory_bytes, size, sizeof size));
	return code;
}

int rd_parse_child(const struct rd_forker_child *child, const struct rd_parse_limits *limits)
{
	struct rd_error err;
	int code;

	if (child->fds_n != 2)
		return 1;
	/* Writing where nobody reads is an error to return by; a file above its limit is one to report. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	struct task t = {.pipe = child->fds[RD_FORKER_PIPE_FD]};
	rd_error_clear(&err);
	code = rd_error_settle(&err, work(&t, child->fds[RD_FORKER_TASK_FD], limits, &err));
	code = name_limit(code, limits, &err);
	code = code < 0 ? rd_answer_error(t.pipe, &err) : rd_answer_end(t.pipe, &err);
	if (t.envelope)
		rd_envelope_free(t.envelope);
	rd_bytes_release(&t.bytes);
	return code < 0 ? 1 : 0;
}
