#include "profile/verdict.h"

int rd_verdict_give(struct rd_verdict *v, const struct rd_ownership *o, const struct rd_content *content,
		    uint32_t (*frame_of)(void *ctx, uint32_t event), void *ctx, struct rd_error *err)
{
	*v = (struct rd_verdict){.frame = RD_NONE, .until = o->until};
	if (o->owner == RD_NONE)
		return 0;
	uint32_t frame = frame_of(ctx, o->owner);
	uint32_t rival = o->rival == RD_NONE ? frame : frame_of(ctx, o->rival);
	if (frame == RD_NONE || rival == RD_NONE)
		return rd_fail_nomem(err);
	v->frame = frame;
	v->ambiguous = !rd_content_same_method(content, frame, rival);
	return 0;
}
