#include "profile/intern.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* The names of a method that came before, found by the hash of their raw bytes. */
struct rd_raw_names {
	uint32_t ns_bytes, name_bytes, signature_bytes; /* raw */
	struct rd_interned_names numbers;
};

void rd_intern_release(struct rd_intern *in)
{
	rd_bytes_release(&in->utf8);
	rd_vec_release(&in->frames);
	rd_table_release(&in->stacks);
	rd_vec_release(&in->raw);
	rd_table_release(&in->raw_table);
}

int rd_intern_text(struct rd_intern *in, const void *text, size_t size_bytes, uint32_t *out)
{
	if (size_bytes > RD_NAME_BYTES_MAX)
		return RD_LIMIT;
	uint32_t id = rd_strings_id(&in->out->strings, text, size_bytes);
	if (id == RD_NONE)
		return RD_NOMEM;
	*out = id + 1;
	return 0;
}

int rd_intern_name(struct rd_intern *in, const struct rd_name *name, uint32_t *out)
{
	if (name->text.at == NULL) {
		*out = 0;
		return 0;
	}
	if (!name->utf16)
		return rd_intern_text(in, name->text.at, name->text.size_bytes, out);
	in->utf8.n = 0;
	if (rd_utf16_append(&in->utf8, name->text.at, name->text.size_bytes) < 0)
		return RD_NOMEM;
	return rd_intern_text(in, in->utf8.at, in->utf8.n, out);
}

/* Sixteen bytes at once, on any machine. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

static inline bytes16 load16(const uint8_t *p)
{
	bytes16 v;
	memcpy(&v, p, sizeof v);
	return v;
}

/* Which bits of 16 units of UTF-16 are not those of 16 bytes of text; what is not ASCII is seen by units |= it. */
static inline words2 units_differ(const uint8_t *utf16, const uint8_t *text, words2 *units)
{
	const bytes16 zero = {0};
	bytes16 t = load16(text);
	words2 low = (words2)__builtin_shufflevector(t, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	words2 high = (words2)__builtin_shufflevector(t, zero, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
						      15, 31);
	words2 a = (words2)load16(utf16), b = (words2)load16(utf16 + 16);

	*units |= a | b;
	return (a ^ low) | (b ^ high);
}

/* Whether UTF-16 is the same ASCII, unit by unit: 1 it is, 0 it is not, -1 it is not all ASCII. Both have n units. */
static int same_ascii(const uint8_t *utf16, const uint8_t *text, size_t n)
{
	words2 differ = {0}, units = {0};
	size_t i = 0;

	for (; n - i >= 16; i += 16)
		differ |= units_differ(utf16 + 2 * i, text + i, &units);
	/* The last ones once more with those before them, or few by few. */
	if (n >= 16 && i < n) {
		differ |= units_differ(utf16 + 2 * (n - 16), text + n - 16, &units);
		i = n;
	}
	uint64_t differs = differ[0] | differ[1], all = units[0] | units[1];
	for (; n - i >= 4; i += 4) {
		uint64_t four = rd_le64(utf16 + 2 * i), packed = (four | four >> 8) & 0x0000ffff0000ffffu;
		all |= four;
		differs |= (uint32_t)(packed | packed >> 16) ^ rd_le32(text + i);
	}
	for (; i < n; i++) {
		uint16_t unit = rd_le16(utf16 + 2 * i);
		all |= unit;
		differs |= unit ^ text[i];
	}
	if (all & 0xff80ff80ff80ff80u)
		return -1;
	return differs == 0;
}

/* Whether a string is what a raw name would become. */
static bool same_name(struct rd_intern *in, uint32_t number, const struct rd_span *raw)
{
	struct rd_span text = rd_strings_at(&in->out->strings, number - 1);

	if (text.size_bytes == raw->size_bytes / 2) {
		int same = same_ascii(raw->at, text.at, text.size_bytes);
		if (same >= 0)
			return same;
	}
	in->utf8.n = 0;
	return rd_utf16_append(&in->utf8, raw->at, raw->size_bytes) == 0 && in->utf8.n == text.size_bytes &&
	       memcmp(in->utf8.at, text.at, text.size_bytes) == 0;
}

struct raw_key {
	struct rd_intern *in;
	const struct rd_method_record *method;
};

static bool same_raw(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_intern *in = ctx;
	const struct raw_key *k = key;
	const struct rd_raw_names *a = &in->raw.at[index];
	const struct rd_method_record *m = k->method;

	return a->ns_bytes == m->ns.text.size_bytes && a->name_bytes == m->name.text.size_bytes &&
	       a->signature_bytes == m->signature.text.size_bytes && same_name(k->in, a->numbers.name, &m->name.text) &&
	       same_name(k->in, a->numbers.ns, &m->ns.text) &&
	       same_name(k->in, a->numbers.signature, &m->signature.text);
}

/* The raw bytes of all three when they stand one behind the other, a NUL between them; else nothing. */
static struct rd_span neighbours(const struct rd_method_record *m)
{
	const struct rd_span *ns = &m->ns.text, *name = &m->name.text, *signature = &m->signature.text;

	if (!m->ns.utf16 || !m->name.utf16 || !m->signature.utf16 || ns->at == NULL)
		return (struct rd_span){0};
	size_t name_at = ns->size_bytes + 2, signature_at = name_at + name->size_bytes + 2;
	size_t size_bytes = signature_at + signature->size_bytes;
	if (name->at != ns->at + name_at || signature->at != ns->at + signature_at || size_bytes > UINT32_MAX)
		return (struct rd_span){0};
	return (struct rd_span){ns->at, size_bytes};
}

static int convert_names(struct rd_intern *in, const struct rd_method_record *m, struct rd_interned_names *out)
{
	int code = rd_intern_name(in, &m->ns, &out->ns);

	if (code == 0)
		code = rd_intern_name(in, &m->name, &out->name);
	if (code == 0)
		code = rd_intern_name(in, &m->signature, &out->signature);
	return code;
}

int rd_intern_method_names(struct rd_intern *in, const struct rd_method_record *m, struct rd_interned_names *out)
{
	struct rd_span raw = neighbours(m);
	struct raw_key key = {in, m};

	if (raw.at == NULL)
		return convert_names(in, m, out);
	uint64_t hash = rd_hash(raw.at, raw.size_bytes);
	uint32_t index = rd_table_find(&in->raw_table, hash, same_raw, in, &key);
	if (index != RD_NONE) {
		*out = in->raw.at[index].numbers;
		return 0;
	}
	int code = convert_names(in, m, out);
	if (code < 0)
		return code;
	if (rd_vec_reserve(&in->raw, 1) < 0 || rd_table_put(&in->raw_table, hash, (uint32_t)in->raw.n) < 0)
		return RD_NOMEM;
	in->raw.at[in->raw.n++] =
		(struct rd_raw_names){(uint32_t)m->ns.text.size_bytes, (uint32_t)m->name.text.size_bytes,
				      (uint32_t)m->signature.text.size_bytes, *out};
	return 0;
}

/* Frames of 8 bytes, not aligned: in an event, or widened. */
static bool same_stack(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_partial *p = ((const struct rd_intern *)ctx)->out;
	const struct rd_span *frames = key;
	uint64_t begin = index ? p->stack_ends.at[index - 1] : 0;

	return (p->stack_ends.at[index] - begin) * 8 == frames->size_bytes &&
	       memcmp(p->stack_frames.at + begin, frames->at, frames->size_bytes) == 0;
}

static int add_stack(struct rd_intern *in, uint64_t hash, struct rd_span frames, uint32_t *out)
{
	struct rd_partial *p = in->out;
	size_t n = frames.size_bytes / 8;

	if (p->stack_ends.n >= RD_NONE - 1)
		return RD_LIMIT;
	if (rd_vec_reserve(&p->stack_frames, n) < 0 || rd_vec_reserve(&p->stack_ends, 1) < 0 ||
	    rd_table_put(&in->stacks, hash, (uint32_t)p->stack_ends.n) < 0)
		return RD_NOMEM;
	memcpy(p->stack_frames.at + p->stack_frames.n, frames.at, frames.size_bytes);
	p->stack_frames.n += n;
	p->stack_ends.at[p->stack_ends.n++] = p->stack_frames.n;
	*out = (uint32_t)p->stack_ends.n;
	return 0;
}

/* 32-bit frames as 64-bit ones, in in->frames. */
static int widen(struct rd_intern *in, const uint8_t *frames, size_t n)
{
	in->frames.n = 0;
	if (rd_vec_reserve(&in->frames, n) < 0)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++)
		in->frames.at[i] = rd_le32(frames + 4 * i);
	return 0;
}

int rd_intern_stack(struct rd_intern *in, const uint8_t *frames, size_t size_bytes, unsigned pointer_bytes,
		    size_t depth, uint32_t *out)
{
	size_t n = frames && pointer_bytes ? size_bytes / pointer_bytes : 0;

	*out = 0;
	if (n == 0)
		return 0;
	if (n > depth)
		n = depth;
	if (pointer_bytes == 4) {
		if (widen(in, frames, n) < 0)
			return RD_NOMEM;
		frames = (const uint8_t *)in->frames.at;
	}
	struct rd_span key = {frames, n * 8};
	uint64_t hash = rd_hash(key.at, key.size_bytes);
	uint32_t index = rd_table_find(&in->stacks, hash, same_stack, in, &key);
	if (index == RD_NONE)
		return add_stack(in, hash, key, out);
	*out = index + 1;
	return 0;
}
