/* What a decoder of nettrace 6 tells its sink: owners, versions, lost numbers, damage. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/trace_whole.h"
#include "trace/nettrace/nettrace.h"

struct file {
	struct nettrace6_build build;
	struct trace_whole whole;
};

static void decode(struct file *f)
{
	whole_decode(&f->whole, &rd_format_nettrace, &f->build.file);
}

static void done(struct file *f)
{
	whole_release(&f->whole);
	nettrace6_release(&f->build);
}

/* The n-th line of the log's events, up to the hash of the payload. */
static void check_line(struct file *f, unsigned n, const char *text)
{
	const char *line = log_text(&f->whole.log), *end = line + f->whole.log.events.n;
	for (; n > 0; n--)
		line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
	char expected[256];
	/* Place and hashes are not for people to write down. */
	const char *at = strstr(line, " at="), *tid = strstr(line, " tid="), *p = strstr(line, " p=");
	snprintf(expected, sizeof expected, "%.*s%.*s", (int)(at - line), line, (int)(p - tid), tid);
	assert_string_equal(expected, text);
}

static void check_sample_file(const struct nettrace6_options *options, uint32_t owner)
{
	static const char *const lines[] = {
		"Universal.System/ExistingProcess/0 t=1000 tid=501 pid=500 cpu=1 v=0",
		"Universal.System/ProcessCreate/0 t=1000 tid=601 pid=600 cpu=1 v=0",
		"Universal.System/ProcessMapping/0 t=1000 tid=501 pid=500 cpu=1 v=0",
		"Universal.System/ProcessSymbol/0 t=1000 tid=501 pid=500 cpu=1 v=0",
		"Universal.System/ProcessMapping/0 t=1000 tid=601 pid=600 cpu=1 v=0",
		"Universal.System/ProcessSymbol/0 t=1000 tid=601 pid=600 cpu=1 v=0",
		/* Its metadata has version 0, its labels 2. */
		"Microsoft-Windows-DotNETRuntime/143/2 t=1500 tid=501 pid=500 cpu=1 v=2",
		"Universal.Events/cpu/0 t=2000 tid=501 pid=500 cpu=1 v=0",
		"Universal.Events/cpu/0 t=1900 tid=601 pid=600 cpu=1 v=0",
		"Universal.Events/cswitch/0 t=2100 tid=601 pid=600 cpu=1 v=0", NULL, /* a thread that nothing defined */
		"bad t=2300 tid=501 pid=500 cpu=1 v=0", NULL,                        /* a thread that was removed */
		"Universal.Events/cpu/0 t=2500 tid=502 pid=500 cpu=1 v=0",
		"Universal.Events/cpu/0 t=3100 tid=502 pid=500 cpu=1 v=0",
		/* Behind a sequence point its labels are gone. */
		"Microsoft-Windows-DotNETRuntime/143/0 t=3200 tid=501 pid=500 cpu=1 v=0",
		/* The id of context switches, defined anew. */
		"Universal.Events/cpu/0 t=4100 tid=501 pid=500 cpu=1 v=0", "bad t=4200 tid=501 pid=500 cpu=1 v=0",
		NULL, /* threads were forgotten */
	};
	static const char *const unowned[] = {
		"Universal.Events/cpu/0 t=2200",
		"Universal.Events/cpu/0 t=2400",
		"Universal.System/ProcessExit/0 t=5100",
	};
	struct file f = {0};
	unsigned next = 0;
	nettrace6_sample_file(&f.build, options);
	decode(&f);
	assert_int_equal(f.whole.log.event_count, sizeof lines / sizeof *lines);
	for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
		char text[128];
		if (lines[i] == NULL)
			snprintf(text, sizeof text, "%s tid=18446744073709551615 pid=%u cpu=1 v=0", unowned[next++],
				 owner);
		check_line(&f, i, lines[i] != NULL ? lines[i] : text);
	}
	assert_int_equal(f.whole.log.undone, 0);
	assert_int_equal(f.whole.log.damage.n, 0);
	done(&f);
}

static void a_file_of_everything(void **state)
{
	check_sample_file(NULL, UINT32_MAX);
	check_sample_file(&(struct nettrace6_options){.plain_headers = true, .pointer_bytes = 4}, UINT32_MAX);
	/* A file of one process owns what no thread claims. */
	check_sample_file(&(struct nettrace6_options){.pairs = {"ProcessId", "77"}}, 77);
}

static void check_numbers(const struct file *f, const struct log_number *expected, size_t n)
{
	size_t k = 0;
	for (size_t i = 0; i < f->whole.log.operations.n; i++) {
		const struct log_number *o = &f->whole.log.operations.at[i];
		if (o->op == RD_SEQ_EVENT)
			continue;
		assert_true(k < n);
		assert_true(o->thread == expected[k].thread);
		assert_int_equal(o->op, expected[k].op);
		assert_int_equal(o->first, expected[k].first);
		assert_int_equal(o->count, expected[k].count);
		k++;
	}
	assert_int_equal(k, n);
}

static void points_and_removals_tell_numbers(void **state)
{
	struct file f = {0};
	nettrace6_begin(&f.build, NULL);
	nettrace6_point(&f.build, 1, 1);
	nettrace6_block(&f.build, RD_NETTRACE_REMOVE_THREAD);
	nettrace6_removed(&f.build, UINT64_MAX, 14);
	nettrace6_removed(&f.build, 3, UINT32_MAX);
	nettrace6_point(&f.build, 2, 0);
	nettrace6_point_thread(&f.build, 5, 6);
	nettrace6_point_thread(&f.build, UINT64_C(1) << 60, 7);
	nettrace6_point(&f.build, 3, 3);
	nettrace6_point_thread(&f.build, 5, 8);
	nettrace6_end(&f.build);
	decode(&f);
	static const struct log_number expected[] = {
		{.thread = 0, .op = RD_SEQ_FORGET_ALL},
		{.thread = UINT64_MAX, .op = RD_SEQ_REMOVE, .first = 14, .count = 1},
		{.thread = 3, .op = RD_SEQ_REMOVE, .first = UINT32_MAX, .count = 1},
		{.thread = 5, .op = RD_SEQ_POINT, .first = 6, .count = 1},
		{.thread = UINT64_C(1) << 60, .op = RD_SEQ_POINT, .first = 7, .count = 1},
		{.thread = 5, .op = RD_SEQ_POINT, .first = 8, .count = 1},
		{.thread = 0, .op = RD_SEQ_FORGET_ALL},
	};
	check_numbers(&f, expected, sizeof expected / sizeof *expected);
	done(&f);
}

/* A block of `kind` with these bytes is dropped, and the samples around it stay. */
static void check_dropped(uint8_t kind, const void *bytes, size_t n, const char *what, const char *last)
{
	static const uint64_t frames[] = {0x4010};
	struct file f = {0};
	struct nettrace6_event ev = {.thread = 1, .stack_id = 1, .time = 2000};
	nettrace6_begin(&f.build, NULL);
	nettrace6_block(&f.build, RD_NETTRACE_METADATA);
	universal_metadata(&f.build);
	nettrace6_stacks(&f.build, 1);
	nettrace6_stack(&f.build, frames, 1);
	nettrace6_block(&f.build, RD_NETTRACE_THREAD);
	nettrace6_thread(&f.build, 1, 500, 501);
	nettrace6_block(&f.build, RD_NETTRACE_EVENT);
	universal_value(&f.build, ev, U_CPU, 1);
	nettrace6_block(&f.build, kind);
	f.build.payload.n = 0;
	assert_int_equal(rd_bytes_append(&f.build.payload, bytes, n), 0);
	nettrace6_block(&f.build, RD_NETTRACE_EVENT);
	universal_value(&f.build, ev, U_CPU, 1);
	nettrace6_end(&f.build);
	decode(&f);
	assert_int_equal(f.whole.log.undone, 1);
	assert_int_equal(f.whole.log.event_count, 2);
	check_line(&f, 1, last);
	assert_non_null(strstr(log_text(&f.whole.log), what));
	done(&f);
}

static void blocks_that_do_not_decode(void **state)
{
	static const char same[] = "Universal.Events/cpu/0 t=2000 tid=501 pid=500 cpu=1 v=0";
	/* Two rows, the second of which ends inside itself: the first is not taken either. */
	check_dropped(RD_NETTRACE_THREAD, "\3\0\1\2\7\3\0\1\2", 9, "a thread that", same);
	check_dropped(RD_NETTRACE_REMOVE_THREAD, "\1\5\1\x80", 4, "a removed thread", same);
	check_dropped(RD_NETTRACE_LABEL_LIST, "\1\0\0\0\1\0\0\0\x81", 9, "a label list", same);
	check_dropped(RD_NETTRACE_METADATA, "\0\0\1\0\1", 5, "a metadata record", same);
	check_dropped(RD_NETTRACE_METADATA, "\3\0\0", 3, "without a header", same);
	check_dropped(RD_NETTRACE_STACK, "\1\0\0\0\2\0\0\0\0\0\0\0", 12, "a stack that", same);
	check_dropped(RD_NETTRACE_EVENT, "\x14\0\1\0________________\0", 21, "an event that", same);
	/* A point that says how many threads it has and has fewer makes void what its flags say. */
	check_dropped(RD_NETTRACE_SEQUENCE_POINT, "________\0\0\0\0\1\0\0\0\1", 17, "a sequence point", same);
	check_dropped(RD_NETTRACE_SEQUENCE_POINT, "________\1\0\0\0\1\0\0\0\1", 17, "a sequence point",
		      "Universal.Events/cpu/0 t=2000 tid=18446744073709551615 pid=4294967295 cpu=1 v=0");
	check_dropped(RD_NETTRACE_SEQUENCE_POINT, "________\2\0\0\0\xff\xff\xff\xff", 16, "a sequence point",
		      "bad t=2000 tid=501 pid=500 cpu=1 v=0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_everything),
		cmocka_unit_test(points_and_removals_tell_numbers),
		cmocka_unit_test(blocks_that_do_not_decode),
	};
	return cmocka_run_group_tests_name("nettrace/decoder6", tests, NULL, NULL);
}
