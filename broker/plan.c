#include "broker/plan.h"

#include <stdlib.h>
#include <string.h>

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* How many shards; the blocks may give fewer. */
static uint64_t shard_count(const struct rd_index *ix, uint64_t total, const struct rd_plan_options *opt)
{
	uint64_t n, workers = opt->workers ? opt->workers : 1;

	if (ix->whole || total == 0)
		return 1;
	if (opt->shards) {
		n = opt->shards;
	} else if (opt->shard_bytes) {
		n = divide_up(total, opt->shard_bytes);
	} else {
		n = divide_up(total, RD_SHARD_BYTES);
		/* A round of shards in which every worker has one, as long as that is worth its while. */
		uint64_t rounded = divide_up(n, workers) * workers;
		uint64_t most = total / RD_SHARD_BYTES_LEAST;
		uint64_t busy = rounded < most ? rounded : most;
		n = busy > n ? busy : n;
	}
	return n > RD_SHARDS_MAX ? RD_SHARDS_MAX : n;
}

struct by_time {
	uint64_t time;
	uint32_t at;
};

static int compare_time(const void *a, const void *b)
{
	const struct by_time *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int compare_position(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static int compare_range(const void *a, const void *b)
{
	const struct rd_plan_range *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

/*
 * Blocks that give or void context hold for what follows them in the file, so
 * a format that has any is cut in the order of the file, whatever it says.
 */
static bool may_sort(const struct rd_index *ix)
{
	if (!ix->sort_by_time || ix->whole)
		return false;
	for (size_t i = 0; i < ix->blocks.n; i++)
		if (ix->blocks.at[i].provides || ix->blocks.at[i].resets)
			return false;
	return true;
}

/* A block without a time stays behind the one before it. */
static int sort_by_time(const struct rd_index *ix, uint32_t *order, struct rd_error *err)
{
	size_t n = ix->blocks.n;
	struct by_time *rows = rd_realloc(NULL, (n ? n : 1) * sizeof *rows);
	uint64_t last = 0;

	if (rows == NULL)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		if (ix->blocks.at[i].time)
			last = ix->blocks.at[i].time;
		rows[i] = (struct by_time){last, (uint32_t)i};
	}
	qsort(rows, n, sizeof *rows, compare_time);
	for (size_t i = 0; i < n; i++)
		order[i] = rows[i].at;
	rd_free(rows);
	return 0;
}

static int add_shard(struct rd_plan *p, uint32_t first, uint32_t end, uint64_t bytes)
{
	struct rd_plan_shard *s = rd_vec_add(&p->shards);

	if (s == NULL)
		return RD_NOMEM;
	*s = (struct rd_plan_shard){first, end - first, bytes};
	return 0;
}

/* a·i/n without overflow. */
static uint64_t share(uint64_t a, uint64_t i, uint64_t n)
{
	return a / n * i + a % n * i / n;
}

/*
 * The cut after the k-th of n equal parts stands at the first block that
 * begins at or behind it, so that parts without a block (one huge block) give
 * no shard.
 */
static int cut(const struct rd_index *ix, uint64_t total, uint64_t n, struct rd_plan *p)
{
	uint64_t before = 0, bytes = 0, k = 1;
	uint32_t first = 0, blocks = (uint32_t)p->order.n;

	for (uint32_t i = 0; i < blocks; i++) {
		if (i > first && before >= share(total, k, n)) {
			if (add_shard(p, first, i, bytes) < 0)
				return RD_NOMEM;
			first = i;
			bytes = 0;
			while (k < n && before >= share(total, k, n))
				k++;
		}
		bytes += ix->blocks.at[p->order.at[i]].size_bytes;
		before += ix->blocks.at[p->order.at[i]].size_bytes;
	}
	return add_shard(p, first, blocks, bytes);
}

int rd_plan_make(const struct rd_index *ix, const struct rd_plan_options *opt, struct rd_plan *out,
		 struct rd_error *err)
{
	struct rd_plan p = {0};
	uint64_t total = 0;
	size_t n = ix->blocks.n;
	int rc = 0;

	if (n >= UINT32_MAX)
		return rd_fail(err, RD_LIMIT, "a trace of %zu blocks", n);
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(total, ix->blocks.at[i].size_bytes, &total))
			return rd_fail(err, RD_LIMIT, "the blocks of a trace have more than 2^64 bytes");
	if (rd_vec_reserve(&p.order, n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		p.order.at[p.order.n++] = (uint32_t)i;
	if (may_sort(ix))
		rc = sort_by_time(ix, p.order.at, err);
	if (rc == 0 && cut(ix, total, shard_count(ix, total, opt), &p) < 0)
		rc = rd_fail_nomem(err);
	if (rc < 0) {
		rd_plan_release(&p);
		return rc;
	}
	/* Inside a shard the file's order holds again: what is read there is read in long runs. */
	for (size_t i = 0; i < p.shards.n; i++)
		if (p.shards.at[i].n > 1)
			qsort(p.order.at + p.shards.at[i].first, p.shards.at[i].n, sizeof *p.order.at,
			      compare_position);
	*out = p;
	return 0;
}

void rd_plan_release(struct rd_plan *p)
{
	rd_vec_release(&p->order);
	rd_vec_release(&p->shards);
}

static int add_block(rd_block_vec *v, const struct rd_block *b, struct rd_error *err)
{
	struct rd_block *slot = rd_vec_add(v);

	if (slot == NULL)
		return rd_fail_nomem(err);
	*slot = *b;
	return 0;
}

/*
 * Walk back from the shard's first block. Of a bit that a block voids, nothing
 * before that block holds any more; what the block itself gives does.
 */
static int add_context(const struct rd_index *ix, size_t from, rd_block_vec *context, struct rd_error *err)
{
	size_t kept = context->n;
	unsigned open = RD_CONTEXT_METADATA | RD_CONTEXT_THREADS | RD_CONTEXT_STACKS;

	for (size_t i = from; i > 0 && open; i--) {
		const struct rd_block *b = &ix->blocks.at[i - 1];
		if ((b->provides & open) && add_block(context, b, err) < 0)
			return RD_NOMEM;
		open &= ~(unsigned)b->resets;
	}
	/* Into the file's order. */
	for (size_t a = kept, z = context->n; a + 1 < z; a++, z--) {
		struct rd_block swap = context->at[a];
		context->at[a] = context->at[z - 1];
		context->at[z - 1] = swap;
	}
	return 0;
}

int rd_plan_shard_blocks(const struct rd_index *ix, const struct rd_plan *p, uint32_t shard, rd_block_vec *blocks,
			 rd_block_vec *context, struct rd_error *err)
{
	const struct rd_plan_shard *s = &p->shards.at[shard];

	for (uint32_t i = 0; i < s->n; i++)
		if (add_block(blocks, &ix->blocks.at[p->order.at[s->first + i]], err) < 0)
			return RD_NOMEM;
	return s->n && !may_sort(ix) ? add_context(ix, p->order.at[s->first], context, err) : 0;
}

int rd_plan_shard_ranges(const struct rd_index *ix, const struct rd_plan *p, uint32_t shard, rd_plan_range_vec *out,
			 struct rd_error *err)
{
	const struct rd_plan_shard *s = &p->shards.at[shard];
	size_t kept = out->n;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct rd_block *b = &ix->blocks.at[p->order.at[s->first + i]];
		struct rd_plan_range *r = rd_vec_add(out);
		if (r == NULL)
			return rd_fail_nomem(err);
		*r = (struct rd_plan_range){b->offset, b->offset + b->size_bytes};
	}
	if (out->n == kept)
		return 0;
	qsort(out->at + kept, out->n - kept, sizeof *out->at, compare_range);
	size_t last = kept;
	for (size_t i = kept + 1; i < out->n; i++) {
		if (out->at[i].from <= out->at[last].to)
			out->at[last].to = out->at[i].to > out->at[last].to ? out->at[i].to : out->at[last].to;
		else
			out->at[++last] = out->at[i];
	}
	out->n = last + 1;
	return 0;
}
