/*
 * sqlite - a view as a database, for SQL.
 *
 * It is made in memory and goes out as the bytes of its file, as every form
 * does, so that -o keeps its promise.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/label.h"
#include "report/people.h"
#include "report/sqlite_schema.h"
#include "report/words.h"

struct filling {
	const struct rd_view *v;
	sqlite3 *db;
	sqlite3_stmt *row; /* of the table in the making */
	int column;
	struct rd_bytes clean, label;
	int code;    /* of SQLite, the first that was none of success */
	bool failed; /* out of memory of ours */
};

static void note(struct filling *f, int code)
{
	if (code != SQLITE_OK && code != SQLITE_DONE && f->code == SQLITE_OK)
		f->code = code;
}

/* ---- rows */

/* Into a table of so many columns: values follow, then end_row, row by row; then end_table. */
static void begin_table(struct filling *f, const char *table, int columns)
{
	char sql[160] = "INSERT INTO ";
	size_t n = strlen(sql);

	n += (size_t)snprintf(sql + n, sizeof sql - n, "%s VALUES (?", table);
	for (int i = 1; i < columns && n + 4 < sizeof sql; i++, n += 2)
		memcpy(sql + n, ",?", 3);
	memcpy(sql + n, ")", 2);
	note(f, sqlite3_prepare_v2(f->db, sql, -1, &f->row, NULL));
	f->column = 0;
}

static void put_null(struct filling *f)
{
	note(f, sqlite3_bind_null(f->row, ++f->column));
}

/* SQL's numbers are signed: what is more than they can say is the most they can. */
static void put_u64(struct filling *f, uint64_t n)
{
	note(f, sqlite3_bind_int64(f->row, ++f->column, n > INT64_MAX ? INT64_MAX : (int64_t)n));
}

static void put_i64(struct filling *f, int64_t n)
{
	note(f, sqlite3_bind_int64(f->row, ++f->column, n));
}

static void put_offset(struct filling *f, uint64_t offset)
{
	if (offset == RD_NO_OFFSET)
		put_null(f);
	else
		put_u64(f, offset);
}

static void put_span(struct filling *f, struct rd_span text)
{
	f->clean.n = 0;
	rd_utf8_append(&f->clean, text);
	const char *p = f->clean.at ? (const char *)f->clean.at : "";
	note(f, sqlite3_bind_text64(f->row, ++f->column, p, f->clean.n, SQLITE_TRANSIENT, SQLITE_UTF8));
}

static void put_text(struct filling *f, const char *text)
{
	if (text)
		put_span(f, rd_text_span(text));
	else
		put_null(f);
}

static void put_utc(struct filling *f, int64_t utc_ns)
{
	char text[RD_NUMBER_TEXT];

	put_text(f, utc_ns == INT64_MIN ? NULL : rd_utc_text(utc_ns, text));
}

static void end_row(struct filling *f)
{
	if (f->row) {
		note(f, sqlite3_step(f->row));
		note(f, sqlite3_reset(f->row));
	}
	f->column = 0;
}

static void end_table(struct filling *f)
{
	note(f, sqlite3_finalize(f->row));
	f->row = NULL;
}

/* ---- tables of what the result says */

/* What was left out, by the report or before that by the run, in the words of the JSON. */
static void put_left_out(struct filling *f, bool by_run)
{
	struct rd_out words;
	struct rd_json j;

	rd_out_init(&words, -1);
	rd_json_init(&j, &words, false);
	rd_json_object(&j, NULL);
	if (by_run)
		rd_json_filter(&j, &f->v->result->filter);
	else
		rd_json_view(&j, f->v);
	rd_json_object_end(&j);
	put_span(f, (struct rd_span){words.buffer.at, words.buffer.n ? words.buffer.n - 1 : 0});
	f->failed |= words.buffer.failed != 0;
	rd_out_close(&words, NULL);
}

static void put_about(struct filling *f)
{
	const struct rd_result *r = f->v->result;

	begin_table(f, "about", 10);
	put_u64(f, 1);
	put_left_out(f, false);
	put_u64(f, f->v->samples);
	put_u64(f, f->v->weight);
	put_u64(f, f->v->discarded);
	put_u64(f, r->thread_time);
	put_utc(f, r->origin_utc_ns);
	put_i64(f, r->origin_utc_ns);
	put_u64(f, r->bucket_width_ns);
	put_left_out(f, true);
	end_row(f);
	end_table(f);
}

static void put_traces(struct filling *f)
{
	const struct rd_result *r = f->v->result;
	char version[RD_VERSION_TEXT];

	begin_table(f, "traces", 16);
	for (size_t i = 0; i < r->traces.n; i++) {
		const struct rd_result_trace *t = &r->traces.at[i];
		put_u64(f, i);
		put_text(f, t->path);
		put_text(f, t->member[0] ? t->member : NULL);
		put_text(f, rd_format_word(&t->info));
		put_text(f, rd_version_word(&t->info, version));
		put_u64(f, t->info.size_bytes);
		put_utc(f, t->start_utc_ns);
		put_u64(f, t->duration_ns);
		put_u64(f, t->info.pointer_bytes);
		put_u64(f, t->info.cpus);
		put_u64(f, t->complete);
		put_offset(f, t->cut_at);
		put_text(f, t->info.damage[0] ? t->info.damage : NULL);
		put_u64(f, t->lost_events);
		put_u64(f, t->lost_buffers);
		put_u64(f, t->group);
		end_row(f);
	}
	end_table(f);
}

static void put_trust(struct filling *f)
{
	const struct rd_trust *t = &f->v->result->trust;
	const uint64_t numbers[] = {t->lost_events,       t->lost_buffers,      t->frames,
				    t->unresolved_frames, t->ambiguous_frames,  t->samples_without_stack,
				    t->stacks_unused,     t->broken_stacks,     t->unowned_samples,
				    t->malformed_events,  t->samples_in_rundown};
	const char *missing[RD_MISSING_MOST + 1];

	begin_table(f, "trust", 15);
	put_u64(f, t->complete);
	put_offset(f, t->cut_at);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		put_u64(f, numbers[i]);
	put_text(f, rd_rundown_name(t->rundown));
	rd_missing_words(t, missing);
	f->label.n = 0;
	for (size_t i = 0; missing[i]; i++) {
		if (i)
			rd_bytes_append(&f->label, ", ", 2);
		rd_bytes_append(&f->label, missing[i], strlen(missing[i]));
	}
	put_span(f, (struct rd_span){f->label.at, f->label.n});
	end_row(f);
	end_table(f);
	begin_table(f, "quarantined", 3);
	for (size_t i = 0; i < t->quarantined.n; i++) {
		put_u64(f, t->quarantined.at[i].trace);
		put_u64(f, t->quarantined.at[i].from);
		put_u64(f, t->quarantined.at[i].to);
		end_row(f);
	}
	end_table(f);
}

static void put_processes(struct filling *f)
{
	const struct rd_result *r = f->v->result;

	begin_table(f, "processes", 8);
	for (size_t i = 0; i < r->processes.n; i++) {
		const struct rd_result_process *p = &r->processes.at[i];
		if (!f->v->process_passes.at[i])
			continue;
		put_u64(f, i);
		put_u64(f, p->trace);
		put_i64(f, rd_pid_number(p->pid));
		if (p->namespace_pid)
			put_u64(f, p->namespace_pid);
		else
			put_null(f);
		put_span(f, rd_strings_at(&r->strings, p->name));
		put_span(f, rd_strings_at(&r->strings, p->command_line));
		put_utc(f, p->start_utc_ns);
		put_u64(f, f->v->process_samples.at[i]);
		end_row(f);
	}
	end_table(f);
}

/* ---- tables of the view */

static void put_counts(struct filling *f, const struct rd_view_row *row)
{
	if (row == NULL) {
		for (int i = 0; i < 6; i++)
			put_null(f);
		return;
	}
	put_u64(f, row->exclusive);
	put_u64(f, row->inclusive);
	put_u64(f, row->exclusive_weight);
	put_u64(f, row->inclusive_weight);
	if (rd_view_has_direct(f->v)) {
		put_u64(f, row->direct);
		put_u64(f, row->direct_weight);
	} else {
		put_null(f);
		put_null(f);
	}
}

static void put_method(struct filling *f, size_t i, const struct rd_view_row *row)
{
	const struct rd_view_method *m = &f->v->methods.at[i];
	char tier[32];

	put_u64(f, i);
	put_u64(f, m->process);
	put_u64(f, m->clr);
	put_span(f, m->module);
	put_span(f, m->ns);
	put_span(f, m->name);
	put_span(f, m->signature);
	put_text(f, f->v->filter.tiers ? rd_tier_name(m->tier, tier) : NULL);
	f->label.n = 0;
	rd_label(&f->label, m, f->v->filter.tiers);
	put_span(f, (struct rd_span){f->label.at, f->label.n});
	put_counts(f, row);
	end_row(f);
}

/* Every method has an entry, those that --min left without a row have no counts. */
static void put_methods(struct filling *f)
{
	const struct rd_view *v = f->v;
	RD_VEC(const struct rd_view_row *) rows = {0};

	if (rd_vec_reserve(&rows, v->methods.n) != 0) {
		f->failed = true;
		return;
	}
	for (size_t i = 0; i < v->methods.n; i++)
		rows.at[i] = NULL;
	for (size_t i = 0; i < v->rows.n; i++)
		rows.at[v->rows.at[i].method] = &v->rows.at[i];
	begin_table(f, "methods", 15);
	for (size_t i = 0; i < v->methods.n; i++)
		put_method(f, i, rows.at[i]);
	end_table(f);
	rd_vec_release(&rows);
}

static void put_stacks(struct filling *f)
{
	const struct rd_view *v = f->v;

	begin_table(f, "calls", 3);
	for (size_t i = 0; i < v->calls.n; i++) {
		put_u64(f, i + 1);
		if (v->calls.at[i].caller)
			put_u64(f, v->calls.at[i].caller);
		else
			put_null(f);
		put_u64(f, v->calls.at[i].method);
		end_row(f);
	}
	end_table(f);
	begin_table(f, "stacks", 5);
	for (size_t i = 0; i < v->stacks.n; i++) {
		put_u64(f, i);
		put_u64(f, v->stacks.at[i].process);
		put_u64(f, v->stacks.at[i].call);
		put_u64(f, v->stacks.at[i].count);
		put_u64(f, v->stacks.at[i].weight);
		end_row(f);
	}
	end_table(f);
}

static void put_samples(struct filling *f)
{
	const struct rd_view *v = f->v;

	begin_table(f, "samples", 6);
	for (size_t i = 0; i < v->row_stack.n; i++) {
		const struct rd_result_row *row = &v->result->rows.at[i];
		if (v->row_stack.at[i] == RD_NONE)
			continue;
		put_u64(f, v->row_stack.at[i]);
		put_u64(f, row->thread);
		put_text(f, rd_sample_kind_name(row->kind));
		put_u64(f, row->bucket);
		put_u64(f, row->count);
		put_u64(f, row->weight);
		end_row(f);
	}
	end_table(f);
	begin_table(f, "buckets", 3);
	for (size_t i = 0; i < v->buckets.n; i++) {
		put_u64(f, v->first_bucket + i);
		put_u64(f, (v->first_bucket + i) * v->result->bucket_width_ns);
		put_u64(f, v->buckets.at[i]);
		end_row(f);
	}
	end_table(f);
}

static void fill(struct filling *f)
{
	note(f, sqlite3_exec(f->db, rd_sqlite_tables, NULL, NULL, NULL));
	note(f, sqlite3_exec(f->db, "BEGIN", NULL, NULL, NULL));
	put_about(f);
	put_traces(f);
	put_trust(f);
	put_processes(f);
	put_methods(f);
	put_stacks(f);
	put_samples(f);
	note(f, sqlite3_exec(f->db, rd_sqlite_views, NULL, NULL, NULL));
	note(f, sqlite3_exec(f->db, "COMMIT", NULL, NULL, NULL));
}

static int result_of(const struct filling *f, struct rd_error *err)
{
	if (f->failed || f->clean.failed || f->label.failed || f->code == SQLITE_NOMEM)
		return rd_fail_nomem(err);
	if (f->code != SQLITE_OK)
		return rd_fail(err, RD_INTERNAL, "making the database: %s", sqlite3_errmsg(f->db));
	return 0;
}

int rd_report_sqlite(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err)
{
	struct filling f = {.v = v};
	sqlite3_int64 size = 0;
	int code;

	(void)o;
	note(&f, sqlite3_open_v2(":memory:", &f.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));
	if (f.db && f.code == SQLITE_OK)
		fill(&f);
	code = result_of(&f, err);
	unsigned char *bytes = code == 0 ? sqlite3_serialize(f.db, "main", &size, 0) : NULL;
	if (bytes)
		rd_out_bytes(out, bytes, (size_t)size);
	else if (code == 0)
		code = rd_fail_nomem(err);
	sqlite3_free(bytes);
	sqlite3_close(f.db);
	rd_bytes_release(&f.clean);
	rd_bytes_release(&f.label);
	return code;
}
