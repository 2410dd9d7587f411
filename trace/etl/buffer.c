/*
 * WMI_BUFFER_HEADER: BufferSize u32 @0, SavedOffset u32 @4, CurrentOffset u32
 * @8, TimeStamp u64 @0x10, Sequence u64 @0x18, processor @0x28, State u32
 * @0x2c, valid bytes u32 @0x30, BufferFlag u16 @0x34, BufferType u16 @0x36. The
 * rest is what the kernel's memory happened to hold.
 */
#include "trace/etl/buffer.h"

#include "base/cursor.h"

enum { TYPE_MOST = 32, CPU_MASK = 0x7ff };

/* The plain length that the header names: SavedOffset, or the valid bytes where that was never set. */
static uint32_t used_bytes(const struct rd_etl_buffer *b, const uint8_t *head)
{
	uint32_t most = b->flags & RD_ETL_BUFFER_COMPRESSED ? RD_ETL_PLAIN_MOST : b->size_bytes;
	uint32_t saved = rd_le32(head + 0x04), valid = rd_le32(head + 0x30);

	if (saved == 0)
		saved = valid;
	return saved >= RD_ETL_BUFFER_HEAD && saved <= most ? saved : 0;
}

void rd_etl_buffer_read(struct rd_etl_buffer *b, const uint8_t *head)
{
	b->size_bytes = rd_le32(head);
	b->time = rd_le64(head + 0x10);
	b->sequence = rd_le64(head + 0x18);
	b->state = rd_le32(head + 0x2c);
	b->flags = rd_le16(head + 0x34);
	b->type = rd_le16(head + 0x36);
	b->cpu = b->flags & RD_ETL_BUFFER_PROCESSOR_INDEX ? rd_le16(head + 0x28) & CPU_MASK : head[0x28];
	b->used_bytes = used_bytes(b, head);
}

bool rd_etl_buffer_plausible(const struct rd_etl_buffer *b)
{
	return b->size_bytes >= RD_ETL_BUFFER_HEAD && b->size_bytes <= RD_ETL_BUFFER_MOST && b->used_bytes != 0 &&
	       b->type < TYPE_MOST;
}
