/*
 * Any bytes as a message: who sends it (1), the blob's length (u16), the
 * envelope, the blob. What is valid must be safe for those who act on it. It
 * packs again; and if that is a message (a field of number 0 that nobody knows
 * makes it none), it is as valid.
 */
#include <stdlib.h>

#include "net/task.h"
#include "net/validate.h"
#include "net/wire_error.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static void act_on(const struct rd_message *m)
{
	const Rd__Envelope *e = m->envelope;
	struct rd_bytes room = {0};
	struct rd_task_parts parts;
	struct rd_error err;
	rd_span_vec infos = {0};

	/* The sizes were checked, so the parts are there. */
	if (e->kind == RD__KIND__TASK && rd_task_split(&m->blob, e->work, &room, &parts, &err) < 0)
		abort();
	if (e->kind == RD__KIND__FINISH)
		(void)rd_infos_split(&m->blob, &room, e->finish->n_path, &infos, &err);
	if (e->error)
		rd_wire_error_take(&err, e->error);
	rd_vec_release(&infos);
	rd_bytes_release(&room);
}

static void again(const struct rd_message *m, enum rd_sender from)
{
	struct rd_message back = {0};
	struct rd_bytes packed = {0};
	struct rd_error err;

	if (rd_envelope_pack(m->envelope, &packed, &err) != 0 || rd_blob_share(&back.blob, &m->blob, &err) != 0)
		abort();
	if (rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &back.envelope, &err) == 0 &&
	    rd_validate(&back, from, &err) != 0)
		abort();
	rd_message_release(&back);
	rd_bytes_release(&packed);
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	enum rd_sender from = (enum rd_sender)(1 + rd_u8(&c) % RD_FROM_BROKER);
	size_t blob_bytes = rd_u16(&c);
	struct rd_message m = {0};
	struct rd_error err;

	if (c.failed || blob_bytes > rd_left(&c))
		return 0;
	struct rd_cursor envelope = rd_sub(&c, rd_left(&c) - blob_bytes);
	if (rd_envelope_unpack((struct rd_span){envelope.at, rd_left(&envelope)}, &m.envelope, &err) == 0) {
		if (rd_blob_add(&m.blob, c.at, blob_bytes, &err) == 0 && rd_validate(&m, from, &err) == 0) {
			act_on(&m);
			again(&m, from);
		}
	}
	rd_message_release(&m);
	return 0;
}
