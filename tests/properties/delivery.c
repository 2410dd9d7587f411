#include "tests/properties/delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/plan.h"
#include "merger/work.h"
#include "profile/shard.h"
#include "tests/random.h"

int open_trace(struct opened_trace *t, const char *path, struct rd_error *err)
{
	memset(t, 0, sizeof *t);
	int rc = rd_source_open(&t->source, path, err);
	if (rc < 0)
		return rc;
	rc = rd_trace_probe(&t->source, &t->format, err);
	if (rc == 0)
		rc = t->format->index(&t->source, &t->ix, NULL, NULL, err);
	if (rc < 0)
		rd_source_close(&t->source);
	return rc;
}

void close_trace(struct opened_trace *t)
{
	rd_index_release(&t->ix);
	rd_source_close(&t->source);
}

/* ---- a cut */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Each block to any shard; where blocks hang on others, runs of blocks. Some shards may be empty. */
static void cut(const struct rd_index *ix, uint32_t shards, struct rd_plan *p)
{
	uint32_t n = (uint32_t)ix->blocks.n, *to = calloc(n + 1, sizeof *to);

	memset(p, 0, sizeof *p);
	if (to == NULL)
		abort();
	for (uint32_t i = 0; i < n; i++)
		to[i] = pick(shards);
	if (!ix->sort_by_time)
		qsort(to, n, sizeof *to, compare_numbers);
	for (uint32_t s = 0; s < shards; s++) {
		struct rd_plan_shard *shard = rd_vec_add(&p->shards);
		if (shard == NULL)
			abort();
		*shard = (struct rd_plan_shard){.first = (uint32_t)p->order.n};
		for (uint32_t i = 0; i < n; i++) {
			if (to[i] != s)
				continue;
			uint32_t *at = rd_vec_add(&p->order);
			if (at == NULL)
				abort();
			*at = i;
			shard->n++;
		}
	}
	free(to);
}

/* ---- deliveries */

struct night {
	const struct opened_trace *trace;
	struct rd_plan plan;
	struct rd_work *work;
	char job[16];
	uint64_t budget;
	uint32_t attempts;
	uint8_t *here; /* by shard */
};

static int keep(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	return rd_spool_add(ctx, table, seq, block, err);
}

static int decode(struct night *n, uint32_t shard, struct rd_spool *spool, struct rd_error *err)
{
	rd_block_vec blocks = {0}, context = {0};
	struct rd_shard_options opt = {.preliminary = true};
	int rc = rd_plan_shard_blocks(&n->trace->ix, &n->plan, shard, &blocks, &context, err);
	struct rd_shard s = {&n->trace->ix.info, context.at, context.n, blocks.at, blocks.n};

	if (rc == 0)
		rc = rd_shard_decode(&n->trace->source, &s, &opt, keep, spool, err);
	rd_vec_release(&blocks);
	rd_vec_release(&context);
	return rc;
}

/* One attempt at a shard: decoded anew; now and then it dies before its commit. */
static int deliver(struct night *n, uint32_t shard, bool may_die, struct rd_error *err)
{
	struct rd_shard_id id = {.trace = 0, .shard = shard};
	struct rd_spool spool;

	snprintf(id.job, sizeof id.job, "%s", n->job);
	rd_spool_init(&spool, NULL, NULL, &n->budget);
	int rc = decode(n, shard, &spool, err);
	if (rc == 0 && !(may_die && pick(4) == 0)) {
		struct rd_ledger_row row = {.task = shard + 1,
					    .attempt = ++n->attempts,
					    .blocks = spool.blocks.n,
					    .bytes = spool.bytes,
					    .checksum = spool.checksum};
		rc = rd_work_commit(n->work, &id, &row, &spool, err);
		if (n->here[shard] != (rc == RD_EXISTS) && (rc == 0 || rc == RD_EXISTS))
			rc = rd_fail(err, RD_INTERNAL, "the ledger took shard %u wrongly", shard);
		if (rc == RD_EXISTS)
			rc = 0;
		n->here[shard] = 1;
	}
	rd_spool_release(&spool);
	return rc;
}

/* Every shard, in any order; some before, some again afterwards. */
static int deliver_all(struct night *n, struct rd_error *err)
{
	uint32_t shards = (uint32_t)n->plan.shards.n, *order = calloc(shards, sizeof *order);
	int rc = 0;

	if (order == NULL)
		abort();
	for (uint32_t i = 0; i < shards; i++) {
		uint32_t k = pick(i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 0; rc == 0 && i < shards; i++) {
		if (pick(6) == 0)
			rc = deliver(n, order[pick(shards)], true, err);
		if (rc == 0)
			rc = deliver(n, order[i], false, err);
	}
	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = deliver(n, pick(shards), true, err);
	free(order);
	return rc;
}

/* ---- the finish */

struct reading {
	struct rd_work *work;
	const char *job;
};

static int block_of(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		    struct rd_error *err)
{
	struct reading *r = ctx;
	struct rd_shard_id id = {.shard = (uint32_t)shard};

	snprintf(id.job, sizeof id.job, "%s", r->job);
	return rd_work_block(r->work, &id, table, seq, block, err);
}

static int finish(struct night *n, const char *folder, struct rd_result *out, struct rd_error *err)
{
	struct reading r = {.job = n->job};
	int rc = rd_work_open_reader(folder, &r.work, err);

	if (rc < 0)
		return rc;
	struct rd_finish_trace t = {
		.path = "trace",
		.info = &n->trace->ix.info,
		.partials = {.ctx = &r, .shards = n->plan.shards.n, .block = block_of},
	};
	rc = rd_finish(&t, 1, &(struct rd_finish_options){.kind = -1}, out, err);
	rd_work_close(r.work);
	return rc;
}

int deliver_and_finish(const struct opened_trace *t, const char *folder, uint32_t shards, struct rd_result *out,
		       struct rd_error *err)
{
	static unsigned jobs;
	struct rd_work_options o = {.thrown_away = true};
	struct night n = {.trace = t, .budget = UINT64_C(1) << 30};
	char store[4200];

	cut(&t->ix, t->ix.whole ? 1 : shards, &n.plan);
	snprintf(n.job, sizeof n.job, "job-%u", ++jobs);
	snprintf(store, sizeof store, "%s/store", folder);
	n.here = calloc(n.plan.shards.n, 1);
	if (n.here == NULL || (mkdir(store, 0700) != 0 && jobs == 1))
		abort();
	int rc = rd_work_open(store, &o, &n.work, err);
	if (rc == 0) {
		rc = deliver_all(&n, err);
		rd_work_close(n.work);
	}
	if (rc == 0)
		rc = finish(&n, store, out, err);
	free(n.here);
	rd_plan_release(&n.plan);
	return rc;
}

void remove_store(const char *folder)
{
	static const char *const files[] = {"store/data.mdb", "store/lock.mdb", "trace"};
	char path[4200];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/store", folder);
	rmdir(path);
}
