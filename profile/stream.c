/*
 * The heap holds a head per shard that has rows left. Before a shard is open
 * its key is the first time of its summary with the lowest thread and CPU,
 * which is never above its first row's key: so it comes up in time.
 */
#include "profile/stream.h"

struct rd_stream_head {
	struct rd_row_key key;
	struct rd_shard_ref *shard;
	struct cursor *cursor; /* NULL: not open yet */
};

struct cursor {
	struct rd_table_reader reader;
	const struct rd_partial *rows;
	size_t at;
	uint64_t before; /* rows of the blocks before */
};

static size_t rows_of(const struct rd_stream *s, const struct rd_partial *p)
{
	return s->table == RD_TABLE_SAMPLES ? p->samples.n : p->stack_records.n;
}

static struct rd_row_key key_at(const struct rd_stream *s, const struct rd_partial *p, size_t i)
{
	if (s->table == RD_TABLE_SAMPLES) {
		const struct rd_sample *row = &p->samples.at[i];
		return (struct rd_row_key){row->time, row->thread, row->cpu};
	}
	const struct rd_stack_row *row = &p->stack_records.at[i];
	return (struct rd_row_key){row->sample_time, row->thread, row->cpu};
}

static void swap(struct rd_stream_head *a, struct rd_stream_head *b)
{
	struct rd_stream_head c = *a;
	*a = *b;
	*b = c;
}

static void sift_down(struct rd_stream *s, size_t i)
{
	struct rd_stream_head *heap = s->heap.at;

	for (;;) {
		size_t least = 2 * i + 1;
		if (least >= s->heap.n)
			return;
		if (least + 1 < s->heap.n && rd_row_key_compare(&heap[least + 1].key, &heap[least].key) < 0)
			least++;
		if (rd_row_key_compare(&heap[i].key, &heap[least].key) <= 0)
			return;
		swap(&heap[i], &heap[least]);
		i = least;
	}
}

int rd_stream_open(struct rd_stream *s, enum rd_partial_table table, struct rd_shard_ref *shards, size_t n,
		   struct rd_strings *raw_stacks, struct rd_error *err)
{
	*s = (struct rd_stream){.table = table, .shards = shards, .raw_stacks = raw_stacks};
	if (rd_vec_reserve(&s->heap, n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct rd_partial_summary *sum = &shards[i].summary;
		uint64_t first = table == RD_TABLE_SAMPLES ? sum->first_sample : sum->first_stack_record;
		uint64_t last = table == RD_TABLE_SAMPLES ? sum->last_sample : sum->last_stack_record;
		if (first <= last)
			s->heap.at[s->heap.n++] = (struct rd_stream_head){.key = {.time = first}, .shard = &shards[i]};
	}
	for (size_t i = s->heap.n / 2; i > 0; i--)
		sift_down(s, i - 1);
	return 0;
}

static void close_head(struct rd_stream_head *head)
{
	if (head->cursor == NULL)
		return;
	rd_table_close(&head->cursor->reader);
	rd_free(head->cursor);
	head->cursor = NULL;
	if (--head->shard->users == 0) {
		rd_stack_map_release(&head->shard->stacks);
		head->shard->kept = false;
	}
}

static int open_head(struct rd_stream *s, struct rd_stream_head *head, struct rd_error *err)
{
	head->cursor = rd_realloc(NULL, sizeof *head->cursor);
	if (head->cursor == NULL)
		return rd_fail_nomem(err);
	*head->cursor = (struct cursor){0};
	rd_table_open(&head->cursor->reader, head->shard->tables, head->shard->shard, s->table);
	if (head->shard->users++ > 0 || head->shard->kept)
		return 0;
	return rd_stack_map_load(&head->shard->stacks, s->raw_stacks, head->shard->tables, head->shard->shard, err);
}

/* Within what the summary promised? Buckets and the order of opening hang on it. */
static int check_time(const struct rd_stream *s, const struct rd_stream_head *head, uint64_t time, struct rd_error *err)
{
	const struct rd_partial_summary *sum = &head->shard->summary;
	bool samples = s->table == RD_TABLE_SAMPLES;
	uint64_t first = samples ? sum->first_sample : sum->first_stack_record;
	uint64_t last = samples ? sum->last_sample : sum->last_stack_record;

	if (time >= first && time <= last)
		return 0;
	return rd_fail(err, RD_CORRUPT, "shard %zu: a time lies outside its summary", head->shard->shard);
}

/* Bring the head to its shard's next row: 1, or 0 when there is none. */
static int advance(struct rd_stream *s, struct rd_stream_head *head, struct rd_error *err)
{
	struct cursor *c = head->cursor;

	while (c->rows == NULL || c->at >= rows_of(s, c->rows)) {
		c->before += c->rows ? c->at : 0;
		int rc = rd_table_next(&c->reader, &c->rows, err);
		if (rc <= 0)
			return rc;
		c->at = 0;
	}
	struct rd_row_key key = key_at(s, c->rows, c->at);
	if (rd_row_key_compare(&key, &head->key) < 0)
		return rd_fail(err, RD_CORRUPT, "shard %zu: rows are not in order", head->shard->shard);
	head->key = key;
	int rc = check_time(s, head, key.time, err);
	return rc < 0 ? rc : 1;
}

/* Take the shard of the top off the heap. */
static void remove_top(struct rd_stream *s)
{
	close_head(&s->heap.at[0]);
	s->heap.at[0] = s->heap.at[--s->heap.n];
	sift_down(s, 0);
}

/* The top has a new row, or none. */
static int settle_top(struct rd_stream *s, struct rd_error *err)
{
	int rc = advance(s, &s->heap.at[0], err);

	if (rc > 0)
		sift_down(s, 0);
	else if (rc == 0)
		remove_top(s);
	return rc;
}

int rd_stream_peek(struct rd_stream *s, struct rd_row_key *key, struct rd_error *err)
{
	while (s->heap.n > 0 && s->heap.at[0].cursor == NULL) {
		int rc = open_head(s, &s->heap.at[0], err);
		if (rc < 0 || (rc = settle_top(s, err)) < 0)
			return rc;
	}
	if (s->heap.n == 0)
		return 0;
	*key = s->heap.at[0].key;
	return 1;
}

const struct rd_sample *rd_stream_sample(const struct rd_stream *s, const struct rd_shard_ref **shard)
{
	const struct rd_stream_head *top = &s->heap.at[0];
	*shard = top->shard;
	return &top->cursor->rows->samples.at[top->cursor->at];
}

uint64_t rd_stream_place(const struct rd_stream *s)
{
	const struct cursor *c = s->heap.at[0].cursor;
	return c->before + c->at;
}

const struct rd_stack_row *rd_stream_record(const struct rd_stream *s, const struct rd_shard_ref **shard)
{
	const struct rd_stream_head *top = &s->heap.at[0];
	*shard = top->shard;
	return &top->cursor->rows->stack_records.at[top->cursor->at];
}

int rd_stream_step(struct rd_stream *s, struct rd_error *err)
{
	s->heap.at[0].cursor->at++;
	return settle_top(s, err);
}

void rd_stream_close(struct rd_stream *s)
{
	for (size_t i = 0; i < s->heap.n; i++)
		close_head(&s->heap.at[i]);
	rd_vec_release(&s->heap);
}
