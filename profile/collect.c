#include "profile/collect.h"

#include <string.h>
#include <sys/mman.h>

#include "profile/collect_rows.h"
#include "profile/partial_tables.h"
#include "profile/row_sort.h"

const uint64_t rd_collector_want = RD_WANT(RD_EVENT_SAMPLE) | RD_WANT(RD_EVENT_STACK) | RD_WANT(RD_EVENT_STACK_KEY) |
				   RD_WANT(RD_EVENT_METHOD) | RD_WANT(RD_EVENT_MODULE) | RD_WANT(RD_EVENT_IMAGE) |
				   RD_WANT(RD_EVENT_THREAD) | RD_WANT(RD_EVENT_PROCESS) | RD_WANT(RD_EVENT_MARKER) |
				   RD_WANT(RD_EVENT_INTERVAL) | RD_WANT(RD_EVENT_RUNTIME) | RD_WANT(RD_EVENT_MAPPING) |
				   RD_WANT(RD_EVENT_SYMBOL) | RD_WANT(RD_EVENT_OTHER_COUNT);

/* ---- the sink */

/* What an event of this type says of the providers that were on. */
static uint8_t providers_of(const struct rd_event_type *type)
{
	static const struct {
		const char *provider;
		uint8_t any, method;
	} rows[] = {
		{"Microsoft-Windows-DotNETRuntime", RD_SEEN_RUNTIME, RD_SEEN_RUNTIME_METHODS},
		{"Microsoft-Windows-DotNETRuntimeRundown", RD_SEEN_RUNDOWN, RD_SEEN_RUNDOWN_METHODS},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(type->provider, rows[i].provider) == 0)
			return type->kind == RD_EVENT_METHOD ? rows[i].any | rows[i].method : rows[i].any;
	return 0;
}

/* No provider's bit: this slot was asked before. */
#define ASKED RD_SEEN_STACKS

static int note_provider(struct rd_collector *c, const struct rd_event_key *key)
{
	if (key->slot >= c->seen_by_slot.n) {
		size_t more = key->slot - c->seen_by_slot.n + 1;
		if (rd_vec_reserve(&c->seen_by_slot, more) < 0)
			return RD_NOMEM;
		memset(c->seen_by_slot.at + c->seen_by_slot.n, 0, more);
		c->seen_by_slot.n += more;
	}
	uint8_t *seen = &c->seen_by_slot.at[key->slot];
	if (*seen == 0)
		*seen = providers_of(key->type) | ASKED;
	c->out->summary.providers_seen |= *seen & (uint8_t)~ASKED;
	return 0;
}

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct rd_collector *c = ctx;
	struct rd_partial_summary *summary = &c->out->summary;
	const struct rd_event_type *type = ev->key->type;
	struct rd_record record;

	if (type == NULL || type->decode == NULL) {
		summary->events++;
		summary->malformed_events += ev->key->identity == RD_IDENTITY_BAD;
		return 0;
	}
	summary->events++;
	int code = type->decode(ev, &record);
	if (code < 0) {
		summary->malformed_events++;
		return 0;
	}
	code = rd_collect_row(c, ev, &record);
	if (code < 0)
		return code;
	summary->malformed_events += code == RD_COLLECT_MALFORMED;
	return note_provider(c, ev->key);
}

static int on_sequence(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	struct rd_collector *c = ctx;

	return rd_losses_tell(&c->losses, thread, op, first, count);
}

/* Remember (or bring back) how many rows every table has but those of the losses and of damage, which no undo covers. */
static void mark_rows(struct rd_collector *c, bool back)
{
	for (uint32_t table = RD_TABLE_METHODS; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t == NULL || table == RD_TABLE_SEQUENCES || table == RD_TABLE_DAMAGE)
			continue;
		uint8_t *field = (uint8_t *)c->out + t->rows_at;
		struct rd_any_vec v;
		memcpy(&v, field, sizeof v);
		if (!back) {
			c->rows[table] = v.n;
			continue;
		}
		v.n = c->rows[table];
		memcpy(field, &v, sizeof v);
	}
}

static int on_block_begin(void *ctx, const struct rd_block *b)
{
	struct rd_collector *c = ctx;

	mark_rows(c, false);
	c->summary = c->out->summary;
	return rd_losses_begin(&c->losses, b->ordinal);
}

static int on_block_end(void *ctx, const struct rd_block *b, bool undo)
{
	struct rd_collector *c = ctx;
	int code = rd_losses_end(&c->losses, undo);

	if (code < 0)
		return code;
	if (undo) {
		mark_rows(c, true);
		c->out->summary = c->summary;
	} else {
		c->out->summary.blocks++;
		c->out->summary.block_bytes += b->size_bytes;
	}
	c->bytes += b->size_bytes;
	return c->progress ? c->progress(c->progress_ctx, c->bytes) : 0;
}

static int on_damage(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what)
{
	struct rd_collector *c = ctx;
	struct rd_damage_row row = {.offset = file_offset};

	(void)b;
	int code = rd_intern_text(&c->intern, what, strlen(what), &row.what);
	if (code == 0 && rd_vec_reserve(&c->out->damage, 1) < 0)
		code = RD_NOMEM;
	if (code == 0)
		c->out->damage.at[c->out->damage.n++] = row;
	return code;
}

struct rd_sink rd_collector_sink(struct rd_collector *c)
{
	return (struct rd_sink){
		.ctx = c,
		.want = rd_collector_want,
		.event = on_event,
		.sequence = on_sequence,
		.block_begin = on_block_begin,
		.block_end = on_block_end,
		.damage = on_damage,
		.latest = &c->out->summary.latest,
	};
}

void rd_collector_init(struct rd_collector *c, struct rd_partial *out, uint32_t stack_depth)
{
	*c = (struct rd_collector){
		.out = out, .intern = {.out = out}, .losses = {.out = out}, .stack_depth = stack_depth};
}

/* Real traces have a method event and a sample in 700 to 1,100 bytes. Who has more lets the vectors grow as ever. */
#define BYTES_OF_ROW 512
#define ROWS_MOST    (UINT64_C(1) << 20)
#define PAGE_BYTES   ((uintptr_t)4096)

static void use_large_pages(void *at, size_t size_bytes)
{
	uintptr_t begin = ((uintptr_t)at + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	uintptr_t end = ((uintptr_t)at + size_bytes) & ~(PAGE_BYTES - 1);

	/* Small vectors share pages with others. */
	if (end > begin && size_bytes >= (UINT64_C(4) << 20))
		(void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void rd_collector_expect(struct rd_collector *c, uint64_t block_bytes)
{
	struct rd_partial *p = c->out;
	uint64_t rows = block_bytes / BYTES_OF_ROW;

	if (rows > ROWS_MOST)
		rows = ROWS_MOST;
	if (rd_vec_reserve(&p->methods, rows) == 0)
		use_large_pages(p->methods.at, p->methods.cap * sizeof *p->methods.at);
	if (rd_vec_reserve(&p->samples, rows) == 0)
		use_large_pages(p->samples.at, p->samples.cap * sizeof *p->samples.at);
}

void rd_collector_release(struct rd_collector *c)
{
	rd_intern_release(&c->intern);
	rd_losses_release(&c->losses);
	rd_vec_release(&c->seen_by_slot);
}

/* ---- the end */

int rd_collector_finish(struct rd_collector *c, struct rd_error *err)
{
	struct rd_partial *p = c->out;

	rd_losses_finish(&c->losses);
	if (rd_sort_rows(p->samples.at, p->samples.n, sizeof *p->samples.at, offsetof(struct rd_sample, time),
			 rd_sample_order) < 0 ||
	    rd_sort_rows(p->stack_records.at, p->stack_records.n, sizeof *p->stack_records.at,
			 offsetof(struct rd_stack_row, sample_time), rd_stack_row_order) < 0)
		return rd_fail_nomem(err);

	struct rd_partial_summary *s = &p->summary;
	s->samples = p->samples.n;
	s->pointerless_samples = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		s->pointerless_samples += p->samples.at[i].pointer == 0;
	s->stack_records = p->stack_records.n;
	s->first_sample = p->samples.n ? p->samples.at[0].time : UINT64_MAX;
	s->last_sample = p->samples.n ? p->samples.at[p->samples.n - 1].time : 0;
	s->first_stack_record = p->stack_records.n ? p->stack_records.at[0].sample_time : UINT64_MAX;
	s->last_stack_record = p->stack_records.n ? p->stack_records.at[p->stack_records.n - 1].sample_time : 0;
	return 0;
}
