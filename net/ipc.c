#include "net/ipc.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char *rd_ipc_path(const char *endpoint)
{
	static const char scheme[] = "ipc://";
	const char *path = endpoint + sizeof scheme - 1;

	if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0)
		return NULL;
	/* libzmq's own words: an abstract name, a folder of its own. */
	return *path == '@' || *path == '*' ? NULL : path;
}

int rd_ipc_check(const char *path, struct rd_error *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : rd_fail_errno(err, "cannot listen");
	if (!S_ISSOCK(st.st_mode))
		return rd_fail(err, RD_EXISTS, "cannot listen: something that is no socket is there");
	return 0;
}
