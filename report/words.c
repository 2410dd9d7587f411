#include "report/words.h"

#include <stdio.h>

#include "trace/trace.h"

const char *rd_format_word(const struct rd_trace_info *info)
{
	const struct rd_format *format = rd_format_by_id(info->format);

	return format ? format->name : rd_trace_is_left_out(info) ? "left out" : "unknown";
}

const char *rd_version_word(const struct rd_trace_info *info, char buf[RD_VERSION_TEXT])
{
	if (info->format == RD_FORMAT_ETL || info->version_minor)
		snprintf(buf, RD_VERSION_TEXT, "%u.%u", info->version_major, info->version_minor);
	else
		snprintf(buf, RD_VERSION_TEXT, "%u", info->version_major);
	return buf;
}

void rd_missing_words(const struct rd_trust *t, const char *words[RD_MISSING_MOST + 1])
{
	size_t n = 0;

	if (t->missing_runtime)
		words[n++] = "Microsoft-Windows-DotNETRuntime";
	if (t->missing_rundown)
		words[n++] = "Microsoft-Windows-DotNETRuntimeRundown";
	if (t->missing_stacks)
		words[n++] = "stacks";
	words[n] = NULL;
}
