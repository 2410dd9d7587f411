/*
 * hello - the first words of whoever connects to a broker.
 */
#ifndef RD_NET_HELLO_H
#define RD_NET_HELLO_H

#include "proto/wire.pb-c.h"

struct rd_hello {
	Rd__Hello message;
	char host[256];
};

/* Who this process is. uuid is borrowed; *h must stay where it is as long as the message. */
void rd_hello(struct rd_hello *h, Rd__Role role, const uint8_t uuid[16]);

#endif
