/*
 * canonical - the content in canonical order: the arrays of a result.
 *
 * Everything is sorted by what it says and numbered by its place, so that the
 * same traces give the same bytes whatever order they were counted in.
 */
#ifndef RD_PROFILE_CANONICAL_H
#define RD_PROFILE_CANONICAL_H

#include "profile/content.h"
#include "profile/progress.h"

/*
 * Fill out's processes, strings, frames, calls, stacks and rows; only what rows
 * refer to comes into the result. progress may be NULL. On failure the caller releases out.
 */
int rd_canonical(const struct rd_content *c, struct rd_result *out, struct rd_progress *progress, struct rd_error *err);

#endif
