#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"

/* Numbers of statfs(2), fixed for ever; some are in no header. */
static const struct {
	uint32_t type;
	const char *name;
} shared[] = {
	{0x00006969, "NFS"},      {0x0000517b, "SMB"},  {0xff534d42, "CIFS"},   {0xfe534d42, "SMB2"},
	{0x0bd00bd0, "Lustre"},   {0x65735546, "FUSE"}, {0x01021997, "9P"},     {0x00c36400, "Ceph"},
	{0x5346414f, "AFS"},      {0x6b414653, "kAFS"}, {0x73757245, "Coda"},   {0x01161970, "GFS2"},
	{0x7461636f, "OCFS2"},    {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"}, {0x786f4256, "VirtualBox"},
	{0x20030528, "OrangeFS"},
};

int rd_place_shared(const char *path, const char **name, struct rd_error *err)
{
	struct statfs fs;
	int rc;

	do
		rc = statfs(path, &fs);
	while (rc != 0 && errno == EINTR);
	if (rc != 0)
		return rd_error_at(err, rd_fail_errno(err, "asking for the file system"), path, RD_NO_OFFSET);
	*name = NULL;
	for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
		if (shared[i].type == (uint32_t)fs.f_type)
			*name = shared[i].name;
	return 0;
}

static int check_disk(const char *folder, const char *owner, bool thrown_away, struct rd_error *err)
{
	const char *name;
	int code = rd_place_shared(folder, &name, err);

	if (code < 0 || name == NULL || thrown_away)
		return code;
	code = rd_fail(err, RD_UNSUPPORTED, "the %s's state must lie on a disk of this machine, and this is %s", owner,
		       name);
	return rd_error_at(err, code, folder, RD_NO_OFFSET);
}

int rd_place_own(const char *folder, const char *owner, bool thrown_away, struct rd_error *err)
{
	char path[4096];
	int code;

	if ((code = rd_make_folders(folder, 0700, err)) < 0)
		return rd_error_in(err, code, "the %s's state", owner);
	if ((code = check_disk(folder, owner, thrown_away, err)) < 0 ||
	    (code = rd_path(path, sizeof path, err, "%s/lock", folder)) < 0)
		return code;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return rd_error_at(err, rd_fail_errno(err, "opening the %s's lock", owner), path, RD_NO_OFFSET);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	code = errno == EWOULDBLOCK ? rd_fail(err, RD_EXISTS, "another %s works in this folder", owner)
				    : rd_fail_errno(err, "locking the %s's folder", owner);
	close(fd);
	return rd_error_at(err, code, folder, RD_NO_OFFSET);
}
