/*
 * beside - the hidden folder beside an output, in which its result is made and from which it is put in its place.
 *
 * It is called .NAME.rundown-JOB-TOKEN and lies there because only within one
 * file system is a rename one step. Whoever works in it holds its lock
 * (base/owned.h), so a result for the same output first removes what dead
 * ones left, and nothing of the living.
 *
 *   lock         held while somebody works here
 *   making/      a result that is being written, or removed: it goes whatever state it is in
 *   result/      a finished one; after the exchange what it replaced
 *   result-old/  what it replaces, for the moment between two renames
 *
 * Somebody's own files may get into the last two, when they were put in the
 * output's place while the result took it. So those two go only as long as
 * they are results and nothing else, and a folder that holds more than these
 * four is left alone.
 */
#ifndef RD_MERGER_BESIDE_H
#define RD_MERGER_BESIDE_H

#include <stddef.h>

#include "base/error.h"

#define RD_BESIDE_MAKING "making"
#define RD_BESIDE_RESULT "result"

/* The folder that holds an output, and what that is called there (borrowed). RD_USAGE without a name; RD_LIMIT. */
int rd_beside_split(const char *output, char *folder, size_t size, const char **name, struct rd_error *err);

/* The folder for a job's result; token, eight hex digits, tells this merger's from another's. RD_LIMIT. */
int rd_beside_folder(char *buf, size_t size, const char *output, const char *job, const char *token,
		     struct rd_error *err);

/* Make the folder and lock it. *lock: what holds it, -1 where nothing can be locked. */
int rd_beside_make(const char *folder, int *lock, struct rd_error *err);
/* Lock one that was made before: RD_NOT_FOUND when it is not there, or somebody is about to remove it. */
int rd_beside_take(const char *folder, int *lock, struct rd_error *err);
/* Remove it, and what is known of it. RD_EXISTS: it holds something else, which the text names, and is left. */
int rd_beside_remove(const char *folder, struct rd_error *err);

/*
 * Remove what the dead left beside an output. What they left and is not only ours stays, and is no failure. Who works
 * for this job is dead or dying, so it is waited for, for a moment; NULL: nobody is.
 */
int rd_beside_sweep(const char *output, const char *job, struct rd_error *err);

#endif
