#include "tests/trace/trace_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/table.h"

void memory_source(struct rd_source *s, const void *bytes, size_t size_bytes)
{
	memset(s, 0, sizeof *s);
	s->fd = memfd_create("trace", MFD_CLOEXEC);
	s->size_bytes = size_bytes;
	strcpy(s->path, "memory");
	if (s->fd < 0 || rd_write_all(s->fd, bytes, size_bytes, NULL) != 0)
		abort();
}

static int heard(struct trace_log *log)
{
	log->calls++;
	return log->fail_in != 0 && --log->fail_in == 0 ? RD_CANCELLED : 0;
}

static void put_line(struct rd_bytes *out, const char *text)
{
	if (rd_bytes_append(out, text, strlen(text)) != 0)
		abort();
}

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct trace_log *log = ctx;
	struct rd_bytes key = {0};
	char line[512];
	if (heard(log) != 0)
		return RD_CANCELLED;
	if (rd_event_key_text(ev->key, &key) != 0)
		abort();
	snprintf(line, sizeof line,
		 "%.*s t=%" PRIu64 " at=%" PRIx64 " tid=%" PRIu64 " pid=%" PRIu32 " cpu=%" PRIu32 " v=%" PRIu32
		 " p=%zu:%016" PRIx64 " s=%zu/%u:%016" PRIx64 "\n",
		 (int)key.n, key.at, ev->time, ev->place, ev->thread, ev->pid, ev->cpu, ev->version, ev->payload_bytes,
		 rd_hash(ev->payload, ev->payload_bytes), ev->stack_bytes, ev->stack_pointer_bytes,
		 ev->stack_bytes != 0 ? rd_hash(ev->stack, ev->stack_bytes) : 0);
	put_line(&log->events, line);
	log->pending_count++;
	rd_bytes_release(&key);
	return 0;
}

static int on_sequence(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	struct trace_log *log = ctx;
	if (heard(log) != 0)
		return RD_CANCELLED;
	struct log_number *n = rd_vec_add(&log->operations);
	if (n == NULL)
		abort();
	*n = (struct log_number){.thread = thread, .op = op, .first = first, .count = count};
	return 0;
}

static int on_begin(void *ctx, const struct rd_block *b)
{
	struct trace_log *log = ctx;
	(void)b;
	log->begun++;
	return heard(log);
}

static int on_end(void *ctx, const struct rd_block *b, bool undo)
{
	struct trace_log *log = ctx;
	(void)b;
	log->ended++;
	log->undone += undo;
	if (undo) {
		log->events.n = log->kept_events;
		log->operations.n = log->kept_operations;
	} else {
		log->kept_events = log->events.n;
		log->kept_operations = log->operations.n;
		log->event_count += log->pending_count;
	}
	log->pending_count = 0;
	return heard(log);
}

static int on_damage(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what)
{
	struct trace_log *log = ctx;
	char line[256];
	snprintf(line, sizeof line, "block %" PRIu32 " at %" PRIu64 ": %s\n", b->ordinal, file_offset, what);
	put_line(&log->damage, line);
	return heard(log);
}

struct rd_sink log_sink(struct trace_log *log, uint64_t want)
{
	return (struct rd_sink){
		.ctx = log,
		.want = want,
		.event = on_event,
		.sequence = on_sequence,
		.block_begin = on_begin,
		.block_end = on_end,
		.damage = on_damage,
	};
}

bool is_context(const struct rd_index *ix, size_t i, size_t from)
{
	unsigned provides = ix->blocks.at[i].provides;
	for (size_t k = i + 1; k < from; k++)
		provides &= ~(unsigned)ix->blocks.at[k].resets;
	return provides != 0;
}

int log_blocks(struct trace_log *log, const struct rd_format *f, const struct rd_source *s, const struct rd_index *ix,
	       size_t from, size_t to, uint64_t want, struct rd_error *err)
{
	struct rd_sink sink = log_sink(log, want);
	struct rd_decoder *d;
	int rc = f->decoder_new(s, &ix->info, &sink, &d, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < from && rc == 0; i++)
		if (is_context(ix, i, from))
			rc = f->decoder_context(d, &ix->blocks.at[i], err);
	if (rc == 0 && from < to)
		rc = f->decoder_blocks(d, ix->blocks.at + from, to - from, err);
	f->decoder_free(d);
	return rc;
}

static int by_thread(const void *a, const void *b)
{
	const struct log_number *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void put_number_line(struct rd_bytes *out, const struct log_number *n)
{
	char line[128];
	snprintf(line, sizeof line, "thread %" PRIu64 " op %" PRIu32 " %" PRIu32 "+%" PRIu32 "\n", n->thread, n->op,
		 n->first, n->count);
	put_line(out, line);
}

/* The operations of each thread in their order; the order among threads is the decoder's own affair. */
static void put_numbers(struct trace_log *log)
{
	log->numbers.n = 0;
	for (size_t i = 0; i < log->operations.n; i++)
		log->operations.at[i].order = i;
	if (log->operations.n > 0)
		qsort(log->operations.at, log->operations.n, sizeof *log->operations.at, by_thread);
	for (size_t i = 0; i < log->operations.n; i++) {
		struct log_number run = log->operations.at[i];
		for (; i + 1 < log->operations.n; i++) {
			const struct log_number *next = &log->operations.at[i + 1];
			if (next->thread != run.thread || next->op != RD_SEQ_EVENT || run.op != RD_SEQ_EVENT ||
			    next->first != run.first + run.count)
				break;
			run.count += next->count;
		}
		put_number_line(&log->numbers, &run);
	}
}

const char *log_text(struct trace_log *log)
{
	put_numbers(log);
	size_t events = log->events.n;
	if (rd_bytes_append(&log->events, log->damage.at, log->damage.n) != 0 ||
	    rd_bytes_append(&log->events, log->numbers.at, log->numbers.n) != 0 ||
	    rd_bytes_append(&log->events, "", 1) != 0)
		abort();
	log->events.n = events;
	return (const char *)log->events.at;
}

void log_release(struct trace_log *log)
{
	rd_bytes_release(&log->events);
	rd_bytes_release(&log->damage);
	rd_bytes_release(&log->numbers);
	rd_vec_release(&log->operations);
}
