/*
 * ipc - whose a local socket's path is. Inside net/ only.
 *
 * libzmq removes whatever file has the path before it binds there.
 */
#ifndef RD_NET_IPC_H
#define RD_NET_IPC_H

#include "base/error.h"

/* The path of "ipc://PATH"; NULL: another kind of endpoint, or one without a file. */
const char *rd_ipc_path(const char *endpoint);

/* Whether one who listens may have the path: nothing is there, or a socket. RD_EXISTS, RD_IO. */
int rd_ipc_check(const char *path, struct rd_error *err);

#endif
