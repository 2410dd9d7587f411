/*
 * jit_name - what the runtime calls its compiled code in a perf map, taken apart.
 *
 * RET [ASM] TYPE::METH(ARGS)[TIER], matched greedily; METH has no "(". Types
 * and arguments hold brackets, parentheses and colons of their own, so each
 * separator is the last one that leaves room for those behind it.
 */
#ifndef RD_PROFILE_JIT_NAME_H
#define RD_PROFILE_JIT_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"

/* All borrow from the name. */
struct rd_jit_name {
	struct rd_span returns, module, ns, name, arguments;
	uint32_t tier; /* enum rd_tier */
};

/* Whether this is the name of compiled code. */
bool rd_jit_name(struct rd_span text, struct rd_jit_name *out);

#endif
