/*
 * archive_members - archives of several members, zip and 7z, through libarchive.
 *
 * A trace is held against its check, and so is a member that has a trace's name
 * and not its first bytes, because they may be what was damaged. A damaged
 * member fails the archive: a trace may be one of a set, and a set that misses
 * one says something else. Other members are passed over.
 *
 * A zip without its directory, which stands at its end, was cut: members are
 * then found one behind the other, and what came of them is kept.
 */
#ifndef RD_TRACE_ARCHIVE_MEMBERS_H
#define RD_TRACE_ARCHIVE_MEMBERS_H

#include "trace/archive_output.h"

/* A zip that begins with its end has no members. */
enum rd_archive_format { RD_ARCHIVE_ZIP = 1, RD_ARCHIVE_EMPTY_ZIP, RD_ARCHIVE_7ZIP };

struct rd_archive_members {
	const struct rd_source *source;
	enum rd_archive_format format;
	struct rd_archive_output *output;
	bool only_look; /* for a trace, up to the first: nothing is written */
	uint32_t members_most, traces_most;
	void (*progress)(void *ctx, uint64_t packed_bytes);
	void *ctx;
};

/* 0, with the number of traces found; RD_NOT_FOUND when none was to be written. The caller undoes on a failure. */
int rd_archive_members(const struct rd_archive_members *what, uint32_t *traces, struct rd_error *err);

#endif
