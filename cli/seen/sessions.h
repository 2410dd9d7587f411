/*
 * sessions - who recorded a trace and on what machine, as its events say it (ETL).
 */
#ifndef RD_CLI_SEEN_SESSIONS_H
#define RD_CLI_SEEN_SESSIONS_H

#include "base/table.h"
#include "trace/record.h"

/* A file has one; an appended or merged one may have several. */
#define RD_SESSIONS_MOST 64

struct rd_seen_session {
	struct rd_session_record said; /* its spans are void: the strings below are its names */
	uint32_t name, file;           /* strings */
};

struct rd_sessions {
	RD_VEC(struct rd_seen_session) at;
	uint64_t n; /* those that were not kept counted in */
	uint32_t cpu_mhz, cpus;
	uint64_t memory_bytes;
	uint32_t host, build; /* strings + 1 */
	struct rd_strings strings;
};

void rd_sessions_release(struct rd_sessions *s);
/* 0 or RD_NOMEM. */
int rd_sessions_take(struct rd_sessions *s, const struct rd_record *r);

#endif
