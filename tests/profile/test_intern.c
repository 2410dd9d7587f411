#include "tests/support.h"

#include "profile/intern.h"
#include "profile/shard.h"

/* A NUL-ended u"" literal and its span without the NUL. */
#define WIDE(text)   ((struct rd_name){{(const uint8_t *)(text), sizeof(text) - 2}, true})
#define NARROW(text) ((struct rd_name){{(const uint8_t *)(text), sizeof(text) - 1}, false})

struct fixture {
	struct rd_partial p;
	struct rd_intern in;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->in.out = &f->p;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_intern_release(&f->in);
	rd_partial_release(&f->p);
	free(f);
	return 0;
}

static uint32_t number_of(struct fixture *f, struct rd_name name)
{
	uint32_t number = 4711;

	assert_ok(rd_intern_name(&f->in, &name, &number), NULL);
	return number;
}

#define assert_text(f, number, text) assert_span(rd_strings_at(&(f)->p.strings, (number)-1), text)

static void names(void **state)
{
	struct fixture *f = *state;
	uint32_t main = number_of(f, WIDE(u"Main"));

	assert_int_equal(main, 1);
	assert_text(f, main, "Main");
	assert_int_equal(number_of(f, NARROW("Main")), main);
	assert_int_equal(number_of(f, WIDE(u"Main")), main);
	/* Empty is a name, missing is none. */
	assert_int_equal(number_of(f, WIDE(u"")), 2);
	assert_text(f, 2, "");
	assert_int_equal(number_of(f, NARROW("")), 2);
	assert_int_equal(number_of(f, (struct rd_name){{NULL, 0}, true}), 0);
	assert_int_equal(f->p.strings.at.n, 2);
}

static void beyond_ascii(void **state)
{
	struct fixture *f = *state;
	static const uint16_t high_alone[] = {'a', 0xd83d, 'b', 0}, low_alone[] = {0xde00, 0},
			      swapped[] = {0xde00, 0xd83d, 0};

	assert_text(f, number_of(f, WIDE(u"Größe")),
		    "Gr\xc3\xb6\xc3\x9f"
		    "e");
	assert_text(f, number_of(f, WIDE(u"メソッド")), "\xe3\x83\xa1\xe3\x82\xbd\xe3\x83\x83\xe3\x83\x89");
	assert_text(f, number_of(f, WIDE(u"a\U0001F600")), "a\xf0\x9f\x98\x80");
	/* Halves of a pair stay apart from each other and from the pair. */
	assert_text(f, number_of(f, WIDE(high_alone)),
		    "a\xed\xa0\xbd"
		    "b");
	assert_text(f, number_of(f, WIDE(low_alone)), "\xed\xb8\x80");
	assert_text(f, number_of(f, WIDE(swapped)), "\xed\xb8\x80\xed\xa0\xbd");
	assert_int_equal(f->p.strings.at.n, 6);
}

static void long_names(void **state)
{
	struct fixture *f = *state;
	size_t n = RD_NAME_BYTES_MAX;
	uint8_t *utf16 = calloc(n + 1, 2);
	uint32_t number = 0;

	assert_non_null(utf16);
	for (size_t i = 0; i <= n; i++)
		utf16[2 * i] = (uint8_t)('a' + i % 26);
	struct rd_name name = {{utf16, 2 * 30000}, true};
	assert_ok(rd_intern_name(&f->in, &name, &number), NULL);
	assert_int_equal(rd_strings_at(&f->p.strings, number - 1).size_bytes, 30000);
	name.text.size_bytes = 2 * n;
	assert_ok(rd_intern_name(&f->in, &name, &number), NULL);
	assert_int_equal(rd_strings_at(&f->p.strings, number - 1).size_bytes, n);
	name.text.size_bytes += 2;
	assert_code(RD_LIMIT, rd_intern_name(&f->in, &name, &number));
	/* Half as many units of three bytes each are too long as well. */
	for (size_t i = 0; i < n / 2; i++)
		utf16[2 * i + 1] = 0x30;
	name.text.size_bytes = n;
	assert_code(RD_LIMIT, rd_intern_name(&f->in, &name, &number));
	assert_int_equal(f->p.strings.at.n, 2);
	free(utf16);
}

/* ---- the names of methods */

struct three {
	uint8_t bytes[256];
	struct rd_method_record method;
};

static size_t put(struct three *t, size_t at, const uint16_t *text, struct rd_name *out)
{
	size_t n = 0;

	while (text[n])
		n++;
	memcpy(t->bytes + at, text, 2 * n + 2);
	*out = (struct rd_name){{t->bytes + at, 2 * n}, true};
	return at + 2 * n + 2;
}

/* As they stand in an event, at an odd address. */
static void fill_three(struct three *t, const uint16_t *ns, const uint16_t *name, const uint16_t *signature)
{
	size_t at = put(t, 1, ns, &t->method.ns);

	at = put(t, at, name, &t->method.name);
	put(t, at, signature, &t->method.signature);
	t->method.named = true;
}

static void method_names(void **state)
{
	struct fixture *f = *state;
	struct rd_interned_names a, b, c;
	struct three t = {0};

	fill_three(&t, (const uint16_t *)u"Shop.Program", (const uint16_t *)u"Größe",
		   (const uint16_t *)u"void  (int32)");
	assert_ok(rd_intern_method_names(&f->in, &t.method, &a), NULL);
	assert_text(f, a.ns, "Shop.Program");
	assert_text(f, a.name,
		    "Gr\xc3\xb6\xc3\x9f"
		    "e");
	assert_text(f, a.signature, "void  (int32)");
	/* Again, and in separate places: the same numbers. */
	assert_ok(rd_intern_method_names(&f->in, &t.method, &b), NULL);
	assert_memory_equal(&a, &b, sizeof a);
	t.method.name = WIDE(u"Größe");
	assert_ok(rd_intern_method_names(&f->in, &t.method, &c), NULL);
	assert_memory_equal(&a, &c, sizeof a);
	assert_int_equal(f->p.strings.at.n, 3);
	/* The same bytes cut elsewhere are other names. */
	fill_three(&t, (const uint16_t *)u"", (const uint16_t *)u"ab", (const uint16_t *)u"c");
	assert_ok(rd_intern_method_names(&f->in, &t.method, &a), NULL);
	fill_three(&t, (const uint16_t *)u"", (const uint16_t *)u"a", (const uint16_t *)u"bc");
	assert_ok(rd_intern_method_names(&f->in, &t.method, &b), NULL);
	assert_int_equal(a.ns, b.ns);
	assert_text(f, b.name, "a");
	assert_text(f, b.signature, "bc");
	assert_text(f, a.name, "ab");
}

/* Every name against every other, through the path that compares raw bytes with UTF-8. */
static void raw_names_differ_as_names_do(void **state)
{
	static const uint16_t a[][12] = {
		{0},
		{'a', 0},
		{'b', 0},
		{'a', 'b', 'c', 'd', 0},
		{'a', 'b', 'c', 'e', 0},
		{'a', 'b', 'c', 'd', 'e', 0},
		{'a', 'b', 'c', 'd', 0xe9, 0},
		{'a', 'b', 'c', 'd', 0x169, 0},
		{'a', 'b', 0x80, 'd', 'e', 0},
		{'a', 'b', 0xd83d, 0xde00, 0},
		{'a', 'b', 0xd83d, 'x', 0},
		{0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0},
	};
	struct fixture *f = *state;
	struct rd_interned_names first[12], again;
	struct three t = {0};

	for (size_t i = 0; i < 12; i++) {
		fill_three(&t, a[i], a[11 - i], a[i]);
		assert_ok(rd_intern_method_names(&f->in, &t.method, &first[i]), NULL);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(first[k].ns, first[i].ns);
	}
	for (size_t i = 0; i < 12; i++) {
		fill_three(&t, a[i], a[11 - i], a[i]);
		assert_ok(rd_intern_method_names(&f->in, &t.method, &again), NULL);
		assert_memory_equal(&first[i], &again, sizeof again);
	}
	assert_int_equal(f->p.strings.at.n, 12);
}

/* ---- stacks */

static uint32_t stack_of(struct fixture *f, const void *frames, size_t size_bytes, unsigned pointer_bytes, size_t depth)
{
	uint32_t number = 4711;

	assert_ok(rd_intern_stack(&f->in, frames, size_bytes, pointer_bytes, depth, &number), NULL);
	return number;
}

static void stacks(void **state)
{
	struct fixture *f = *state;
	static const uint64_t wide[] = {0x10, 0x20, 0xffffffff};
	static const uint32_t narrow[] = {0x10, 0x20, 0xffffffff};
	uint8_t odd[1 + sizeof wide];

	memcpy(odd + 1, wide, sizeof wide);
	assert_int_equal(stack_of(f, NULL, 0, 8, 10), 0);
	assert_int_equal(stack_of(f, wide, 0, 8, 10), 0);
	assert_int_equal(stack_of(f, odd + 1, sizeof wide, 8, 10), 1);
	assert_int_equal(stack_of(f, wide, sizeof wide, 8, 10), 1);
	/* Frames of 32 bits are the same addresses. */
	assert_int_equal(stack_of(f, narrow, sizeof narrow, 4, 10), 1);
	/* Cut: the innermost frames are kept. */
	assert_int_equal(stack_of(f, wide, sizeof wide, 8, 2), 2);
	assert_int_equal(stack_of(f, narrow, 8, 4, 10), 2);
	assert_int_equal(f->p.stack_ends.n, 2);
	assert_int_equal(f->p.stack_ends.at[0], 3);
	assert_int_equal(f->p.stack_ends.at[1], 5);
	assert_int_equal(f->p.stack_frames.at[2], 0xffffffff);
	assert_int_equal(f->p.stack_frames.at[4], 0x20);
}

static void no_memory(void **state)
{
	struct three t = {0};
	static const uint32_t frames[] = {1, 2, 3};

	fill_three(&t, (const uint16_t *)u"ns", (const uint16_t *)u"name", (const uint16_t *)u"sig");
	for (uint64_t nth = 1;; nth++) {
		struct rd_partial p = {0};
		struct rd_intern in = {.out = &p};
		struct rd_interned_names got;
		uint32_t number;
		rd_fail_allocation(nth);
		int code = rd_intern_method_names(&in, &t.method, &got);
		if (code == 0)
			code = rd_intern_stack(&in, (const uint8_t *)frames, sizeof frames, 4, 10, &number);
		rd_fail_allocation(0);
		rd_intern_release(&in);
		rd_partial_release(&p);
		if (code == 0) {
			assert_true(nth > 8);
			return;
		}
		assert_int_equal(code, RD_NOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(beyond_ascii, setup, teardown),
		cmocka_unit_test_setup_teardown(long_names, setup, teardown),
		cmocka_unit_test_setup_teardown(method_names, setup, teardown),
		cmocka_unit_test_setup_teardown(raw_names_differ_as_names_do, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks, setup, teardown),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
