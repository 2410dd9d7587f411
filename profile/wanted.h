/*
 * wanted - whether a process is the one that --process NAME|PID means.
 *
 * One rule for `run`, which filters samples, and for reports, which filter rows.
 */
#ifndef RD_PROFILE_WANTED_H
#define RD_PROFILE_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"

/*
 * A number is a pid, outside or inside its container (namespace_pid 0: none known); "-1" is the samples
 * without an owner. Anything else is a name: the process's, with or without its folder, with or without
 * ".exe" or ".dll"; letters of either case, as on Windows.
 */
bool rd_process_wanted(const char *wanted, uint32_t pid, uint32_t namespace_pid, struct rd_span name);

#endif
