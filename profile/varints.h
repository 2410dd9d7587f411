/*
 * varints - a run of packed numbers of a message, one after the other.
 *
 * Seven bits a byte, the lowest first, as protobuf packs them. Take as many as
 * there should be, then ask once whether they were there.
 * Inside profile/ only.
 */
#ifndef RD_PROFILE_VARINTS_H
#define RD_PROFILE_VARINTS_H

#include "base/cursor.h"

struct rd_varints {
	const uint8_t *at, *end;
	bool failed; /* sticky: a number was not there, or had no end */
};

static inline struct rd_varints rd_varints_of(struct rd_span run)
{
	return (struct rd_varints){run.at, run.size_bytes ? run.at + run.size_bytes : run.at, false};
}

/* All numbers were taken, and all were there. */
static inline bool rd_varints_over(const struct rd_varints *v)
{
	return v->at == v->end && !v->failed;
}

/* How many numbers end in the run. */
static inline size_t rd_varints_count(struct rd_span run)
{
	size_t n = 0;

	for (size_t i = 0; i < run.size_bytes; i++)
		n += run.at[i] < 0x80;
	return n;
}

/* Near the end of the run, or long. */
static inline uint64_t rd_varints_slowly(struct rd_varints *v)
{
	uint64_t value = 0;

	for (unsigned shift = 0; v->at < v->end && shift < 70; shift += 7) {
		uint64_t byte = *v->at++;
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	v->failed = true;
	return 0;
}

static inline __attribute__((always_inline)) uint64_t rd_varints_next(struct rd_varints *v)
{
	if (v->end - v->at < 8)
		return rd_varints_slowly(v);
	if (*v->at < 0x80)
		return *v->at++;
	uint64_t word = rd_le64(v->at), last = ~word & 0x8080808080808080u;
	if (last == 0)
		return rd_varints_slowly(v);
	/* All bits up to the first byte without a mark; then the sevens move together, in pairs. */
	word &= last ^ (last - 1);
	v->at += (__builtin_ctzll(last) >> 3) + 1;
	word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
	word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
	return (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
}

static inline uint64_t rd_unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

#endif
