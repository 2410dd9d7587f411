#include "tests/support.h"

#include <unistd.h>

#include "base/version.h"
#include "net/hello.h"
#include "net/validate.h"

static void says_who_this_is(void **state)
{
	const uint8_t uuid[16] = "0123456789abcdef";
	struct rd_error err;
	struct rd_hello h;
	char host[256] = "";

	memset(&h, 0xff, sizeof h);
	rd_hello(&h, RD__ROLE__WORKER, uuid);
	assert_span(rd_field_span(&h.message.version), RD_VERSION);
	assert_int_equal(h.message.pid, getpid());
	gethostname(host, sizeof host - 1);
	assert_span(rd_field_span(&h.message.host), host[0] ? host : "?");

	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	struct rd_message m = {.envelope = &e};
	e.hello = &h.message;
	h.message.capacity = 1;
	assert_ok(rd_validate(&m, RD_FROM_STRANGER, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_who_this_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
