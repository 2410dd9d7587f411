/*
 * names - the module of a method, and the names of methods whose events have none.
 *
 * Both are numbers that a runtime reuses, so both are asked for with a time:
 * the latest fact at or before it, else the earliest after.
 */
#ifndef RD_PROFILE_NAMES_H
#define RD_PROFILE_NAMES_H

#include "base/records.h"
#include "profile/timeline.h"

/* A runtime's number for something, within a life and CLR instance. */
struct rd_code_key {
	uint64_t id;       /* ModuleID or MethodID */
	uint64_t rejit_id; /* of a method; 0 for modules */
	uint32_t life, clr;
};

struct rd_modules {
	struct rd_records keys;      /* struct rd_code_key */
	struct rd_timeline timeline; /* by key; id: the module's name, a string */
	RD_VEC(uint64_t) since;      /* sealed, by fact: when the life began that it speaks of */
};

void rd_modules_init(struct rd_modules *m);
/* when.id is the module's name. */
int rd_modules_add(struct rd_modules *m, const struct rd_code_key *key, struct rd_when when, struct rd_error *err);
int rd_modules_seal(struct rd_modules *m, struct rd_error *err);
/* The module's name; 0, the empty string, when no fact tells. */
uint32_t rd_modules_name(const struct rd_modules *m, const struct rd_code_key *key, uint64_t time);
/*
 * Whether the module that a later fact speaks of may have been there at `time`: not before its life began. Lowers
 * *until to where the answer changes.
 */
bool rd_modules_there(const struct rd_modules *m, const struct rd_code_key *key, uint64_t time,
		      const struct rd_when *later, uint64_t *until);
void rd_modules_release(struct rd_modules *m);

/* The three names of a method, as strings. */
struct rd_method_names {
	uint32_t ns, name, signature;
};

/* Names for the methods that were asked for first. */
struct rd_method_namer {
	struct rd_records keys;      /* struct rd_code_key: those that lack names */
	struct rd_records names;     /* struct rd_method_names */
	struct rd_timeline timeline; /* by key; id: an index into names */
};

void rd_method_namer_init(struct rd_method_namer *n);
/* This method lacks names. */
int rd_method_namer_want(struct rd_method_namer *n, const struct rd_code_key *key, struct rd_error *err);
/* Whether somebody wants the names of this method. */
bool rd_method_namer_wants(const struct rd_method_namer *n, const struct rd_code_key *key);
int rd_method_namer_add(struct rd_method_namer *n, const struct rd_code_key *key, struct rd_when when,
			const struct rd_method_names *names, struct rd_error *err);
void rd_method_namer_seal(struct rd_method_namer *n);
/* NULL when nobody named it. */
const struct rd_method_names *rd_method_namer_names(const struct rd_method_namer *n, const struct rd_code_key *key,
						    uint64_t time);
void rd_method_namer_release(struct rd_method_namer *n);

#endif
