/*
 * owned - a folder that belongs to a process as long as that lives.
 *
 * Its file `lock` is held (flock) by the owner, and free once that is dead,
 * however it died. So whoever comes later can remove what killed processes
 * left, and nothing of the living. A folder without a lock is nobody's to judge.
 */
#ifndef RD_BASE_OWNED_H
#define RD_BASE_OWNED_H

#include "base/error.h"

#define RD_OWNED_LOCK  "lock"
/* What the lock is called until it is held. */
#define RD_OWNED_FRESH RD_OWNED_LOCK ".new"

/*
 * Own a folder that has no lock yet: the descriptor to keep, closed on exec.
 * RD_NOT_FOUND: the folder is gone, for another took it for a dead one's before
 * it was locked, and a new one is worth a try; RD_UNSUPPORTED: its file system knows
 * no locks, and the folder is as before; RD_IO.
 */
int rd_owned_lock(const char *folder, struct rd_error *err);

/*
 * Own the folder `name` of the open folder `root` in the place of an owner that
 * is dead: the descriptor. -1: the owner lives, or it is another user's, or a
 * link, or has no lock.
 */
int rd_owned_take(int root, const char *name);

/* Remove a folder that is owned, its lock last: whoever dies in between leaves what the next can judge. */
int rd_owned_remove(const char *folder, struct rd_error *err);

#endif
