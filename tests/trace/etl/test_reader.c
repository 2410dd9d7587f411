/* Decoding: what comes out of whole, packed, damaged and jumbled buffers. */
#include "tests/support.h"
#include "tests/trace/etl/etl_build.h"
#include "tests/trace/etl/etl_run.h"
#include "trace/etl/reader.h"

enum { BUFFER = 4096, N = 40, EACH = 8 };

static const uint8_t guid[16] = {0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e,
				 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4};

/* N buffers of EACH samples and one event that no row names. */
static void build(struct etl_build *e, uint32_t compression)
{
	struct rd_bytes payload = {0};

	etl_put(&payload, 0x0102030405060708, 8);
	etl_begin(e, &(struct etl_options){.compression = compression});
	for (uint32_t i = 0; i < N; i++) {
		etl_buffer(e, i % 4, 1000u + i);
		for (uint32_t k = 0; k < EACH; k++)
			etl_sample(e, 100 * i + k, i, 0x1000 + k);
		etl_event(e, guid, 9999, 3, (struct etl_who){i, 5, 100 * i + 50}, NULL, &payload);
	}
	etl_end(e);
	rd_bytes_release(&payload);
}

static void everything_of(uint32_t compression)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, compression);
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	assert_ok(r.indexed, &r.err);
	assert_ok(r.decoded, &r.err);
	assert_int_equal(r.begun, N + 1);
	assert_int_equal(r.ended, N + 1);
	assert_int_equal(r.damage.n, 0);
	assert_int_equal(r.events.n, 1 + N * (EACH + 1));
	assert_int_equal(etl_run_count(&r, "kernel/00/0/2"), 1);
	assert_int_equal(etl_run_count(&r, "kernel/0f/46/2"), N * EACH);
	assert_int_equal(etl_run_count(&r, "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/9999/3"), N);
	const struct rd_event *ev = etl_run_event(&r, "kernel/0f/46/2", 3 * EACH + 2);
	assert_int_equal(ev->time, 302);
	assert_int_equal(ev->cpu, 3);
	assert_int_equal(ev->place, UINT64_C(4) << 32 | (0x48 + 2 * 32));
	assert_int_equal(ev->pid, RD_NO_PID);
	assert_int_equal(ev->payload_bytes, 16);
	ev = etl_run_event(&r, "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/9999/3", 7);
	assert_int_equal(ev->time, 750);
	assert_int_equal(ev->pid, 7);
	assert_int_equal(ev->thread, 5);
	assert_int_equal(ev->version, 3);
	assert_null(ev->key->type);
	assert_int_equal(rd_le64(ev->payload), 0x0102030405060708);
	etl_run_release(&r);
	etl_release(&e);
}

static void everything(void **state)
{
	everything_of(RD_ETL_PLAIN);
	everything_of(RD_ETL_LZNT1);
	everything_of(RD_ETL_XPRESS);
	everything_of(RD_ETL_XPRESS_HUFFMAN);
}

static void wanted_only(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, RD_ETL_PLAIN);
	etl_run(&r, e.file.at, e.file.n, RD_WANT(RD_EVENT_SAMPLE));
	assert_int_equal(r.events.n, N * EACH);
	for (size_t i = 0; i < r.events.n; i++)
		assert_int_equal(r.events.at[i].key->type->kind, RD_EVENT_SAMPLE);
	etl_run_release(&r);
	etl_run(&r, e.file.at, e.file.n, RD_WANT(RD_EVENT_METHOD));
	assert_int_equal(r.events.n, 0);
	assert_int_equal(r.begun, N + 1);
	etl_run_release(&r);
	etl_release(&e);
}

/* The plan's order is the order of the events, wherever the buffers stand. */
static void any_order(void **state)
{
	struct etl_build e;
	struct etl_run r;
	struct rd_block blocks[3 * N];
	uint64_t seed = 5;

	build(&e, RD_ETL_PLAIN);
	etl_run_index(&r, e.file.at, e.file.n);
	/* More than one window of blocks, some of them twice. */
	for (size_t i = 0; i < 3 * N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		blocks[i] = r.index.blocks.at[1 + (seed >> 40) % N];
	}
	etl_run_blocks(&r, blocks, 3 * N, RD_WANT(RD_EVENT_SAMPLE));
	assert_ok(r.decoded, &r.err);
	assert_int_equal(r.events.n, 3 * N * EACH);
	for (size_t i = 0; i < 3 * N; i++) {
		for (uint32_t k = 0; k < EACH; k++) {
			const struct rd_event *ev = &r.events.at[i * EACH + k];
			assert_int_equal(ev->place >> 32, blocks[i].ordinal);
			assert_int_equal(ev->time, 100 * (blocks[i].ordinal - 1) + k);
		}
	}
	etl_run_blocks(&r, blocks, 0, RD_WANT_ALL);
	assert_int_equal(r.decoded, 0);
	assert_int_equal(r.events.n, 3 * N * EACH);
	etl_run_release(&r);
	etl_release(&e);
}

/* A walk stops where no record stands: what precedes counts, the next buffer is not touched. */
static void stops(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, RD_ETL_PLAIN);
	/* The third sample of buffer 2, and the last one's size of buffer 5. */
	e.file.at[2 * BUFFER + 0x48 + 2 * 32 + 3] = 0;
	etl_patch(&e.file, 5 * BUFFER + 0x48 + 7 * 32 + 4, 5000, 2);
	for (int all = 0; all < 2; all++) {
		etl_run(&r, e.file.at, e.file.n, all ? RD_WANT_ALL : RD_WANT(RD_EVENT_SAMPLE));
		assert_ok(r.decoded, &r.err);
		/* The index sees framing only. */
		assert_true(r.index.info.complete);
		assert_int_equal(etl_run_count(&r, "kernel/0f/46/2"), N * EACH - 6 - 1);
		assert_int_equal(etl_run_count(&r, "bad"), 2);
		assert_int_equal(r.damage.n, 2);
		assert_int_equal(r.damage.at[0], 2 * BUFFER + 0x48 + 2 * 32);
		assert_int_equal(r.damage.at[1], 5 * BUFFER + 0x48 + 7 * 32);
		const struct rd_event *bad = etl_run_event(&r, "bad", 0);
		assert_int_equal(bad->place, UINT64_C(2) << 32 | (0x48 + 2 * 32));
		assert_int_equal(bad->payload_bytes, 6 * 32 + 88);
		etl_run_release(&r);
	}
	etl_release(&e);
}

static void packed_damage(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, RD_ETL_XPRESS);
	etl_run_index(&r, e.file.at, e.file.n);
	uint64_t at = r.index.blocks.at[3].offset;
	etl_run_release(&r);
	/* The first flags say that a match stands where nothing is yet. */
	etl_patch(&e.file, at + 0x48, 0xffffffff, 4);
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	assert_ok(r.decoded, &r.err);
	assert_int_equal(etl_run_count(&r, "kernel/0f/46/2"), (N - 1) * EACH);
	assert_int_equal(etl_run_count(&r, "bad"), 1);
	assert_int_equal(r.damage.n, 1);
	assert_int_equal(r.damage.at[0], at + 0x48);
	assert_non_null(strstr(r.damage_text, "unpack"));
	etl_run_release(&r);
	etl_release(&e);
}

/* In a file without the mode's bit a buffer's flag says nothing. */
static void flag_without_mode(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, RD_ETL_PLAIN);
	e.file.at[3 * BUFFER + 0x34] |= 0x40;
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	assert_int_equal(etl_run_count(&r, "kernel/0f/46/2"), N * EACH);
	assert_int_equal(r.damage.n, 0);
	etl_run_release(&r);
	/* Nor may it lengthen the buffer beyond its bytes. */
	etl_patch(&e.file, 3 * BUFFER + 0x04, 100000, 4);
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	assert_int_equal(etl_run_count(&r, "kernel/0f/46/2"), (N - 1) * EACH);
	assert_int_equal(r.damage.n, 1);
	etl_run_release(&r);
	etl_release(&e);
}

static void changed_file(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, RD_ETL_PLAIN);
	etl_run_index(&r, e.file.at, e.file.n);
	struct rd_block b = r.index.blocks.at[2];
	b.size_bytes = BUFFER - 8;
	etl_run_blocks(&r, &b, 1, RD_WANT_ALL);
	assert_int_equal(r.decoded, RD_CHANGED);
	assert_int_equal(r.err.offset, 2 * BUFFER);
	b.size_bytes = 10;
	rd_error_clear(&r.err);
	etl_run_blocks(&r, &b, 1, RD_WANT_ALL);
	assert_int_equal(r.decoded, RD_CHANGED);
	b.size_bytes = UINT64_MAX / 2;
	etl_run_blocks(&r, &b, 1, RD_WANT_ALL);
	assert_int_equal(r.decoded, RD_CHANGED);
	b = r.index.blocks.at[N];
	b.offset += BUFFER;
	etl_run_blocks(&r, &b, 1, RD_WANT_ALL);
	assert_true(r.decoded < 0);
	etl_run_release(&r);
	etl_release(&e);
}

static int refuse(void *ctx, const struct rd_event *ev)
{
	return ++*(int *)ctx == 5 ? RD_LIMIT : 0;
}

static void sink_refuses(void **state)
{
	struct etl_build e;
	struct etl_run r;
	struct rd_decoder *d;
	int calls = 0;
	struct rd_sink sink = {.ctx = &calls, .want = RD_WANT_ALL, .event = refuse}, deaf = {.want = RD_WANT_ALL};

	build(&e, RD_ETL_PLAIN);
	etl_run_index(&r, e.file.at, e.file.n);
	assert_ok(rd_format_etl.decoder_new(&r.source, &r.index.info, &sink, &d, &r.err), &r.err);
	assert_int_equal(rd_format_etl.decoder_context(d, &r.index.blocks.at[0], &r.err), 0);
	assert_int_equal(calls, 0);
	assert_int_equal(rd_format_etl.decoder_blocks(d, r.index.blocks.at, N + 1, &r.err), RD_LIMIT);
	assert_int_equal(calls, 5);
	rd_format_etl.decoder_free(d);
	/* A sink without functions hears nothing. */
	assert_ok(rd_format_etl.decoder_new(&r.source, &r.index.info, &deaf, &d, &r.err), &r.err);
	assert_ok(rd_format_etl.decoder_blocks(d, r.index.blocks.at, N + 1, &r.err), &r.err);
	rd_format_etl.decoder_free(d);
	rd_format_etl.decoder_free(NULL);
	etl_run_release(&r);
	etl_release(&e);
}

/* Identities are many and few are wanted: keys are dense, equal ones are one. */
static void keys(void **state)
{
	struct etl_build e;
	struct etl_run r;
	enum { KINDS = 3000 };
	uint8_t id[16] = {0};
	bool *seen = calloc(KINDS + 2, 1);

	etl_begin(&e, &(struct etl_options){.buffer_bytes = 1 << 20});
	for (int round = 0; round < 2; round++) {
		etl_buffer(&e, 0, 1);
		for (uint32_t i = 0; i < KINDS; i++) {
			memcpy(id, &(uint64_t){i % 50}, 8);
			etl_event(&e, id, (uint16_t)(i / 50), (uint8_t)(i % 3), (struct etl_who){1, 2, i}, NULL, NULL);
		}
	}
	etl_end(&e);
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	assert_int_equal(r.events.n, 1 + 2 * KINDS);
	for (size_t i = 0; i < KINDS; i++) {
		const struct rd_event_key *a = r.events.at[1 + i].key, *b = r.events.at[1 + KINDS + i].key;
		assert_int_equal(a->slot, b->slot);
		assert_memory_equal(a->guid, b->guid, 16);
		assert_int_equal(a->id, i / 50);
		assert_int_equal(a->version, i % 3);
		assert_in_range(a->slot, 1, KINDS + 1);
		assert_false(seen[a->slot]);
		seen[a->slot] = true;
	}
	free(seen);
	etl_run_release(&r);
	etl_release(&e);
}

static void stack_of_an_event(void **state)
{
	struct etl_build e;
	struct etl_run r;
	struct rd_bytes stack = {0}, items = {0}, payload = {0};

	etl_put(&payload, 7, 4);
	etl_put(&stack, 0, 8);
	etl_put(&stack, 0x401000, 4);
	etl_put(&stack, 0x402000, 4);
	etl_put_item(&items, 5, false, &stack);
	etl_begin(&e, &(struct etl_options){.pointer_bytes = 4});
	etl_buffer(&e, 0, 1);
	etl_event(&e, guid, 1, 2, (struct etl_who){1, 2, 3}, &items, &payload);
	etl_end(&e);
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	const struct rd_event *ev = etl_run_event(&r, "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/1/2", 0);
	assert_int_equal(ev->stack_bytes, 8);
	assert_int_equal(ev->stack_pointer_bytes, 4);
	assert_int_equal(rd_le32(ev->stack), 0x401000);
	assert_int_equal(ev->payload_bytes, 4);
	assert_int_equal(ev->pointer_bytes, 4);
	rd_bytes_release(&stack);
	rd_bytes_release(&items);
	rd_bytes_release(&payload);
	etl_run_release(&r);
	etl_release(&e);
}

/* A buffer's processor is a byte in old files and an index in newer ones. */
static void processors(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, RD_ETL_PLAIN);
	etl_patch(&e.file, 1 * BUFFER + 0x28, 0xf923, 2);
	etl_patch(&e.file, 2 * BUFFER + 0x28, 0xf923, 2);
	e.file.at[2 * BUFFER + 0x34] &= (uint8_t)~0x20;
	etl_run(&r, e.file.at, e.file.n, RD_WANT(RD_EVENT_SAMPLE));
	assert_int_equal(r.events.at[0].cpu, 0x123);
	assert_int_equal(r.events.at[EACH].cpu, 0x23);
	etl_run_release(&r);
	etl_release(&e);
}

static int hear(void *ctx, const struct rd_event *ev)
{
	++*(uint64_t *)ctx;
	return 0;
}

static void out_of_memory(void **state)
{
	struct etl_build e;
	struct etl_run r;
	uint64_t heard = 0;
	struct rd_sink sink = {.ctx = &heard, .want = RD_WANT_ALL, .event = hear};
	bool failed = true;

	build(&e, RD_ETL_XPRESS_HUFFMAN);
	etl_run_index(&r, e.file.at, e.file.n);
	for (uint64_t nth = 1; failed; nth++) {
		struct rd_decoder *d = NULL;
		assert_true(nth < 100);
		rd_fail_allocation(nth);
		int rc = rd_format_etl.decoder_new(&r.source, &r.index.info, &sink, &d, &r.err);
		if (rc == 0)
			rc = rd_format_etl.decoder_blocks(d, r.index.blocks.at, r.index.blocks.n, &r.err);
		rd_fail_allocation(0);
		rd_format_etl.decoder_free(d);
		failed = rc != 0;
		if (failed)
			assert_int_equal(rc, RD_NOMEM);
	}
	assert_true(heard >= N * EACH);
	etl_run_release(&r);
	etl_release(&e);
}

/* A compressed buffer of zeros: a few literals and one long match. */
static void put_bomb(struct rd_bytes *file, uint32_t plain_bytes)
{
	uint8_t bytes[0x48 + 4 + 8 + 10] = {0};
	uint8_t *tokens = bytes + 0x48, *match = tokens + 12;
	uint32_t n = sizeof bytes, flags = 0x00ffffff, length = plain_bytes - 0x48 - 8 - 3;
	uint16_t compressed = 0x40;

	memcpy(bytes, &n, 4);
	memcpy(bytes + 4, &plain_bytes, 4);
	bytes[0x10] = 1;
	memcpy(bytes + 0x34, &compressed, 2);
	memcpy(tokens, &flags, 4);
	match[0] = 7;
	match[2] = 0x0f;
	match[3] = 0xff;
	memcpy(match + 6, &length, 4);
	assert_int_equal(rd_bytes_append(file, bytes, sizeof bytes), 0);
}

/* So many such buffers behind a session's header. */
static void run_bombs(struct etl_run *r, size_t n, uint32_t session_bytes, uint32_t plain_bytes)
{
	struct etl_build e;

	etl_begin(&e, &(struct etl_options){
			      .compression = RD_ETL_XPRESS, .buffer_bytes = session_bytes, .header_bytes = 1024});
	etl_end(&e);
	while (n-- > 0)
		put_bomb(&e.file, plain_bytes);
	etl_run(r, e.file.at, e.file.n, RD_WANT_ALL);
	etl_release(&e);
}

static void what_unpacks_has_a_limit(void **state)
{
	const uint32_t most = 16 << 20;
	struct etl_run r;

	run_bombs(&r, 2, most, most);
	assert_ok(r.indexed, &r.err);
	assert_ok(r.decoded, &r.err);
	assert_int_equal(r.index.blocks.n, 3);
	etl_run_release(&r);
	/* Seventeen make more than 256 MiB. */
	run_bombs(&r, 17, most, most);
	assert_ok(r.indexed, &r.err);
	assert_code(RD_LIMIT, r.decoded);
	assert_non_null(strstr(r.err.text, "unpack to more than 64 times"));
	etl_run_release(&r);
	run_bombs(&r, 1, most + 1, most);
	assert_code(RD_CORRUPT, r.indexed);
	assert_non_null(strstr(r.err.text, "a session with buffers of 16777217 bytes"));
	etl_run_release(&r);
	/* A buffer alone that says so is damage. */
	run_bombs(&r, 1, most, most + 8);
	assert_ok(r.indexed, &r.err);
	assert_int_equal(r.index.blocks.n, 1);
	assert_false(r.index.info.complete);
	etl_run_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),    cmocka_unit_test(wanted_only),
		cmocka_unit_test(any_order),     cmocka_unit_test(stops),
		cmocka_unit_test(packed_damage), cmocka_unit_test(flag_without_mode),
		cmocka_unit_test(changed_file),  cmocka_unit_test(sink_refuses),
		cmocka_unit_test(keys),          cmocka_unit_test(stack_of_an_event),
		cmocka_unit_test(processors),    cmocka_unit_test(out_of_memory),
		cmocka_unit_test(what_unpacks_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
