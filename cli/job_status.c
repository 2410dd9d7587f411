#include "cli/job_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/command.h"
#include "net/message.h"
#include "net/validate.h"
#include "net/wire_error.h"
#include "report/people.h"

#define PRIORITY_OFF 100
/* What nanoseconds since 1970 can tell. */
#define SECONDS_MAX  (INT64_MAX / 1000000000)

static bool has_state(const Rd__Status *s, const char *state)
{
	return s->state.len == strlen(state) && memcmp(s->state.data, state, s->state.len) == 0;
}

bool rd_job_is_over(const Rd__Status *s)
{
	return has_state(s, "done") || has_state(s, "failed") || has_state(s, "cancelled");
}

bool rd_job_is_unknown(const Rd__Status *s)
{
	/* A job that failed for this reason has inputs. */
	return has_state(s, "failed") && s->inputs == 0 && s->error && s->error->code == RD_NOT_FOUND;
}

int rd_job_exit(const Rd__Status *s, bool strict)
{
	if (!has_state(s, "done") || s->finished == NULL)
		return RD_EXIT_FAILED;
	if (!s->finished->complete || s->shards_quarantined > 0 || (strict && s->finished->lost_events))
		return RD_EXIT_INCOMPLETE;
	return RD_EXIT_OK;
}

const char *const rd_priority_words[] = {"lowest", "low", "normal", "high", "highest", NULL};

int32_t rd_priority_of(int word)
{
	return (word - RD_PRIORITY_NORMAL) * PRIORITY_OFF;
}

const char *rd_priority_word(int32_t priority)
{
	for (int i = 0; rd_priority_words[i]; i++)
		if (rd_priority_of(i) == priority)
			return rd_priority_words[i];
	return NULL;
}

void rd_job_error(const Rd__Status *s, struct rd_error *err)
{
	if (has_state(s, "cancelled"))
		rd_fail(err, RD_CANCELLED, "the job was cancelled");
	else
		rd_wire_error_take(err, s->error);
}

/* ---- JSON */

static void text_field(struct rd_json *j, const char *key, const ProtobufCBinaryData *f)
{
	if (f->len)
		rd_json_span(j, key, rd_field_span(f));
	else
		rd_json_null(j, key);
}

static void json_end(struct rd_json *j, const Rd__Status *s)
{
	struct rd_error err;
	char line[1024];

	if (s->error) {
		rd_wire_error_take(&err, s->error);
		rd_json_text(j, "error", rd_error_line(&err, line, sizeof line));
	} else {
		rd_json_null(j, "error");
	}
	if (s->finished == NULL) {
		rd_json_null(j, "finished");
		return;
	}
	rd_json_object(j, "finished");
	rd_json_u64(j, "samples", s->finished->samples);
	rd_json_bool(j, "complete", s->finished->complete && s->shards_quarantined == 0);
	rd_json_u64(j, "lost_events", s->finished->lost_events);
	rd_json_object_end(j);
}

/* "2026-03-01T12:30:05Z" */
static const char *utc_text(const Rd__Status *s, char buf[RD_NUMBER_TEXT])
{
	return rd_utc_text((int64_t)(s->submitted_s < SECONDS_MAX ? s->submitted_s : SECONDS_MAX) * 1000000000, buf);
}

void rd_job_json(struct rd_json *j, const Rd__Status *s)
{
	char utc[RD_NUMBER_TEXT];

	rd_json_object(j, NULL);
	rd_json_span(j, "id", rd_field_span(&s->id));
	rd_json_span(j, "state", rd_field_span(&s->state));
	rd_json_object(j, "shards");
	rd_json_u64(j, "total", s->shards_total);
	rd_json_u64(j, "done", s->shards_done);
	rd_json_u64(j, "running", s->shards_running);
	rd_json_u64(j, "quarantined", s->shards_quarantined);
	rd_json_object_end(j);
	rd_json_object(j, "bytes");
	rd_json_u64(j, "total", s->bytes_total);
	rd_json_u64(j, "done", s->bytes_done);
	rd_json_object_end(j);
	rd_json_u64(j, "attempts", s->attempts);
	rd_json_u64(j, "workers", s->workers);
	if (s->eta_s == UINT32_MAX || rd_job_is_over(s))
		rd_json_null(j, "eta_s");
	else
		rd_json_u64(j, "eta_s", s->eta_s);
	rd_json_u64(j, "spent_s", s->spent_s);
	rd_json_i64(j, "priority", s->priority);
	if (s->submitted_s)
		rd_json_text(j, "submitted", utc_text(s, utc));
	else
		rd_json_null(j, "submitted");
	rd_json_u64(j, "inputs", s->inputs);
	text_field(j, "path", &s->path);
	text_field(j, "output", &s->output);
	json_end(j, s);
	rd_json_object_end(j);
}

/* ---- for people */

static unsigned percent(const Rd__Status *s)
{
	if (has_state(s, "done") || has_state(s, "finishing"))
		return 100;
	return s->bytes_total ? (unsigned)((double)s->bytes_done * 100 / (double)s->bytes_total) : 0;
}

static void time_text(uint32_t seconds, char *buf, size_t size)
{
	if (seconds == UINT32_MAX)
		snprintf(buf, size, "-");
	else if (seconds < 3600)
		snprintf(buf, size, "%" PRIu32 ":%02" PRIu32, seconds / 60, seconds % 60);
	else
		snprintf(buf, size, "%" PRIu32 ":%02" PRIu32 ":%02" PRIu32, seconds / 3600, seconds / 60 % 60,
			 seconds % 60);
}

/* What a terminal may see of it, in buf. */
static const char *shown(const ProtobufCBinaryData *f, char *buf, size_t size)
{
	rd_field_text(f, buf, size);
	rd_clean_line(buf, size);
	return buf;
}

/* "2026-03-01 12:30" by the user's clock; "-" not known. */
static const char *local_text(const Rd__Status *s, char *buf, size_t size)
{
	time_t t = (time_t)(s->submitted_s < SECONDS_MAX ? s->submitted_s : SECONDS_MAX);
	struct tm tm;

	if (s->submitted_s == 0 || localtime_r(&t, &tm) == NULL || strftime(buf, size, "%Y-%m-%d %H:%M", &tm) == 0)
		snprintf(buf, size, "-");
	return buf;
}

void rd_job_row_head(struct rd_out *o)
{
	rd_out_printf(o, "%-16s %-16s  %-9s %5s %11s %7s %8s  %s\n", "JOB", "SUBMITTED", "STATE", "DONE", "SHARDS",
		      "LEFT", "SPENT", "RESULT");
}

void rd_job_row(struct rd_out *o, const Rd__Status *s)
{
	char id[RD_JOB_ID_MAX + 1], state[32], output[RD_PATH_MAX + 1], left[32], spent[32], shards[48], at[32];

	time_text(rd_job_is_over(s) ? UINT32_MAX : s->eta_s, left, sizeof left);
	time_text(s->spent_s, spent, sizeof spent);
	snprintf(shards, sizeof shards, "%" PRIu32 "/%" PRIu32, s->shards_done, s->shards_total);
	rd_out_printf(o, "%-16s %-16s  %-9s %3u %% %11s %7s %8s  %s\n", shown(&s->id, id, sizeof id),
		      local_text(s, at, sizeof at), shown(&s->state, state, sizeof state), percent(s), shards, left,
		      spent, shown(&s->output, output, sizeof output));
}

static void lines_of_end(struct rd_out *o, const Rd__Status *s)
{
	struct rd_error err;
	char line[1024], samples[RD_NUMBER_TEXT];

	if (s->finished)
		rd_out_printf(o, "samples:   %s%s\n", rd_count_text(s->finished->samples, samples),
			      rd_job_exit(s, false) == RD_EXIT_OK ? "" : ", of an incomplete input");
	if (s->error) {
		rd_wire_error_take(&err, s->error);
		rd_out_printf(o, "%s %s\n", has_state(s, "failed") ? "error:    " : "last loss:",
			      rd_error_line(&err, line, sizeof line));
	}
}

static void line_of_time(struct rd_out *o, const Rd__Status *s)
{
	char spent[32], left[32], at[32], number[24];

	if (s->submitted_s)
		rd_out_printf(o, "submitted: %s\n", local_text(s, at, sizeof at));
	time_text(s->spent_s, spent, sizeof spent);
	time_text(s->eta_s, left, sizeof left);
	rd_out_printf(o, "time:      %s spent", spent);
	if (!rd_job_is_over(s) && s->eta_s != UINT32_MAX)
		rd_out_printf(o, ", %s left", left);
	if (!rd_job_is_over(s))
		rd_out_printf(o, "; %" PRIu32 " worker%s", s->workers, s->workers == 1 ? "" : "s");
	const char *word = rd_priority_word(s->priority);
	snprintf(number, sizeof number, "%" PRId32, s->priority);
	rd_out_printf(o, "\npriority:  %s\n", word ? word : number);
}

void rd_job_lines(struct rd_out *o, const Rd__Status *s)
{
	char id[RD_JOB_ID_MAX + 1], state[32], text[RD_PATH_MAX + 1], done[32], total[32];

	rd_out_printf(o, "job:       %s\n", shown(&s->id, id, sizeof id));
	rd_out_printf(o, "state:     %s\n", shown(&s->state, state, sizeof state));
	rd_out_printf(o, "input:     %s", shown(&s->path, text, sizeof text));
	if (s->inputs > 1)
		rd_out_printf(o, " and %" PRIu32 " more", s->inputs - 1);
	rd_out_printf(o, "\nresult:    %s\n", shown(&s->output, text, sizeof text));
	if (s->bytes_total)
		rd_out_printf(o, "done:      %u %%, %s of %s\n", percent(s),
			      rd_size_text(s->bytes_done, done, sizeof done),
			      rd_size_text(s->bytes_total, total, sizeof total));
	rd_out_printf(o,
		      "shards:    %" PRIu32 " of %" PRIu32 " done, %" PRIu32 " running, %" PRIu32 " given up, %" PRIu32
		      " attempts of all tasks\n",
		      s->shards_done, s->shards_total, s->shards_running, s->shards_quarantined, s->attempts);
	line_of_time(o, s);
	lines_of_end(o, s);
}
