/*
 * permit - where a merger's children may write results.
 */
#ifndef RD_MERGER_PERMIT_H
#define RD_MERGER_PERMIT_H

#include "base/error.h"

/*
 * Whether the output lies below the roots (as rd_roots_resolve made them; NULL: anywhere), whatever links lead to it.
 * From then on the kernel, if it can, holds this process to the roots and the merger's own folder, so a link that is
 * put there later leads nowhere. 0, RD_USAGE, RD_IO, RD_NOMEM.
 */
int rd_permit(const char *roots, const char *state, const char *output, struct rd_error *err);

#endif
