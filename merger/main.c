#include "merger/program.h"

int main(int argc, char **argv)
{
	return rd_merger_program(argc, argv);
}
