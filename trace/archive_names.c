#include "trace/archive_names.h"

#include <string.h>
#include <strings.h>

static bool is_slash(char c)
{
	return c == '/' || c == '\\';
}

/* By the rules of POSIX or of Windows. */
static bool is_absolute(const char *name)
{
	bool letter = (name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z');
	return is_slash(name[0]) || (letter && name[1] == ':');
}

static bool goes_up(const char *name)
{
	const char *p = name;
	while (*p) {
		size_t n = strcspn(p, "/\\");
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return true;
		p += n;
		p += is_slash(*p);
	}
	return false;
}

int rd_archive_name_check(struct rd_strings *seen, const char *name, struct rd_error *err)
{
	char shown[128];
	size_t known = seen->at.n;
	rd_archive_name_shown(shown, sizeof shown, name);
	if (is_absolute(name))
		return rd_fail(err, RD_CORRUPT, "the archive has a member with an absolute name: %s", shown);
	if (goes_up(name))
		return rd_fail(err, RD_CORRUPT, "the archive has a member with .. in its name: %s", shown);
	uint32_t id = rd_strings_id(seen, name, strlen(name));
	if (id == RD_NONE)
		return rd_fail_nomem(err);
	if (id < known)
		return rd_fail(err, RD_CORRUPT, "the archive has two members of one name: %s", shown);
	return 0;
}

void rd_archive_name_shown(char *out, size_t size, const char *name)
{
	size_t n = strlen(name);
	if (n >= size) {
		name += n - (size - 1);
		/* Not to begin inside a character. */
		while ((*name & 0xc0) == 0x80)
			name++;
		n = strlen(name);
	}
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i];
	out[n] = 0;
}

bool rd_archive_name_says_trace(const char *name)
{
	static const char *const endings[] = {".nettrace", ".netperf", ".etl"};
	size_t n = strlen(name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t ending = strlen(endings[i]);
		if (n >= ending && strcasecmp(name + n - ending, endings[i]) == 0)
			return true;
	}
	return false;
}
