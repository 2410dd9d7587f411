/*
 * The belief of one shard: the engine of the finish over the one partial, in
 * memory, with rows by process and stack only, folded by method.
 */
#include "profile/count.h"

/* A method's counts while rows are folded, and the last row that counted it. */
struct folded {
	uint32_t method;   /* the key: of the content */
	uint32_t last_row; /* + 1 */
	uint64_t exclusive, inclusive;
};

struct folding {
	const struct rd_content *content;
	struct rd_partial *partial;
	struct rd_records methods; /* struct folded */
};

static int fold_frame(struct folding *f, uint32_t row, uint64_t count, uint32_t frame, bool innermost)
{
	uint32_t id = rd_records_id(&f->methods, &rd_content_frame_at(f->content, frame)->method, NULL);

	if (id == RD_NONE)
		return RD_NOMEM;
	struct folded *m = rd_records_at(&f->methods, id);
	m->exclusive += innermost ? count : 0;
	m->inclusive += m->last_row == row + 1 ? 0 : count;
	m->last_row = row + 1;
	return 0;
}

static int fold_rows(struct folding *f)
{
	for (uint32_t i = 0; i < f->content->rows.n; i++) {
		const struct rd_result_row *row = rd_records_at(&f->content->rows, i);
		struct rd_span frames = rd_strings_at(&f->content->stacks, row->stack);
		for (size_t at = 0; at < frames.size_bytes; at += sizeof(uint32_t))
			if (fold_frame(f, i, row->count, rd_le32(frames.at + at), at == 0) < 0)
				return RD_NOMEM;
	}
	return 0;
}

/* A string of the content as a number of the partial. */
static int put_string(struct folding *f, uint32_t string, uint32_t *number)
{
	struct rd_span text = rd_strings_at(&f->content->strings, string);
	uint32_t id = rd_strings_id(&f->partial->strings, text.at, text.size_bytes);

	*number = id + 1;
	return id == RD_NONE ? RD_NOMEM : 0;
}

static int put_row(struct folding *f, const struct folded *m)
{
	const struct rd_method_key *method = rd_records_at(&f->content->methods, m->method);
	struct rd_preliminary_row row = {
		.pid = f->content->lives.at[method->life].pid,
		.clr = method->clr,
		.exclusive = m->exclusive,
		.inclusive = m->inclusive,
	};

	if (put_string(f, method->module, &row.module) < 0 || put_string(f, method->ns, &row.ns) < 0 ||
	    put_string(f, method->name, &row.name) < 0 || put_string(f, method->signature, &row.signature) < 0)
		return RD_NOMEM;
	if (rd_vec_reserve(&f->partial->preliminary, 1) < 0)
		return RD_NOMEM;
	f->partial->preliminary.at[f->partial->preliminary.n++] = row;
	return 0;
}

static int fold(const struct rd_content *content, struct rd_partial *p, struct rd_error *err)
{
	struct folding f = {.content = content, .partial = p};

	rd_records_init(&f.methods, sizeof(struct folded), sizeof(uint32_t));
	int rc = fold_rows(&f);
	for (uint32_t i = 0; rc == 0 && i < f.methods.n; i++)
		rc = put_row(&f, rd_records_at(&f.methods, i));
	rd_records_release(&f.methods);
	return rc < 0 ? rd_fail_nomem(err) : 0;
}

static int count(struct rd_content *content, const struct rd_trace_info *info, const struct rd_partial *p,
		 struct rd_error *err)
{
	struct rd_moments moments;
	struct rd_filter filter;
	struct rd_trust trust = {0};
	struct rd_group group;
	struct rd_count counting = {
		.content = content,
		.moments = &moments,
		.filter = &filter,
		.by_stack_only = true,
		.trust = &trust,
	};

	rd_moments_init(&moments);
	rd_filter_init(&filter, NULL, &moments);
	rd_group_init(&group, content);
	int rc = rd_group_add_file(&group, 0, info, (struct rd_tables){.shards = 1, .in_memory = &p}, err);
	if (rc == 0)
		rc = rd_group_load_summaries(&group, err);
	if (rc == 0)
		rc = rd_group_gather(&group, err);
	if (rc == 0)
		rc = rd_count_group(&counting, &group, err);
	rd_group_release(&group);
	rd_filter_release(&filter);
	return rc;
}

int rd_finish_preliminary(const struct rd_trace_info *info, struct rd_partial *p, struct rd_error *err)
{
	struct rd_content content;
	int rc = rd_content_init(&content, err);

	if (rc == 0)
		rc = count(&content, info, p, err);
	if (rc == 0)
		rc = fold(&content, p, err);
	rd_content_release(&content);
	return rc;
}
