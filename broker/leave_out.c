#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * An input that nobody named, one of a folder's, need not be a trace, and a
 * night of a thousand traces does not end with the one that cannot be read. It
 * becomes a trace of no format, without blocks or shards, whose damage says
 * why: so the result tells of it, is incomplete, and all that comes behind the
 * index goes its usual way. What the user named himself fails the job.
 */

static bool is_optional(const struct rd_job *j, uint32_t input)
{
	return input < j->submit->n_optional && j->submit->optional[input];
}

/* The file is told beside it. */
static void say_why(struct rd_index *ix, const struct rd_error *why)
{
	struct rd_error bare = *why;

	bare.file[0] = 0;
	rd_error_line(&bare, ix->info.damage, sizeof ix->info.damage);
}

void rd_job_input_failed(struct rd_broker *b, struct rd_job *j, struct rd_task *t, const struct rd_error *why)
{
	char line[800], quoted[900];
	struct rd_index none = {
		.info = {.format = RD_FORMAT_NONE,
			 .pointer_bytes = 8,
			 .clock = {RD_CLOCK_SYSTEM, 10000000, 0, 0},
			 .cut_at = RD_NO_OFFSET},
	};

	if (!is_optional(j, t->input)) {
		rd_job_fail(b, j, why);
		return;
	}
	rd_log(RD_LOG_WARN, "left_out", "job=%s input=%" PRIu32 " error=%s", j->id, t->input,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	j->error = *why;
	j->dirty = true;
	say_why(&none, why);
	rd_job_indexed(b, j, t, &none);
	rd_job_advance(b, j);
}

int rd_job_check_left(const struct rd_job *j, struct rd_error *err)
{
	for (size_t i = 0; i < j->traces.n; i++)
		if (!rd_trace_is_left_out(&j->traces.at[i]->index.info))
			return 0;
	*err = j->error;
	return j->traces.n > 1 ? rd_error_in(err, err->code, "none of %zu traces can be used", j->traces.n) : err->code;
}
