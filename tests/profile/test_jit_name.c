/* Names of compiled code in a perf map, taken apart. */
#include "tests/support.h"

#include "profile/jit_name.h"
#include "profile/result.h"

static bool take(const char *text, struct rd_jit_name *n)
{
	size_t size = strlen(text);
	uint8_t *exact = malloc(size + 1);
	static uint8_t *last;

	assert_non_null(exact);
	memcpy(exact, text, size);
	free(last);
	last = exact;
	bool is = rd_jit_name((struct rd_span){exact, size}, n);
	if (!is) {
		free(last);
		last = NULL;
	}
	return is;
}

static void check(const char *text, const char *returns, const char *module, const char *ns, const char *name,
		  const char *arguments, uint32_t tier)
{
	struct rd_jit_name n;

	assert_true(take(text, &n));
	assert_span(n.returns, returns);
	assert_span(n.module, module);
	assert_span(n.ns, ns);
	assert_span(n.name, name);
	assert_span(n.arguments, arguments);
	assert_int_equal(n.tier, tier);
}

static void plain_names(void **state)
{
	check("int32 [shop] Shop.Program::Fib(int32)[OptimizedTier1]", "int32", "shop", "Shop.Program", "Fib", "int32",
	      RD_TIER_TIER1);
	check("instance void [System.Private.CoreLib] System.Object::.ctor()[PreJIT]", "instance void",
	      "System.Private.CoreLib", "System.Object", ".ctor", "", RD_TIER_PRECOMPILED);
	check("int64 [Anonymously Hosted DynamicMethods Assembly] dynamicClass::Dyn27(int64)[Optimized]", "int64",
	      "Anonymously Hosted DynamicMethods Assembly", "dynamicClass", "Dyn27", "int64", RD_TIER_OPTIMIZED);
}

/* Brackets in all parts: only the last that leave room for the rest are separators. */
static void brackets_everywhere(void **state)
{
	check("instance class [System.Runtime]System.String [shop] Shop.Tree`1[System.__Canon]::Add(!0,"
	      "class [System.Runtime]System.String[])[QuickJitted]",
	      "instance class [System.Runtime]System.String", "shop", "Shop.Tree`1[System.__Canon]", "Add",
	      "!0,class [System.Runtime]System.String[]", RD_TIER_QUICK);
	/* A method table's address in the arguments, and a generic method. */
	check("void [a] B::C[System.Int32](value /* MT: 0x7f */)[MinOptJitted]", "void", "a", "B", "C[System.Int32]",
	      "value /* MT: 0x7f */", RD_TIER_MIN_OPT);
	/* An explicit implementation has a type in its name. */
	check("void [a] B::System.IDisposable.Dispose()[OptimizedTier1OSR]", "void", "a", "B",
	      "System.IDisposable.Dispose", "", RD_TIER_TIER1_OSR);
	check("a [b] c::d(e)[f](g)[InstrumentedTier]", "a", "b", "c", "d", "e)[f](g", RD_TIER_QUICK_INSTRUMENTED);
	/* The last colons with a parenthesis behind them. */
	check("a [b] c::d(method e f::g(h))[InstrumentedTierOptimized]", "a", "b", "c::d(method e f", "g", "h)",
	      RD_TIER_TIER1_INSTRUMENTED);
	check("a [b] c [d] e::f()[g]", "a [b] c", "d", "e", "f", "", RD_TIER_UNKNOWN);
	check("a [b] [c] d::e()[ReadyToRun]", "a [b]", "c", "d", "e", "", RD_TIER_PRECOMPILED);
	check("a [b] c] d::e()[Tier9]", "a", "b] c", "d", "e", "", RD_TIER_UNKNOWN);
}

static void parts_may_be_empty(void **state)
{
	check(" [] ::()[]", "", "", "", "", "", RD_TIER_UNKNOWN);
}

static void what_is_no_compiled_code(void **state)
{
	static const char *const names[] = {
		"",
		"]",
		"memcpy",
		"stub ReportStubBlock<MethodCallThunk>",
		"icu_72::RuleBasedCollator::doCompare(char16_t const*, int) const",
		"int32 [shop] Shop.Program::Fib(int32)[OptimizedTier1] ",
		"int32 [shop] Shop.Program::Fib(int32)",
		"int32 [shop] Shop.Program::Fib[OptimizedTier1]",
		"int32 [shop] Shop.Program.Fib(int32)[OptimizedTier1]",
		"int32 [shop]Shop.Program::Fib(int32)[OptimizedTier1]",
		"int32[shop] Shop.Program::Fib(int32)[OptimizedTier1]",
		"int32 shop] Shop.Program::Fib(int32)[OptimizedTier1]",
		"a(b)[c] [d] e::f[g]",
		")[]",
		"::()[]",
		" [] :()[]",
		" [] ::)[]",
	};
	struct rd_jit_name n;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_false(take(names[i], &n));
	/* Every shorter piece of a name. */
	const char *whole = "int32 [shop] Shop.Program::Fib(int32)[OptimizedTier1]";
	for (size_t k = 0; k < strlen(whole); k++)
		assert_false(rd_jit_name((struct rd_span){(const uint8_t *)whole, k}, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names),
		cmocka_unit_test(brackets_everywhere),
		cmocka_unit_test(parts_may_be_empty),
		cmocka_unit_test(what_is_no_compiled_code),
	};
	return cmocka_run_group_tests_name("jit_name", tests, NULL, NULL);
}
