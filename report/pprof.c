/*
 * pprof - a view as profile.proto, gzip around it.
 *
 * A function, and its one location, is a method of the view. Messages are
 * written one sample, one function at a time: a reader puts the pieces of a
 * message together, and nobody holds the whole.
 */
#include <string.h>

#include "base/text.h"
#include "proto/profile.pb-c.h"
#include "report/format.h"
#include "report/gzip.h"
#include "report/label.h"

struct pprof {
	const struct rd_view *v;
	struct rd_gzip gzip;
	struct rd_strings strings;
	struct rd_bytes label, packed;
	RD_VEC(uint64_t) locations; /* of the sample in the making */
	bool has_weights;
	bool failed;
};

static int64_t string(struct pprof *p, struct rd_span text)
{
	uint32_t id;

	p->packed.n = 0;
	rd_utf8_append(&p->packed, text);
	id = rd_strings_id(&p->strings, p->packed.at ? (const void *)p->packed.at : "", p->packed.n);
	p->failed |= p->packed.failed || id == RD_NONE;
	return id == RD_NONE ? 0 : (int64_t)id;
}

static int64_t text(struct pprof *p, const char *words)
{
	return string(p, rd_text_span(words));
}

static int64_t made_label(struct pprof *p)
{
	p->failed |= p->label.failed != 0;
	return string(p, (struct rd_span){p->label.at, p->label.n});
}

static void put(struct pprof *p, const Rd__Pprof__Profile *piece)
{
	size_t n = rd__pprof__profile__get_packed_size(piece);

	p->packed.n = 0;
	uint8_t *to = rd_bytes_extend(&p->packed, n);
	if (to == NULL) {
		p->failed |= n != 0;
		return;
	}
	rd__pprof__profile__pack(piece, to);
	rd_gzip_put(&p->gzip, to, n);
}

static void put_type(struct pprof *p, const char *type)
{
	Rd__Pprof__Profile piece = RD__PPROF__PROFILE__INIT;
	Rd__Pprof__ValueType value = RD__PPROF__VALUE_TYPE__INIT, *one = &value;

	value.type = text(p, type);
	value.unit = text(p, "count");
	piece.n_sample_type = 1;
	piece.sample_type = &one;
	put(p, &piece);
}

/* What is said of the whole. */
static void put_head(struct pprof *p)
{
	const struct rd_result *r = p->v->result;
	Rd__Pprof__Profile piece = RD__PPROF__PROFILE__INIT;
	Rd__Pprof__Mapping mapping = RD__PPROF__MAPPING__INIT, *one_mapping = &mapping;
	int64_t comments[1];

	put_type(p, "samples");
	if (p->has_weights)
		put_type(p, "weight");
	piece.default_sample_type = text(p, "samples");
	piece.time_nanos = r->traces.n ? r->origin_utc_ns : 0;
	for (size_t i = 0; i < r->traces.n; i++)
		if (r->traces.at[i].duration_ns <= INT64_MAX &&
		    (int64_t)r->traces.at[i].duration_ns > piece.duration_nanos)
			piece.duration_nanos = (int64_t)r->traces.at[i].duration_ns;
	comments[0] =
		text(p, rd_view_has_thread_time(p->v) ? "samples of thread time, not CPU time" : "samples of CPU time");
	/* One for all: what pprof calls the file, and proof that names need no binary. */
	mapping.id = 1;
	mapping.filename = text(p, r->traces.n ? r->traces.at[0].path : "");
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	piece.n_mapping = 1;
	piece.mapping = &one_mapping;
	piece.comment = comments;
	piece.n_comment = 1;
	put(p, &piece);
}

/* ---- samples */

static bool make_stack(struct pprof *p, uint32_t call)
{
	p->locations.n = 0;
	for (const struct rd_view_call *c = rd_view_call(p->v, call); c; c = rd_view_call(p->v, c->caller)) {
		uint64_t *location = rd_vec_add(&p->locations);
		if (location == NULL)
			return false;
		*location = (uint64_t)c->method + 1;
	}
	return true;
}

static void put_sample(struct pprof *p, const struct rd_view_stack *s, int64_t process_key, int64_t thread_key)
{
	Rd__Pprof__Profile piece = RD__PPROF__PROFILE__INIT;
	Rd__Pprof__Sample sample = RD__PPROF__SAMPLE__INIT, *one = &sample;
	Rd__Pprof__Label process = RD__PPROF__LABEL__INIT, thread = RD__PPROF__LABEL__INIT;
	Rd__Pprof__Label *labels[] = {&process, &thread};
	int64_t values[] = {(int64_t)s->count, (int64_t)s->weight};

	if (!make_stack(p, s->call)) {
		p->failed = true;
		return;
	}
	p->label.n = 0;
	rd_label_process(&p->label, p->v->result, s->process);
	process.key = process_key;
	process.str = made_label(p);
	thread.key = thread_key;
	thread.num = (int64_t)s->thread;
	sample.n_location_id = p->locations.n;
	sample.location_id = p->locations.at;
	sample.n_value = p->has_weights ? 2 : 1;
	sample.value = values;
	sample.n_label = p->v->filter.by_thread ? 2 : 1;
	sample.label = labels;
	piece.n_sample = 1;
	piece.sample = &one;
	put(p, &piece);
}

static void put_samples(struct pprof *p)
{
	int64_t process = text(p, "process"), thread = text(p, "thread");

	for (size_t i = 0; i < p->v->stacks.n && !p->failed; i++)
		put_sample(p, &p->v->stacks.at[i], process, thread);
}

/* ---- functions and strings */

static void put_method(struct pprof *p, size_t i)
{
	const struct rd_view_method *m = &p->v->methods.at[i];
	Rd__Pprof__Profile piece = RD__PPROF__PROFILE__INIT;
	Rd__Pprof__Location location = RD__PPROF__LOCATION__INIT, *one_location = &location;
	Rd__Pprof__Function function = RD__PPROF__FUNCTION__INIT, *one_function = &function;
	Rd__Pprof__Line line = RD__PPROF__LINE__INIT, *one_line = &line;

	p->label.n = 0;
	rd_label(&p->label, m, p->v->filter.tiers);
	function.id = location.id = line.function_id = i + 1;
	function.name = made_label(p);
	function.filename = string(p, m->module);
	location.mapping_id = 1;
	location.n_line = 1;
	location.line = &one_line;
	piece.n_location = piece.n_function = 1;
	piece.location = &one_location;
	piece.function = &one_function;
	put(p, &piece);
}

static void put_strings(struct pprof *p)
{
	for (uint32_t i = 0; i < p->strings.at.n && !p->failed; i++) {
		struct rd_span text = rd_strings_at(&p->strings, i);
		Rd__Pprof__Profile piece = RD__PPROF__PROFILE__INIT;
		char *one;
		/* As a C string. */
		p->label.n = 0;
		if (text.size_bytes)
			rd_bytes_append(&p->label, text.at, text.size_bytes);
		rd_bytes_append(&p->label, "", 1);
		one = (char *)p->label.at;
		piece.n_string_table = 1;
		piece.string_table = &one;
		p->failed |= p->label.failed != 0;
		if (!p->failed)
			put(p, &piece);
	}
}

int rd_report_pprof(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		    struct rd_error *err)
{
	struct pprof p = {.v = v};

	(void)o;
	if (rd_gzip_init(&p.gzip, out) != 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < v->stacks.n; i++)
		p.has_weights |= v->stacks.at[i].weight != v->stacks.at[i].count;
	text(&p, "");
	put_head(&p);
	put_samples(&p);
	for (size_t i = 0; i < v->methods.n && !p.failed; i++)
		put_method(&p, i);
	put_strings(&p);
	int code = rd_gzip_close(&p.gzip);
	if (p.failed)
		code = RD_NOMEM;
	rd_strings_release(&p.strings);
	rd_bytes_release(&p.label);
	rd_bytes_release(&p.packed);
	rd_vec_release(&p.locations);
	return code < 0 ? rd_fail_nomem(err) : 0;
}
