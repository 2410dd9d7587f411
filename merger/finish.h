/*
 * finish - the steps of a job's end, each the work of a child process.
 *
 * The finish reads blocks that strangers' traces gave rise to, needs memory
 * in proportion to the job, and touches the output's file system, which may
 * be remote and slow. So it is no part of the merger's own process: a crash,
 * the kernel's out-of-memory killer or a dead server cost this job, not the
 * merger. LMDB does not survive a fork, so a child opens the store anew, to
 * read only.
 *
 * The result is made in a folder beside its place (merger/beside.h), and
 * renamed from there; on a network file system it is made in the merger's
 * own folder and copied, for LMDB writes through a memory map.
 *
 * A task's file: struct rd_finish_head, the packed Envelope of FINISH, its
 * blob. Frames of the answer (base/pipe.h): PROGRESS u64 done, u64 total;
 * READY rd_finish_ready; ERROR rd_pipe_error_pack; END.
 */
#ifndef RD_MERGER_FINISH_H
#define RD_MERGER_FINISH_H

#include "base/forker.h"
#include "merger/merger.h"

enum rd_finish_frame {
	RD_FINISH_PROGRESS = 1,
	RD_FINISH_READY = 2,
	RD_FINISH_ERROR = 3,
	RD_FINISH_END = 4,
	RD_FINISH_TOP = 5, /* of RD_STEP_LOOK: the packed Envelope of TOP_ROWS */
};
#define RD_FINISH_BODY_MAX 4096

/* Private memory of a finish, unless somebody says otherwise. What it maps of files does not count. */
#define RD_FINISH_MEMORY_BYTES     ((uint64_t)4 << 30)
#define RD_FINISH_MEMORY_MIN_BYTES ((uint64_t)8 << 20)

/* Between two processes of one program. */
struct rd_finish_head {
	uint32_t step; /* enum rd_finish_step */
	uint32_t packed_bytes;
	uint64_t device, inode;       /* DELIVER: of the result */
	uint64_t merger_peak_bytes;   /* FINISH: of the merger itself */
	char folder[RD_PATH_MAX + 1]; /* where the result is made */
};

struct rd_finish_ready {
	uint64_t samples, lost_events;
	uint64_t device, inode;
	uint64_t complete;
};

/* The merger's side: a step's file in memory, for rd_forker_spawn_task; the descriptor, or a negative code. */
int rd_finish_task_file(enum rd_finish_step step, const struct rd_message *order, const struct rd_job_record *record,
			struct rd_error *err);

/*
 * The child's side: the exit code, 0 when the answer was told whole. `state` is the merger's folder. roots: see
 * merger/permit.h. memory_bytes, 0
 * no limit, bounds its private memory: a finish that needs more is RD_LIMIT, with how much it had.
 */
int rd_finish_child(const struct rd_forker_child *child, const char *state, const char *roots,
		    uint64_t memory_bytes);

/* Tests set it: called in a child when its fences stand (base/confine.h), before it reads anything of a trace. */
extern void (*rd_finish_fenced)(void);

#endif
