/*
 * words - what several forms call the same: formats of traces, what was missing.
 */
#ifndef RD_REPORT_WORDS_H
#define RD_REPORT_WORDS_H

#include "profile/result.h"

#define RD_VERSION_TEXT 40
#define RD_MISSING_MOST 3

/* "nettrace", "etl", …, "unknown". */
const char *rd_format_word(const struct rd_trace_info *info);
/* A nettrace or netperf version is one number; Windows' has two parts. */
const char *rd_version_word(const struct rd_trace_info *info, char buf[RD_VERSION_TEXT]);
/* What should have been recorded and was not: NULL-ended. */
void rd_missing_words(const struct rd_trust *t, const char *words[RD_MISSING_MOST + 1]);

#endif
