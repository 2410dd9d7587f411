#include "cli/inspection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decode, on its way into an inspection. Slots are the decoder's numbers of keys. */
struct taking {
	struct rd_inspection *in;
	struct rd_partial partial; /* only its sequences are used */
	struct rd_losses losses;
	RD_VEC(uint32_t) key_of; /* by slot: key + 1, 0 not seen */
	/* The open block's events: applied at its end, unless it is dropped. */
	RD_VEC(uint32_t) pending; /* by slot: events */
	RD_VEC(uint32_t) touched; /* slots with pending events */
	uint64_t events, malformed, last_ticks;
	uint64_t kinds[RD_SAMPLE_KINDS];
	uint64_t by_kind[RD_EVENT_KINDS];
	struct rd_bytes text;
};

static int grow_slots(struct taking *t, uint32_t slot)
{
	while (t->pending.n <= slot) {
		uint32_t *pending = rd_vec_add(&t->pending), *key = rd_vec_add(&t->key_of);
		if (pending == NULL || key == NULL)
			return RD_NOMEM;
		*pending = *key = 0;
	}
	return 0;
}

/* Two slots may read the same: an identity that the file defines twice. */
static int name_slot(struct taking *t, const struct rd_event_key *key)
{
	struct rd_inspection *in = t->in;

	t->text.n = 0;
	if (rd_event_key_text(key, &t->text) != 0)
		return RD_NOMEM;
	uint32_t id = rd_strings_id(&in->keys, t->text.at, t->text.n);
	if (id == RD_NONE)
		return RD_NOMEM;
	if (id == in->counts.n) {
		uint64_t *count = rd_vec_add(&in->counts);
		const struct rd_event_type **type = rd_vec_add(&in->types);
		if (count == NULL || type == NULL)
			return RD_NOMEM;
		*count = 0;
		*type = key->type;
	}
	t->key_of.at[key->slot] = id + 1;
	return 0;
}

/* What the payload says, as far as the summary needs it. */
static void look_inside(struct taking *t, const struct rd_event *ev)
{
	const struct rd_event_type *type = ev->key->type;
	struct rd_record record;

	if (ev->key->identity == RD_IDENTITY_BAD)
		t->malformed++;
	if (type == NULL)
		return;
	if (type->kind < RD_EVENT_KINDS)
		t->by_kind[type->kind]++;
	if (type->decode == NULL)
		return;
	memset(&record, 0, sizeof record);
	if (type->decode(ev, &record) != 0)
		t->malformed++;
	else if (type->kind == RD_EVENT_SAMPLE && record.sample.kind < RD_SAMPLE_KINDS)
		t->kinds[record.sample.kind]++;
}

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct taking *t = ctx;
	uint32_t slot = ev->key->slot;

	if (slot >= t->pending.n && grow_slots(t, slot) != 0)
		return RD_NOMEM;
	if (t->pending.at[slot]++ == 0) {
		uint32_t *touched = rd_vec_add(&t->touched);
		if (touched == NULL || (t->key_of.at[slot] == 0 && name_slot(t, ev->key) != 0))
			return RD_NOMEM;
		*touched = slot;
	}
	t->events++;
	/* Ticks are modulo 2^64 around the start. */
	if ((int64_t)(ev->time - t->last_ticks) > 0)
		t->last_ticks = ev->time;
	look_inside(t, ev);
	return 0;
}

static int on_sequence(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	struct taking *t = ctx;
	return rd_losses_tell(&t->losses, thread, op, first, count);
}

static void begin_counts(struct taking *t)
{
	t->events = t->malformed = 0;
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
	in->malformed += t->malformed;
	in->last_ticks = t->last_ticks;
	for (size_t i = 0; i < RD_SAMPLE_KINDS; i++) {
		in->kinds[i] += t->kinds[i];
		in->samples += t->kinds[i];
	}
	for (size_t i = 0; i < RD_EVENT_KINDS; i++)
		in->by_kind[i] += t->by_kind[i];
	for (size_t i = 0; i < t->touched.n; i++)
		in->counts.at[t->key_of.at[t->touched.at[i]] - 1] += t->pending.at[t->touched.at[i]];
}

static int on_block_end(void *ctx, const struct rd_block *b, bool undo)
{
	struct taking *t = ctx;

	(void)b;
	if (!undo)
		apply(t);
	for (size_t i = 0; i < t->touched.n; i++)
		t->pending.at[t->touched.at[i]] = 0;
	t->touched.n = 0;
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

static int take_index(struct rd_inspection *in, const struct rd_source *s, struct rd_error *err)
{
	int code = rd_trace_probe(s, &in->format, err);

	if (code == 0)
		code = in->format->index(s, &in->index, NULL, NULL, err);
	if (code < 0)
		return code;
	in->last_ticks = in->index.info.clock.start_ticks;
	in->complete = in->index.info.complete;
	in->cut_at = in->index.info.cut_at;
	if (in->index.info.damage[0] && add_damage(in, in->cut_at, in->index.info.damage) != 0)
		return rd_fail_nomem(err);
	return 0;
}

int rd_inspection_make(struct rd_inspection *in, const struct rd_source *s, struct rd_error *err)
{
	struct taking t = {.in = in};

	memset(in, 0, sizeof *in);
	t.losses.out = &t.partial;
	int code = take_index(in, s, err);
	if (code == 0)
		code = decode(&t, s, err);
	if (code == 0)
		code = sum_losses(&t, err);
	if (code == 0)
		code = sort_keys(in, err);
	if (in->damage_n)
		in->complete = false;
	rd_losses_release(&t.losses);
	rd_partial_release(&t.partial);
	rd_vec_release(&t.key_of);
	rd_vec_release(&t.pending);
	rd_vec_release(&t.touched);
	rd_bytes_release(&t.text);
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
}
