#include "cli/command.h"
#include "worker/program.h"

int main(int argc, char **argv)
{
	return rd_begin("rundown-worker") ? rd_worker_program(argc, argv) : RD_EXIT_FAILED;
}
