/*
 * people - numbers, times and names as people read them.
 */
#ifndef RD_REPORT_PEOPLE_H
#define RD_REPORT_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/out.h"

#define RD_NUMBER_TEXT 48
#define RD_RANGE_TEXT  112

/* "1,234,567". */
const char *rd_count_text(uint64_t n, char buf[RD_NUMBER_TEXT]);
/* "12.3 %"; of nothing it is "0.0 %". What is not all never reads 100.0 %, and what is not none may read 0.0 %. */
const char *rd_percent_text(uint64_t part, uint64_t of, char buf[RD_NUMBER_TEXT]);
/* "12.3 ms", "61.2 s", "12 min 3 s", "3 h 4 min". */
const char *rd_duration_text(uint64_t ns, char buf[RD_NUMBER_TEXT]);
/* Seconds with as many digits as it takes: "1.25", "-3". */
const char *rd_seconds_text(int64_t ns, char buf[RD_NUMBER_TEXT]);
/* "from 1.5 s to 3 s", "from 1.5 s on", "up to 3 s": since the start; what was not asked for is not told. */
const char *rd_range_text(bool has_from, int64_t from_ns, bool has_to, int64_t to_ns, char buf[RD_RANGE_TEXT]);
/* "2026-03-01T12:30:05.25Z" of nanoseconds since 1970. */
const char *rd_utc_text(int64_t utc_ns, char buf[RD_NUMBER_TEXT]);

/* The columns that a name takes when nothing is cut. */
size_t rd_name_columns(struct rd_span text);
/*
 * The bytes as text that a terminal shows and does not obey: UTF-8; for the rest stand escapes (rd_escape). columns >
 * 0: of what is wider than that the middle is left out. Returns the columns written.
 */
size_t rd_out_name(struct rd_out *o, struct rd_span text, size_t columns);

#endif
