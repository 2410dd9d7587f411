/* Every line has its label in the first columns; lists are cut short with "and N more". */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/inspect_show.h"
#include "profile/result.h"
#include "report/people.h"

void rd_line_label(struct rd_out *o, const char *label)
{
	rd_out_printf(o, "%-14s", label);
}

void rd_line_count(struct rd_out *o, uint64_t n, const char *one)
{
	char number[RD_NUMBER_TEXT];
	rd_out_printf(o, "%s %s%s", rd_count_text(n, number), one, n == 1 ? "" : "s");
}

void rd_line_more(struct rd_out *o, size_t n, size_t most, const char *hint)
{
	char number[RD_NUMBER_TEXT];
	if (n > most)
		rd_out_printf(o, "%14s  and %s more%s\n", "", rd_count_text(n - most, number), hint);
}

/* ---- what it is */

static void put_what(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_trace_info *info = &s->in->index.info;
	char number[RD_NUMBER_TEXT], version[32];

	rd_line_label(o, "file");
	rd_out_name(o, rd_text_span(s->path), 0);
	if (*s->member) {
		rd_out_text(o, ", ");
		rd_out_name(o, rd_text_span(s->member), 0);
	}
	rd_out_printf(o, "\n%-14s%s %s", "format", s->in->format->name, rd_version_text(info, version, sizeof version));
	if (info->compression)
		rd_out_text(o, ", compressed buffers");
	rd_out_printf(o, "\n%-14s%s in ", "size", rd_size_text(info->size_bytes, number, sizeof number));
	rd_line_count(o, s->in->index.blocks.n, "block");
	rd_out_printf(o, "\n%-14s%s", "recorder", rd_recorder_name(info));
	if (info->recorder[0]) {
		rd_out_text(o, ", ");
		rd_out_name(o, rd_text_span(info->recorder), 0);
	}
	rd_out_text(o, "\n");
	if (info->pid)
		rd_out_printf(o, "%-14s%u\n", "process", info->pid);
	for (size_t i = 0; i < s->in->facts.at.n; i++) {
		rd_line_label(o, i ? "" : "header");
		rd_out_name(o, s->in->facts.at.at[i].key, 60);
		rd_out_text(o, ": ");
		rd_out_name(o, s->in->facts.at.at[i].value, 120);
		rd_out_text(o, "\n");
	}
}

static void put_system(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;
	const struct rd_sessions *sessions = &in->sessions;

	if (sessions->at.n) {
		const struct rd_session_record *r = &sessions->at.at[0].said;
		rd_out_printf(o, "%-14sWindows %u.%u, build %u", "system", r->os_major, r->os_minor, r->os_build);
		if (sessions->build) {
			rd_out_text(o, ", ");
			rd_out_name(o, rd_strings_at(&sessions->strings, sessions->build - 1), 60);
		}
		rd_out_text(o, "\n");
	}
	for (size_t i = 0; i < in->processes.rows.rows.n; i++) {
		const struct rd_seen_process *p = rd_records_at(&in->processes.rows.rows, (uint32_t)i);
		if (p->system == 0)
			continue;
		rd_line_label(o, "system");
		rd_out_name(o, rd_processes_text(&in->processes, p->system), 60);
		if (p->architecture)
			rd_out_text(o, ", ");
		rd_out_name(o, rd_processes_text(&in->processes, p->architecture), 60);
		rd_out_text(o, "\n");
		break;
	}
}

static void put_machine(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_trace_info *info = &s->in->index.info;
	const struct rd_sessions *sessions = &s->in->sessions;
	uint32_t mhz = sessions->cpu_mhz;
	char number[RD_NUMBER_TEXT];

	if (mhz == 0 && sessions->at.n)
		mhz = sessions->at.at[0].said.cpu_mhz;
	rd_line_label(o, "machine");
	if (info->cpus)
		rd_line_count(o, info->cpus, "CPU");
	else
		rd_out_text(o, "CPUs not known");
	if (mhz)
		rd_out_printf(o, " of %s MHz", rd_count_text(mhz, number));
	if (sessions->memory_bytes)
		rd_out_printf(o, ", %s of memory", rd_size_text(sessions->memory_bytes, number, sizeof number));
	rd_out_printf(o, ", pointers of %u bytes", info->pointer_bytes);
	if (sessions->host) {
		rd_out_text(o, ", ");
		rd_out_name(o, rd_strings_at(&sessions->strings, sessions->host - 1), 60);
	}
	rd_out_text(o, "\n");
}

static void put_time(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_clock *clock = &s->in->index.info.clock;
	uint64_t ns = rd_inspect_duration_ns(s->in);
	char number[RD_NUMBER_TEXT];

	rd_out_printf(o, "%-14s%s, %s Hz\n", "clock", rd_clock_name(clock->kind),
		      rd_count_text(clock->frequency_hz, number));
	rd_out_printf(o, "%-14s%s\n", "start", rd_utc_text(clock->start_utc_ns, number));
	rd_out_printf(o, "%-14s%s\n", "end", rd_utc_text(rd_inspect_end_utc_ns(s->in), number));
	rd_out_printf(o, "%-14s%s\n", "duration", rd_duration_text(ns, number));
}

static void put_sessions(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_sessions *sessions = &s->in->sessions;
	char number[RD_NUMBER_TEXT], mode[160];

	for (size_t i = 0; i < sessions->at.n; i++) {
		const struct rd_seen_session *session = &sessions->at.at[i];
		const struct rd_session_record *r = &session->said;
		rd_line_label(o, i ? "" : "session");
		if (rd_strings_at(&sessions->strings, session->name).size_bytes)
			rd_out_name(o, rd_strings_at(&sessions->strings, session->name), 60);
		else
			rd_out_text(o, "without a name");
		rd_out_printf(o, ": %s, ", rd_mode_text(r->log_file_mode, mode, sizeof mode));
		rd_line_count(o, r->buffers_written, "buffer");
		rd_out_printf(o, " of %s written, ", rd_size_text(r->buffer_bytes, number, sizeof number));
		rd_line_count(o, r->lost_events, "event");
		rd_out_text(o, " and ");
		rd_line_count(o, r->lost_buffers, "buffer");
		rd_out_text(o, " lost\n");
	}
	rd_line_more(o, sessions->n, sessions->at.n, "");
}

/* ---- what a profile finds */

static void put_samples(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;
	char number[RD_NUMBER_TEXT];
	const char *before = " (";
	uint64_t expected = rd_inspect_expected_ns(in), seen = rd_rate_middle_ns(&in->rate, &in->index.info.clock);

	rd_out_printf(o, "%-14s%s", "samples", rd_count_text(in->samples, number));
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++) {
		if (in->kinds[kind] == 0)
			continue;
		rd_out_printf(o, "%s%s %s", before, rd_count_text(in->kinds[kind], number), rd_sample_kind_name(kind));
		before = ", ";
	}
	rd_out_text(o, in->samples ? ")\n" : "\n");
	if (expected || seen)
		rd_line_label(o, "sampled");
	if (expected)
		rd_out_printf(o, "every %s by its head%s", rd_duration_text(expected, number), seen ? "; " : "");
	if (seen)
		rd_out_printf(o, "every %s as seen", rd_duration_text(seen, number));
	if (expected || seen)
		rd_out_text(o, "\n");
	rd_out_printf(o, "%-14s%s\n", "methods", rd_count_text(in->by_kind[RD_EVENT_METHOD], number));
}

/* ---- how much it can be trusted, and what it costs */

static void put_losses(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;

	rd_line_label(o, "lost");
	rd_line_count(o, in->lost_events, "event");
	rd_out_text(o, ", ");
	rd_line_count(o, in->lost_buffers, "buffer");
	rd_out_text(o, "\n");
	if (in->malformed) {
		rd_line_label(o, "malformed");
		rd_line_count(o, in->malformed, "event");
		rd_out_text(o, "\n");
	}
}

static void put_damage(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;
	char number[RD_NUMBER_TEXT];

	if (in->complete)
		rd_out_printf(o, "%-14sno: complete\n", "damage");
	else if (in->cut_at != RD_NO_OFFSET)
		rd_out_printf(o, "%-14sincomplete from byte %s on\n", "damage", rd_count_text(in->cut_at, number));
	else
		rd_out_printf(o, "%-14sincomplete\n", "damage");
	for (size_t i = 0; i < in->damage.n; i++) {
		rd_line_label(o, "");
		if (in->damage.at[i].offset != RD_NO_OFFSET)
			rd_out_printf(o, "at byte %s: ", rd_count_text(in->damage.at[i].offset, number));
		rd_out_name(o, rd_text_span(in->damage.at[i].what), 0);
		rd_out_text(o, "\n");
	}
	if (in->damage_n > in->damage.n)
		rd_out_printf(o, "%-14sand %s places more\n", "", rd_count_text(in->damage_n - in->damage.n, number));
}

static void put_shards(const struct rd_shown *s, struct rd_out *o)
{
	char least[RD_NUMBER_TEXT], most[RD_NUMBER_TEXT];

	rd_line_label(o, "shards");
	rd_out_printf(o, "%s of ", rd_count_text(s->shards.n, least));
	rd_size_text(s->shards.least_bytes, least, sizeof least);
	rd_size_text(s->shards.most_bytes, most, sizeof most);
	rd_out_printf(o, "%s%s%s, for ", strcmp(least, most) ? least : "", strcmp(least, most) ? " to " : "", most);
	rd_line_count(o, s->shards.workers, "worker");
	rd_out_text(o, "\n");
}

int rd_inspect_text(const struct rd_shown *s, struct rd_out *o, struct rd_error *err)
{
	put_what(s, o);
	put_system(s, o);
	put_machine(s, o);
	put_time(s, o);
	put_sessions(s, o);
	put_samples(s, o);
	if (rd_inspect_text_people(s, o) != 0)
		return rd_fail_nomem(err);
	put_losses(s, o);
	put_damage(s, o);
	put_shards(s, o);
	return rd_inspect_text_events(s, o, err);
}
