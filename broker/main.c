#include "broker/program.h"
#include "cli/command.h"

int main(int argc, char **argv)
{
	return rd_begin("rundown-broker") ? rd_broker_program(argc, argv) : RD_EXIT_FAILED;
}
