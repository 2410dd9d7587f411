#include "broker/program.h"

int main(int argc, char **argv)
{
	return rd_broker_program(argc, argv);
}
