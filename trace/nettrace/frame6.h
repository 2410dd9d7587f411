/*
 * frame6 - the head of a nettrace 6 file and the framing of its blocks: docs/formats/nettrace.md, "Blocks of version
 * 6".
 *
 * The same questions that frame.h answers for version 4.
 */
#ifndef RD_TRACE_NETTRACE_FRAME6_H
#define RD_TRACE_NETTRACE_FRAME6_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/indexer.h"

/* Magic, a zero, two numbers of the version. */
#define RD_NETTRACE6_MAGIC_BYTES 20
#define RD_NETTRACE6_BLOCK_BYTES 4 /* in front of a block's payload */

/* Whether a file begins as those of version 6 and later do: no other file says what they say. */
bool rd_nettrace6_is(const uint8_t *head, size_t size_bytes);

/* The version, in front of all blocks. RD_TRUNCATED, RD_UNSUPPORTED (names the version). */
int rd_nettrace6_version(const uint8_t *head, size_t size_bytes, struct rd_trace_info *info, struct rd_error *err);
/* The payload of the block of kind RD_NETTRACE_TRACE, which comes first. RD_TRUNCATED, RD_CORRUPT. */
int rd_nettrace6_trace(const uint8_t *payload, size_t size_bytes, struct rd_trace_info *info, struct rd_error *err);

/* The pairs of that block, of a file that an index was made of. */
int rd_nettrace6_facts(const struct rd_source *s, struct rd_facts *out, struct rd_error *err);

/* The head of a block out of its first RD_NETTRACE6_BLOCK_BYTES. */
struct rd_frame rd_nettrace6_frame(const uint8_t *bytes);

/* rd_indexer_step_fn */
int rd_nettrace6_step(struct rd_indexer *x, struct rd_error *err);

/* The frame of a block that lies in memory; RD_CHANGED when it is not the one that the index saw. */
int rd_nettrace6_reframe(const struct rd_block *b, const uint8_t *bytes, struct rd_frame *out);

/* What a sequence point makes void, enum rd_context: by its flags if they are there. */
uint8_t rd_nettrace6_point_resets(const uint8_t *payload, size_t size_bytes);

#endif
