/*
 * sentences - the rules of docs/design.md, section 3, on times, lives and
 * owners, taken one by one: every question looks at every fact of a scene.
 */
#ifndef RD_TESTS_PROFILE_SENTENCES_H
#define RD_TESTS_PROFILE_SENTENCES_H

#include "tests/profile/scene.h"

struct life {
	uint32_t pid;
	uint64_t begin;
	bool started, known;
};

struct frame {
	char label[64]; /* of its row */
	uint32_t tier;
	bool unresolved, ambiguous;
};

/* All that follows is about this scene, which is borrowed. */
void sentences_about(const struct scene *s);

/* In the order of facts. */
bool comes_before(const struct scene_item *a, const struct scene_item *b);
/* The number of a process's life at this time, and the life. */
uint32_t life_number(uint32_t pid, uint64_t time, struct life *out);
bool same_life(uint32_t pid_a, uint64_t time_a, uint32_t pid_b, uint64_t time_b);
/* The thread's latest record at or before the time, else its earliest after; NULL none. */
const struct scene_item *thread_record(uint64_t thread, uint64_t time);
struct frame resolve(uint32_t pid, uint64_t time, uint64_t address);

#endif
