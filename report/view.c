#include "report/view.h"

#include <string.h>

#include "report/view_make.h"

const char *rd_group_name(enum rd_group group)
{
	static const char *const names[] = {"method", "module", "namespace", "type", "tier", "process"};

	return names[group];
}

static int check(const struct rd_view_filter *f, struct rd_error *err)
{
	if (f->callers && f->callees)
		return rd_fail(err, RD_USAGE, "--callers and --callees exclude each other");
	if (f->group && f->tiers)
		return rd_fail(err, RD_USAGE, "--tiers does not go with --group: a group has no tier");
	return 0;
}

static int make(struct rd_view_making *g)
{
	const struct rd_view_filter *f = g->f;
	int code = check(f, g->err);

	if (code == 0)
		code = rd_view_choose_rows(g);
	if (code == 0)
		code = rd_view_name_frames(g);
	if (code < 0)
		return code;
	if (rd_view_make_tree(g) != 0 || rd_view_fold_rows(g) != 0 || rd_view_count(g) != 0 ||
	    (f->inverted && rd_view_invert(g) != 0) || (rd_view_least(g->v) > 1 && rd_view_prune(g) != 0) ||
	    rd_view_take(g) != 0)
		return rd_fail_nomem(g->err);
	return 0;
}

int rd_view_make(struct rd_view *v, const struct rd_result *r, const struct rd_view_filter *f, struct rd_error *err)
{
	struct rd_view_making g = {.v = v, .r = r, .f = f, .err = err};

	memset(v, 0, sizeof *v);
	v->result = r;
	v->filter = *f;
	v->filtered = f->process || f->trace || f->module || f->kind >= 0 || f->has_thread || f->has_from || f->has_to ||
		      f->focus || f->ignore || f->hide || f->callers || f->callees;
	rd_records_init(&g.methods, sizeof(struct rd_view_method), sizeof(struct rd_view_method));
	rd_records_init(&g.calls, sizeof(struct rd_view_call), sizeof(struct rd_view_call));
	int code = make(&g);
	rd_records_release(&g.methods);
	rd_records_release(&g.calls);
	rd_vec_release(&g.frame_method);
	rd_vec_release(&g.frame_bits);
	rd_vec_release(&g.states);
	rd_vec_release(&g.stack_entry);
	if (code < 0)
		rd_view_release(v);
	return code;
}

void rd_view_release(struct rd_view *v)
{
	rd_vec_release(&v->methods);
	rd_vec_release(&v->calls);
	rd_vec_release(&v->stacks);
	rd_vec_release(&v->rows);
	rd_vec_release(&v->row_stack);
	rd_vec_release(&v->process_samples);
	rd_vec_release(&v->process_passes);
	rd_vec_release(&v->buckets);
	rd_strings_release(&v->names);
}
