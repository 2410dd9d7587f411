/*
 * telling - what `inspect` and `events` share: find the traces behind the words, inspect each, put the answer out
 * whole.
 *
 * A word is a file, an archive (each trace in it, or one member) or a folder.
 * Nothing goes out before all is known, so that an error leaves no half answer.
 */
#ifndef RD_CLI_TELLING_H
#define RD_CLI_TELLING_H

#include "cli/inspection.h"
#include "cli/output.h"

struct rd_telling {
	const char *name; /* of the command, for complaints */
	bool json;
	const char *member; /* of an archive only this; NULL all */
	/* One trace. In JSON an object is open. 0, or a negative code. */
	int (*one)(struct rd_telling *t, const struct rd_inspection *in, const char *path, const char *member,
		   struct rd_error *err);
	/* After the last trace, before anything goes out: whether the answer is one; NULL it is. */
	int (*end)(struct rd_telling *t, struct rd_error *err);
	void *ctx; /* the command's own */

	/* Zeros at first. */
	struct rd_output output;
	struct rd_json j;
	const char *path; /* of the input, as the user gave it */
	size_t shown;     /* traces before this one */
	bool listed;      /* JSON: in an array */
	bool incomplete;
};

/* Tell all; output NULL: stdout. The exit code, after a complaint if it is one. */
int rd_telling_run(struct rd_telling *t, const char *const *words, size_t n, const char *output);

#endif
