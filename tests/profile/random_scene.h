/*
 * random_scene - traces of all kinds of facts, samples and stack records, with
 * few times, addresses and ids, so that everything collides.
 */
#ifndef RD_TESTS_PROFILE_RANDOM_SCENE_H
#define RD_TESTS_PROFILE_RANDOM_SCENE_H

#include "tests/profile/scene.h"

/* Addresses from here on are the kernel's. */
#define KERNEL 0xffff800000000000u

/* Symbols: what their names make of a frame. Of compiled code the label is whole, of the others it lacks the module. */
struct symbol {
	const char *text, *label;
	uint32_t tier;
};
extern const struct symbol symbols[];

/* By tests/random.h. */
void some_scene(struct scene *s);

#endif
