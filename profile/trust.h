/*
 * trust - how far a result may be believed, out of what its groups gathered.
 */
#ifndef RD_PROFILE_TRUST_H
#define RD_PROFILE_TRUST_H

#include "profile/finish.h"
#include "profile/group.h"

/* Begin: a whole result of no trace. */
void rd_trust_init(struct rd_trust *t);
/* A file of a gathered group; fills *out, the trace as the result shows it, and adds to the trust. */
int rd_trust_add_file(struct rd_trust *t, const struct rd_finish_trace *trace, const struct rd_group_file *file,
		      struct rd_result_trace *out, struct rd_error *err);
/* A file that was left out; fills *out. */
void rd_trust_add_left_out(struct rd_trust *t, const struct rd_finish_trace *trace, struct rd_result_trace *out);
/* A group that was gathered and counted: its rundowns and providers. first: none came before it. */
void rd_trust_add_group(struct rd_trust *t, const struct rd_group *g, bool first);
/* All that is said of another result, whose traces are numbered on from `traces`, how many there are so far. */
int rd_trust_merge(struct rd_trust *t, const struct rd_trust *more, uint32_t traces, struct rd_error *err);
/* All were added: sort what has an order. */
void rd_trust_seal(struct rd_trust *t);

#endif
