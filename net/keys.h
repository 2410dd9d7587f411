/*
 * keys - who may speak over tcp: CURVE keys in files, and whom a broker lets in.
 *
 * A folder of keys, as rd_keys_make makes it:
 *   server.public server.secret   the broker's
 *   authorised/ROLE.public        whom the broker lets in, and as what; ROLE-NAME.public are more of them.
 *                                 A role is worker, merger or client. Who deletes one shuts its owner out.
 *   ROLE/ ROLE-NAME/              to be handed out: ROLE.secret and server.public
 * In a file one line counts, "public KEY" or "secret KEY" (Z85); lines that begin with # are for people.
 */
#ifndef RD_NET_KEYS_H
#define RD_NET_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "proto/wire.pb-c.h"

#define RD_KEY_TEXT     41 /* Z85 and a NUL */
#define RD_KEY_NAME_MAX 48

/* "worker", "merger", "client"; NULL for what is none. The list is NULL-ended, a role's place its number less one. */
extern const char *const rd_role_names[];
const char *rd_role_name(Rd__Role role);

/* What one process proves itself by. */
struct rd_keys {
	char public[RD_KEY_TEXT], secret[RD_KEY_TEXT];
	char server[RD_KEY_TEXT]; /* the broker's public key */
};

/*
 * The keys of a process of this role out of a folder, RD__ROLE__ROLE_NONE for
 * the broker. `server` names the file of the broker's public key, NULL for the
 * folder's. RD_NOT_FOUND; RD_USAGE: no key is in the file, or others may read
 * the secret; RD_IO.
 */
int rd_keys_load(struct rd_keys *k, Rd__Role role, const char *folder, const char *server, struct rd_error *err);
void rd_keys_forget(struct rd_keys *k);

/* Make a folder of keys with one of each role; it may be there already, without a broker's key. RD_EXISTS, RD_IO. */
int rd_keys_make(const char *folder, struct rd_error *err);
/*
 * One more key of a role. `name` is of letters, digits, dots and dashes, or ""; `path` becomes the folder to hand out.
 * RD_USAGE, RD_EXISTS, RD_NOT_FOUND (no broker's key is there), RD_IO.
 */
int rd_keys_add(const char *folder, Rd__Role role, const char *name, char *path, size_t path_size,
		struct rd_error *err);

/* ---- whom a broker lets in */

struct rd_key {
	char public[RD_KEY_TEXT];
	Rd__Role role;
	char name[RD_KEY_NAME_MAX + 16]; /* "worker-node7" */
};

struct rd_authorised {
	char folder[4096];
	RD_VEC(struct rd_key) keys; /* by their text */
	bool failed;                /* it could not be read the last time */
	int64_t mtime_ns;           /* of the folder, when it was read */
	uint64_t read_ns, seen_ns;  /* on the monotonic clock: read last; a change was seen last */
};

/* Read the list of a folder of keys. RD_NOT_FOUND; RD_USAGE: others may write to it; RD_IO. */
int rd_authorised_open(struct rd_authorised *a, const char *folder, struct rd_error *err);
void rd_authorised_release(struct rd_authorised *a);
/*
 * Look whether the folder has changed: 1 the list is another now, 0 it is not. After a code of rd_authorised_open
 * nobody is in it, unless the machine was merely short of something: then it is as before, and looked at again.
 */
int rd_authorised_refresh(struct rd_authorised *a, uint64_t now_ns, struct rd_error *err);
/* NULL: not let in. Stays until the next refresh. */
const struct rd_key *rd_authorised_find(const struct rd_authorised *a, const char *public);

#endif
