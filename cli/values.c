#include "cli/values.h"

#include <string.h>

#include "base/error.h"

#define NS_PER_SECOND INT64_C(1000000000)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int rd_number_parse(const char *text, uint64_t *value)
{
	uint64_t v = 0;

	if (*text == 0)
		return RD_USAGE;
	for (; *text; text++)
		if (!is_digit(*text) || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return RD_USAGE;
	*value = v;
	return 0;
}

/* Exactly n digits; moves *at behind them. */
static bool fixed_digits(const char **at, int n, int *value)
{
	int v = 0;
	for (int i = 0; i < n; i++) {
		if (!is_digit((*at)[i]))
			return false;
		v = v * 10 + (*at)[i] - '0';
	}
	*at += n;
	*value = v;
	return true;
}

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{"", 1000000000},          {"s", 1000000000},           {"ms", 1000000}, {"us", 1000}, {"ns", 1},
	{"m", 60 * 1000000000ull}, {"h", 3600 * 1000000000ull},
};

int rd_seconds_parse(const char *text, uint64_t *ns)
{
	const char *digits = text;
	uint64_t whole = 0, part = 0, unit_ns = 0;
	/* The value of the next digit behind the point, as a fraction 1 / scale of the unit. */
	uint64_t scale = 1;

	for (; is_digit(*text); text++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
			return RD_USAGE;
	if (text == digits)
		return RD_USAGE;
	if (*text == '.') {
		const char *behind = ++text;
		for (; is_digit(*text); text++) {
			if (text - behind == 12)
				return RD_USAGE;
			part = part * 10 + (uint64_t)(*text - '0');
			scale *= 10;
		}
		if (text == behind)
			return RD_USAGE;
	}
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(text, units[i].name) == 0)
			unit_ns = units[i].ns;
	if (unit_ns == 0)
		return RD_USAGE;

	unsigned __int128 fraction = (unsigned __int128)part * unit_ns;
	if (fraction % scale != 0 || __builtin_mul_overflow(whole, unit_ns, &whole) ||
	    __builtin_add_overflow(whole, (uint64_t)(fraction / scale), &whole))
		return RD_USAGE;
	*ns = whole;
	return 0;
}

/* Days from 1970-01-01 in the Gregorian calendar: a year is taken to begin in March, so that its odd day is its last.
 */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t m = (month + 9) % 12;
	int64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
	return days - 719468;
}

static int days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

/* "Z", "+02:00", "-0530" or nothing: seconds east of Greenwich. */
static int zone_parse(const char *text, int *seconds)
{
	int hours, minutes;

	*seconds = 0;
	if (*text == 0 || strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
		return 0;
	if (*text != '+' && *text != '-')
		return RD_USAGE;
	int sign = *text++ == '-' ? -1 : 1;
	if (!fixed_digits(&text, 2, &hours))
		return RD_USAGE;
	if (*text == ':')
		text++;
	if (!fixed_digits(&text, 2, &minutes) || *text || hours > 23 || minutes > 59)
		return RD_USAGE;
	*seconds = sign * (hours * 3600 + minutes * 60);
	return 0;
}

/* "T12:30", "T12:30:05", "T12:30:05.25" or nothing; moves *at behind it. */
static int day_time_parse(const char **at, int64_t *ns)
{
	int hour, minute, second = 0;
	int64_t fraction = 0;

	*ns = 0;
	if (**at != 'T' && **at != 't' && **at != ' ')
		return 0;
	++*at;
	if (!fixed_digits(at, 2, &hour) || *(*at)++ != ':' || !fixed_digits(at, 2, &minute))
		return RD_USAGE;
	if (**at == ':') {
		++*at;
		if (!fixed_digits(at, 2, &second))
			return RD_USAGE;
		if (**at == '.') {
			const char *behind = ++*at;
			int64_t digit_ns = NS_PER_SECOND / 10;
			for (; is_digit(**at); ++*at, digit_ns /= 10)
				fraction += (**at - '0') * digit_ns;
			if (*at == behind || *at - behind > 9)
				return RD_USAGE;
		}
	}
	if (hour > 23 || minute > 59 || second > 59)
		return RD_USAGE;
	*ns = (hour * 3600 + minute * 60 + second) * NS_PER_SECOND + fraction;
	return 0;
}

static int iso_parse(const char *text, int64_t *utc_ns)
{
	int year, month, day, zone;
	int64_t time_ns, ns;

	if (!fixed_digits(&text, 4, &year) || *text++ != '-' || !fixed_digits(&text, 2, &month) || *text++ != '-' ||
	    !fixed_digits(&text, 2, &day))
		return RD_USAGE;
	if (month < 1 || month > 12 || day < 1 || day > days_in(year, month))
		return RD_USAGE;
	if (day_time_parse(&text, &time_ns) != 0 || zone_parse(text, &zone) != 0)
		return RD_USAGE;
	if (__builtin_mul_overflow(days_of(year, month, day) * 86400 - zone, NS_PER_SECOND, &ns) ||
	    __builtin_add_overflow(ns, time_ns, &ns))
		return RD_USAGE;
	*utc_ns = ns;
	return 0;
}

int rd_moment_parse(const char *text, struct rd_moment *moment)
{
	bool negative = *text == '-';
	uint64_t ns;
	int64_t utc_ns;

	if (rd_seconds_parse(text + negative, &ns) == 0 && ns <= INT64_MAX) {
		*moment = (struct rd_moment){.given = true, .ns = negative ? -(int64_t)ns : (int64_t)ns};
		return 0;
	}
	if (iso_parse(text, &utc_ns) != 0)
		return RD_USAGE;
	*moment = (struct rd_moment){.given = true, .is_utc = true, .ns = utc_ns};
	return 0;
}

int rd_share_parse(const char *text, struct rd_share *share)
{
	uint64_t value = 0, scale = 10000;
	const char *digits = text;

	if (rd_number_parse(text, &value) == 0) {
		*share = (struct rd_share){.given = true, .count = value};
		return 0;
	}
	for (value = 0; is_digit(*text) && value <= UINT32_MAX; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	value *= scale;
	if (text == digits)
		return RD_USAGE;
	if (*text == '.') {
		digits = ++text;
		for (; is_digit(*text) && scale > 1; text++)
			value += (uint64_t)(*text - '0') * (scale /= 10);
		if (text == digits)
			return RD_USAGE;
	}
	if (strcmp(text, "%") != 0 || value > UINT32_MAX)
		return RD_USAGE;
	*share = (struct rd_share){.given = true, .millionths = (uint32_t)value};
	return 0;
}
