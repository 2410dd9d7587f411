/*
 * A greedy match takes the longest return type that any match has, then the
 * longest module, and so on. Each separator's latest possible place hangs only
 * on that of the next one, so they are found from the end, one look each.
 */
#include "profile/jit_name.h"

#include <stddef.h>
#include <string.h>

#include "profile/result.h"

/* As the runtime writes them into a perf map. */
static const struct {
	const char *text;
	uint32_t tier;
} tiers[] = {
	{"MinOptJitted", RD_TIER_MIN_OPT},
	{"Optimized", RD_TIER_OPTIMIZED},
	{"QuickJitted", RD_TIER_QUICK},
	{"OptimizedTier1", RD_TIER_TIER1},
	{"OptimizedTier1OSR", RD_TIER_TIER1_OSR},
	{"InstrumentedTier", RD_TIER_QUICK_INSTRUMENTED},
	{"InstrumentedTierOptimized", RD_TIER_TIER1_INSTRUMENTED},
	{"PreJIT", RD_TIER_PRECOMPILED},
	{"ReadyToRun", RD_TIER_PRECOMPILED},
};

static uint32_t tier_of(struct rd_span text)
{
	for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
		if (strlen(tiers[i].text) == text.size_bytes && memcmp(tiers[i].text, text.at, text.size_bytes) == 0)
			return tiers[i].tier;
	return RD_TIER_UNKNOWN;
}

#define NOWHERE SIZE_MAX

/* The last place of a separator of one or two bytes that ends at or before `end`; NOWHERE none. end may be NOWHERE. */
static size_t last_before(struct rd_span text, const char *separator, size_t end)
{
	size_t n = strlen(separator);

	while (end != NOWHERE && end >= n) {
		const uint8_t *last = memrchr(text.at + n - 1, separator[n - 1], end - (n - 1));
		if (last == NULL)
			return NOWHERE;
		if (last[-(ptrdiff_t)(n - 1)] == (uint8_t)separator[0])
			return (size_t)(last - text.at) - (n - 1);
		end = (size_t)(last - text.at);
	}
	return NOWHERE;
}

static struct rd_span between(struct rd_span text, size_t begin, size_t end)
{
	return (struct rd_span){text.at + begin, end - begin};
}

bool rd_jit_name(struct rd_span text, struct rd_jit_name *out)
{
	size_t n = text.size_bytes;

	if (n == 0 || text.at[n - 1] != ']')
		return false;
	size_t close = last_before(text, ")[", n - 1);
	size_t colons = last_before(text, "::", last_before(text, "(", close));
	size_t module_end = last_before(text, "] ", colons);
	size_t module = last_before(text, " [", module_end);
	if (module == NOWHERE)
		return false;
	/* The last colons leave a "(" behind them; the name ends at the first. */
	const uint8_t *open = memchr(text.at + colons, '(', close - colons);
	size_t arguments = (size_t)(open - text.at) + 1;
	out->returns = between(text, 0, module);
	out->module = between(text, module + 2, module_end);
	out->ns = between(text, module_end + 2, colons);
	out->name = between(text, colons + 2, arguments - 1);
	out->arguments = between(text, arguments, close);
	out->tier = tier_of(between(text, close + 2, n - 1));
	return true;
}
