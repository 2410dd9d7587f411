/*
 * roots - folders below which others may name files: "/traces:/results".
 *
 * By text for who opens nothing, and by what was opened for who does: a link
 * below a root may lead anywhere.
 */
#ifndef RD_BASE_ROOTS_H
#define RD_BASE_ROOTS_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

/* Whether a path is absolute, made of names only, and below a root. NULL roots hold all. */
bool rd_roots_hold(const char *roots, struct rd_span path);

/* The roots without links, and `more` (NULL none) with them, as a text with its NUL. RD_NOT_FOUND, RD_IO, RD_NOMEM. */
int rd_roots_resolve(const char *roots, const char *more, struct rd_bytes *out, struct rd_error *err);
/* Whether what is open lies below these roots, which have no links: 0, RD_USAGE, or RD_IO. */
int rd_roots_check(const char *resolved, int fd, struct rd_error *err);
/* The same of a name in a folder that is open. */
int rd_roots_check_in(const char *resolved, int fd, const char *name, struct rd_error *err);

#endif
