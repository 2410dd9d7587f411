/*
 * stack_order - stacks in the order of their frames, from the innermost out.
 */
#ifndef RD_PROFILE_STACK_ORDER_H
#define RD_PROFILE_STACK_ORDER_H

#include "profile/content.h"
#include "profile/progress.h"

/*
 * Sort n different stacks of the content; frame_place says where a frame
 * stands among frames. Of two stacks of which one is the other's inner part
 * the shorter comes first. 0, RD_NOMEM, or what ended the work.
 */
int rd_stack_order(const struct rd_content *c, const uint32_t *frame_place, uint32_t *stacks, size_t n,
		   struct rd_progress *progress, struct rd_error *err);

#endif
