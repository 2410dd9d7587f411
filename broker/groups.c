#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/table.h"
#include "base/text.h"
#include "trace/unmerged.h"

/*
 * Which traces are one. All with --join; else those of an unmerged set, inside
 * one archive or given as files, and the inner ETLs of a Visual Studio
 * session, unless the user wants each by itself. Names decide, as nothing in
 * an ETL says so.
 *
 * Members of an archive are taken in the order of their names, a set's main
 * file before its others, whatever order they were packed in: the first trace
 * of a group gives its clock, and files decide between facts of one time.
 */

/* A trace by its name. Names of members begin with the number of their input. */
struct named {
	struct rd_trace *trace;
	uint32_t name; /* in strings */
	uint32_t main; /* of its set; its own when it is in none */
};

struct naming {
	struct rd_job *job;
	struct rd_strings names; /* of ETLs, and of others under a name of none */
	RD_VEC(struct named) traces;
};

static bool is_session(const ProtobufCBinaryData *path)
{
	static const char ending[] = ".diagsession";
	size_t n = sizeof ending - 1;

	return path->len > n && strncasecmp((const char *)path->data + path->len - n, ending, n) == 0;
}

/* A path cannot begin with a digit, so members and files do not mix; nor can any name hold a NUL. */
static int add_name(struct naming *g, struct rd_trace *t)
{
	char text[RD_PATH_MAX + 300], given[RD_PATH_MAX + 1];
	struct named *row = rd_vec_add(&g->traces);

	if (row == NULL)
		return RD_NOMEM;
	rd_field_text(t->member.len ? &t->member : &g->job->submit->path[t->input], given, sizeof given);
	if (t->member.len)
		snprintf(text, sizeof text, "%" PRIu32 ":%s", t->input, given);
	else
		snprintf(text, sizeof text, "%s", given);
	/* What is no ETL is in no set: its NUL keeps its name apart. */
	size_t n = strlen(text) + (t->index.info.format != RD_FORMAT_ETL);
	*row = (struct named){.trace = t, .name = rd_strings_id(&g->names, text, n)};
	return row->name == RD_NONE ? RD_NOMEM : 0;
}

static void find_main(const struct naming *g, struct named *t)
{
	char text[RD_PATH_MAX + 300];
	struct rd_span name = rd_strings_at(&g->names, t->name);

	t->main = t->name;
	for (size_t n = 0; rd_unmerged_main(name, n, text, sizeof text); n++) {
		uint32_t main = rd_strings_find(&g->names, text, strlen(text));
		if (main != RD_NONE) {
			t->main = main;
			return;
		}
	}
}

static int compare_names(const struct naming *g, uint32_t x, uint32_t y)
{
	struct rd_span a = rd_strings_at(&g->names, x), b = rd_strings_at(&g->names, y);
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = memcmp(a.at, b.at, n);

	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

static int compare(const void *x, const void *y, void *ctx)
{
	const struct named *a = x, *b = y;
	const struct naming *g = ctx;
	int c = a->main != b->main ? compare_names(g, a->main, b->main) : 0;

	if (c == 0)
		c = (a->name != a->main) - (b->name != b->main);
	return c ? c : compare_names(g, a->name, b->name);
}

static int name_all(struct naming *g)
{
	for (size_t i = 0; i < g->job->inputs.n; i++)
		for (size_t k = 0; k < g->job->inputs.at[i].traces.n; k++)
			if (add_name(g, g->job->inputs.at[i].traces.at[k]) < 0)
				return RD_NOMEM;
	for (size_t i = 0; i < g->traces.n; i++)
		find_main(g, &g->traces.at[i]);
	/* An archive's members follow each other, and only they. */
	size_t from = 0;
	for (size_t i = 0; i < g->job->inputs.n; i++) {
		size_t n = g->job->inputs.at[i].traces.n;
		if (n > 1)
			qsort_r(g->traces.at + from, n, sizeof *g->traces.at, compare, g);
		from += n;
	}
	return 0;
}

/* Number the traces, and give each its group: the number of the group's first trace. */
static int number_all(struct naming *g)
{
	const Rd__Submit *submit = g->job->submit;
	RD_VEC(uint32_t) first_of = {0}; /* by main */

	if (rd_vec_reserve(&first_of, g->names.at.n) < 0 || rd_vec_reserve(&g->job->traces, g->traces.n) < 0) {
		rd_vec_release(&first_of);
		return RD_NOMEM;
	}
	for (first_of.n = 0; first_of.n < g->names.at.n; first_of.n++)
		first_of.at[first_of.n] = RD_NONE;
	uint32_t session = RD_NONE, joined = RD_NONE;
	for (uint32_t i = 0; i < g->traces.n; i++) {
		struct named *row = &g->traces.at[i];
		struct rd_trace *t = row->trace;
		bool etl = t->index.info.format == RD_FORMAT_ETL;
		t->number = i;
		g->job->traces.at[g->job->traces.n++] = t;
		if (rd_trace_is_left_out(&t->index.info)) {
			t->group = i;
			continue;
		}
		if (first_of.at[row->main] == RD_NONE)
			first_of.at[row->main] = i;
		if (joined == RD_NONE)
			joined = i;
		t->group = submit->join ? joined : submit->apart ? i : first_of.at[row->main];
		if (submit->join || submit->apart || !etl || !is_session(&submit->path[t->input]))
			continue;
		if (session == RD_NONE || g->job->traces.at[session]->input != t->input)
			session = i;
		t->group = session;
	}
	rd_vec_release(&first_of);
	return 0;
}

/* Better told now than at the end of a night. */
static int check_clocks(const struct rd_job *j, struct rd_error *err)
{
	char path[RD_PATH_MAX + 300], first[RD_PATH_MAX + 300];

	for (size_t i = 0; i < j->traces.n; i++) {
		const struct rd_trace *t = j->traces.at[i], *g = j->traces.at[t->group];
		const struct rd_clock *a = &t->index.info.clock, *b = &g->index.info.clock;
		if (a->kind == b->kind && a->frequency_hz == b->frequency_hz)
			continue;
		rd_job_display_path(j, g->input, g, first, sizeof first);
		struct rd_span name = rd_base_name(rd_text_span(first));
		rd_fail(err, RD_UNSUPPORTED, "it cannot be joined with %.*s: their clocks differ%s",
			(int)name.size_bytes, (const char *)name.at,
			j->submit->join ? "" : "; --no-join takes each by itself");
		return rd_error_at(err, RD_UNSUPPORTED, rd_job_display_path(j, t->input, t, path, sizeof path),
				   RD_NO_OFFSET);
	}
	return 0;
}

int rd_job_number_traces(struct rd_job *j, struct rd_error *err)
{
	struct naming g = {.job = j};
	int rc = name_all(&g);

	if (rc == 0)
		rc = number_all(&g);
	rd_vec_release(&g.traces);
	rd_strings_release(&g.names);
	return rc < 0 ? rd_fail_nomem(err) : check_clocks(j, err);
}
