/*
 * ipc - whose a local socket's path is. Inside net/ only.
 *
 * libzmq removes whatever file has the path before it binds there, and leaves
 * its own file when it ends. So whoever listens holds the path while he looks
 * and binds, and marks what he made.
 */
#ifndef RD_NET_IPC_H
#define RD_NET_IPC_H

#include <sys/types.h>

#include "base/error.h"

/* The file that a bind made; zeros: none. */
struct rd_ipc_mark {
	dev_t device;
	ino_t inode;
};

/* The path of "ipc://PATH"; NULL: another kind of endpoint, or one without a file. */
const char *rd_ipc_path(const char *endpoint);

/*
 * Keep others who start at the same moment from looking and binding: a descriptor to close when it is done; -1 where
 * that cannot be had, and there is only the look.
 */
int rd_ipc_hold(const char *path);
/* Whether one who listens may have the path: nothing is there, or a socket of the dead. RD_EXISTS, RD_IO. */
int rd_ipc_check(const char *path, struct rd_error *err);
void rd_ipc_mark(const char *path, struct rd_ipc_mark *mark);
/* Remove the file, while we still listen there, unless another has been put in its place. */
void rd_ipc_remove(const char *path, const struct rd_ipc_mark *mark);

#endif
