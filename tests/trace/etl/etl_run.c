#include "tests/trace/etl/etl_run.h"

#include "tests/support.h"

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct etl_run *r = ctx;
	struct rd_event *kept = rd_vec_add(&r->events);

	assert_non_null(kept);
	*kept = *ev;
	kept->key = rd_arena_copy(&r->arena, ev->key, sizeof *ev->key);
	if (ev->payload_bytes)
		kept->payload = rd_arena_copy(&r->arena, ev->payload, ev->payload_bytes);
	if (ev->stack_bytes)
		kept->stack = rd_arena_copy(&r->arena, ev->stack, ev->stack_bytes);
	return 0;
}

static int on_damage(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what)
{
	struct etl_run *r = ctx;
	uint64_t *kept = rd_vec_add(&r->damage);

	(void)b;
	assert_non_null(kept);
	assert_int_equal(r->begun, r->ended);
	*kept = file_offset;
	r->damage_text = what;
	return 0;
}

static int on_begin(void *ctx, const struct rd_block *b)
{
	(void)b;
	((struct etl_run *)ctx)->begun++;
	return 0;
}

static int on_end(void *ctx, const struct rd_block *b, bool undo)
{
	(void)b;
	assert_false(undo);
	((struct etl_run *)ctx)->ended++;
	return 0;
}

void etl_run_index(struct etl_run *r, const void *bytes, size_t size_bytes)
{
	memset(r, 0, sizeof *r);
	rd_error_clear(&r->err);
	assert_ok(rd_source_open(&r->source, scratch_file("run.etl", bytes, size_bytes), &r->err), &r->err);
	r->indexed = rd_format_etl.index(&r->source, &r->index, NULL, NULL, &r->err);
}

void etl_run_blocks(struct etl_run *r, const struct rd_block *blocks, size_t n, uint64_t want)
{
	struct rd_sink sink = {
		.ctx = r,
		.want = want,
		.event = on_event,
		.block_begin = on_begin,
		.block_end = on_end,
		.damage = on_damage,
	};
	struct rd_decoder *d;

	assert_ok(rd_format_etl.decoder_new(&r->source, &r->index.info, &sink, &d, &r->err), &r->err);
	r->decoded = rd_format_etl.decoder_blocks(d, blocks, n, &r->err);
	rd_format_etl.decoder_free(d);
}

void etl_run(struct etl_run *r, const void *bytes, size_t size_bytes, uint64_t want)
{
	etl_run_index(r, bytes, size_bytes);
	if (r->indexed == 0)
		etl_run_blocks(r, r->index.blocks.at, r->index.blocks.n, want);
}

void etl_run_release(struct etl_run *r)
{
	rd_source_close(&r->source);
	rd_index_release(&r->index);
	rd_vec_release(&r->events);
	rd_vec_release(&r->damage);
	rd_arena_release(&r->arena);
}

static bool is(const struct rd_event *ev, const char *key)
{
	struct rd_bytes text = {0};

	assert_int_equal(rd_event_key_text(ev->key, &text), 0);
	bool same = text.n == strlen(key) && memcmp(text.at, key, text.n) == 0;
	rd_bytes_release(&text);
	return same;
}

size_t etl_run_count(const struct etl_run *r, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < r->events.n; i++)
		n += is(&r->events.at[i], key);
	return n;
}

const struct rd_event *etl_run_event(const struct etl_run *r, const char *key, size_t i)
{
	for (size_t k = 0; k < r->events.n; k++)
		if (is(&r->events.at[k], key) && i-- == 0)
			return &r->events.at[k];
	fail_msg("no event %s", key);
	return NULL;
}
