#include "tests/trace/etl/etl_pack.h"

#include <stdlib.h>
#include <string.h>

#include "trace/etl/etl.h"

static void put(struct rd_bytes *out, uint64_t v, size_t size_bytes)
{
	if (rd_bytes_append(out, &v, size_bytes) != 0)
		abort();
}

struct match {
	size_t distance, length; /* length 0: none */
};

/* Where three bytes stood before: the last place by their hash, and by place the one before. Both + 1; 0 none. */
#define HASHES 4096
struct places {
	const uint8_t *p;
	size_t end, next; /* places before next are known */
	uint32_t last[HASHES];
	uint32_t *before;
};

static void open_places(struct places *f, const uint8_t *p, size_t end)
{
	*f = (struct places){.p = p, .end = end, .before = malloc((end + 1) * sizeof *f->before)};
	if (f->before == NULL)
		abort();
}

static uint32_t hash_at(const struct places *f, size_t at)
{
	uint32_t v = (uint32_t)f->p[at] | (uint32_t)f->p[at + 1] << 8 | (uint32_t)f->p[at + 2] << 16;
	return v * 2654435761u >> 20;
}

/* The longest earlier match at `at`, looking back at most `window`; the nearest of equals. A few places are enough. */
static struct match longest(struct places *f, size_t at, size_t window, size_t most)
{
	struct match best = {0, 0};

	if (at + 3 > f->end)
		return best;
	for (; f->next < at; f->next++) {
		uint32_t *last = &f->last[hash_at(f, f->next)];
		f->before[f->next] = *last;
		*last = (uint32_t)f->next + 1;
	}
	uint32_t place = f->last[hash_at(f, at)];
	for (int tries = 0; place && tries < 12 && at - (place - 1) <= window; tries++, place = f->before[place - 1]) {
		size_t distance = at - (place - 1), n = 0;
		while (n < most && at + n < f->end && f->p[at + n] == f->p[at + n - distance])
			n++;
		if (n > best.length)
			best = (struct match){distance, n};
	}
	return best.length >= 3 ? best : (struct match){0, 0};
}

static void lznt1_chunk(struct rd_bytes *out, const uint8_t *p, size_t size)
{
	struct places places;

	open_places(&places, p, size);
	for (size_t at = 0; at < size;) {
		size_t flags = out->n;
		put(out, 0, 1);
		for (unsigned bit = 0; bit < 8 && at < size; bit++) {
			unsigned distance_bits = 4;
			while (at > (size_t)1 << distance_bits)
				distance_bits++;
			struct match m =
				longest(&places, at, (size_t)1 << distance_bits, (1u << (16 - distance_bits)) - 1 + 3);
			if (m.length) {
				put(out, (m.distance - 1) << (16 - distance_bits) | (m.length - 3), 2);
				out->at[flags] |= (uint8_t)(1u << bit);
				at += m.length;
			} else {
				put(out, p[at++], 1);
			}
		}
	}
	free(places.before);
}

void etl_pack_lznt1(struct rd_bytes *out, const uint8_t *plain, size_t size_bytes)
{
	for (size_t at = 0; at < size_bytes; at += 4096) {
		size_t size = size_bytes - at < 4096 ? size_bytes - at : 4096, head = out->n;
		put(out, 0, 2);
		lznt1_chunk(out, plain + at, size);
		size_t packed = out->n - head - 2;
		if (packed >= size) {
			out->n = head;
			put(out, 0x3000 | (size - 1), 2);
			if (rd_bytes_append(out, plain + at, size) != 0)
				abort();
			continue;
		}
		out->at[head] = (uint8_t)(packed - 1);
		out->at[head + 1] = (uint8_t)(0xb0 | (packed - 1) >> 8);
	}
}

/* The part of a length behind the three bits; *nibble is the place of a half-used byte, 0 none. */
static void xpress_length(struct rd_bytes *out, size_t length, size_t *nibble)
{
	size_t n = length - 3 - 7, half = n < 15 ? n : 15;

	if (*nibble) {
		out->at[*nibble] |= (uint8_t)(half << 4);
		*nibble = 0;
	} else {
		*nibble = out->n;
		put(out, half, 1);
	}
	if (n < 15)
		return;
	if (n - 15 < 255) {
		put(out, n - 15, 1);
		return;
	}
	put(out, 255, 1);
	if (length - 3 <= 0xffff) {
		put(out, length - 3, 2);
	} else {
		put(out, 0, 2);
		put(out, length - 3, 4);
	}
}

void etl_pack_xpress(struct rd_bytes *out, const uint8_t *plain, size_t size_bytes)
{
	size_t nibble = 0;
	struct places places;

	open_places(&places, plain, size_bytes);
	for (size_t at = 0; at < size_bytes;) {
		size_t place = out->n;
		uint32_t flags = 0;
		put(out, 0, 4);
		for (int bit = 31; bit >= 0 && at < size_bytes; bit--) {
			struct match m = longest(&places, at, 8192, SIZE_MAX);
			if (!m.length) {
				put(out, plain[at++], 1);
				continue;
			}
			flags |= 1u << bit;
			put(out, (m.distance - 1) << 3 | (m.length - 3 < 7 ? m.length - 3 : 7), 2);
			if (m.length - 3 >= 7)
				xpress_length(out, m.length, &nibble);
			at += m.length;
		}
		memcpy(out->at + place, &flags, 4);
	}
	free(places.before);
}

/* Words of 16 bits, written where their reader has them: two ahead of the whole bytes. */
struct bit_writer {
	struct rd_bytes *out;
	size_t word[2];
	uint32_t bits;
	int n;
};

static void write_bits(struct bit_writer *w, uint32_t bits, int n)
{
	while (n--) {
		if (w->n == 16) {
			/* A further word is due only now: its reader takes one when it runs out, not before. */
			uint16_t word = (uint16_t)w->bits;
			memcpy(w->out->at + w->word[0], &word, 2);
			w->word[0] = w->word[1];
			w->word[1] = w->out->n;
			put(w->out, 0, 2);
			w->n = 0;
		}
		w->bits = w->bits << 1 | (bits >> n & 1);
		w->n++;
	}
}

/* Code lengths that need no optimum: literals of 9 bits, matches of 9 bits: 512 codes of equal length. */
enum { CODE_BITS = 9 };

static void huffman_length(struct bit_writer *w, size_t length)
{
	size_t n = length - 3 - 15;

	if (n < 255) {
		put(w->out, n, 1);
		return;
	}
	put(w->out, 255, 1);
	if (length - 3 <= 0xffff) {
		put(w->out, length - 3, 2);
	} else {
		put(w->out, 0, 2);
		put(w->out, length - 3, 4);
	}
}

void etl_pack_xpress_huffman(struct rd_bytes *out, const uint8_t *plain, size_t size_bytes)
{
	struct places places;

	open_places(&places, plain, size_bytes);
	for (size_t at = 0; at < size_bytes;) {
		size_t stop = at + 65536;
		for (int i = 0; i < 256; i++)
			put(out, CODE_BITS | CODE_BITS << 4, 1);
		struct bit_writer w = {.out = out, .word = {out->n, out->n + 2}};
		put(out, 0, 4);
		while (at < size_bytes && at < stop) {
			struct match m = longest(&places, at, 65535, SIZE_MAX);
			if (!m.length) {
				write_bits(&w, plain[at++], CODE_BITS);
				continue;
			}
			int distance_bits = 63 - __builtin_clzll(m.distance);
			size_t low = m.length - 3 < 15 ? m.length - 3 : 15;
			write_bits(&w, 256 + (uint32_t)(distance_bits << 4) + (uint32_t)low, CODE_BITS);
			if (low == 15)
				huffman_length(&w, m.length);
			write_bits(&w, (uint32_t)(m.distance - ((size_t)1 << distance_bits)), distance_bits);
			at += m.length;
		}
		if (w.n) {
			uint16_t word = (uint16_t)(w.bits << (16 - w.n));
			memcpy(out->at + w.word[0], &word, 2);
		}
	}
	free(places.before);
}

void etl_pack(struct rd_bytes *out, uint32_t compression, const uint8_t *plain, size_t size_bytes)
{
	switch ((enum rd_etl_compression)compression) {
	case RD_ETL_LZNT1:
		etl_pack_lznt1(out, plain, size_bytes);
		return;
	case RD_ETL_XPRESS:
		etl_pack_xpress(out, plain, size_bytes);
		return;
	case RD_ETL_XPRESS_HUFFMAN:
		etl_pack_xpress_huffman(out, plain, size_bytes);
		return;
	case RD_ETL_PLAIN:
		break;
	}
	if (rd_bytes_append(out, plain, size_bytes) != 0)
		abort();
}
