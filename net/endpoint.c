#include "net/endpoint.h"

#include <stddef.h>
#include <strings.h>

bool rd_endpoint_is_tcp(const char *endpoint)
{
	return strncasecmp(endpoint, "tcp:", 4) == 0;
}

int rd_endpoint_check(const char *endpoint, bool plain_tcp, struct rd_error *err)
{
	if (!rd_endpoint_is_tcp(endpoint) || plain_tcp)
		return 0;
	return rd_fail(err, RD_USAGE, "tcp is neither checked nor encrypted here: --plain-tcp says that this is known");
}
