#include "cli/command.h"
#include "merger/program.h"

int main(int argc, char **argv)
{
	return rd_begin("rundown-merger") ? rd_merger_program(argc, argv) : RD_EXIT_FAILED;
}
