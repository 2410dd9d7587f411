/*
 * A process, shop.exe (7) with thread 70, its image at 0x4000 and Shop.Program.Fib at 0x10000; samples in both, with
 * stacks. Then what the row is about.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/gen/rows.h"
#include "tests/trace/etl/etl_build.h"
#include "trace/etl/etl.h"

enum { PID = 7, TID = 70, BUFFER_BYTES = 1024 };

static const uint8_t runtime[16] = {0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e,
				    0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4};
static const uint8_t debug_ids[16] = {0xd7, 0x75, 0xe6, 0xb3, 0x54, 0x25, 0x18, 0x4f,
				      0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde};
static const uint8_t trace_events[16] = {0x00, 0xfd, 0xef, 0x68, 0xae, 0x99, 0xd4, 0x4e,
					 0x88, 0x6c, 0x1f, 0x9b, 0x41, 0x15, 0x29, 0x6b};

static void method(struct etl_build *e, uint64_t time)
{
	struct rd_bytes p = {0};
	etl_put(&p, 0x77, 8);
	etl_put(&p, 0x55, 8);
	etl_put(&p, 0x10000, 8);
	etl_put(&p, 0x100, 4);
	etl_put(&p, 0, 8);
	etl_put_utf16(&p, "Shop.Program");
	etl_put_utf16(&p, "Fib");
	etl_put_utf16(&p, "int32  (int32)");
	etl_put(&p, 9, 2);
	etl_event(e, runtime, 143, 1, (struct etl_who){PID, TID, time}, NULL, &p);
	rd_bytes_release(&p);
}

static void sample(struct etl_build *e, uint64_t time, uint64_t pointer)
{
	const uint64_t frames[] = {pointer, 0x4010};
	etl_sample(e, time, TID, pointer);
	etl_stack(e, time + 1, time, PID, TID, frames, 2);
}

/* Ticks of the session's clock; start is the header event's time, one_second how many make one. */
static void recording(struct etl_build *e, uint64_t start, uint64_t one_second)
{
	etl_buffer(e, 0, start + one_second / 10);
	etl_process(e, 3, start + one_second / 10, PID, 1, "shop.exe", "shop.exe --all");
	etl_thread(e, 3, start + one_second / 10 + 1, PID, TID);
	etl_image(e, 3, start + one_second / 10 + 2, PID, 0x4000, 0x1000, "C:\\shop.exe");
	method(e, start + one_second / 10 + 3);
	for (unsigned i = 1; i <= 5; i++) {
		etl_buffer(e, (uint16_t)(i % 2), start + i * one_second);
		sample(e, start + i * one_second, i % 2 ? 0x10010 : 0x4020);
		sample(e, start + i * one_second + one_second / 2, 0x10020);
	}
}

static void take(struct etl_build *e, struct rd_bytes *out)
{
	etl_end(e);
	if (rd_bytes_append(out, e->file.at, e->file.n) != 0)
		abort();
	etl_release(e);
}

static void plain(struct rd_bytes *out, struct etl_options options)
{
	struct etl_build e;
	if (options.buffer_bytes == 0)
		options.buffer_bytes = BUFFER_BYTES;
	etl_begin(&e, &options);
	recording(&e, 1000000, 10000000);
	take(&e, out);
}

static void whole(struct rd_bytes *out)
{
	plain(out, (struct etl_options){0});
}

/* ---- row 3 */

static void short_of(struct rd_bytes *out, size_t size_bytes)
{
	whole(out);
	out->n = size_bytes;
}

static void nothing(struct rd_bytes *out)
{
	(void)out;
}

static void bytes_71(struct rd_bytes *out)
{
	short_of(out, 71);
}

static void bytes_72(struct rd_bytes *out)
{
	short_of(out, 72);
}

static void first_buffer(struct rd_bytes *out)
{
	short_of(out, BUFFER_BYTES);
}

static void zeroed_first(struct rd_bytes *out)
{
	whole(out);
	memset(out->at, 0, BUFFER_BYTES);
}

/* ---- row 6 */

static void overflowed(struct rd_bytes *out)
{
	plain(out, (struct etl_options){.lost_events = 7000, .lost_buffers = 3});
}

/* ---- row 30: the same moments by three clocks */

static void by_qpc(struct rd_bytes *out)
{
	struct etl_build e;
	etl_begin(&e, &(struct etl_options){
			      .buffer_bytes = BUFFER_BYTES, .clock = 1, .frequency_hz = 3579540, .start_ticks = 5000});
	recording(&e, 5000, 3579540);
	take(&e, out);
}

static void by_system_time(struct rd_bytes *out)
{
	const uint64_t start = UINT64_C(133485408000000000);
	struct etl_build e;
	etl_begin(&e, &(struct etl_options){
			      .buffer_bytes = BUFFER_BYTES, .clock = 2, .start_ticks = start, .start_filetime = start});
	recording(&e, start, 10000000);
	take(&e, out);
}

static void by_cycles(struct rd_bytes *out)
{
	struct etl_build e;
	etl_begin(&e,
		  &(struct etl_options){.buffer_bytes = BUFFER_BYTES, .clock = 3, .cpu_mhz = 2500, .start_ticks = 77});
	recording(&e, 77, UINT64_C(2500000000));
	take(&e, out);
}

/* ---- row 32: what merging adds: debug ids and names of images, and manifests of providers */

static void merged(struct rd_bytes *out)
{
	struct rd_bytes p = {0};
	struct etl_build e;
	etl_begin(&e, &(struct etl_options){.buffer_bytes = BUFFER_BYTES});
	recording(&e, 1000000, 10000000);
	etl_buffer(&e, 0, 61000000);
	etl_put_pointer(&p, &e, 0x4000);
	etl_put(&p, PID, 4);
	etl_put(&p, 0x1122334455667788, 8);
	etl_put(&p, 0x99aabbccddeeff00, 8);
	etl_put(&p, 1, 4);
	etl_put_text(&p, "shop.pdb");
	etl_classic(&e, debug_ids, 36, 2, (struct etl_who){PID, TID, 61000000}, &p);
	p.n = 0;
	etl_put_utf16(&p, "shop.exe");
	etl_classic(&e, debug_ids, 0, 2, (struct etl_who){PID, TID, 61000001}, &p);
	p.n = 0;
	etl_put_utf16(&p, "10.0.22621");
	etl_classic(&e, trace_events, 64, 2, (struct etl_who){0, 0, 61000002}, &p);
	p.n = 0;
	etl_put(&p, 0x5b000101, 8);
	etl_put_text(&p, "<instrumentationManifest/>");
	etl_event(&e, runtime, 0xfffe, 1, (struct etl_who){PID, TID, 61000003}, NULL, &p);
	rd_bytes_release(&p);
	take(&e, out);
}

/* ---- row 33 */

static void lznt1(struct rd_bytes *out)
{
	plain(out, (struct etl_options){.compression = RD_ETL_LZNT1});
}

static void xpress(struct rd_bytes *out)
{
	plain(out, (struct etl_options){.compression = RD_ETL_XPRESS});
}

static void xpress_huffman(struct rd_bytes *out)
{
	plain(out, (struct etl_options){.compression = RD_ETL_XPRESS_HUFFMAN});
}

/* ---- row 34: a circular file: the oldest buffers, and with them the starts, are overwritten */

static void rotate(struct rd_bytes *out, size_t buffers, size_t missing)
{
	size_t at = out->n;
	plain(out, (struct etl_options){.mode = RD_ETL_MODE_CIRCULAR});
	uint8_t *from = out->at + at + BUFFER_BYTES;
	size_t rest = out->n - at - BUFFER_BYTES - missing * BUFFER_BYTES, turn = buffers * BUFFER_BYTES;
	memmove(from, from + missing * BUFFER_BYTES, rest);
	out->n -= missing * BUFFER_BYTES;
	uint8_t *copy = malloc(2 * rest);
	if (copy == NULL)
		abort();
	memcpy(copy, from, rest);
	memcpy(copy + rest, from, rest);
	memcpy(from, copy + turn, rest);
	free(copy);
}

static void circular(struct rd_bytes *out)
{
	rotate(out, 0, 0);
}

static void wrapped(struct rd_bytes *out)
{
	rotate(out, 4, 0);
}

static void wrapped_without_starts(struct rd_bytes *out)
{
	rotate(out, 2, 1);
}

const struct row_file rows_etl[] = {
	{"03-nothing.etl", nothing},
	{"03-71.etl", bytes_71},
	{"03-72.etl", bytes_72},
	{"03-first-buffer.etl", first_buffer},
	{"03-zeroed.etl", zeroed_first},
	{"06-whole.etl", whole},
	{"06-overflowed.etl", overflowed},
	{"30-qpc.etl", by_qpc},
	{"30-system.etl", by_system_time},
	{"30-cycles.etl", by_cycles},
	{"32-merged.etl", merged},
	{"33-lznt1.etl", lznt1},
	{"33-xpress.etl", xpress},
	{"33-xpress-huffman.etl", xpress_huffman},
	{"34-circular.etl", circular},
	{"34-wrapped.etl", wrapped},
	{"34-no-starts.etl", wrapped_without_starts},
	{NULL, NULL},
};
