#include "profile/top.h"

#include <stdlib.h>
#include <string.h>

#include "profile/shard_names.h"

struct method {
	uint32_t trace, pid, clr;
	uint32_t module, ns, name, signature; /* strings; the key so far */
	uint32_t pad;
	uint64_t exclusive, inclusive;
};

void rd_top_init(struct rd_top *t)
{
	*t = (struct rd_top){.samples = 0};
	rd_records_init(&t->methods, sizeof(struct method), offsetof(struct method, exclusive));
}

static int add_row(struct rd_top *t, uint32_t trace, const struct rd_preliminary_row *row, struct rd_shard_names *names,
		   struct rd_error *err)
{
	struct method key = {.trace = trace, .pid = row->pid, .clr = row->clr};
	int rc = rd_shard_name(names, row->module, &key.module, err);

	if (rc == 0)
		rc = rd_shard_name(names, row->ns, &key.ns, err);
	if (rc == 0)
		rc = rd_shard_name(names, row->name, &key.name, err);
	if (rc == 0)
		rc = rd_shard_name(names, row->signature, &key.signature, err);
	if (rc < 0)
		return rc;
	uint32_t id = rd_records_id(&t->methods, &key, NULL);
	if (id == RD_NONE)
		return rd_fail_nomem(err);
	struct method *m = rd_records_at(&t->methods, id);
	m->exclusive += row->exclusive;
	m->inclusive += row->inclusive;
	t->samples += row->exclusive;
	return 0;
}

int rd_top_add(struct rd_top *t, uint32_t trace, const struct rd_tables *tables, size_t shard, struct rd_error *err)
{
	struct rd_table_reader reader;
	struct rd_shard_names names;
	const struct rd_partial *rows;
	int rc;

	rd_shard_names_init(&names, tables, shard, &t->strings);
	rd_table_open(&reader, tables, shard, RD_TABLE_PRELIMINARY);
	while ((rc = rd_table_next(&reader, &rows, err)) > 0) {
		rc = 0;
		for (size_t i = 0; rc == 0 && i < rows->preliminary.n; i++)
			rc = add_row(t, trace, &rows->preliminary.at[i], &names, err);
		if (rc < 0)
			break;
	}
	rd_table_close(&reader);
	rd_shard_names_release(&names);
	return rc;
}

static int compare_spans(struct rd_span a, struct rd_span b)
{
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;

	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

static int compare(const void *x, const void *y)
{
	const struct rd_top_row *a = x, *b = y;

	if (a->exclusive != b->exclusive)
		return a->exclusive > b->exclusive ? -1 : 1;
	if (a->inclusive != b->inclusive)
		return a->inclusive > b->inclusive ? -1 : 1;
	int c = compare_spans(a->module, b->module);
	if (c == 0)
		c = compare_spans(a->ns, b->ns);
	if (c == 0)
		c = compare_spans(a->name, b->name);
	if (c == 0)
		c = compare_spans(a->signature, b->signature);
	if (c == 0)
		c = (a->trace > b->trace) - (a->trace < b->trace);
	return c ? c : (a->pid > b->pid) - (a->pid < b->pid);
}

int rd_top_hottest(const struct rd_top *t, size_t n, rd_top_rows *rows, struct rd_error *err)
{
	size_t from = rows->n;

	if (rd_vec_reserve(rows, t->methods.n) < 0)
		return rd_fail_nomem(err);
	for (uint32_t i = 0; i < t->methods.n; i++) {
		const struct method *m = rd_records_at(&t->methods, i);
		rows->at[rows->n++] = (struct rd_top_row){
			.trace = m->trace,
			.pid = m->pid,
			.module = rd_strings_at(&t->strings, m->module),
			.ns = rd_strings_at(&t->strings, m->ns),
			.name = rd_strings_at(&t->strings, m->name),
			.signature = rd_strings_at(&t->strings, m->signature),
			.exclusive = m->exclusive,
			.inclusive = m->inclusive,
		};
	}
	if (rows->n > from)
		qsort(rows->at + from, rows->n - from, sizeof *rows->at, compare);
	if (rows->n - from > n)
		rows->n = from + n;
	return 0;
}

void rd_top_release(struct rd_top *t)
{
	rd_records_release(&t->methods);
	rd_strings_release(&t->strings);
}
