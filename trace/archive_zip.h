/*
 * archive_zip - whether a zip's directory and its members speak of the same.
 *
 * A zip says twice what its members are called, and has a check for neither.
 * libarchive reads one of the two. A changed byte in a name, or in its length,
 * would let a trace be taken for something else, and a changed count let it
 * vanish.
 */
#ifndef RD_TRACE_ARCHIVE_ZIP_H
#define RD_TRACE_ARCHIVE_ZIP_H

#include "trace/source.h"

/*
 * 1: there is a directory, and every member is where and what it says; 0: there is none, or not a whole one.
 * RD_CORRUPT: they contradict each other. RD_LIMIT: it has more members, before any is looked at.
 */
int rd_zip_check(const struct rd_source *s, uint32_t members_most, struct rd_error *err);

#endif
