/*
 * Any bytes as an ETL file: indexed, decoded in the index's order, every
 * payload with its decoder. What the index and the decoder promise each other
 * holds on any input.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/etl/etl.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static uint64_t touched;

static void touch(struct rd_span s)
{
	for (size_t i = 0; i < s.size_bytes; i++)
		touched += s.at[i];
}

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct rd_record r;

	(void)ctx;
	touch((struct rd_span){ev->payload, ev->payload_bytes});
	touch((struct rd_span){ev->stack, ev->stack_bytes});
	if (ev->key->type == NULL || ev->key->type->decode == NULL || ev->key->type->decode(ev, &r) != 0)
		return 0;
	switch (r.kind) {
	case RD_EVENT_STACK:
		touch(r.stack.frames);
		break;
	case RD_EVENT_STACK_KEY:
		touch(r.stack_key.frames);
		break;
	case RD_EVENT_PROCESS:
		touch(r.process.name.text);
		touch(r.process.command_line.text);
		break;
	case RD_EVENT_IMAGE:
		touch(r.image.path.text);
		break;
	case RD_EVENT_METHOD:
		touch(r.method.ns.text);
		touch(r.method.name.text);
		touch(r.method.signature.text);
		break;
	default:
		break;
	}
	return 0;
}

static void check_blocks(const struct rd_index *ix, uint64_t size_bytes)
{
	for (size_t i = 0; i < ix->blocks.n; i++) {
		const struct rd_block *b = &ix->blocks.at[i];
		if (b->ordinal != i || b->size_bytes > size_bytes || b->offset > size_bytes - b->size_bytes)
			abort();
	}
	if (ix->info.clock.frequency_hz == 0)
		abort();
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_source source = {.size_bytes = size_bytes, .path = "fuzz.etl"};
	struct rd_sink sink = {.want = RD_WANT_ALL, .event = on_event};
	struct rd_index index;
	struct rd_decoder *d;

	source.fd = memfd_create("fuzz", 0);
	if (source.fd < 0 || rd_write_all(source.fd, bytes, size_bytes, NULL) != 0)
		abort();
	if (rd_format_etl.index(&source, &index, NULL, NULL, NULL) == 0) {
		check_blocks(&index, size_bytes);
		if (rd_format_etl.decoder_new(&source, &index.info, &sink, &d, NULL) == 0) {
			/* Blocks of the index always decode, however broken they are. */
			if (rd_format_etl.decoder_blocks(d, index.blocks.at, index.blocks.n, NULL) != 0)
				abort();
			rd_format_etl.decoder_free(d);
		}
		rd_index_release(&index);
	}
	close(source.fd);
	return 0;
}
