#include "net/hello.h"

#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "net/message.h"

void rd_hello(struct rd_hello *h, Rd__Role role, const uint8_t uuid[16])
{
	/* A name that was cut has no end. */
	memset(h->host, 0, sizeof h->host);
	if (gethostname(h->host, sizeof h->host - 1) != 0 || h->host[0] == 0)
		strcpy(h->host, "?");
	h->message = (Rd__Hello)RD__HELLO__INIT;
	h->message.role = role;
	h->message.version = rd_field(RD_VERSION);
	h->message.host = rd_field(h->host);
	h->message.pid = (uint64_t)getpid();
	h->message.uuid = rd_field_of((struct rd_span){uuid, 16});
}
