#include "net/accept.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/start.h"

/* Read by libzmq's threads, which are started after it is set. */
static int end = INT_MAX;
static atomic_uint shut_out;

void rd_accept_guard(void)
{
	uint64_t max = rd_descriptors_max();

	if (max > RD_ACCEPT_SPARE && max <= INT_MAX)
		end = (int)max - RD_ACCEPT_SPARE;
}

unsigned rd_accept_shut_out(void)
{
	return atomic_exchange(&shut_out, 0);
}

/* sys/socket.h has its arguments as a union of all addresses, which is the compiler's to spell. */
int accept4(int fd, void *restrict address, unsigned *restrict size, int flags);

/*
 * As the C library's, for all of the process, libraries included. A connection that went before it was taken is what
 * each caller knows how to live with.
 */
__attribute__((visibility("default"))) int accept4(int fd, void *restrict address, unsigned *restrict size, int flags)
{
	long peer = syscall(SYS_accept4, fd, address, size, flags);

	if (peer < end && peer >= 0)
		return (int)peer;
	if (peer >= 0) {
		close((int)peer);
		atomic_fetch_add(&shut_out, 1);
	}
	if (peer >= 0 || errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
		errno = ECONNABORTED;
	return -1;
}
