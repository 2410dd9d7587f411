/* The kernel's payloads, for both pointer sizes and all layouts, whole and one byte short. */
#include "tests/support.h"
#include "tests/trace/etl/etl_build.h"
#include "tests/trace/etl/etl_run.h"
#include "trace/catalogue.h"

static const uint64_t frames[] = {0xfffff80312345678, 0x7ff812345678, 0x7ff8aaaaaaaa};

static struct rd_record decode(const struct rd_event *ev)
{
	struct rd_record out;

	assert_non_null(ev->key->type);
	assert_non_null(ev->key->type->decode);
	assert_int_equal(ev->key->type->decode(ev, &out), 0);
	assert_int_equal(out.kind, ev->key->type->kind);
	assert_int_equal(out.op, ev->key->type->op);
	return out;
}

/* Fewer bytes than `needed` are malformed, from there on nothing is missing. */
static void needs(const struct rd_event *ev, size_t needed)
{
	struct rd_record out;

	for (size_t n = 0; n <= ev->payload_bytes; n++) {
		struct rd_event cut = *ev;
		uint8_t *bytes = malloc(n ? n : 1);
		if (n)
			memcpy(bytes, ev->payload, n);
		cut.payload = bytes;
		cut.payload_bytes = n;
		assert_int_equal(ev->key->type->decode(&cut, &out), n < needed ? RD_CORRUPT : 0);
		free(bytes);
	}
}

static void profile_of(uint32_t pointer_bytes)
{
	struct etl_build e;
	struct etl_run r;
	struct rd_bytes interval = {0}, nothing = {0};
	uint64_t pointer = pointer_bytes == 4 ? 0x81234567 : 0xfffff80312345678;

	etl_begin(&e, &(struct etl_options){.pointer_bytes = pointer_bytes});
	etl_buffer(&e, 2, 1);
	etl_sample(&e, 1000, 4711, pointer);
	etl_put(&interval, 0, 4);
	etl_put(&interval, 10000, 4);
	etl_put(&interval, 10000, 4);
	etl_perfinfo(&e, 0x0f, 73, 3, 1001, &interval);
	etl_perfinfo(&e, 0x0f, 47, 2, 1002, &nothing);
	etl_compact(&e, 0x05, 36, 4, (struct etl_who){1, 2, 1003}, &nothing);
	etl_end(&e);
	etl_run(&r, e.file.at, e.file.n, RD_WANT_ALL);
	const struct rd_event *ev = etl_run_event(&r, "kernel/0f/46/2", 0);
	assert_int_equal(ev->pointer_bytes, pointer_bytes);
	assert_int_equal(ev->cpu, 2);
	struct rd_record out = decode(ev);
	assert_int_equal(out.kind, RD_EVENT_SAMPLE);
	assert_int_equal(out.sample.thread, 4711);
	assert_int_equal(out.sample.pointer, pointer);
	assert_int_equal(out.sample.weight, 1);
	assert_int_equal(out.sample.kind, RD_SAMPLE_CPU);
	needs(ev, pointer_bytes + 4);
	ev = etl_run_event(&r, "kernel/0f/73/3", 0);
	out = decode(ev);
	assert_int_equal(out.kind, RD_EVENT_INTERVAL);
	assert_int_equal(out.interval.interval_100ns, 10000);
	needs(ev, 8);
	out = decode(etl_run_event(&r, "kernel/0f/47/2", 0));
	assert_int_equal(out.kind, RD_EVENT_OTHER_COUNT);
	assert_int_equal(out.other.what, RD_OTHER_PMC);
	out = decode(etl_run_event(&r, "kernel/05/36/4", 0));
	assert_int_equal(out.other.what, RD_OTHER_CSWITCH);
	etl_run_release(&r);
	etl_release(&e);
	rd_bytes_release(&interval);
}

static void profile(void **state)
{
	profile_of(4);
	profile_of(8);
}

static void frames_are(struct rd_span got, unsigned pointer_bytes, size_t n)
{
	struct rd_cursor c = rd_cursor_of(got.at, got.size_bytes);

	assert_int_equal(got.size_bytes, n * pointer_bytes);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(rd_pointer(&c, pointer_bytes), pointer_bytes == 4 ? (uint32_t)frames[i] : frames[i]);
}

static void stacks_of(uint32_t pointer_bytes)
{
	struct etl_build e;
	struct etl_run r;

	etl_begin(&e, &(struct etl_options){.pointer_bytes = pointer_bytes});
	etl_buffer(&e, 0, 1);
	etl_stack(&e, 1001, 1000, 12, 34, frames, 3);
	etl_stack(&e, 1002, 1000, 12, 34, frames, 0);
	etl_stack_key(&e, 1003, 1000, 12, 34, RD_STACK_KERNEL_KEY, 0xabcd);
	etl_stack_key(&e, 1004, 1000, 12, 34, RD_STACK_USER_KEY, 0xabce);
	etl_stack_definition(&e, 1005, 0xabcd, frames, 2);
	etl_end(&e);
	etl_run(&r, e.file.at, e.file.n, RD_WANT(RD_EVENT_STACK) | RD_WANT(RD_EVENT_STACK_KEY));
	assert_int_equal(r.events.n, 5);
	struct rd_record out = decode(&r.events.at[0]);
	assert_int_equal(out.kind, RD_EVENT_STACK);
	assert_int_equal(out.stack.sample_time, 1000);
	assert_int_equal(out.stack.pid, 12);
	assert_int_equal(out.stack.thread, 34);
	assert_int_equal(out.stack.part, RD_STACK_PLAIN);
	assert_int_equal(out.stack.pointer_bytes, pointer_bytes);
	frames_are(out.stack.frames, pointer_bytes, 3);
	needs(&r.events.at[0], 16);
	/* A rest that is no pointer is no frame. */
	struct rd_event odd = r.events.at[0];
	odd.payload_bytes -= 3;
	frames_are(decode(&odd).stack.frames, pointer_bytes, 2);
	frames_are(decode(&r.events.at[1]).stack.frames, pointer_bytes, 0);
	for (size_t i = 2; i < 4; i++) {
		out = decode(&r.events.at[i]);
		assert_int_equal(out.stack.part, i == 2 ? RD_STACK_KERNEL_KEY : RD_STACK_USER_KEY);
		assert_int_equal(out.stack.key, i == 2 ? 0xabcd : 0xabce);
		assert_int_equal(out.stack.frames.size_bytes, 0);
		needs(&r.events.at[i], 16 + pointer_bytes);
	}
	out = decode(&r.events.at[4]);
	assert_int_equal(out.kind, RD_EVENT_STACK_KEY);
	assert_int_equal(out.stack_key.key, 0xabcd);
	frames_are(out.stack_key.frames, pointer_bytes, 2);
	needs(&r.events.at[4], pointer_bytes);
	etl_run_release(&r);
	etl_release(&e);
}

static void stacks(void **state)
{
	stacks_of(4);
	stacks_of(8);
}

static void utf16_is(struct rd_name name, const char *ascii)
{
	assert_true(name.utf16);
	assert_int_equal(name.text.size_bytes, 2 * strlen(ascii));
	for (size_t i = 0; ascii[i]; i++)
		assert_int_equal(rd_le16(name.text.at + 2 * i), ascii[i]);
}

static void lives_of(uint32_t pointer_bytes)
{
	struct etl_build e;
	struct etl_run r;
	const uint8_t ops[] = {RD_OP_LOAD, RD_OP_UNLOAD, RD_OP_DCSTART, RD_OP_DCEND};

	etl_begin(&e, &(struct etl_options){.pointer_bytes = pointer_bytes});
	etl_buffer(&e, 0, 1);
	for (uint8_t op = 1; op <= 4; op++) {
		etl_process(&e, op, 10, 100, 4, "app.exe", "app --fast");
		etl_thread(&e, op, 11, 100, 200);
		etl_image(&e, op == 1 ? 10 : op, 12, 100, 0x10000, 0x2000, "\\a\\app.dll");
	}
	etl_end(&e);
	etl_run(&r, e.file.at, e.file.n,
		RD_WANT(RD_EVENT_PROCESS) | RD_WANT(RD_EVENT_THREAD) | RD_WANT(RD_EVENT_IMAGE));
	assert_int_equal(r.events.n, 12);
	for (size_t i = 0; i < 12; i += 3) {
		struct rd_record p = decode(&r.events.at[i]), t = decode(&r.events.at[i + 1]),
				 m = decode(&r.events.at[i + 2]);
		assert_int_equal(p.kind, RD_EVENT_PROCESS);
		assert_int_equal(p.op, ops[i / 3]);
		assert_int_equal(p.process.pid, 100);
		assert_int_equal(p.process.parent_pid, 4);
		assert_false(p.process.name.utf16);
		assert_span(p.process.name.text, "app.exe");
		utf16_is(p.process.command_line, "app --fast");
		assert_int_equal(t.kind, RD_EVENT_THREAD);
		assert_int_equal(t.op, ops[i / 3]);
		assert_int_equal(t.thread.pid, 100);
		assert_int_equal(t.thread.thread, 200);
		assert_int_equal(m.kind, RD_EVENT_IMAGE);
		assert_int_equal(m.op, ops[i / 3]);
		assert_int_equal(m.image.pid, 100);
		assert_int_equal(m.image.base, 0x10000);
		assert_int_equal(m.image.size_bytes, 0x2000);
		assert_int_equal(m.image.checksum, 0x11);
		assert_int_equal(m.image.time_stamp, 0x22);
		utf16_is(m.image.path, "\\a\\app.dll");
	}
	/* The owner's SID is there as well; the command line may be missing, the name not. */
	needs(&r.events.at[0], 4 * pointer_bytes + 16 + 4 + 28 + 8);
	needs(&r.events.at[1], 8);
	needs(&r.events.at[2], 3 * pointer_bytes + 32 + 2 * 11);
	etl_run_release(&r);
	etl_release(&e);
}

static void lives(void **state)
{
	lives_of(4);
	lives_of(8);
}

static struct rd_record decode_as(uint32_t group, uint32_t opcode, uint32_t version, const struct rd_bytes *payload)
{
	struct rd_event_key key = {
		.identity = RD_IDENTITY_KERNEL,
		.group = group,
		.id = opcode,
		.version = version,
		.type = rd_catalogue_kernel(group, opcode, version),
	};
	struct rd_event ev = {
		.key = &key,
		.version = version,
		.pointer_bytes = 4,
		.pid = 5,
		.payload = payload->at,
		.payload_bytes = payload->n,
	};

	return decode(&ev);
}

/* Layouts of Windows 2000 to 7, and one that is newer than any known. */
static void old_and_new_versions(void **state)
{
	struct rd_bytes p = {0};
	struct rd_record out;

	etl_put(&p, 200, 4);
	etl_put(&p, 100, 4);
	out = decode_as(0x05, 1, 0, &p);
	assert_int_equal(out.thread.pid, 100);
	assert_int_equal(out.thread.thread, 200);
	out = decode_as(0x05, 1, 9, &p);
	assert_int_equal(out.thread.pid, 200);
	assert_int_equal(out.thread.thread, 100);

	p.n = 0; /* process 0: pid, parent, no owner */
	etl_put(&p, 100, 4);
	etl_put(&p, 4, 4);
	etl_put(&p, 0, 4);
	etl_put_text(&p, "old.exe");
	out = decode_as(0x03, 1, 0, &p);
	assert_int_equal(out.process.pid, 100);
	assert_int_equal(out.process.parent_pid, 4);
	assert_span(out.process.name.text, "old.exe");
	assert_int_equal(out.process.command_line.text.size_bytes, 0);

	for (uint32_t version = 1; version <= 9; version++) {
		p.n = 0;
		etl_put(&p, 0x999, 4);
		etl_put(&p, 100, 4);
		etl_put(&p, 4, 4);
		etl_put(&p, 1, 8);
		if (version >= 3)
			etl_put(&p, 0x888, 4);
		if (version >= 4)
			etl_put(&p, 1, 4);
		etl_put(&p, 0, 4);
		etl_put_text(&p, "x");
		if (version >= 2)
			etl_put_utf16(&p, "x y");
		out = decode_as(0x03, 3, version, &p);
		assert_int_equal(out.process.pid, 100);
		assert_span(out.process.name.text, "x");
		assert_int_equal(out.process.command_line.text.size_bytes, version >= 2 ? 6 : 0);
	}

	p.n = 0; /* image 0: base, size, name; the process is the header's */
	etl_put(&p, 0x10000, 4);
	etl_put(&p, 0x2000, 4);
	etl_put_utf16(&p, "a");
	out = decode_as(0x03, 10, 0, &p);
	assert_int_equal(out.image.pid, 5);
	assert_int_equal(out.image.size_bytes, 0x2000);
	utf16_is(out.image.path, "a");

	p.n = 0;
	etl_put(&p, 0x10000, 4);
	etl_put(&p, 0x2000, 4);
	etl_put(&p, 100, 4);
	etl_put_utf16(&p, "b");
	out = decode_as(0x14, 2, 1, &p);
	assert_int_equal(out.image.pid, 100);
	utf16_is(out.image.path, "b");
	rd_bytes_release(&p);
}

/* The load of an image stands in the process group, and the batch of samples counts for none. */
static void rows(void **state)
{
	assert_int_equal(rd_catalogue_kernel(0x03, 10, 3)->kind, RD_EVENT_IMAGE);
	assert_int_equal(rd_catalogue_kernel(0x03, 10, 3)->op, RD_OP_LOAD);
	assert_null(rd_catalogue_kernel(0x14, 10, 3));
	assert_int_equal(rd_catalogue_kernel(0x0f, 55, 2)->kind, RD_EVENT_OTHER);
	assert_null(rd_catalogue_kernel(0x0f, 55, 2)->decode);
	assert_int_equal(rd_catalogue_kernel(0x03, 39, 5)->kind, RD_EVENT_OTHER);
	assert_null(rd_catalogue_kernel(0x7f, 1, 0));
	for (size_t t = 0; rd_tables_kernel[t]; t++) {
		const struct rd_event_table *table = rd_tables_kernel[t];
		for (size_t i = 0; i < table->n; i++) {
			assert_true(i == 0 || table->rows[i - 1].id < table->rows[i].id);
			assert_int_equal(table->rows[i].decode == NULL, table->rows[i].kind == RD_EVENT_OTHER);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile), cmocka_unit_test(stacks),
		cmocka_unit_test(lives),   cmocka_unit_test(old_and_new_versions),
		cmocka_unit_test(rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
