/*
 * incomplete - why an exit code is 3, a line on stderr for each reason: the same for `run`, `submit` and `result`.
 */
#ifndef RD_CLI_INCOMPLETE_H
#define RD_CLI_INCOMPLETE_H

#include "cli/inputs.h"
#include "net/validate.h"
#include "profile/result.h"
#include "proto/wire.pb-c.h"

/* What a broker knows of it. Zeros at first. */
struct rd_left_out {
	uint32_t shards, quarantined;
	struct rd_error last_failure; /* of a quarantined shard */
	uint64_t lost_events;
	char result[RD_PATH_MAX + 1];
};

void rd_left_out_take(struct rd_left_out *l, const Rd__Status *s);

/* name: of the command. in: the inputs as the user gave them; NULL: he gave none here. */
void rd_note_incomplete(const char *name, const struct rd_inputs *in, const struct rd_left_out *l,
			const struct rd_result *r, bool strict);
/* The same where the result is not read yet. When it cannot be read here there is one line less to tell. */
void rd_note_incomplete_job(const char *name, const struct rd_inputs *in, const struct rd_left_out *l, bool strict);

#endif
