/*
 * parse - the work of a parser child: one task's bytes in, its answer out.
 *
 * Runs in a process of its own, forked for one task. It reads the task,
 * opens the trace, enters the sandbox, and only then looks into the trace.
 * A task's file: u32 bytes of the folder, u32 bytes of the packed Envelope, both, then the blob.
 */
#ifndef RD_WORKER_PARSE_H
#define RD_WORKER_PARSE_H

#include "base/forker.h"
#include "net/message.h"
#include "worker/sandbox.h"

/* What the worker's owner decides for all its children. */
struct rd_parse_limits {
	enum rd_sandbox_level sandbox;
	uint64_t memory_bytes, cpu_s;
	const char *roots; /* traces lie below these, which have no links; NULL: anywhere */
};

/* The worker's side: the task as a file in memory, for rd_forker_spawn_task; the descriptor, or a negative code. `folder` is OPEN's, or "". */
int rd_parse_task_file(const struct rd_message *task, const char *folder, struct rd_error *err);

/* The child's side: do all of it. The exit code: 0 when the answer, good or bad, was told whole. */
int rd_parse_child(const struct rd_forker_child *child, const struct rd_parse_limits *limits);

#endif
