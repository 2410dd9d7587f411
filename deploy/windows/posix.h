/*
 * posix - what the sources shared with Linux name and Windows has not, for `make windows`. Included before all else.
 *
 * Wide characters are columns of a terminal's tables, which nothing here draws: each counts as one.
 */
#ifndef RD_DEPLOY_WINDOWS_POSIX_H
#define RD_DEPLOY_WINDOWS_POSIX_H

#include <string.h>
#include <wchar.h>

typedef void *locale_t;
#define LC_CTYPE_MASK 0

static inline locale_t newlocale(int mask, const char *name, locale_t base)
{
	(void)mask;
	(void)name;
	return base;
}

static inline locale_t uselocale(locale_t to)
{
	return to;
}

static inline int wcwidth(wchar_t c)
{
	return c != 0;
}

static inline const char *strerror_r(int number, char *text, size_t size)
{
	return strerror_s(text, size, number) == 0 ? text : "";
}

#endif
