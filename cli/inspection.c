#include "cli/inspection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/archive.h"

/* A decode, on its way into an inspection. */
struct taking {
	struct rd_inspection *in;
	struct rd_partial partial; /* only its sequences are used */
	struct rd_losses losses;
	/* The open block's events: applied at its end, unless it is dropped. */
	uint64_t events, bytes, malformed, last_ticks;
	uint64_t kinds[RD_SAMPLE_KINDS];
	uint64_t by_kind[RD_EVENT_KINDS];
};

/* What a payload says, to all who listen. */
static int tell(struct taking *t, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_inspection *in = t->in;

	if (r->kind == RD_EVENT_SCHEMA)
		return rd_kinds_schema(&in->seen, &r->schema);
	if (rd_processes_take(&in->processes, ev, r) != 0 || rd_rundowns_take(&in->rundowns, ev, r) != 0 ||
	    rd_sessions_take(&in->sessions, r) != 0 || rd_rate_take(&in->rate, ev, r) != 0)
		return RD_NOMEM;
	return 0;
}

/* What the payload says, as far as the summary needs it. */
static int look_inside(struct taking *t, const struct rd_event *ev)
{
	const struct rd_event_type *type = ev->key->type;
	struct rd_record record;

	if (ev->key->identity == RD_IDENTITY_BAD)
		t->malformed++;
	if (type == NULL)
		return 0;
	if (type->kind < RD_EVENT_KINDS)
		t->by_kind[type->kind]++;
	if (type->decode == NULL)
		return 0;
	memset(&record, 0, sizeof record);
	if (type->decode(ev, &record) != 0) {
		t->malformed++;
		return 0;
	}
	if (type->kind == RD_EVENT_SAMPLE && record.sample.kind < RD_SAMPLE_KINDS)
		t->kinds[record.sample.kind]++;
	return tell(t, ev, &record);
}

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct taking *t = ctx;

	if (rd_kinds_take(&t->in->seen, ev) != 0)
		return RD_NOMEM;
	t->events++;
	t->bytes += ev->payload_bytes;
	/* Ticks are modulo 2^64 around the start. */
	if ((int64_t)(ev->time - t->last_ticks) > 0)
		t->last_ticks = ev->time;
	return look_inside(t, ev);
}

static int on_sequence(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	struct taking *t = ctx;
	return rd_losses_tell(&t->losses, thread, op, first, count);
}

static void begin_counts(struct taking *t)
{
	t->events = t->bytes = t->malformed = 0;
	memset(t->kinds, 0, sizeof t->kinds);
	memset(t->by_kind, 0, sizeof t->by_kind);
	t->last_ticks = t->in->last_ticks;
}

static int on_block_begin(void *ctx, const struct rd_block *b)
{
	struct taking *t = ctx;
	begin_counts(t);
	return rd_losses_begin(&t->losses, b->ordinal);
}

static void apply(struct taking *t)
{
	struct rd_inspection *in = t->in;

	in->events += t->events;
	in->bytes += t->bytes;
	in->malformed += t->malformed;
	in->last_ticks = t->last_ticks;
	for (size_t i = 0; i < RD_SAMPLE_KINDS; i++) {
		in->kinds[i] += t->kinds[i];
		in->samples += t->kinds[i];
	}
	for (size_t i = 0; i < RD_EVENT_KINDS; i++)
		in->by_kind[i] += t->by_kind[i];
}

static int on_block_end(void *ctx, const struct rd_block *b, bool undo)
{
	struct taking *t = ctx;

	(void)b;
	if (!undo)
		apply(t);
	rd_undo_end(&t->in->seen.counts, undo);
	rd_processes_end(&t->in->processes, undo);
	rd_rundowns_end(&t->in->rundowns, undo);
	rd_rate_end(&t->in->rate, undo);
	return rd_losses_end(&t->losses, undo);
}

static int add_damage(struct rd_inspection *in, uint64_t offset, const char *what)
{
	if (in->damage_n++ >= RD_INSPECTION_DAMAGE_KEPT)
		return 0;
	struct rd_inspection_damage *d = rd_vec_add(&in->damage);
	if (d == NULL)
		return RD_NOMEM;
	d->offset = offset;
	snprintf(d->what, sizeof d->what, "%s", what);
	return 0;
}

static int on_damage(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what)
{
	struct taking *t = ctx;

	(void)b;
	if (file_offset < t->in->cut_at)
		t->in->cut_at = file_offset;
	return add_damage(t->in, file_offset, what);
}

static int decode(struct taking *t, const struct rd_source *s, struct rd_error *err)
{
	const struct rd_format *f = t->in->format;
	const struct rd_index *ix = &t->in->index;
	const struct rd_sink sink = {
		.ctx = t,
		.want = RD_WANT_ALL,
		.event = on_event,
		.sequence = on_sequence,
		.block_begin = on_block_begin,
		.block_end = on_block_end,
		.damage = on_damage,
	};
	struct rd_decoder *d;

	int code = f->decoder_new(s, &ix->info, &sink, &d, err);
	if (code < 0)
		return code;
	rd_error_clear(err);
	code = f->decoder_blocks(d, ix->blocks.at, ix->blocks.n, err);
	/* What a sink returns comes back without a text. */
	if (code < 0 && err->code == 0)
		rd_fail(err, code, "cannot look at the events");
	f->decoder_free(d);
	return code;
}

static int sum_losses(struct taking *t, struct rd_error *err)
{
	struct rd_inspection *in = t->in;
	uint64_t lost = 0;

	rd_losses_finish(&t->losses);
	int code = rd_losses_merge(t->partial.sequences.at, t->partial.sequences.n, &lost, err);
	in->lost_events = in->index.info.lost_events + lost;
	in->lost_buffers = in->index.info.lost_buffers;
	return code;
}

static int compare_keys(const void *x, const void *y, void *ctx)
{
	const struct rd_strings *s = ctx;
	struct rd_span a = rd_strings_at(s, *(const uint32_t *)x), b = rd_strings_at(s, *(const uint32_t *)y);
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;

	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* Counts by the text of a key. Two kinds may read the same: an identity that the file defines twice. */
static int sum_keys(struct rd_inspection *in, struct rd_error *err)
{
	if (rd_kinds_finish(&in->seen) != 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < in->seen.rows.n; i++) {
		const struct rd_kind *row = &in->seen.rows.at[i];
		uint32_t id = rd_strings_id(&in->keys, row->key_text.at, row->key_text.size_bytes);
		if (id == RD_NONE)
			return rd_fail_nomem(err);
		if (id == in->counts.n) {
			uint64_t *count = rd_vec_add(&in->counts);
			const struct rd_event_type **type = rd_vec_add(&in->types);
			if (count == NULL || type == NULL)
				return rd_fail_nomem(err);
			*count = 0;
			*type = row->key.type;
		}
		in->counts.at[id] += row->events;
	}
	return 0;
}

static int sort_keys(struct rd_inspection *in, struct rd_error *err)
{
	if (rd_vec_reserve(&in->order, in->counts.n) != 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < in->counts.n; i++)
		if (in->counts.at[i])
			in->order.at[in->order.n++] = (uint32_t)i;
	if (in->order.n)
		qsort_r(in->order.at, in->order.n, sizeof *in->order.at, compare_keys, &in->keys);
	return 0;
}

static int take_index(struct rd_inspection *in, const struct rd_source *s, const char *archive_damage,
		      struct rd_error *err)
{
	int code = rd_trace_probe(s, &in->format, err);

	if (code == 0)
		code = in->format->index(s, &in->index, NULL, NULL, err);
	if (code < 0)
		return code;
	struct rd_trace_info *info = &in->index.info;
	rd_kinds_init(&in->seen, in->format, info);
	rd_processes_init(&in->processes, info->format == RD_FORMAT_ETL);
	rd_rundowns_init(&in->rundowns, info->clock.frequency_hz);
	rd_rate_init(&in->rate);
	in->last_ticks = info->clock.start_ticks;
	if (info->damage[0] && add_damage(in, info->cut_at, info->damage) != 0)
		return rd_fail_nomem(err);
	if (archive_damage[0] && add_damage(in, info->size_bytes, archive_damage) != 0)
		return rd_fail_nomem(err);
	rd_archive_mark(info, archive_damage);
	in->complete = info->complete;
	in->cut_at = info->cut_at;
	return in->format->facts ? in->format->facts(s, &in->index, &in->facts, err) : 0;
}

int rd_inspection_make(struct rd_inspection *in, const struct rd_source *s, const char *archive_damage,
		       struct rd_error *err)
{
	struct taking t = {.in = in};

	memset(in, 0, sizeof *in);
	t.losses.out = &t.partial;
	int code = take_index(in, s, archive_damage, err);
	if (code == 0)
		code = decode(&t, s, err);
	if (code == 0)
		code = sum_losses(&t, err);
	if (code == 0 && rd_processes_finish(&in->processes) != 0)
		code = rd_fail_nomem(err);
	if (code == 0)
		code = sum_keys(in, err);
	if (code == 0)
		code = sort_keys(in, err);
	if (in->damage_n)
		in->complete = false;
	rd_losses_release(&t.losses);
	rd_partial_release(&t.partial);
	return code;
}

void rd_inspection_release(struct rd_inspection *in)
{
	rd_index_release(&in->index);
	rd_strings_release(&in->keys);
	rd_vec_release(&in->counts);
	rd_vec_release(&in->types);
	rd_vec_release(&in->order);
	rd_vec_release(&in->damage);
	rd_facts_release(&in->facts);
	rd_kinds_release(&in->seen);
	rd_processes_release(&in->processes);
	rd_rundowns_release(&in->rundowns);
	rd_sessions_release(&in->sessions);
	rd_rate_release(&in->rate);
}
