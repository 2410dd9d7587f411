#include "merger/permit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/memory.h"
#include "base/roots.h"
#include "merger/beside.h"

static int check(const char *roots, const char *output, struct rd_error *err)
{
	char folder[4096];
	const char *name;
	int code = rd_beside_split(output, folder, sizeof folder, &name, err);

	if (code < 0)
		return code;
	int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rd_error_at(err, rd_fail_errno(err, "opening the output's folder"), folder, RD_NO_OFFSET);
	code = rd_roots_check_in(roots, fd, name, err);
	close(fd);
	return code == RD_USAGE ? rd_fail(err, RD_USAGE, "this lies outside of where results may be written") : code;
}

static int fence(char *roots, const char *state, struct rd_error *err)
{
	RD_VEC(const char *) folders = {0};
	char *rest = roots, *root;
	int code = 0;

	if (rd_vec_reserve(&folders, strlen(roots) / 2 + 3) < 0)
		return rd_fail_nomem(err);
	folders.at[folders.n++] = state;
	while ((root = strsep(&rest, ":")) != NULL)
		if (*root)
			folders.at[folders.n++] = root;
	folders.at[folders.n] = NULL;
	code = rd_confine_moves(folders.at, err);
	rd_vec_release(&folders);
	return code;
}

int rd_permit(const char *roots, const char *state, const char *output, struct rd_error *err)
{
	if (roots == NULL)
		return 0;
	int code = check(roots, output, err);
	if (code < 0)
		return rd_error_at(err, code, output, RD_NO_OFFSET);
	char *copy = rd_realloc(NULL, strlen(roots) + 1);
	if (copy == NULL)
		return rd_fail_nomem(err);
	strcpy(copy, roots);
	code = fence(copy, state, err);
	rd_free(copy);
	return code;
}
