#include "profile/count.h"

#include "profile/join.h"
#include "profile/resolve.h"

#define RECENT 128 /* a power of two */

/*
 * The row of a thread's latest sample: threads wait and loop, so the next
 * sample's is often the same. Kept for samples without pointers, whose
 * resolved stack says by itself how long it holds.
 */
struct recent {
	bool known;
	struct rd_resolved resolved;
	struct rd_result_row key;
	uint32_t row;
};

/* A group while its samples stream by. */
struct counting {
	struct rd_count *count;
	struct rd_group *group;
	struct rd_stream samples;
	struct rd_join join;
	struct rd_resolver resolver;
	uint64_t from, to; /* the filter's, ticks: [from, to) */
	uint32_t bucket;   /* of the latest sample, and the tick where the next one begins */
	uint64_t bucket_until;
	struct recent recent[RECENT]; /* by thread, hashed */
};

/* What is known of one sample, step by step. */
struct work {
	const struct rd_sample *sample;
	const struct rd_parts *parts;
	uint32_t pid, life;
	struct rd_raw_sample raw;
	const struct rd_resolved *resolved;
	struct rd_result_row key; /* of its row, without the stack */
	uint32_t row;
};

/* Samples come in the order of time, so a bucket is worked out once. */
static void know_bucket(struct counting *c, uint64_t time)
{
	const struct rd_clock *clock = rd_group_clock(c->group);

	if (time < c->bucket_until || c->count->by_stack_only)
		return;
	uint32_t bucket = rd_moments_bucket(c->count->moments, rd_utc_ns(clock, time));
	/* Rows of the buckets before are complete. */
	if (bucket != c->bucket)
		rd_records_forget(&c->count->content->rows);
	c->bucket = bucket;
	c->bucket_until = rd_ticks_from(clock, rd_moments_bucket_end(c->count->moments, c->bucket));
}

/* The first stack record that counts for the sample; NULL none. */
static const struct rd_when *first_part(const struct rd_parts *p)
{
	if (!p->kernel.there || !p->user.there)
		return p->kernel.there ? &p->kernel.when : p->user.there ? &p->user.when : NULL;
	return rd_when_compare(&p->user.when, &p->kernel.when) < 0 ? &p->user.when : &p->kernel.when;
}

static int find_owner(struct counting *c, struct work *w, uint16_t file, struct rd_error *err)
{
	w->pid = w->sample->pid;
	if (w->pid == RD_NO_PID)
		w->pid = rd_lives_owner(&c->group->lives, w->sample->thread, w->sample->time);
	if (w->pid == RD_PID_UNOWNED) {
		const struct rd_when *record = first_part(w->parts);
		w->pid = record ? record->id : RD_PID_UNOWNED;
	}
	w->life = rd_lives_of(&c->group->lives, w->pid, w->sample->time, file);
	return w->life == RD_NONE ? rd_fail_nomem(err) : 0;
}

/* The stack that came with the sample, else the parts that were found for it. */
static int find_stack(struct work *w, const struct rd_shard_ref *shard, struct rd_error *err)
{
	uint32_t own;
	int rc = rd_stack_map_id(&shard->stacks, w->sample->stack, &own, err);

	w->raw = (struct rd_raw_sample){
		.life = w->life,
		.kernel = RD_NONE,
		.user = own,
		.pointer = w->sample->pointer,
		.time = w->sample->time,
	};
	if (w->raw.user == RD_NONE) {
		w->raw.kernel = w->parts->kernel.there ? w->parts->kernel.stack : RD_NONE;
		w->raw.user = w->parts->user.there ? w->parts->user.stack : RD_NONE;
	}
	return rc;
}

static bool is_broken(const struct work *w)
{
	return w->parts->kernel.there && !w->parts->user.there && w->pid != 0 && w->pid != 4 &&
	       w->pid != RD_PID_UNOWNED;
}

static void add_trust(struct counting *c, const struct work *w)
{
	struct rd_trust *t = c->count->trust;

	t->frames += w->resolved->whole.frames;
	t->unresolved_frames += w->resolved->whole.unresolved;
	t->ambiguous_frames += w->resolved->whole.ambiguous;
	t->samples_without_stack += w->raw.kernel == RD_NONE && w->raw.user == RD_NONE;
	t->broken_stacks += is_broken(w);
	t->unowned_samples += w->pid == RD_PID_UNOWNED;
	t->samples_in_rundown += rd_evidence_in_rundown(&c->group->evidence, w->life, w->sample->time);
}

static struct recent *recent_of(struct counting *c, const struct work *w)
{
	return &c->recent[rd_hash_u64(w->sample->thread) & (RECENT - 1)];
}

/* Whether the recent row is the sample's too. */
static bool is_again(const struct recent *r, const struct work *w)
{
	return r->known && w->raw.pointer == 0 && w->raw.time < r->resolved.until && r->resolved.life == w->life &&
	       r->resolved.kernel == w->raw.kernel && r->resolved.user == w->raw.user &&
	       r->key.thread == w->key.thread && r->key.kind == w->key.kind && r->key.bucket == w->key.bucket;
}

/* The resolved stack and the row of a sample. */
static int find_row(struct counting *c, struct work *w, struct rd_error *err)
{
	struct recent *recent = recent_of(c, w);

	w->key = (struct rd_result_row){.process = w->life};
	if (!c->count->by_stack_only) {
		w->key.kind = w->sample->kind;
		w->key.thread = w->sample->thread;
		w->key.bucket = c->bucket;
	}
	if (is_again(recent, w)) {
		w->resolved = &recent->resolved;
		w->row = recent->row;
		return 0;
	}
	int rc = rd_resolve(&c->resolver, &w->raw, &w->resolved, err);
	if (rc < 0)
		return rc;
	w->key.stack = w->resolved->whole.stack;
	w->row = rd_records_id(&c->count->content->rows, &w->key, NULL);
	if (w->row == RD_NONE)
		return rd_fail_nomem(err);
	*recent = (struct recent){w->raw.pointer == 0, *w->resolved, w->key, w->row};
	return 0;
}

static void add_sample(struct rd_count *count, const struct work *w)
{
	struct rd_result_row *row = rd_records_at(&count->content->rows, w->row);

	row->count++;
	row->weight += w->sample->weight;
	count->content->lives.at[w->life].samples++;
	count->samples++;
	count->weight += w->sample->weight;
	count->kinds[w->sample->kind]++;
}

/* One of those of which its shard believed something? */
static int note_belief(struct counting *c, const struct work *w, const struct rd_shard_ref *shard, struct rd_error *err)
{
	if (c->count->belief == NULL || !shard->believed)
		return 0;
	uint64_t weight = rd_belief_weight(rd_stream_place(&c->samples), shard->summary.samples);
	if (weight == 0)
		return 0;
	return rd_belief_find(c->count->belief, c->count->content, w->resolved->whole.stack, weight, err);
}

static int count_sample(struct counting *c, const struct rd_sample *sample, const struct rd_shard_ref *shard,
			struct rd_error *err)
{
	struct work w; /* each step fills its part */

	w.sample = sample;
	if (sample->kind >= RD_SAMPLE_KINDS)
		return rd_fail(err, RD_CORRUPT, "a sample of kind %u", sample->kind);
	c->group->thread_time |= sample->kind != RD_SAMPLE_CPU;
	know_bucket(c, sample->time);
	int rc = rd_join_sample(&c->join, sample, &w.parts, err);
	if (rc == 0)
		rc = find_owner(c, &w, shard->file, err);
	if (rc < 0)
		return rc;
	int takes = sample->time >= c->from && (sample->time < c->to || c->to == UINT64_MAX);
	if (takes)
		takes = rd_filter_takes(c->count->filter, c->count->content, w.life, sample->kind);
	if (takes <= 0) {
		c->count->discarded += takes == 0;
		return takes < 0 ? rd_fail_nomem(err) : 0;
	}
	rc = find_stack(&w, shard, err);
	if (rc == 0)
		rc = find_row(c, &w, err);
	if (rc < 0)
		return rc;
	add_sample(c->count, &w);
	add_trust(c, &w);
	return note_belief(c, &w, shard, err);
}

/* A sample is done. */
static int step(struct rd_count *count, struct rd_error *err)
{
	if (count->progress)
		count->progress->done++;
	return rd_progress_step(count->progress, 1, err);
}

static int count_all(struct counting *c, struct rd_error *err)
{
	struct rd_row_key key;
	const struct rd_shard_ref *shard;
	int rc;

	while ((rc = rd_stream_peek(&c->samples, &key, err)) > 0) {
		const struct rd_sample *sample = rd_stream_sample(&c->samples, &shard);
		rc = count_sample(c, sample, shard, err);
		if (rc == 0)
			rc = step(c->count, err);
		if (rc < 0 || (rc = rd_stream_step(&c->samples, err)) < 0)
			return rc;
	}
	return rc < 0 ? rc : rd_join_finish(&c->join, err);
}

int rd_count_group(struct rd_count *count, struct rd_group *g, struct rd_error *err)
{
	struct counting c = {.count = count, .group = g};

	rd_filter_ticks(count->filter, rd_group_clock(g), &c.from, &c.to);
	rd_resolver_init(&c.resolver, g->content, &g->raw_stacks, &g->addresses, &g->methods, &g->images, &g->mappings,
			 count->progress);
	c.resolver.once = count->once;
	int rc = rd_stream_open(&c.samples, RD_TABLE_SAMPLES, g->shards.at, g->shards.n, &g->raw_stacks, err);
	if (rc == 0)
		rc = rd_join_open(&c.join, g->shards.at, g->shards.n, &g->raw_stacks, &g->keys,
				  g->files.at[0].info->pointer_bytes, err);
	if (rc == 0)
		rc = count_all(&c, err);
	if (rc == 0) {
		count->trust->stacks_unused += c.join.records_n - c.join.used_n;
		count->stack_records += c.join.records_n;
		rc = rd_progress_tell(count->progress, err);
	}
	rd_join_close(&c.join);
	rd_stream_close(&c.samples);
	rd_resolver_release(&c.resolver);
	return rc;
}
