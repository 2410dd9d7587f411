/*
 * poison - preloaded into a program, it makes one byte of a file deadly.
 *
 * Whoever reads the byte at RD_POISON_AT in a read of 64 KiB or more dies. So a
 * parser dies each time it decodes that shard, and nobody else: an index reads
 * the heads of blocks, in pieces that are smaller. With RD_POISON_ACT=socket it
 * asks for a socket instead, as one would whom the byte has taken over, and goes
 * on if it gets one; with spin it works for ever, with eat it takes memory
 * until there is none, with exit it ends with 0 and without a word.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define DEADLY_BYTES ((size_t)64 << 10)

static void die(const char *act)
{
	if (act == NULL)
		__builtin_trap();
	while (strcmp(act, "spin") == 0)
		__asm__ volatile("");
	if (strcmp(act, "exit") == 0)
		_exit(0);
	while (strcmp(act, "eat") == 0) {
		void *p = malloc((size_t)16 << 20);
		if (p == NULL)
			__builtin_trap();
		memset(p, 1, (size_t)16 << 20);
		__asm__ volatile("" : : "r"(p) : "memory");
	}
	close(socket(AF_INET, SOCK_STREAM, 0));
}

static void taste(size_t size_bytes, off_t offset)
{
	const char *at = getenv("RD_POISON_AT");
	uint64_t byte = at ? strtoull(at, NULL, 10) : UINT64_MAX;

	if (size_bytes >= DEADLY_BYTES && byte >= (uint64_t)offset && byte - (uint64_t)offset < size_bytes)
		die(getenv("RD_POISON_ACT"));
}

ssize_t pread(int fd, void *buf, size_t size_bytes, off_t offset)
{
	taste(size_bytes, offset);
	return syscall(SYS_pread64, fd, buf, size_bytes, offset);
}

ssize_t pread64(int fd, void *buf, size_t size_bytes, off_t offset)
{
	return pread(fd, buf, size_bytes, offset);
}
