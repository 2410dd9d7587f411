#include "net/task.h"

#include <inttypes.h>
#include <stdio.h>

static int add_part(struct rd_blob *blob, struct rd_span part, uint64_t *size_bytes, struct rd_error *err)
{
	*size_bytes = part.size_bytes;
	return rd_blob_add(blob, part.at, part.size_bytes, err);
}

int rd_task_pack(struct rd_blob *blob, Rd__Assignment *work, const struct rd_task_parts *parts, struct rd_error *err)
{
	struct rd_bytes all = {0};
	int rc;

	/* Small parts share one frame; a long list of blocks is not copied once more. */
	if (parts->info.size_bytes + parts->context.size_bytes + parts->blocks.size_bytes > RD_FRAME_BYTES) {
		rc = add_part(blob, parts->info, &work->info_bytes, err);
		rc = rc < 0 ? rc : add_part(blob, parts->context, &work->context_bytes, err);
		return rc < 0 ? rc : add_part(blob, parts->blocks, &work->blocks_bytes, err);
	}
	rd_bytes_append(&all, parts->info.at, parts->info.size_bytes);
	rd_bytes_append(&all, parts->context.at, parts->context.size_bytes);
	rd_bytes_append(&all, parts->blocks.at, parts->blocks.size_bytes);
	work->info_bytes = parts->info.size_bytes;
	work->context_bytes = parts->context.size_bytes;
	work->blocks_bytes = parts->blocks.size_bytes;
	rc = all.failed ? rd_fail_nomem(err) : rd_blob_add(blob, all.at, all.n, err);
	rd_bytes_release(&all);
	return rc;
}

static struct rd_span take_span(struct rd_cursor *c, uint64_t size_bytes)
{
	/* A size beyond the blob fails in the cursor, whatever it is. */
	const uint8_t *at = rd_take(c, size_bytes);
	return (struct rd_span){at, at ? size_bytes : 0};
}

int rd_task_split(const struct rd_blob *blob, const Rd__Assignment *work, struct rd_bytes *room,
		  struct rd_task_parts *parts, struct rd_error *err)
{
	struct rd_span whole;
	int rc = rd_blob_whole(blob, room, &whole, err);

	if (rc < 0)
		return rc;
	struct rd_cursor c = rd_cursor_of(whole.at, whole.size_bytes);
	parts->info = take_span(&c, work->info_bytes);
	parts->context = take_span(&c, work->context_bytes);
	parts->blocks = take_span(&c, work->blocks_bytes);
	if (c.failed || rd_left(&c) != 0)
		return rd_fail(err, RD_PROTOCOL, "the parts of a task are not as long as it says");
	return 0;
}

int rd_infos_pack(struct rd_bytes *out, struct rd_span info, struct rd_error *err)
{
	uint8_t head[4] = {(uint8_t)info.size_bytes, (uint8_t)(info.size_bytes >> 8), (uint8_t)(info.size_bytes >> 16),
			   (uint8_t)(info.size_bytes >> 24)};

	if (info.size_bytes > UINT32_MAX)
		return rd_fail(err, RD_LIMIT, "a trace info of %zu bytes", info.size_bytes);
	rd_bytes_append(out, head, sizeof head);
	rd_bytes_append(out, info.at, info.size_bytes);
	return out->failed ? rd_fail_nomem(err) : 0;
}

int rd_infos_split(const struct rd_blob *blob, struct rd_bytes *room, size_t traces, rd_span_vec *out,
		   struct rd_error *err)
{
	struct rd_span whole;
	int rc = rd_blob_whole(blob, room, &whole, err);

	if (rc < 0)
		return rc;
	struct rd_cursor c = rd_cursor_of(whole.at, whole.size_bytes);
	while (rd_left(&c) > 0) {
		uint32_t n = rd_u32(&c);
		struct rd_span info = take_span(&c, n);
		if (c.failed)
			break;
		struct rd_span *slot = rd_vec_add(out);
		if (slot == NULL)
			return rd_fail_nomem(err);
		*slot = info;
	}
	if (c.failed || out->n != traces)
		return rd_fail(err, RD_PROTOCOL, "%zu trace infos where %zu are due", out->n, traces);
	return 0;
}

struct rd_work_text rd_work_text(Rd__Work work, uint32_t trace, uint32_t shard)
{
	struct rd_work_text text;

	if (work == RD__WORK__DECODE)
		snprintf(text.at, sizeof text.at, "work=decode trace=%" PRIu32 " shard=%" PRIu32, trace, shard);
	else
		snprintf(text.at, sizeof text.at, "work=%s", work == RD__WORK__INDEX ? "index" : "open");
	return text;
}
