#include "profile/wanted.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static bool same(struct rd_span name, const char *wanted, size_t n)
{
	return name.size_bytes == n && n && strncasecmp((const char *)name.at, wanted, n) == 0;
}

/* Only the two extensions that programs have: "My.Web.Server" ends in none. */
static struct rd_span without_extension(struct rd_span name)
{
	if (name.size_bytes > 4) {
		const char *end = (const char *)name.at + name.size_bytes - 4;
		if (strncasecmp(end, ".exe", 4) == 0 || strncasecmp(end, ".dll", 4) == 0)
			name.size_bytes -= 4;
	}
	return name;
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

bool rd_process_wanted(const char *wanted, uint32_t pid, uint32_t namespace_pid, struct rd_span name)
{
	size_t n = strlen(wanted);

	if (strcmp(wanted, "-1") == 0)
		return pid == UINT32_MAX;
	if (is_number(wanted)) {
		unsigned long long number = strtoull(wanted, NULL, 10);
		return number < UINT32_MAX && (number == pid || (namespace_pid && number == namespace_pid));
	}
	struct rd_span base = rd_base_name(name);
	return same(name, wanted, n) || same(base, wanted, n) || same(without_extension(base), wanted, n);
}
