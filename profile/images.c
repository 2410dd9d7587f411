#include "profile/images.h"

#define KERNEL RD_NONE /* as an owner: no life has this number */

struct identity {
	uint32_t owner;  /* a life, or KERNEL */
	uint32_t module; /* string */
};

/* Whoever asks: the frame of an image of the kernel belongs to his process. */
struct asked {
	struct rd_images *images;
	uint32_t life;
};

void rd_images_init(struct rd_images *i, struct rd_content *content, const struct rd_addresses *sealed)
{
	*i = (struct rd_images){.content = content};
	rd_records_init(&i->identities, sizeof(struct identity), sizeof(struct identity));
	rd_history_init(&i->history, sealed);
}

static bool is_kernel(uint32_t pid)
{
	return pid == 0 || pid == 4;
}

int rd_images_add(struct rd_images *i, uint32_t life, uint32_t module, struct rd_when when, uint32_t low, uint32_t high,
		  struct rd_error *err)
{
	struct identity identity = {is_kernel(i->content->lives.at[life].pid) ? KERNEL : life, module};

	when.id = rd_records_id(&i->identities, &identity, NULL);
	return when.id == RD_NONE ? rd_fail_nomem(err) : rd_history_add(&i->history, when, low, high, err);
}

static uint32_t owner_of(const void *ctx, uint32_t id)
{
	const struct rd_images *i = ctx;
	return ((const struct identity *)rd_records_at(&i->identities, id))->owner;
}

int rd_images_seal(struct rd_images *i, struct rd_error *err)
{
	return rd_history_seal(&i->history, owner_of, i, err);
}

static uint32_t frame_of(void *ctx, uint32_t event)
{
	const struct asked *a = ctx;
	const struct identity *id = rd_records_at(&a->images->identities, a->images->history.events.at[event].when.id);
	return rd_content_unnamed(a->images->content, a->life, 0, id->module, RD_TIER_NATIVE);
}

int rd_images_ask(struct rd_images *i, uint32_t life, uint32_t rank, uint64_t time, struct rd_verdict *out,
		  struct rd_error *err)
{
	struct asked asked = {i, life};
	struct rd_ownership o = rd_history_owner(&i->history, life, rank, time, NULL, NULL);

	if (o.owner == RD_NONE) {
		uint64_t until = o.until;
		o = rd_history_owner(&i->history, KERNEL, rank, time, NULL, NULL);
		o.until = until < o.until ? until : o.until;
	}
	return rd_verdict_give(out, &o, i->content, frame_of, &asked, err);
}

void rd_images_release(struct rd_images *i)
{
	rd_records_release(&i->identities);
	rd_history_release(&i->history);
}
