/*
 * capture_state - what `rundown capture-state` shows of a structure: as bytes for a program, or for people.
 */
#ifndef RD_CLI_CAPTURE_STATE_H
#define RD_CLI_CAPTURE_STATE_H

#include "base/out.h"
#include "capture/state.h"

/* The name that the catalogue has for a provider's GUID; NULL when it has none. */
const char *rd_capture_name(const struct rd_capture_guid *guid);

/* The bytes as hexadecimal digits, a line for the head and for each GUID; or as an array of C with its size. */
void rd_capture_put_hex(struct rd_out *o, struct rd_span bytes);
void rd_capture_put_c(struct rd_out *o, struct rd_span bytes);

/* What the bytes say. */
void rd_capture_put_text(struct rd_out *o, const struct rd_capture_state *s);
void rd_capture_put_json(struct rd_out *o, const struct rd_capture_state *s);
/* What is wrong with them, and what is worth a note. */
void rd_capture_put_check_text(struct rd_out *o, const struct rd_capture_state *s);
void rd_capture_put_check_json(struct rd_out *o, const struct rd_capture_state *s);

/*
 * What may be meant otherwise in a provider that is named; NULL when nothing is: one that no table has, or one that
 * does not answer. In buf, of at least 160 bytes.
 */
const char *rd_capture_remark(const struct rd_capture_guid *guid, char *buf, unsigned size);

#endif
