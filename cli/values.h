/*
 * values - the values that options take, out of a user's words.
 *
 * Each returns 0, or RD_USAGE and leaves its output alone. Nothing here
 * prints; the option table says which option a bad value belongs to.
 */
#ifndef RD_CLI_VALUES_H
#define RD_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* A moment: since the start of what is looked at, or in UTC. */
struct rd_moment {
	bool given;
	bool is_utc;
	int64_t ns; /* since the start (may be negative), or since 1970 */
};

/* A part of something: so many, or so many millionths of all. */
struct rd_share {
	bool given;
	uint64_t count;
	uint32_t millionths;
};

/* Decimal digits only. */
int rd_number_parse(const char *text, uint64_t *value);

/* "2", "1.5" (seconds), "250ms", "10us", "3m", "1h", "5ns" -> nanoseconds. Finer digits than that are refused. */
int rd_seconds_parse(const char *text, uint64_t *ns);

/*
 * Seconds as above, also negative; or ISO 8601: 2026-03-01, 2026-03-01T12:30,
 * 2026-03-01T12:30:05.25Z, …+02:00. Without a zone it is UTC.
 */
int rd_moment_parse(const char *text, struct rd_moment *moment);

/* "10": a count. "5%", "0.25%": a part, with at most four digits behind the point. */
int rd_share_parse(const char *text, struct rd_share *share);

#endif
