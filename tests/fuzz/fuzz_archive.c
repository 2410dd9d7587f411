/*
 * Any bytes as an archive: unpacked into a folder of its own under tight caps.
 * What comes out is within them, and a failure leaves nothing behind.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/archive.h"

#define PLAIN_BYTES (UINT64_C(32) << 20)
#define MEMBERS     8

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static size_t count_files(const char *folder)
{
	DIR *d = opendir(folder);
	size_t n = 0;
	if (d == NULL)
		abort();
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void check_files(const rd_unpacked_vec *files, const char *folder, int rc)
{
	uint64_t plain = 0;
	if (files->n != count_files(folder) || files->n > MEMBERS || (rc == 0) != (files->n != 0))
		abort();
	for (size_t i = 0; i < files->n; i++)
		plain += files->at[i].size_bytes;
	if (plain > PLAIN_BYTES)
		abort();
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	const struct rd_unpack_limits limits = {.plain_bytes = PLAIN_BYTES, .members = MEMBERS};
	struct rd_source s = {.size_bytes = size_bytes, .path = "fuzz.zip"};
	rd_unpacked_vec files = {0};
	char folder[4096];
	bool packed;
	s.fd = memfd_create("fuzz", 0);
	if (s.fd < 0 || rd_write_all(s.fd, bytes, size_bytes, NULL) != 0 ||
	    rd_private_folder(NULL, "rundown-fuzz", folder, sizeof folder, NULL) != 0 ||
	    rd_archive_is(&s, &packed, NULL) != 0)
		abort();
	int rc = rd_archive_unpack(&s, folder, &limits, &files, NULL, NULL, NULL);
	if (!packed && rc == 0)
		abort();
	check_files(&files, folder, rc);
	rd_vec_release(&files);
	rd_remove_tree(folder, NULL);
	close(s.fd);
	return 0;
}
