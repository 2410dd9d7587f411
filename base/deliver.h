/*
 * deliver - a finished file or folder takes its place, and nothing goes that is not ours to take.
 *
 * What stood in the place may be looked at long before, and be another thing
 * by now: somebody's own folder that was moved there. So it is asked for right
 * before the exchange, and what came out of the place is asked for again
 * before anybody removes it.
 */
#ifndef RD_BASE_DELIVER_H
#define RD_BASE_DELIVER_H

#include <stdbool.h>

#include "base/error.h"

/* Whether what lies at a path may be taken away: 0, or a negative code and why not. */
typedef int (*rd_ours_fn)(const char *path, struct rd_error *err);

/*
 * Put the finished folder `from` in the place of `to`, both on one file system.
 * `ours` NULL: RD_EXISTS when anything is there. Else what is there must be
 * ours, and lies at `from` afterwards, for the caller to remove: the two are
 * exchanged in one step where the file system can, so that at no time there is
 * neither. What turns out not to be ours is put back, and the code is that of
 * `ours`. If it cannot be put back, it lies beside, and the error names it.
 */
int rd_deliver(const char *from, const char *to, rd_ours_fn ours, struct rd_error *err);

/* Put the finished file in the place of `to`, over any file that is there. RD_IO: a folder is, or it cannot be. */
int rd_deliver_file(const char *from, const char *to, struct rd_error *err);

/* Tests only. */
extern struct rd_deliver_tests {
	void (*moment)(const char *name); /* others may act here: "asked", "exchanged" */
	bool plain;                       /* renames have no flags, as on old file systems */
} rd_deliver_tests;

#endif
