#include "profile/shard.h"

#include "profile/collect.h"
#include "profile/finish.h"

#define PROGRESS_BYTES (UINT64_C(4) << 20)

struct teller {
	const struct rd_shard_options *opt;
	uint64_t told;
};

static uint64_t block_bytes(const struct rd_shard *shard)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < shard->blocks_n; i++)
		bytes += shard->blocks[i].size_bytes;
	return bytes;
}

static int tell(void *ctx, uint64_t bytes)
{
	struct teller *t = ctx;

	if (bytes - t->told < PROGRESS_BYTES)
		return 0;
	t->told = bytes;
	return t->opt->progress(t->opt->progress_ctx, bytes);
}

/* All bytes are decoded, and the work is not over: it goes on behind them, so that nobody takes it for stuck. */
static int tell_again(void *ctx, uint64_t done, uint64_t total)
{
	struct teller *t = ctx;

	(void)done;
	(void)total;
	return t->opt->progress(t->opt->progress_ctx, ++t->told);
}

/*
 * What the histogram may take: stacks are resolved once for each process that has them, and a hostile trace has many
 * processes with one deep stack. Real shards stay far below. A step makes a call and an address at most, so this
 * bounds memory, too.
 */
#define PRELIMINARY_STEPS_LEAST (UINT64_C(4) << 20)
static uint64_t preliminary_steps(const struct rd_partial *p)
{
	uint64_t facts = p->methods.n + p->modules.n + p->images.n + p->symbols.n + p->mappings.n + p->threads.n +
			 p->processes.n + p->stack_keys.n;

	return PRELIMINARY_STEPS_LEAST + 8 * (p->stack_frames.n + facts) + 64 * (p->samples.n + p->stack_records.n);
}

/* Nobody needs it: where it takes too much the shard goes without. */
static int preliminary(const struct rd_shard *shard, const struct rd_shard_options *opt, struct rd_partial *p,
		       struct rd_error *err)
{
	struct teller teller = {.opt = opt, .told = block_bytes(shard)};
	struct rd_progress progress = {
		.tell = opt->progress ? tell_again : NULL,
		.ctx = &teller,
		.most = preliminary_steps(p),
	};
	int code = rd_finish_preliminary(shard->info, p, &progress, err);

	if (code != RD_LIMIT && code != RD_NOMEM)
		return code;
	p->preliminary.n = 0;
	rd_error_clear(err);
	return 0;
}

/* Context and blocks through the format's decoder. */
static int decode(const struct rd_source *s, const struct rd_shard *shard, const struct rd_sink *sink,
		  struct rd_error *err)
{
	const struct rd_format *format = rd_format_by_id(shard->info->format);
	struct rd_decoder *d;

	if (format == NULL)
		return rd_fail(err, RD_UNSUPPORTED, "no format has the number %u", shard->info->format);
	int code = format->decoder_new(s, shard->info, sink, &d, err);
	if (code < 0)
		return code;
	for (size_t i = 0; i < shard->context_n && code == 0; i++)
		code = format->decoder_context(d, &shard->context[i], err);
	if (code == 0)
		code = format->decoder_blocks(d, shard->blocks, shard->blocks_n, err);
	format->decoder_free(d);
	return code;
}

static int collect(const struct rd_source *s, const struct rd_shard *shard, const struct rd_shard_options *opt,
		   struct rd_partial *p, struct rd_error *err)
{
	uint32_t depth = opt->stack_depth;
	struct teller teller = {.opt = opt};
	struct rd_collector c;

	if (depth == 0 || depth > RD_STACK_DEPTH_MAX)
		depth = RD_STACK_DEPTH_MAX;
	rd_collector_init(&c, p, depth);
	rd_collector_expect(&c, block_bytes(shard));
	if (opt->progress) {
		c.progress = tell;
		c.progress_ctx = &teller;
	}
	struct rd_sink sink = rd_collector_sink(&c);
	sink.start_ticks = shard->info->clock.start_ticks;
	/* A sink has nothing but a code to return. */
	rd_error_clear(err);
	int code = rd_error_settle(err, decode(s, shard, &sink, err));
	if (code == 0)
		code = rd_collector_finish(&c, err);
	rd_collector_release(&c);
	return code;
}

int rd_shard_decode(const struct rd_source *s, const struct rd_shard *shard, const struct rd_shard_options *opt,
		    rd_partial_block_fn emit, void *ctx, struct rd_error *err)
{
	static const struct rd_shard_options none;
	struct rd_partial p = {0};

	if (opt == NULL)
		opt = &none;
	int code = collect(s, shard, opt, &p, err);
	if (code == 0 && opt->preliminary)
		code = preliminary(shard, opt, &p, err);
	if (code == 0)
		code = rd_partial_pack(&p, emit, ctx, err);
	rd_partial_release(&p);
	return code;
}
