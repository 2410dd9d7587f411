/* The kernel's records by name: etl_build.h, second half. */
#include "tests/trace/etl/etl_build.h"
#include "trace/record.h"

void etl_sample(struct etl_build *e, uint64_t time, uint32_t tid, uint64_t pointer)
{
	struct rd_bytes p = {0};

	etl_put_pointer(&p, e, pointer);
	etl_put(&p, tid, 4);
	etl_put(&p, 1, 4);
	etl_perfinfo(e, 0x0f, 46, 2, time, &p);
	rd_bytes_release(&p);
}

/* Time, process, thread: how stack walks begin. */
static void stack_head(struct rd_bytes *p, uint64_t sample_time, uint32_t pid, uint32_t tid)
{
	etl_put(p, sample_time, 8);
	etl_put(p, pid, 4);
	etl_put(p, tid, 4);
}

void etl_stack(struct etl_build *e, uint64_t time, uint64_t sample_time, uint32_t pid, uint32_t tid,
	       const uint64_t *frames, size_t n)
{
	struct rd_bytes p = {0};

	stack_head(&p, sample_time, pid, tid);
	for (size_t i = 0; i < n; i++)
		etl_put_pointer(&p, e, frames[i]);
	etl_perfinfo(e, 0x18, 32, 2, time, &p);
	rd_bytes_release(&p);
}

void etl_stack_key(struct etl_build *e, uint64_t time, uint64_t sample_time, uint32_t pid, uint32_t tid, uint32_t part,
		   uint64_t key)
{
	struct rd_bytes p = {0};

	stack_head(&p, sample_time, pid, tid);
	etl_put_pointer(&p, e, key);
	etl_perfinfo(e, 0x18, part == RD_STACK_KERNEL_KEY ? 37 : 38, 2, time, &p);
	rd_bytes_release(&p);
}

void etl_stack_definition(struct etl_build *e, uint64_t time, uint64_t key, const uint64_t *frames, size_t n)
{
	struct rd_bytes p = {0};

	etl_put_pointer(&p, e, key);
	for (size_t i = 0; i < n; i++)
		etl_put_pointer(&p, e, frames[i]);
	etl_perfinfo(e, 0x18, 35, 2, time, &p);
	rd_bytes_release(&p);
}

void etl_thread(struct etl_build *e, uint8_t op, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct rd_bytes p = {0};

	etl_put(&p, pid, 4);
	etl_put(&p, tid, 4);
	for (int i = 0; i < 7; i++)
		etl_put_pointer(&p, e, 0);
	etl_put(&p, 0, 8);
	etl_system(e, 0x05, op, 3, (struct etl_who){4, 4, time}, &p);
	rd_bytes_release(&p);
}

void etl_process(struct etl_build *e, uint8_t op, uint64_t time, uint32_t pid, uint32_t parent, const char *name,
		 const char *command_line)
{
	struct rd_bytes p = {0};

	etl_put_pointer(&p, e, 0x1000 + pid);
	etl_put(&p, pid, 4);
	etl_put(&p, parent, 4);
	etl_put(&p, 1, 8);
	etl_put_pointer(&p, e, 0x2000);
	etl_put(&p, 0, 4);
	etl_put_pointer(&p, e, 0x3000); /* an owner of five parts */
	etl_put_pointer(&p, e, 0);
	etl_put(&p, 0x0501, 2);
	for (int i = 0; i < 13; i++)
		etl_put(&p, 5, 2);
	etl_put_text(&p, name);
	etl_put_utf16(&p, command_line);
	etl_put_utf16(&p, "");
	etl_put_utf16(&p, "");
	etl_system(e, 0x03, op, 4, (struct etl_who){4, 4, time}, &p);
	rd_bytes_release(&p);
}

void etl_image(struct etl_build *e, uint8_t op, uint64_t time, uint32_t pid, uint64_t base, uint64_t size,
	       const char *path)
{
	struct rd_bytes p = {0};

	etl_put_pointer(&p, e, base);
	etl_put_pointer(&p, e, size);
	etl_put(&p, pid, 4);
	etl_put(&p, 0x11, 4);
	etl_put(&p, 0x22, 4);
	etl_put(&p, 0, 4);
	etl_put_pointer(&p, e, base);
	etl_put(&p, 0, 8);
	etl_put(&p, 0, 8);
	etl_put_utf16(&p, path);
	etl_system(e, op == 10 ? 0x03 : 0x14, op, 3, (struct etl_who){4, 4, time}, &p);
	rd_bytes_release(&p);
}
