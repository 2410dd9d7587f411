#include "proto/budget.h"

#include "base/memory.h"

/* What the smallest piece costs beside its bytes: many empty pieces are a bomb too. */
#define PIECE_BYTES 32

static void *take(void *ctx, size_t size_bytes)
{
	struct rd_budget *b = ctx;

	if (size_bytes > UINT64_MAX - PIECE_BYTES || size_bytes + PIECE_BYTES > b->left_bytes) {
		b->code = RD_LIMIT;
		return NULL;
	}
	/* protobuf-c may ask for 0 bytes and takes NULL for a failure. */
	void *p = rd_realloc(NULL, size_bytes ? size_bytes : 1);
	if (p == NULL)
		b->code = RD_NOMEM;
	else
		b->left_bytes -= size_bytes + PIECE_BYTES;
	return p;
}

static void give_back(void *ctx, void *p)
{
	(void)ctx;
	rd_free(p);
}

void rd_budget_init(struct rd_budget *b, uint64_t bytes)
{
	*b = (struct rd_budget){.allocator = {.alloc = take, .free = give_back, .allocator_data = b},
				.left_bytes = bytes};
}

int rd_budget_fail(const struct rd_budget *b, struct rd_error *err, const char *what)
{
	if (b->code == RD_NOMEM)
		return rd_fail_nomem(err);
	if (b->code == RD_LIMIT)
		return rd_fail(err, RD_LIMIT, "%s unpacks to more than it may", what);
	return rd_fail(err, RD_CORRUPT, "%s is no message of its kind", what);
}
