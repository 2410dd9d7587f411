/* The format row, and the life of a decoder. */
#include "trace/nettrace/decoder.h"

#include <string.h>

#include "trace/description.h"
#include "trace/nettrace/frame6.h"
#include "trace/nettrace/index.h"
#include "trace/nettrace/nettrace.h"

static bool probe(const uint8_t *head, size_t size_bytes)
{
	return size_bytes >= 8 && memcmp(head, "Nettrace", 8) == 0;
}

static void decoder_free(struct rd_decoder *d)
{
	if (d == NULL)
		return;
	rd_nettrace_types_release(&d->types);
	rd_nettrace_stacks_release(&d->stacks);
	rd_nettrace_threads_release(&d->threads);
	rd_nettrace_labels_release(&d->labels);
	rd_runs_release(&d->reader);
	rd_free(d);
}

static int decoder_new(const struct rd_source *s, const struct rd_trace_info *info, const struct rd_sink *sink,
		       struct rd_decoder **out, struct rd_error *err)
{
	if (info->version_major < 4 || info->version_major > 6)
		return rd_fail(err, RD_UNSUPPORTED, "nettrace %u: this build reads nettrace 4, 5 and 6",
			       info->version_major);
	if (info->pointer_bytes != 4 && info->pointer_bytes != 8)
		return rd_fail(err, RD_CORRUPT, "a trace with pointers of %u bytes", info->pointer_bytes);
	struct rd_decoder *d = rd_realloc(NULL, sizeof *d);
	if (d == NULL)
		return rd_fail_nomem(err);
	memset(d, 0, sizeof *d);
	rd_runs_init(&d->reader, s);
	d->sink = *sink;
	d->pointer_bytes = info->pointer_bytes;
	d->six = info->version_major == 6;
	d->pid = d->six && info->pid == 0 ? RD_NO_PID : info->pid;
	rd_nettrace_threads_init(&d->threads);
	rd_nettrace_labels_init(&d->labels);
	if (rd_nettrace_types_init(&d->types, sink->want) != 0) {
		decoder_free(d);
		return rd_fail_nomem(err);
	}
	*out = d;
	return 0;
}

static int decoder_context(struct rd_decoder *d, const struct rd_block *b, struct rd_error *err)
{
	/* Of events nothing is kept, so they need not be read. */
	return b->kind == RD_NETTRACE_EVENT ? 0 : rd_runs_context(&d->reader, d, rd_nettrace_block, b, err);
}

static int decoder_blocks(struct rd_decoder *d, const struct rd_block *blocks, size_t n, struct rd_error *err)
{
	return rd_runs_blocks(&d->reader, d, &d->sink, rd_nettrace_block, blocks, n, err);
}

static int facts(const struct rd_source *s, const struct rd_index *ix, struct rd_facts *out, struct rd_error *err)
{
	return ix->info.version_major >= 6 ? rd_nettrace6_facts(s, out, err) : 0;
}

const struct rd_format rd_format_nettrace = {
	.id = RD_FORMAT_NETTRACE,
	.name = "nettrace",
	.probe = probe,
	.index = rd_nettrace_index,
	.decoder_new = decoder_new,
	.decoder_context = decoder_context,
	.decoder_blocks = decoder_blocks,
	.decoder_free = decoder_free,
	.describe = rd_describe_nettrace,
	.facts = facts,
};
