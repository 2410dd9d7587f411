/*
 * endpoint - which endpoints a program may use.
 *
 * ipc is as safe as the folder of its socket. tcp carries neither proof nor
 * secrecy, so it is used only where somebody has said that this is known.
 */
#ifndef RD_NET_ENDPOINT_H
#define RD_NET_ENDPOINT_H

#include <stdbool.h>

#include "base/error.h"

bool rd_endpoint_is_tcp(const char *endpoint);
/* 0, or RD_USAGE: tcp without plain_tcp. Other schemes are the socket's to judge. */
int rd_endpoint_check(const char *endpoint, bool plain_tcp, struct rd_error *err);

#endif
