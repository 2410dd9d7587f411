/*
 * images - which image was mapped at an address, by load and unload events.
 *
 * The kernel's images are those of processes 0 and 4 and hold for every
 * process; a process's own come first.
 */
#ifndef RD_PROFILE_IMAGES_H
#define RD_PROFILE_IMAGES_H

#include "profile/verdict.h"

struct rd_images {
	struct rd_content *content;
	struct rd_records identities; /* whose, and its name */
	struct rd_history history;    /* id: an identity */
};

void rd_images_init(struct rd_images *i, struct rd_content *content, const struct rd_addresses *sealed);
/* module: a string of the content. when.id is not read. */
int rd_images_add(struct rd_images *i, uint32_t life, uint32_t module, struct rd_when when, uint32_t low, uint32_t high,
		  struct rd_error *err);
int rd_images_seal(struct rd_images *i, struct rd_error *err);

/* The frame is `module!?`. */
int rd_images_ask(struct rd_images *i, uint32_t life, uint32_t rank, uint64_t time, struct rd_verdict *out,
		  struct rd_error *err);

void rd_images_release(struct rd_images *i);

#endif
