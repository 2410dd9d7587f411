/*
 * message - one message in memory: an Envelope and the frames of its blob.
 *
 * Knows bytes and protobuf, no sockets. A blob is a list of frames of at most
 * RD_FRAME_BYTES, each counted by reference, so that a broker passes a chunk
 * on without copying it. An envelope that comes from outside is unpacked
 * within a budget of memory, whatever it claims to hold.
 * Threads: a message belongs to one thread.
 */
#ifndef RD_NET_MESSAGE_H
#define RD_NET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "proto/wire.pb-c.h"

#define RD_PROTOCOL_VERSION 1

/* The payload of one frame; a block of a partial with its head fits. Sockets accept nothing longer. */
#define RD_FRAME_BYTES           ((1u << 20) + (1u << 12))
#define RD_ENVELOPE_BYTES        (1u << 20)
#define RD_BLOB_FRAMES_MAX       128
/* What unpacking one envelope may allocate. */
#define RD_ENVELOPE_BUDGET_BYTES (16u << 20)

struct rd_frame; /* a frame's bytes, inside */

struct rd_blob {
	RD_VEC(struct rd_frame *) frames;
	uint64_t size_bytes; /* of all frames */
};

/* Append a copy of these bytes, cut into frames. RD_LIMIT beyond RD_BLOB_FRAMES_MAX frames; then the blob is as before.
 */
int rd_blob_add(struct rd_blob *b, const void *bytes, size_t size_bytes, struct rd_error *err);
/* The bytes of one frame; borrowed until the blob is released or sent. */
struct rd_span rd_blob_frame(const struct rd_blob *b, size_t i);
/*
 * All bytes in one run: borrowed from the blob when it has one frame, else put
 * together in *room (which must live as long). RD_NOMEM.
 */
int rd_blob_whole(const struct rd_blob *b, struct rd_bytes *room, struct rd_span *out, struct rd_error *err);
/* Let *to, which is empty, hold the same frames. */
int rd_blob_share(struct rd_blob *to, const struct rd_blob *from, struct rd_error *err);
void rd_blob_release(struct rd_blob *b);

/* Who a message comes from: the number that the receiving ROUTER gave the connection; 0 on a connecting socket. */
typedef uint64_t rd_peer;

struct rd_message {
	rd_peer from;
	Rd__Envelope *envelope; /* owned; NULL when there is none */
	struct rd_blob blob;
};
void rd_message_release(struct rd_message *m);

/* An envelope with protocol and kind filled in; all else empty. */
Rd__Envelope rd_envelope(Rd__Kind kind);
/* The packed envelope appended to *out. RD_LIMIT above RD_ENVELOPE_BYTES. */
int rd_envelope_pack(const Rd__Envelope *e, struct rd_bytes *out, struct rd_error *err);
/* RD_PROTOCOL when these bytes are no envelope or would need more than the budget. Values are rd_validate's. */
int rd_envelope_unpack(struct rd_span bytes, Rd__Envelope **out, struct rd_error *err);
/* One of its own memory, as a receiver would have it. RD_NOMEM, RD_LIMIT. */
int rd_envelope_copy(const Rd__Envelope *e, Rd__Envelope **out, struct rd_error *err);
void rd_envelope_free(Rd__Envelope *e);

/* Fields of type bytes. The text is borrowed; NULL is empty. */
ProtobufCBinaryData rd_field(const char *text);
ProtobufCBinaryData rd_field_of(struct rd_span bytes);
struct rd_span rd_field_span(const ProtobufCBinaryData *field);
/* As a C string, cut short where it does not fit; buf is returned. */
const char *rd_field_text(const ProtobufCBinaryData *field, char *buf, size_t size);

#endif
