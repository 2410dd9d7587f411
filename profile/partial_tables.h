/*
 * partial_tables - which column of proto/partial.proto holds which field of which row.
 *
 * Inside profile/ only. Strings and stacks have no rows of fixed size and are
 * coded by hand (partial_pack.c, partial_unpack.c); they have no columns here.
 */
#ifndef RD_PROFILE_PARTIAL_TABLES_H
#define RD_PROFILE_PARTIAL_TABLES_H

#include "profile/columns.h"
#include "profile/partial.h"
#include "proto/partial.pb-c.h"

struct rd_partial_layout {
	const char *name; /* NULL: no such table */
	const ProtobufCMessageDescriptor *message;
	const struct rd_column *columns;
	uint16_t columns_n;
	uint16_t row_bytes;
	uint16_t rows_at; /* offset of the rows' RD_VEC in struct rd_partial; of the summary itself */
};

/* NULL for a number that is no table. */
const struct rd_partial_layout *rd_partial_layout(uint32_t table);

/* The field of the Block message that carries a table. */
#define RD_PARTIAL_FIELD(table) (100u + (table))

/* Room for any message of a table. */
union rd_table_message {
	ProtobufCMessage base;
	uint64_t room[64];
};

/*
 * A block is a head and a payload. The head: version u8, codec u8, table u16,
 * plain size u32, and XXH3-64 of the payload with these first eight bytes as
 * seed, so that it answers for them too. The payload is a Block message,
 * packed by zstd or plain.
 */
#define RD_BLOCK_HEAD_BYTES 16
#define RD_BLOCK_VERSION    1
enum rd_block_codec { RD_BLOCK_PLAIN = 0, RD_BLOCK_ZSTD = 1 };

struct rd_block_head {
	uint16_t table;
	uint8_t codec;
	uint32_t plain_bytes;
	struct rd_span payload; /* borrowed from the block */
};

/* Read and check the head and the checksum. */
int rd_block_open(struct rd_span block, struct rd_block_head *out, struct rd_error *err);
uint64_t rd_block_checksum(const uint8_t head[RD_BLOCK_HEAD_BYTES], const uint8_t *payload, size_t size_bytes);

/* Bounds of a block. What stands around the values (tags, lengths, the Block message itself) stays below FRAME. */
#define RD_SIZE_BYTES        5u  /* the size of a string or depth of a stack as a varint, at most */
#define RD_FRAME_BYTES       10u /* a frame */
#define RD_BLOCK_ROWS_MAX    65536u
#define RD_BLOCK_FRAME_BYTES 512u
#define RD_BLOCK_PLAIN_MAX   (RD_PARTIAL_BLOCK_BYTES - RD_BLOCK_HEAD_BYTES)
#define RD_BLOCK_VALUES_MAX  (RD_BLOCK_PLAIN_MAX - RD_BLOCK_FRAME_BYTES)

#endif
