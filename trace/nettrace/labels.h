/*
 * labels - what a label list of nettrace 6 says of its events, until the next sequence point.
 *
 * Of all that a list may hold (activities, keys and values) a profile needs
 * one thing: a version here is the event's, whatever the metadata says. Lists
 * without one are not kept.
 */
#ifndef RD_TRACE_NETTRACE_LABELS_H
#define RD_TRACE_NETTRACE_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/records.h"

struct rd_nettrace_labels {
	struct rd_records lists; /* id u32, then the version u32 */
};

void rd_nettrace_labels_init(struct rd_nettrace_labels *l);
void rd_nettrace_labels_release(struct rd_nettrace_labels *l);
/* All ids are void from here on. */
void rd_nettrace_labels_reset(struct rd_nettrace_labels *l);

/* Whether a label list block's payload is one. */
bool rd_nettrace_labels_valid(const uint8_t *payload, size_t size_bytes);
/* Take the lists of a valid payload; a second definition of an id takes the first one's place. 0 or RD_NOMEM. */
int rd_nettrace_labels_add(struct rd_nettrace_labels *l, const uint8_t *payload, size_t size_bytes);

/* Whether the list gives its events a version, and which. */
bool rd_nettrace_labels_version(const struct rd_nettrace_labels *l, uint32_t id, uint32_t *version);

#endif
