#include "net/message.h"

#include <string.h>

#include <zmq.h>

#include "net/frame.h"
#include "proto/budget.h"

/* A frame is one ZeroMQ message part; the part counts references to its bytes. */

static struct rd_frame *frame_new(size_t size_bytes)
{
	struct rd_frame *f = rd_realloc(NULL, sizeof *f);

	if (f && zmq_msg_init_size(&f->part, size_bytes) != 0) {
		rd_free(f);
		return NULL;
	}
	return f;
}

struct rd_frame *rd_frame_empty(void)
{
	struct rd_frame *f = rd_realloc(NULL, sizeof *f);

	if (f)
		zmq_msg_init(&f->part);
	return f;
}

void rd_frame_free(struct rd_frame *f)
{
	if (f == NULL)
		return;
	zmq_msg_close(&f->part);
	rd_free(f);
}

int rd_blob_add_frame(struct rd_blob *b, struct rd_frame *f, struct rd_error *err)
{
	if (b->frames.n >= RD_BLOB_FRAMES_MAX)
		return rd_fail(err, RD_LIMIT, "a message would have more than %d frames", RD_BLOB_FRAMES_MAX);
	struct rd_frame **slot = rd_vec_add(&b->frames);
	if (slot == NULL)
		return rd_fail_nomem(err);
	*slot = f;
	b->size_bytes += zmq_msg_size(&f->part);
	return 0;
}

static void drop_frames(struct rd_blob *b, size_t keep)
{
	while (b->frames.n > keep) {
		struct rd_frame *f = b->frames.at[--b->frames.n];
		b->size_bytes -= zmq_msg_size(&f->part);
		rd_frame_free(f);
	}
}

int rd_blob_add(struct rd_blob *b, const void *bytes, size_t size_bytes, struct rd_error *err)
{
	const uint8_t *at = bytes;
	size_t before = b->frames.n;

	while (size_bytes > 0) {
		size_t n = size_bytes < RD_FRAME_BYTES ? size_bytes : RD_FRAME_BYTES;
		struct rd_frame *f = frame_new(n);
		int rc = f ? rd_blob_add_frame(b, f, err) : rd_fail_nomem(err);
		if (rc < 0) {
			rd_frame_free(f);
			drop_frames(b, before);
			return rc;
		}
		memcpy(zmq_msg_data(&f->part), at, n);
		at += n;
		size_bytes -= n;
	}
	return 0;
}

struct rd_span rd_blob_frame(const struct rd_blob *b, size_t i)
{
	zmq_msg_t *part = &b->frames.at[i]->part;
	return (struct rd_span){zmq_msg_data(part), zmq_msg_size(part)};
}

int rd_blob_whole(const struct rd_blob *b, struct rd_bytes *room, struct rd_span *out, struct rd_error *err)
{
	if (b->frames.n == 0) {
		*out = (struct rd_span){(const uint8_t *)"", 0};
		return 0;
	}
	if (b->frames.n == 1) {
		*out = rd_blob_frame(b, 0);
		return 0;
	}
	size_t from = room->n;
	for (size_t i = 0; i < b->frames.n; i++) {
		struct rd_span s = rd_blob_frame(b, i);
		if (rd_bytes_append(room, s.at, s.size_bytes) < 0)
			return rd_fail_nomem(err);
	}
	*out = (struct rd_span){room->at + from, room->n - from};
	return 0;
}

int rd_blob_share(struct rd_blob *to, const struct rd_blob *from, struct rd_error *err)
{
	for (size_t i = 0; i < from->frames.n; i++) {
		struct rd_frame *f = rd_frame_empty();
		if (f && zmq_msg_copy(&f->part, &from->frames.at[i]->part) != 0) {
			rd_frame_free(f);
			f = NULL;
		}
		int rc = f ? rd_blob_add_frame(to, f, err) : rd_fail_nomem(err);
		if (rc < 0) {
			rd_frame_free(f);
			drop_frames(to, 0);
			return rc;
		}
	}
	return 0;
}

void rd_blob_release(struct rd_blob *b)
{
	/* A frame that was sent is empty by now. */
	drop_frames(b, 0);
	b->size_bytes = 0;
	rd_vec_release(&b->frames);
}

void rd_message_release(struct rd_message *m)
{
	rd_envelope_free(m->envelope);
	rd_blob_release(&m->blob);
	*m = (struct rd_message){0};
}

Rd__Envelope rd_envelope(Rd__Kind kind)
{
	Rd__Envelope e = RD__ENVELOPE__INIT;

	e.protocol = RD_PROTOCOL_VERSION;
	e.kind = kind;
	return e;
}

int rd_envelope_pack(const Rd__Envelope *e, struct rd_bytes *out, struct rd_error *err)
{
	size_t n = rd__envelope__get_packed_size(e);

	if (n > RD_ENVELOPE_BYTES)
		return rd_fail(err, RD_LIMIT, "a message of %zu bytes; the limit is %u", n, RD_ENVELOPE_BYTES);
	uint8_t *at = rd_bytes_extend(out, n);
	if (at == NULL)
		return rd_fail_nomem(err);
	rd__envelope__pack(e, at);
	return 0;
}

int rd_envelope_unpack(struct rd_span bytes, Rd__Envelope **out, struct rd_error *err)
{
	struct rd_budget budget;

	if (bytes.size_bytes > RD_ENVELOPE_BYTES)
		return rd_fail(err, RD_PROTOCOL, "a message of %zu bytes; the limit is %u", bytes.size_bytes,
			       RD_ENVELOPE_BYTES);
	rd_budget_init(&budget, RD_ENVELOPE_BUDGET_BYTES);
	Rd__Envelope *e = rd__envelope__unpack(&budget.allocator, bytes.size_bytes, bytes.at);
	if (e == NULL) {
		/* Whoever sends a bomb or rubbish breaks the protocol; that memory is short is our own affair. */
		int code = rd_budget_fail(&budget, err, "a message");
		if (code != RD_NOMEM && err)
			err->code = RD_PROTOCOL;
		return code == RD_NOMEM ? code : RD_PROTOCOL;
	}
	*out = e;
	return 0;
}

int rd_envelope_copy(const Rd__Envelope *e, Rd__Envelope **out, struct rd_error *err)
{
	struct rd_bytes packed = {0};
	int rc = rd_envelope_pack(e, &packed, err);

	if (rc == 0)
		rc = rd_envelope_unpack((struct rd_span){packed.at, packed.n}, out, err);
	rd_bytes_release(&packed);
	return rc;
}

void rd_envelope_free(Rd__Envelope *e)
{
	struct rd_budget budget;

	/* To free needs the same functions, and no budget. */
	rd_budget_init(&budget, 0);
	if (e)
		rd__envelope__free_unpacked(e, &budget.allocator);
}

ProtobufCBinaryData rd_field(const char *text)
{
	/* protobuf-c never writes through the pointer of a message it packs. */
	return (ProtobufCBinaryData){text ? strlen(text) : 0, (uint8_t *)(uintptr_t)text};
}

ProtobufCBinaryData rd_field_of(struct rd_span bytes)
{
	return (ProtobufCBinaryData){bytes.size_bytes, (uint8_t *)(uintptr_t)bytes.at};
}

struct rd_span rd_field_span(const ProtobufCBinaryData *field)
{
	return (struct rd_span){field->data, field->len};
}

const char *rd_field_text(const ProtobufCBinaryData *field, char *buf, size_t size)
{
	size_t n = field->len < size ? field->len : size - 1;

	if (n > 0)
		memcpy(buf, field->data, n);
	buf[n] = 0;
	return buf;
}
