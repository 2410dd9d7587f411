#include "worker/program.h"

int main(int argc, char **argv)
{
	return rd_worker_program(argc, argv);
}
