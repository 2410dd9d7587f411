/*
 * Processes, threads and images (docs/formats/etl.md, "Processes, threads, images").
 *
 *   process  v2: key P; v1: page directory P; pid u32, parent u32, session u32, exit status u32;
 *            v3: page directory P; v4: flags u32; owner SID; name (8-bit, NUL); v2: command line (UTF-16, NUL)
 *            v0: pid P, parent P, owner SID, name
 *   thread   pid u32, tid u32, …; v0: tid u32, pid u32
 *   image    base P, size P, pid u32; v2: checksum u32, time stamp u32, 4 bytes, default base P, 16 bytes;
 *            name (UTF-16, NUL); v0: base P, size u32, name
 */
#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/etl/kernel.h"

/* An owner is a zero u32, or a TOKEN_USER of two pointers with the SID behind it: 8 bytes and 4 a part. */
static void skip_sid(struct rd_cursor *c, unsigned pointer_bytes)
{
	if (rd_u32(c) == 0)
		return;
	rd_skip(c, 2u * pointer_bytes - 4 + 1);
	unsigned parts = rd_u8(c);
	rd_skip(c, 6 + 4 * parts);
}

int rd_kernel_process(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_process_record *p = &out->process;

	rd_record_begin(out, ev);
	if (ev->version == 0) {
		p->pid = (uint32_t)rd_pointer(&c, ev->pointer_bytes);
		p->parent_pid = (uint32_t)rd_pointer(&c, ev->pointer_bytes);
	} else {
		rd_skip(&c, ev->pointer_bytes);
		p->pid = rd_u32(&c);
		p->parent_pid = rd_u32(&c);
		rd_skip(&c, 8);
	}
	if (ev->version >= 3)
		rd_skip(&c, ev->pointer_bytes);
	if (ev->version >= 4)
		rd_skip(&c, 4);
	skip_sid(&c, ev->pointer_bytes);
	p->name = (struct rd_name){rd_strz(&c), false};
	if (c.failed)
		return RD_CORRUPT;
	/* A command line without its end names nothing that counts; the process is there all the same. */
	if (ev->version >= 2) {
		struct rd_span line = rd_utf16z(&c);
		if (!c.failed)
			p->command_line = (struct rd_name){line, true};
	}
	return 0;
}

int rd_kernel_thread(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);

	rd_record_begin(out, ev);
	uint32_t first = rd_u32(&c), second = rd_u32(&c);
	out->thread.pid = ev->version >= 1 ? first : second;
	out->thread.thread = ev->version >= 1 ? second : first;
	return c.failed ? RD_CORRUPT : 0;
}

int rd_kernel_image(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_image_record *i = &out->image;

	rd_record_begin(out, ev);
	i->base = rd_pointer(&c, ev->pointer_bytes);
	if (ev->version == 0) {
		i->size_bytes = rd_u32(&c);
		i->pid = ev->pid;
	} else {
		i->size_bytes = rd_pointer(&c, ev->pointer_bytes);
		i->pid = rd_u32(&c);
	}
	if (ev->version >= 2) {
		i->checksum = rd_u32(&c);
		i->time_stamp = rd_u32(&c);
		rd_skip(&c, 4u + ev->pointer_bytes + 16u);
	}
	i->path = (struct rd_name){rd_utf16z(&c), true};
	return c.failed ? RD_CORRUPT : 0;
}
