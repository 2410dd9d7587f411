/*
 * intern - names and stacks as they stand in events, as numbers of a partial.
 *
 * Names repeat: a method's three names come with its load, with each tier and with
 * every rundown. So they are looked up by the hash of their raw bytes first, all three at
 * once, and only new ones become UTF-8. Stacks are looked up by their raw frames.
 * Numbers are ids + 1, as the rows of a partial hold them; 0 is none.
 */
#ifndef RD_PROFILE_INTERN_H
#define RD_PROFILE_INTERN_H

#include "base/memory.h"
#include "base/table.h"
#include "profile/partial.h"
#include "trace/record.h"

struct rd_interned_names {
	uint32_t ns, name, signature;
};

struct rd_intern {
	struct rd_partial *out;
	struct rd_bytes utf8;    /* the name at hand */
	RD_VEC(uint64_t) frames; /* a stack of 32-bit frames at hand */
	struct rd_table stacks;  /* frames -> stack */
	RD_VEC(struct rd_raw_names) raw;
	struct rd_table raw_table; /* raw bytes of three names -> raw */
};
void rd_intern_release(struct rd_intern *in);

/*
 * 0 and the number; RD_LIMIT for a name longer than RD_NAME_BYTES_MAX (its
 * event is malformed), RD_NOMEM. A name that is not there at all is 0, an empty one is a string.
 */
int rd_intern_name(struct rd_intern *in, const struct rd_name *name, uint32_t *out);
int rd_intern_text(struct rd_intern *in, const void *text, size_t size_bytes, uint32_t *out);
int rd_intern_method_names(struct rd_intern *in, const struct rd_method_record *m, struct rd_interned_names *out);

/* Frames beyond `depth` are cut, the outermost. No frames: 0. 0 or RD_NOMEM. */
int rd_intern_stack(struct rd_intern *in, const uint8_t *frames, size_t size_bytes, unsigned pointer_bytes,
		    size_t depth, uint32_t *out);

#endif
