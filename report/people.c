#include "report/people.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *rd_count_text(uint64_t n, char buf[RD_NUMBER_TEXT])
{
	char digits[24];
	int count = snprintf(digits, sizeof digits, "%" PRIu64, n);
	char *to = buf;

	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return buf;
}

const char *rd_percent_text(uint64_t part, uint64_t of, char buf[RD_NUMBER_TEXT])
{
	uint64_t tenths = 0;

	if (of) {
		tenths = (uint64_t)(((unsigned __int128)part * 1000 + of / 2) / of);
		if (tenths == 1000 && part < of)
			tenths = 999;
	}
	snprintf(buf, RD_NUMBER_TEXT, "%" PRIu64 ".%u %%", tenths / 10, (unsigned)(tenths % 10));
	return buf;
}

const char *rd_duration_text(uint64_t ns, char buf[RD_NUMBER_TEXT])
{
	uint64_t seconds = ns / 1000000000;

	if (ns < 1000000000)
		snprintf(buf, RD_NUMBER_TEXT, "%.1f ms", (double)ns / 1e6);
	else if (seconds < 600)
		snprintf(buf, RD_NUMBER_TEXT, "%.1f s", (double)ns / 1e9);
	else if (seconds < 3600)
		snprintf(buf, RD_NUMBER_TEXT, "%u min %u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
	else
		snprintf(buf, RD_NUMBER_TEXT, "%" PRIu64 " h %u min", seconds / 3600, (unsigned)(seconds / 60 % 60));
	return buf;
}

/* ".25" of 250,000,000 ns; nothing of 0. */
static void put_fraction(char *to, size_t size, uint32_t ns)
{
	size_t n = (size_t)snprintf(to, size, ".%09u", (unsigned)ns);

	while (n > 0 && to[n - 1] == '0')
		to[--n] = 0;
	if (n == 1)
		to[0] = 0;
}

const char *rd_seconds_text(int64_t ns, char buf[RD_NUMBER_TEXT])
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char fraction[16];

	put_fraction(fraction, sizeof fraction, (uint32_t)(size % 1000000000));
	snprintf(buf, RD_NUMBER_TEXT, "%s%" PRIu64 "%s", ns < 0 ? "-" : "", size / 1000000000, fraction);
	return buf;
}

const char *rd_range_text(bool has_from, int64_t from_ns, bool has_to, int64_t to_ns, char buf[RD_RANGE_TEXT])
{
	char from[RD_NUMBER_TEXT], to[RD_NUMBER_TEXT];

	rd_seconds_text(from_ns, from);
	rd_seconds_text(to_ns, to);
	if (has_from && has_to)
		snprintf(buf, RD_RANGE_TEXT, "from %s s to %s s", from, to);
	else if (has_from)
		snprintf(buf, RD_RANGE_TEXT, "from %s s on", from);
	else
		snprintf(buf, RD_RANGE_TEXT, "up to %s s", to);
	return buf;
}

const char *rd_utc_text(int64_t utc_ns, char buf[RD_NUMBER_TEXT])
{
	int64_t seconds = utc_ns / 1000000000, rest = utc_ns % 1000000000;
	char fraction[16];

	if (rest < 0) {
		rest += 1000000000;
		seconds--;
	}
	int64_t days = seconds / 86400, second = seconds % 86400;
	if (second < 0) {
		second += 86400;
		days--;
	}
	/* Gregorian: eras of 400 years that begin in March, so that the odd day is their last. */
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	int64_t day_of_era = shifted - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t month = (5 * day_of_year + 2) / 153;
	int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
	month = month < 10 ? month + 3 : month - 9;
	put_fraction(fraction, sizeof fraction, (uint32_t)rest);
	snprintf(buf, RD_NUMBER_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", (int)(year_of_era + era * 400 + (month <= 2)),
		 (int)month, (int)day, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60), fraction);
	return buf;
}

/* One character of a name as it is shown. */
struct shown {
	const char *text;
	size_t size_bytes;
	size_t columns;
	char escape[RD_ESCAPE_TEXT];
};

static const uint8_t *show(const uint8_t *p, const uint8_t *end, struct shown *c)
{
	size_t n = rd_printable(p, end);

	c->text = (const char *)p;
	c->size_bytes = n;
	c->columns = n ? rd_char_columns(p, n) : 0;
	if (n)
		return p + n;
	n = rd_escape(p, end, c->escape);
	c->text = c->escape;
	c->size_bytes = c->columns = strlen(c->escape);
	return p + n;
}

size_t rd_name_columns(struct rd_span text)
{
	const uint8_t *p = text.at, *end = text.size_bytes ? p + text.size_bytes : p;
	struct shown c;
	size_t columns = 0;

	while (p < end) {
		p = show(p, end, &c);
		columns += c.columns;
	}
	return columns;
}

size_t rd_out_name(struct rd_out *o, struct rd_span text, size_t columns)
{
	const uint8_t *p = text.at, *end = text.size_bytes ? p + text.size_bytes : p;
	size_t count = columns ? rd_name_columns(text) : 0, at = 0, written = 0;
	bool cut = columns && count > columns, dots = false;
	/* The end of a name tells more than its middle: the head gets half of what the dots leave. */
	size_t head = cut ? (columns - 1) / 2 : 0, tail = cut ? columns - 1 - head : 0;
	struct shown c;

	for (; p < end; at += c.columns) {
		p = show(p, end, &c);
		if (!cut || at + c.columns <= head || (dots && at >= count - tail)) {
			rd_out_bytes(o, c.text, c.size_bytes);
			written += c.columns;
			continue;
		}
		if (!dots) {
			rd_out_text(o, "\xe2\x80\xa6");
			written++;
		}
		dots = true;
	}
	return written;
}
