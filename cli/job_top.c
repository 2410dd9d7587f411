#include "cli/job_top.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/job_status.h"
#include "net/message.h"
#include "net/validate.h"
#include "net/wire_error.h"
#include "report/label.h"
#include "report/people.h"

struct telling {
	const char *job;
	bool json;
	struct rd_out *out;
	uint64_t bytes_done, bytes_total;
	uint32_t shards_total;
};

static int hear_status(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct telling *t = ctx;

	if (e->kind != RD__KIND__JOB_STATUS)
		return 0;
	if (rd_job_is_unknown(e->status)) {
		rd_wire_error_take(err, e->status->error);
		return rd_error_at(err, RD_NOT_FOUND, t->job, RD_NO_OFFSET);
	}
	t->bytes_done = e->status->bytes_done;
	t->bytes_total = e->status->bytes_total;
	t->shards_total = e->status->shards_total;
	return 1;
}

static double share_of(const struct telling *t)
{
	return t->bytes_total ? (double)t->bytes_done / (double)t->bytes_total : 0;
}

static void tell_json(struct telling *t, const Rd__Top *top)
{
	struct rd_json j;

	rd_json_init(&j, t->out, true);
	rd_json_object(&j, NULL);
	rd_json_text(&j, "job", t->job);
	rd_json_bool(&j, "preliminary", true);
	rd_json_bool(&j, "reconciled", top->reconciled);
	rd_json_double(&j, "share", share_of(t));
	rd_json_object(&j, "shards");
	rd_json_u64(&j, "total", t->shards_total);
	rd_json_u64(&j, "merged", top->shards);
	rd_json_object_end(&j);
	rd_json_u64(&j, "samples", top->samples);
	rd_json_array(&j, "methods");
	for (size_t i = 0; i < top->n_pid; i++) {
		rd_json_object(&j, NULL);
		rd_json_u64(&j, "pid", top->pid[i]);
		rd_json_span(&j, "module", rd_field_span(&top->module[i]));
		rd_json_span(&j, "namespace", rd_field_span(&top->namespace_[i]));
		rd_json_span(&j, "name", rd_field_span(&top->name[i]));
		rd_json_span(&j, "signature", rd_field_span(&top->signature[i]));
		rd_json_u64(&j, "exclusive", top->exclusive[i]);
		rd_json_u64(&j, "inclusive", top->inclusive[i]);
		rd_json_object_end(&j);
	}
	rd_json_array_end(&j);
	rd_json_object_end(&j);
	rd_out_text(t->out, "\n");
}

/* As a report names it. Where a rundown has yet to come there is no module, and no "!" that would stand for one. */
static void put_method(struct rd_out *o, struct rd_bytes *room, const Rd__Top *top, size_t i)
{
	struct rd_view_method m = {.module = rd_field_span(&top->module[i]),
				   .ns = rd_field_span(&top->namespace_[i]),
				   .name = rd_field_span(&top->name[i])};

	room->n = 0;
	rd_label(room, &m, false);
	if (room->n == 0)
		rd_out_text(o, "?");
	else
		rd_out_name(o, (struct rd_span){room->at, room->n}, 0);
}

void rd_job_top_rows(struct rd_out *o, const Rd__Top *top)
{
	char exclusive[RD_NUMBER_TEXT], share[RD_NUMBER_TEXT], inclusive[RD_NUMBER_TEXT];
	struct rd_bytes room = {0};

	rd_out_printf(o, "%18s %10s  %-8s %s\n", "exclusive", "inclusive", "process", "method");
	for (size_t i = 0; i < top->n_pid; i++) {
		rd_out_printf(o, "%10s %7s %10s  %-8" PRIu32 " ", rd_count_text(top->exclusive[i], exclusive),
			      rd_percent_text(top->exclusive[i], top->samples, share),
			      rd_count_text(top->inclusive[i], inclusive), top->pid[i]);
		put_method(o, &room, top, i);
		rd_out_text(o, "\n");
	}
	rd_bytes_release(&room);
}

static void tell_text(struct telling *t, const Rd__Top *top)
{
	char done[32], total[32], samples[RD_NUMBER_TEXT];

	rd_out_printf(t->out,
		      "preliminary: %.0f %% done (%s of %s), %" PRIu32 " of %" PRIu32 " shards merged, %s samples\n",
		      share_of(t) * 100, rd_size_text(t->bytes_done, done, sizeof done),
		      rd_size_text(t->bytes_total, total, sizeof total), top->shards, t->shards_total,
		      rd_count_text(top->samples, samples));
	rd_out_text(t->out, top->reconciled
				    ? "Reconciled over these shards; what is named by others is \"?\" still.\n\n"
				    : "Nothing is reconciled yet: what other shards' rundowns name is \"?\" here.\n\n");
	rd_job_top_rows(t->out, top);
}

struct asking {
	const char *job;
	char *path;
	size_t size;
	bool there;
};

static int hear_whether(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct asking *a = ctx;

	if (e->kind != RD__KIND__JOB_STATUS)
		return 0;
	if (rd_job_is_unknown(e->status)) {
		rd_wire_error_take(err, e->status->error);
		return rd_error_at(err, RD_NOT_FOUND, a->job, RD_NO_OFFSET);
	}
	if (!rd_job_is_over(e->status))
		return 1;
	if (e->status->finished == NULL) {
		rd_job_error(e->status, err);
		return rd_error_in(err, err->code < 0 ? err->code : RD_INTERNAL, "the job came to nothing");
	}
	rd_field_text(&e->status->finished->output, a->path, a->size);
	a->there = true;
	return 1;
}

int rd_job_result_path(const struct rd_client_words *w, const char *job, char *path, size_t size, struct rd_error *err)
{
	struct asking a = {.job = job, .path = path, .size = size};
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);

	e.job = rd_field(job);
	int rc = rd_client_ask(w, &e, hear_whether, &a, err);
	return rc < 0 ? rc : a.there;
}

static int hear_top(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct telling *t = ctx;

	if (e->kind != RD__KIND__TOP_ROWS)
		return 0;
	if (e->error) {
		rd_wire_error_take(err, e->error);
		return rd_error_at(err, err->code, t->job, RD_NO_OFFSET);
	}
	if (t->json)
		tell_json(t, e->top);
	else
		tell_text(t, e->top);
	return 1;
}

int rd_job_top(const struct rd_client_words *w, const char *job, uint32_t n, bool json, struct rd_out *o,
	       struct rd_error *err)
{
	struct telling t = {.job = job, .json = json, .out = o};
	Rd__Envelope status = rd_envelope(RD__KIND__STATUS), top = rd_envelope(RD__KIND__TOP);

	status.job = top.job = rd_field(job);
	top.count = n;
	int rc = rd_client_ask(w, &status, hear_status, &t, err);
	return rc == 0 ? rd_client_ask(w, &top, hear_top, &t, err) : rc;
}
