/*
 * evidence - what a group's facts say of its rundowns.
 *
 * Per life and CLR instance: whether a rundown spoke of methods, and how many
 * of its beginnings and ends were seen. docs/reconciliation.md, "Trust".
 */
#ifndef RD_PROFILE_EVIDENCE_H
#define RD_PROFILE_EVIDENCE_H

#include "base/records.h"
#include "profile/result.h"

struct rd_evidence {
	struct rd_records runtimes; /* by life and CLR instance */
	struct rd_records lives;    /* by life: when its end rundown began */
	uint64_t first_ending;      /* the earliest of these, ticks */
	uint32_t recent;            /* of runtimes: the one of the last method */
};

void rd_evidence_init(struct rd_evidence *e);
/* A DCStart or DCEnd method event. life RD_NONE, of a failed allocation, is RD_NOMEM here too. */
int rd_evidence_add_method(struct rd_evidence *e, uint32_t life, uint32_t clr, struct rd_error *err);
/* marker: enum rd_marker. */
int rd_evidence_add_marker(struct rd_evidence *e, uint32_t life, uint32_t clr, uint32_t marker, uint64_t time,
			   struct rd_error *err);
enum rd_rundown rd_evidence_rundown(const struct rd_evidence *e);
/* Whether the life's end rundown had begun. */
bool rd_evidence_in_rundown(const struct rd_evidence *e, uint32_t life, uint64_t time);
void rd_evidence_release(struct rd_evidence *e);

#endif
