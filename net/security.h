/*
 * security - how a program's sockets prove over tcp who they are.
 *
 * ipc is as safe as the folder of its socket. tcp carries neither proof nor
 * secrecy of its own: there is CURVE with the keys of a folder (net/keys.h),
 * or somebody has said that plain tcp is meant. What has neither opens no
 * socket.
 */
#ifndef RD_NET_SECURITY_H
#define RD_NET_SECURITY_H

#include <stdbool.h>

#include "net/socket.h"
#include "proto/wire.pb-c.h"

/* The user's words. */
struct rd_security {
	const char *keys;       /* folder; NULL none */
	const char *server_key; /* file of the broker's public key; NULL: in the folder */
	bool plain_tcp;
};

bool rd_endpoint_is_tcp(const char *endpoint);
/* 0, or RD_USAGE: words that do not fit each other or the endpoint. */
int rd_security_check(const struct rd_security *s, const char *endpoint, struct rd_error *err);
/*
 * What later sockets on this endpoint do. For a broker (RD__ROLE__ROLE_NONE)
 * the list of keys is read, and tried with a stranger's. Over plain tcp a
 * warning goes to the log. Once a net. Codes of rd_keys_load, RD_UNSUPPORTED
 * (a libzmq without CURVE), RD_INTERNAL (it keeps nobody out).
 */
int rd_net_secure(struct rd_net *n, const struct rd_security *s, Rd__Role role, const char *endpoint,
		  struct rd_error *err);

#endif
