/*
 * inputs - the files behind the words of a command line.
 *
 * A word is a file, or a folder: all traces right inside it, plain or packed,
 * by their first bytes, in the order of their names. With sets, a file of an
 * unmerged recording brings the others that lie beside it.
 */
#ifndef RD_CLI_INPUTS_H
#define RD_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/memory.h"

struct rd_input_file {
	char *shown; /* as the user would write it */
	char *path;  /* absolute */
	uint64_t size_bytes;
	dev_t device;
	ino_t inode;
	bool found;   /* by a set: no word names it */
	bool optional; /* by a folder: a job goes on without it when it cannot be used, and says so */
	uint32_t set; /* one number for each unmerged set of several, whose files follow each other; 0 none */
};

struct rd_inputs {
	RD_VEC(struct rd_input_file) files;
};

/*
 * Find the files of all words. 0, or the exit code; a line is out for each
 * thing that is wrong: a file that cannot be read or is none, the same file
 * twice, a folder without a trace. Release in any case.
 */
int rd_inputs_find(struct rd_inputs *in, const char *command, const char *const *words, size_t n, bool sets);
/* The path as the user would write it, of an absolute one; NULL when it is none of these. Long ones may lack their
 * head. */
const char *rd_inputs_shown(const struct rd_inputs *in, const char *path);
/* Daemons know a trace by its absolute path, the user by the one that he gave: so is the file of an error named then. */
void rd_inputs_show(const struct rd_inputs *in, struct rd_error *err);
void rd_inputs_release(struct rd_inputs *in);

#endif
