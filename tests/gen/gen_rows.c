/* gen_rows FOLDER - write the small traces of rows.h there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/gen/rows.h"

static int write_file(const char *folder, const struct row_file *row)
{
	struct rd_bytes bytes = {0};
	char path[4096];
	row->make(&bytes);
	snprintf(path, sizeof path, "%s/%s", folder, row->name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int rc = fd < 0 ? -1 : rd_write_all(fd, bytes.at, bytes.n, NULL);
	if (rc != 0)
		fprintf(stderr, "gen_rows: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	rd_bytes_release(&bytes);
	return rc;
}

static int write_all(const char *folder, const struct row_file *rows)
{
	for (; rows->name != NULL; rows++)
		if (write_file(folder, rows) != 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: gen_rows FOLDER\n");
		return 2;
	}
	return write_all(argv[1], rows_nettrace) || write_all(argv[1], rows_etl);
}
