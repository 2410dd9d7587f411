#include "tests/support.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/job_top.h"
#include "net/message.h"

#define ROWS 6

static void a_method_is_named_as_in_a_report(void **state)
{
	static const char *const texts[ROWS][3] = {
		{"shop", "Shop.Program", "Fib"}, {"shop", "", "Main"}, {"", "Shop.Program", "Fib"}, {"", "", "?"},
		{"kernel32", "", "?"},           {"", "", ""},
	};
	static const char wanted[] = "         exclusive  inclusive  process  method\n"
				     " 1,000,000  50.0 %  2,000,000  7        shop!Shop.Program.Fib\n"
				     "   999,999  50.0 %    999,999  7        shop!Main\n"
				     "         1   0.0 %          1  7        Shop.Program.Fib\n"
				     "         0   0.0 %          0  7        ?\n"
				     "         0   0.0 %          0  7        kernel32!?\n"
				     "         0   0.0 %          0  7        ?\n";
	ProtobufCBinaryData module[ROWS], ns[ROWS], name[ROWS];
	uint32_t pid[ROWS] = {7, 7, 7, 7, 7, 7};
	uint64_t exclusive[ROWS] = {1000000, 999999, 1}, inclusive[ROWS] = {2000000, 999999, 1};
	Rd__Top top = RD__TOP__INIT;
	struct rd_out o;
	size_t n;

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		module[i] = rd_field(texts[i][0]);
		ns[i] = rd_field(texts[i][1]);
		name[i] = rd_field(texts[i][2]);
	}
	top.samples = 2000000;
	top.n_pid = ROWS;
	top.pid = pid;
	top.module = module;
	top.namespace_ = ns;
	top.name = name;
	top.exclusive = exclusive;
	top.inclusive = inclusive;

	int fd = open(scratch_path("top"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	rd_out_init(&o, fd);
	rd_job_top_rows(&o, &top);
	assert_ok(rd_out_close(&o, NULL), NULL);
	char *text = (char *)read_whole(scratch_path("top"), &n);
	assert_string_equal(wanted, text);
	free(text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_method_is_named_as_in_a_report)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
