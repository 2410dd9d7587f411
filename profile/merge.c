#include "profile/merge.h"

#include <string.h>

#include "profile/trust.h"

/* Where the rows of the one that is added begin. */
struct merging {
	struct rd_result *all;
	const struct rd_result *more;
	uint32_t traces, processes, frames, calls, stacks;
	RD_VEC(uint32_t) string; /* by string of more */
};

static bool same_filter(const struct rd_result_filter *a, const struct rd_result_filter *b)
{
	return strcmp(a->process, b->process) == 0 && a->kind == b->kind && a->has_from == b->has_from &&
	       a->has_to == b->has_to && a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

static bool same_trace(const struct rd_result_trace *a, const struct rd_result_trace *b)
{
	return !rd_trace_is_left_out(&a->info) && a->info.digest == b->info.digest &&
	       a->info.size_bytes == b->info.size_bytes && a->start_utc_ns == b->start_utc_ns &&
	       strcmp(a->member, b->member) == 0 && strcmp(a->path, b->path) == 0;
}

static int check(const struct merging *m, struct rd_error *err)
{
	if (m->traces > 0 && !same_filter(&m->all->filter, &m->more->filter))
		return rd_fail(err, RD_UNSUPPORTED, "it was made with another filter than the results before it");
	for (size_t i = 0; i < m->more->traces.n; i++)
		for (size_t k = 0; k < m->traces; k++)
			if (same_trace(&m->more->traces.at[i], &m->all->traces.at[k]))
				return rd_fail(err, RD_EXISTS, "its trace is that of a result before it, too: %.180s",
					       m->more->traces.at[i].path);
	/* A number and one more must fit. */
	if (m->more->stacks.n > UINT32_MAX - 1 - m->stacks || m->more->calls.n > UINT32_MAX - 1 - m->calls ||
	    m->more->frames.n > UINT32_MAX - 1 - m->frames || m->more->processes.n > UINT32_MAX - 1 - m->processes)
		return rd_fail(err, RD_LIMIT, "too many stacks for one report");
	return 0;
}

static int make_room(struct merging *m)
{
	struct rd_result *a = m->all;
	const struct rd_result *b = m->more;

	return rd_vec_reserve(&a->traces, b->traces.n) < 0 || rd_vec_reserve(&a->processes, b->processes.n) < 0 ||
			       rd_vec_reserve(&a->frames, b->frames.n) < 0 ||
			       rd_vec_reserve(&a->calls, b->calls.n) < 0 ||
			       rd_vec_reserve(&a->stacks, b->stacks.n) < 0 || rd_vec_reserve(&a->rows, b->rows.n) < 0 ||
			       rd_vec_reserve(&m->string, b->strings.at.n) < 0
		       ? RD_NOMEM
		       : 0;
}

static int add_strings(struct merging *m)
{
	for (uint32_t i = 0; i < m->more->strings.at.n; i++) {
		struct rd_span s = rd_strings_at(&m->more->strings, i);
		uint32_t id = rd_strings_id(&m->all->strings, s.size_bytes ? (const void *)s.at : "", s.size_bytes);
		if (id == RD_NONE)
			return RD_NOMEM;
		m->string.at[m->string.n++] = id;
	}
	return 0;
}

static void add_names(struct merging *m)
{
	struct rd_result *a = m->all;
	const struct rd_result *b = m->more;

	for (size_t i = 0; i < b->traces.n; i++) {
		a->traces.at[a->traces.n] = b->traces.at[i];
		a->traces.at[a->traces.n++].group += m->traces;
	}
	for (size_t i = 0; i < b->processes.n; i++) {
		struct rd_result_process p = b->processes.at[i];
		p.trace += m->traces;
		p.name = m->string.at[p.name];
		p.command_line = m->string.at[p.command_line];
		a->processes.at[a->processes.n++] = p;
	}
	for (size_t i = 0; i < b->frames.n; i++) {
		struct rd_result_frame f = b->frames.at[i];
		f.process += m->processes;
		f.module = m->string.at[f.module];
		f.ns = m->string.at[f.ns];
		f.name = m->string.at[f.name];
		f.signature = m->string.at[f.signature];
		a->frames.at[a->frames.n++] = f;
	}
}

static void add_samples(struct merging *m)
{
	struct rd_result *a = m->all;
	const struct rd_result *b = m->more;

	for (size_t i = 0; i < b->calls.n; i++) {
		struct rd_result_call c = b->calls.at[i];
		c.caller += c.caller ? m->calls : 0;
		c.frame += m->frames;
		a->calls.at[a->calls.n++] = c;
	}
	for (size_t i = 0; i < b->stacks.n; i++)
		a->stacks.at[a->stacks.n++] = b->stacks.at[i] ? b->stacks.at[i] + m->calls : 0;
	for (size_t i = 0; i < b->rows.n; i++) {
		struct rd_result_row r = b->rows.at[i];
		r.process += m->processes;
		r.stack += m->stacks;
		r.bucket = 0;
		a->rows.at[a->rows.n++] = r;
	}
}

/* The end of its last bucket. */
static int64_t end_of(const struct rd_result *r)
{
	uint64_t ns;
	int64_t end;

	if (r->first_bucket > r->last_bucket)
		return r->origin_utc_ns;
	if (__builtin_mul_overflow(r->last_bucket + UINT64_C(1), r->bucket_width_ns, &ns) || ns > INT64_MAX ||
	    __builtin_add_overflow(r->origin_utc_ns, (int64_t)ns, &end))
		return INT64_MAX;
	return end;
}

/* One bucket over all, from the earliest start to the latest end. */
static void add_time(struct merging *m)
{
	struct rd_result *a = m->all;
	const struct rd_result *b = m->more;
	int64_t end = end_of(b);

	if (m->traces > 0) {
		end = end_of(a) > end ? end_of(a) : end;
		a->origin_utc_ns = a->origin_utc_ns < b->origin_utc_ns ? a->origin_utc_ns : b->origin_utc_ns;
	} else {
		a->origin_utc_ns = b->origin_utc_ns;
	}
	uint64_t width = (uint64_t)end - (uint64_t)a->origin_utc_ns;
	a->bucket_width_ns = width ? width : 1;
	a->first_bucket = a->rows.n ? 0 : 1;
	a->last_bucket = 0;
}

static void add_counts(struct merging *m)
{
	struct rd_result *a = m->all;
	const struct rd_result *b = m->more;

	a->samples += b->samples;
	a->weight += b->weight;
	a->discarded += b->discarded;
	for (size_t i = 0; i < sizeof a->kinds / sizeof *a->kinds; i++)
		a->kinds[i] += b->kinds[i];
	for (size_t i = 0; i < sizeof a->other / sizeof *a->other; i++)
		a->other[i] += b->other[i];
	a->thread_time |= b->thread_time;
	a->filter = b->filter;
}

int rd_result_merge(struct rd_result *all, const struct rd_result *more, struct rd_error *err)
{
	struct merging m = {
		.all = all,
		.more = more,
		.traces = (uint32_t)all->traces.n,
		.processes = (uint32_t)all->processes.n,
		.frames = (uint32_t)all->frames.n,
		.calls = (uint32_t)all->calls.n,
		.stacks = (uint32_t)all->stacks.n,
	};
	int rc = check(&m, err);

	if (rc == 0 && (make_room(&m) < 0 || add_strings(&m) < 0))
		rc = rd_fail_nomem(err);
	if (m.traces == 0)
		rd_trust_init(&all->trust);
	if (rc == 0)
		rc = rd_trust_merge(&all->trust, &more->trust, m.traces, err);
	if (rc == 0) {
		add_names(&m);
		add_samples(&m);
		add_time(&m);
		add_counts(&m);
	}
	rd_vec_release(&m.string);
	return rc;
}
