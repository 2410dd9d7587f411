#include "profile/resolve.h"

#include <string.h>

/* The verdict on an address, as it was last asked. */
struct at_address {
	uint64_t address; /* the key: address and life */
	uint32_t life;
	uint32_t rank;
	uint64_t until; /* 0: never asked */
	uint32_t frame;
	uint32_t ambiguous;
};

#define ADDRESS_KEY_BYTES offsetof(struct at_address, rank)

_Static_assert(offsetof(struct rd_resolved, until) == 16, "the key of a resolved stack has no padding");

void rd_resolver_init(struct rd_resolver *r, struct rd_content *content, const struct rd_strings *raw_stacks,
		      const struct rd_addresses *addresses, struct rd_methods *methods, struct rd_images *images,
		      struct rd_mappings *mappings, struct rd_progress *progress)
{
	*r = (struct rd_resolver){
		.content = content,
		.raw_stacks = raw_stacks,
		.addresses = addresses,
		.methods = methods,
		.images = images,
		.mappings = mappings,
		.progress = progress,
	};
	rd_records_init(&r->at_addresses, sizeof(struct at_address), ADDRESS_KEY_BYTES);
	rd_records_init(&r->stacks, sizeof(struct rd_resolved), offsetof(struct rd_resolved, until));
}

/* What an address belongs to: methods first, then images, then mappings. */
static int ask(struct rd_resolver *r, const struct at_address *a, uint64_t time, struct rd_verdict *v,
	       struct rd_error *err)
{
	int rc = rd_methods_ask(r->methods, a->life, a->rank, time, v, err);
	uint64_t until = v->until;

	if (rc == 0 && v->frame == RD_NONE) {
		rc = rd_images_ask(r->images, a->life, a->rank, time, v, err);
		until = v->until = until < v->until ? until : v->until;
	}
	if (rc == 0 && v->frame == RD_NONE) {
		rc = rd_mappings_ask(r->mappings, a->life, a->rank, time, v, err);
		v->until = until < v->until ? until : v->until;
	}
	return rc;
}

/* Code that belongs to nothing is nobody's. */
static int judge(struct rd_resolver *r, struct at_address *a, uint64_t time, struct rd_error *err)
{
	struct rd_verdict v;
	int rc = ask(r, a, time, &v, err);

	if (rc < 0)
		return rc;
	if (v.frame == RD_NONE)
		v.frame = rd_content_unnamed(r->content, a->life, 0, 0, RD_TIER_UNKNOWN);
	if (v.frame == RD_NONE)
		return rd_fail_nomem(err);
	a->frame = v.frame;
	a->ambiguous = v.ambiguous;
	a->until = r->once ? UINT64_MAX : v.until;
	return 0;
}

/* The address as it was last asked, in this life; NULL when out of memory. Borrowed until the next call. */
static struct at_address *find_address(struct rd_resolver *r, uint32_t life, uint64_t address)
{
	uint32_t *recent = &r->recent[(address * 0x9e3779b97f4a7c15u) >> 54];
	struct at_address key = {.address = address, .life = life}, *a;
	bool fresh;

	if (*recent < r->at_addresses.n) {
		a = rd_records_at(&r->at_addresses, *recent);
		if (a->address == address && a->life == life)
			return a;
	}
	*recent = rd_records_id(&r->at_addresses, &key, &fresh);
	if (*recent == RD_NONE)
		return NULL;
	a = rd_records_at(&r->at_addresses, *recent);
	if (fresh)
		a->rank = rd_addresses_rank(r->addresses, address);
	return a;
}

/* *out is borrowed until the next call. */
static int resolve_address(struct rd_resolver *r, uint32_t life, uint64_t address, uint64_t time,
			   const struct at_address **out, struct rd_error *err)
{
	struct at_address *a = find_address(r, life, address);

	if (a == NULL)
		return rd_fail_nomem(err);
	if (a->rank == RD_NONE)
		return rd_fail(err, RD_INTERNAL, "an address of a stack was not collected");
	*out = a;
	return time < a->until ? 0 : judge(r, a, time, err);
}

/* One more frame, inside all others. */
static int add_frame(struct rd_resolver *r, struct rd_stack_so_far *s, uint32_t frame, bool ambiguous,
		     struct rd_error *err)
{
	uint32_t stack = rd_content_call(r->content, s->stack, frame);

	if (stack == RD_NONE)
		return rd_fail_nomem(err);
	s->stack = stack;
	s->frames++;
	s->unresolved += (rd_content_frame_at(r->content, frame)->flags & RD_FRAME_UNRESOLVED) != 0;
	s->ambiguous += ambiguous;
	return 0;
}

/* The frames of a raw stack from its outermost on, without those that are there already. */
static int add_part(struct rd_resolver *r, struct rd_resolved *s, uint32_t raw_stack, uint32_t *there, uint64_t time,
		    struct rd_error *err)
{
	const struct at_address *a;

	if (raw_stack == RD_NONE)
		return 0;
	struct rd_span addresses = rd_strings_at(r->raw_stacks, raw_stack);
	size_t n = addresses.size_bytes / sizeof(uint64_t), skip = *there < n ? *there : n;
	*there -= (uint32_t)skip;
	for (size_t i = n - skip; i > 0; i--) {
		int rc = resolve_address(r, s->life, rd_le64(addresses.at + (i - 1) * sizeof(uint64_t)), time, &a, err);
		if (rc < 0)
			return rc;
		bool lasts = a->until == UINT64_MAX && s->lasting.frames == s->whole.frames;
		if (a->until < s->until)
			s->until = a->until;
		rc = add_frame(r, &s->whole, a->frame, a->ambiguous, err);
		if (rc < 0)
			return rc;
		if (lasts)
			s->lasting = s->whole;
	}
	return rd_progress_step(r->progress, n - skip, err);
}

/* The pointer's frame, which comes in front unless the first frame is the same method. */
static int add_head(struct rd_resolver *r, struct rd_resolved *s, struct rd_error *err)
{
	uint32_t head = s->head / 2;
	const struct rd_result_call *innermost = rd_content_call_at(r->content, s->whole.stack);

	if (s->head == RD_NONE || (innermost && rd_content_same_method(r->content, head, innermost->frame)))
		return 0;
	return add_frame(r, &s->whole, head, s->head % 2, err);
}

/* A stack that is a user part alone. */
static int resolve_user(struct rd_resolver *r, struct rd_resolved *s, uint64_t time, struct rd_error *err)
{
	uint32_t there = s->lasting.frames;

	s->until = UINT64_MAX;
	s->whole = s->lasting;
	return add_part(r, s, s->user, &there, time, err);
}

/* What is inside the user part: `outside`, as it is at that time. */
static int resolve_inside(struct rd_resolver *r, struct rd_resolved *s, const struct rd_resolved *outside,
			  uint64_t time, struct rd_error *err)
{
	uint32_t there = 0;

	s->until = outside->until;
	s->whole = outside->whole;
	s->lasting = outside->lasting;
	int rc = add_part(r, s, s->kernel, &there, time, err);
	return rc < 0 ? rc : add_head(r, s, err);
}

/* The place of a user stack in by_user, which grows to it; NULL when out of memory. */
static uint32_t *recent_of(struct rd_resolver *r, uint32_t user)
{
	if (user >= r->by_user.n) {
		size_t more = r->raw_stacks->at.n - r->by_user.n;
		if (rd_vec_reserve(&r->by_user, more) < 0)
			return NULL;
		memset(r->by_user.at + r->by_user.n, 0xff, more * sizeof *r->by_user.at);
		r->by_user.n += more;
	}
	return &r->by_user.at[user];
}

/* The id of a user part alone, mostly without a look-up. */
static uint32_t user_id(struct rd_resolver *r, const struct rd_resolved *key)
{
	if (key->user == RD_NONE)
		return rd_records_id(&r->stacks, key, NULL);
	uint32_t *recent = recent_of(r, key->user);
	if (recent == NULL)
		return RD_NONE;
	if (*recent != RD_NONE && ((const struct rd_resolved *)rd_records_at(&r->stacks, *recent))->life == key->life)
		return *recent;
	return *recent = rd_records_id(&r->stacks, key, NULL);
}

/* Stacks with the same user part share its frames, and how they are resolved: *id is that part's. */
static int know_user(struct rd_resolver *r, uint32_t life, uint32_t user, uint64_t time, uint32_t *id,
		     struct rd_error *err)
{
	struct rd_resolved key = {.life = life, .kernel = RD_NONE, .user = user, .head = RD_NONE};

	*id = user_id(r, &key);
	if (*id == RD_NONE)
		return rd_fail_nomem(err);
	struct rd_resolved *resolved = rd_records_at(&r->stacks, *id);
	/* A fresh one says until 0. */
	return time < resolved->until ? 0 : resolve_user(r, resolved, time, err);
}

int rd_resolve(struct rd_resolver *r, const struct rd_raw_sample *s, const struct rd_resolved **out,
	       struct rd_error *err)
{
	struct rd_resolved key = {.life = s->life, .kernel = s->kernel, .user = s->user, .head = RD_NONE};
	const struct at_address *pointer;

	if (s->pointer != 0) {
		int rc = resolve_address(r, s->life, s->pointer, s->time, &pointer, err);
		if (rc < 0)
			return rc;
		key.head = pointer->frame * 2 + pointer->ambiguous;
	}
	uint32_t id, outside;
	if (key.kernel == RD_NONE && key.head == RD_NONE) {
		int rc = know_user(r, s->life, s->user, s->time, &id, err);
		*out = rc < 0 ? NULL : rd_records_at(&r->stacks, id);
		return rc;
	}
	id = rd_records_id(&r->stacks, &key, NULL);
	if (id == RD_NONE)
		return rd_fail_nomem(err);
	*out = rd_records_at(&r->stacks, id);
	if (s->time < (*out)->until)
		return 0;
	int rc = know_user(r, s->life, s->user, s->time, &outside, err);
	if (rc < 0)
		return rc;
	struct rd_resolved *resolved = rd_records_at(&r->stacks, id);
	*out = resolved;
	return resolve_inside(r, resolved, rd_records_at(&r->stacks, outside), s->time, err);
}

void rd_resolver_release(struct rd_resolver *r)
{
	rd_records_release(&r->at_addresses);
	rd_records_release(&r->stacks);
	rd_vec_release(&r->by_user);
}
