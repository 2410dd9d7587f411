#include "profile/join.h"

#include "trace/record.h"

int rd_join_open(struct rd_join *j, struct rd_shard_ref *shards, size_t n, struct rd_strings *raw_stacks,
		 const struct rd_timeline *keys, uint32_t pointer_bytes, struct rd_error *err)
{
	*j = (struct rd_join){.keys = keys, .pointer_bytes = pointer_bytes};
	return rd_stream_open(&j->records, RD_TABLE_STACK_RECORDS, shards, n, raw_stacks, err);
}

/* Every CPU has a thread 0; of other threads the CPU says nothing. */
static struct rd_row_key group_of(struct rd_row_key key)
{
	if (key.thread != 0)
		key.cpu = 0;
	return key;
}

static bool is_kernel_address(const struct rd_join *j, uint64_t address)
{
	return address >> (j->pointer_bytes == 4 ? 31 : 63) != 0;
}

/* What a plain record's frames make it: NULL when it has none. */
static struct rd_part *plain_part(struct rd_join *j, uint32_t stack)
{
	if (stack == RD_NONE)
		return NULL;
	struct rd_span frames = rd_strings_at(j->records.raw_stacks, stack);
	return is_kernel_address(j, rd_le64(frames.at)) ? &j->parts.kernel : &j->parts.user;
}

/* The record on top of the stream becomes a part unless an earlier one is that already. */
static int consider(struct rd_join *j, struct rd_error *err)
{
	const struct rd_shard_ref *shard;
	const struct rd_stack_row *record = rd_stream_record(&j->records, &shard);
	struct rd_when when = {record->time, record->place, shard->file, RD_OP_NONE, record->pid};
	struct rd_part *part;
	uint32_t stack = RD_NONE;

	if (record->part == RD_STACK_PLAIN) {
		int rc = rd_stack_map_id(&shard->stacks, record->stack, &stack, err);
		if (rc < 0)
			return rc;
		part = plain_part(j, stack);
	} else {
		const struct rd_when *definition = rd_timeline_from(j->keys, record->key, record->time);
		stack = definition ? definition->id : RD_NONE;
		part = record->part == RD_STACK_KERNEL_KEY ? &j->parts.kernel : &j->parts.user;
	}
	if (part && (!part->there || rd_when_compare(&when, &part->when) < 0))
		*part = (struct rd_part){true, when, stack};
	return 0;
}

/* Step over the records of groups up to this one, and gather its parts. */
static int gather(struct rd_join *j, const struct rd_row_key *group, struct rd_error *err)
{
	struct rd_row_key key;
	int rc;

	j->parts = (struct rd_parts){0};
	while ((rc = rd_stream_peek(&j->records, &key, err)) > 0) {
		key = group_of(key);
		int order = rd_row_key_compare(&key, group);
		if (order > 0)
			break;
		if (order == 0 && (rc = consider(j, err)) < 0)
			return rc;
		j->records_n++;
		if ((rc = rd_stream_step(&j->records, err)) < 0)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

int rd_join_sample(struct rd_join *j, const struct rd_sample *sample, const struct rd_parts **parts,
		   struct rd_error *err)
{
	struct rd_row_key group = group_of((struct rd_row_key){sample->time, sample->thread, sample->cpu});

	*parts = &j->parts;
	/* Most traces bring their stacks along: no record is left, and none was there for the sample before. */
	if (j->records.heap.n == 0 && !j->parts.kernel.there && !j->parts.user.there)
		return 0;
	if (j->asked && rd_row_key_compare(&group, &j->at) == 0)
		return 0;
	int rc = gather(j, &group, err);
	if (rc < 0)
		return rc;
	j->at = group;
	j->asked = true;
	j->used_n += (uint64_t)j->parts.kernel.there + j->parts.user.there;
	return 0;
}

int rd_join_finish(struct rd_join *j, struct rd_error *err)
{
	struct rd_row_key key;
	int rc;

	while ((rc = rd_stream_peek(&j->records, &key, err)) > 0) {
		j->records_n++;
		if ((rc = rd_stream_step(&j->records, err)) < 0)
			break;
	}
	return rc;
}

void rd_join_close(struct rd_join *j)
{
	rd_stream_close(&j->records);
}
