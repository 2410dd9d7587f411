/*
 * Stack walks and the stacks that keys stand for (docs/formats/etl.md, "Stacks").
 *
 *   walk        time of the event it belongs to u64, process u32, thread u32, then frames P, innermost first
 *   keyed walk  the same 16 bytes, then the key P of the kernel's or the user's part
 *   definition  key P, then frames P
 *
 * The frames are as many pointers as fit; a rest of fewer bytes is no frame.
 */
#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/etl/kernel.h"

static struct rd_span frames(struct rd_cursor *c, unsigned pointer_bytes)
{
	size_t n = rd_left(c) / pointer_bytes * pointer_bytes;
	const uint8_t *at = rd_take(c, n);

	return (struct rd_span){at, at ? n : 0};
}

static int read_stack(const struct rd_event *ev, uint32_t part, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_stack_record *s = &out->stack;

	out->kind = RD_EVENT_STACK;
	out->op = RD_OP_NONE;
	*s = (struct rd_stack_record){0};
	s->sample_time = rd_u64(&c);
	s->pid = rd_u32(&c);
	s->thread = rd_u32(&c);
	s->part = part;
	s->pointer_bytes = ev->pointer_bytes;
	if (part == RD_STACK_PLAIN)
		s->frames = frames(&c, ev->pointer_bytes);
	else
		s->key = rd_pointer(&c, ev->pointer_bytes);
	return c.failed ? RD_CORRUPT : 0;
}

int rd_kernel_stack(const struct rd_event *ev, struct rd_record *out)
{
	return read_stack(ev, RD_STACK_PLAIN, out);
}

int rd_kernel_stack_kernel_key(const struct rd_event *ev, struct rd_record *out)
{
	return read_stack(ev, RD_STACK_KERNEL_KEY, out);
}

int rd_kernel_stack_user_key(const struct rd_event *ev, struct rd_record *out)
{
	return read_stack(ev, RD_STACK_USER_KEY, out);
}

int rd_kernel_stack_definition(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_stack_key_record *k = &out->stack_key;

	rd_record_begin(out, ev);
	k->key = rd_pointer(&c, ev->pointer_bytes);
	k->frames = frames(&c, ev->pointer_bytes);
	k->pointer_bytes = ev->pointer_bytes;
	return c.failed ? RD_CORRUPT : 0;
}
