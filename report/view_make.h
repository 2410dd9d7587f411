/*
 * view_make - the steps from a result to a view; report/view.c takes them in turn.
 */
#ifndef RD_REPORT_VIEW_MAKE_H
#define RD_REPORT_VIEW_MAKE_H

#include "base/records.h"
#include "report/view.h"

/* What a frame is to the filter. */
enum rd_frame_bits {
	RD_FRAME_FOCUS = 1,
	RD_FRAME_IGNORE = 2,
	RD_FRAME_HIDE = 4,
	RD_FRAME_PIVOT = 8, /* of --callers or --callees */
	RD_FRAME_MODULE = 16,
};

/* A call of the result in the view. */
struct rd_call_state {
	uint32_t call; /* the number of the view's; 0: nothing of the stack is shown so far */
	uint32_t bits; /* of the frames from the root to here */
};

struct rd_view_making {
	struct rd_view *v;
	const struct rd_result *r;
	const struct rd_view_filter *f;
	struct rd_error *err;
	uint64_t from_bucket, to_bucket;     /* [from, to) */
	struct rd_records methods;           /* struct rd_view_method */
	struct rd_records calls;             /* struct rd_view_call */
	bool failed;                         /* out of memory, where a name was made */
	RD_VEC(uint32_t) frame_method;       /* by frame */
	RD_VEC(uint8_t) frame_bits;          /* by frame, and behind them those of having no stack */
	RD_VEC(struct rd_call_state) states; /* by call of the result */
	RD_VEC(uint32_t) stack_entry;        /* by stack of the result: the view's that it was last, + 1 */
};

/* n zeros. */
#define RD_ZEROS(vec, count)                                                                                           \
	(rd_vec_reserve((vec), (count)) == 0                                                                           \
		 ? ((count) ? memset((vec)->at, 0, (count) * sizeof *(vec)->at) : NULL, (vec)->n = (count), 0)         \
		 : RD_NOMEM)

#define RD_VIEW_STACK_KEY_BYTES offsetof(struct rd_view_stack, count)

/* Which rows pass, but for their stacks (report/view_rows.c). */
int rd_view_choose_rows(struct rd_view_making *g);
bool rd_view_row_passes(const struct rd_view_making *g, const struct rd_result_row *row);

/* What each frame is: its method or group, and what the patterns say of it (report/view_frames.c). */
int rd_view_name_frames(struct rd_view_making *g);
/* The row of a process that stands for no method. */
struct rd_view_method rd_view_pseudo(enum rd_view_what what, uint32_t process);

/* The tree of calls as it is shown, and whose stack passes (report/view_tree.c). */
int rd_view_make_tree(struct rd_view_making *g);
/* Rows that pass to stacks of the view, and all that is summed over rows. */
int rd_view_fold_rows(struct rd_view_making *g);
/* Turn all stacks around; cut off what has too few samples. After the methods were counted. */
int rd_view_invert(struct rd_view_making *g);
int rd_view_prune(struct rd_view_making *g);
/* Stacks that became the same become one (report/view_take.c). */
int rd_view_merge_stacks(struct rd_view_making *g);
/* Methods and calls into the view, numbered anew without those that nobody has. */
int rd_view_take(struct rd_view_making *g);

/* The view's stacks by method (report/view_count.c). */
int rd_view_count(struct rd_view_making *g);

#endif
