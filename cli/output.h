/*
 * output - where a command's answer goes: stdout, or a file that appears whole or not at all.
 *
 * The file is written without a name where the file system can do that, and
 * takes its place only when all of it is on disk; so a full disk or a kill
 * leaves the old file, or none. A link stays, and the file is where it leads.
 * What is no file (a device, a pipe, a descriptor that is open already, as
 * /dev/stdout) is written to as it goes.
 */
#ifndef RD_CLI_OUTPUT_H
#define RD_CLI_OUTPUT_H

#include <sys/types.h>

#include "base/out.h"

struct rd_output {
	struct rd_out out;
	const char *path;     /* as the user gave it; NULL: stdout */
	char target[4096];    /* what is replaced: behind links */
	char temporary[4096]; /* "": it has no name yet, or is written in place */
	bool in_place;        /* no file of its own: nothing to replace */
	/* Of a text for people (cli/terminal.h): */
	unsigned columns; /* of the terminal; 0: it goes to none */
	pid_t pager;      /* that shows it; 0 none */
};

/* path NULL or "-": stdout. The path is borrowed. */
int rd_output_open(struct rd_output *o, const char *path, struct rd_error *err);
/* good: put it in its place. Else, and on failure, drop it. Returns whether it is in place. */
int rd_output_close(struct rd_output *o, bool good, struct rd_error *err);

#endif
