/*
 * program - rundown-broker as a function: what main is, and what `rundown run` becomes in a child.
 */
#ifndef RD_BROKER_PROGRAM_H
#define RD_BROKER_PROGRAM_H

/* argv[0] is ignored. The exit code; nothing may be open or running yet that a fork must not meet. */
int rd_broker_program(int argc, char **argv);

#endif
