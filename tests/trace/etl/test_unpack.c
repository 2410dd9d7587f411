/* The three unpackers: published examples, hand-made streams, round trips, and streams that lie. */
#include "tests/support.h"
#include "tests/trace/etl/etl_pack.h"
#include "trace/etl/etl.h"
#include "trace/etl/unpack.h"

static struct rd_xpress_huffman huffman;

static int unpack(uint32_t compression, const void *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	/* A copy of the exact size, so that a sanitizer sees any byte read behind it. */
	uint8_t *copy = malloc(in_bytes ? in_bytes : 1);
	int rc;

	if (in_bytes)
		memcpy(copy, in, in_bytes);
	if (compression == RD_ETL_LZNT1)
		rc = rd_lznt1_unpack(copy, in_bytes, out, out_bytes);
	else if (compression == RD_ETL_XPRESS)
		rc = rd_xpress_unpack(copy, in_bytes, out, out_bytes);
	else
		rc = rd_xpress_huffman_unpack(&huffman, copy, in_bytes, out, out_bytes);
	free(copy);
	return rc;
}

static void check(uint32_t compression, const void *in, size_t in_bytes, const char *plain, size_t n)
{
	uint8_t *out = malloc(n);

	assert_int_equal(unpack(compression, in, in_bytes, out, n), 0);
	assert_memory_equal(out, plain, n);
	for (size_t cut = 0; cut < in_bytes; cut++) {
		int rc = unpack(compression, in, cut, out, n);
		if (rc == 0)
			assert_memory_equal(out, plain, n);
		else
			assert_int_equal(rc, RD_CORRUPT);
	}
	free(out);
}

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz";

static const char *hundred_abc(void)
{
	static char text[301];

	for (int i = 0; i < 300; i++)
		text[i] = "abc"[i % 3];
	return text;
}

/* The examples of MS-XCA, section 3. */
static void published_xpress(void **state)
{
	const uint8_t literals[] = {0x3f, 0x00, 0x00, 0x00, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k',
				    'l',  'm',  'n',  'o',  'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'};
	const uint8_t repeated[] = {0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01};

	check(RD_ETL_XPRESS, literals, sizeof literals, alphabet, 26);
	check(RD_ETL_XPRESS, repeated, sizeof repeated, hundred_abc(), 300);
}

static void published_lznt1(void **state)
{
	const uint8_t packed[] = {0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00,
				  0x10, 0xa2, 0x47, 0x01, 0xa0, 0x45, 0x20, 0x44, 0x00, 0x08, 0x45, 0x01,
				  0x50, 0x79, 0x00, 0xc0, 0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xb4,
				  0x02, 0x4a, 0x44, 0xef, 0x03, 0x58, 0x02, 0x8c, 0x09, 0x16, 0x01, 0x48,
				  0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00, 0x04, 0x01, 0x18, 0x90, 0x00};

	/* With the text's NUL. */
	static const char tune[] =
		"F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G "
		"F# D E F# G F# E D E A F# F# G A A G F# E D D E F# E D D";

	check(RD_ETL_LZNT1, packed, sizeof packed, tune, sizeof tune);
}

static void published_xpress_huffman(void **state)
{
	uint8_t packed[256 + 7] = {0};

	/* Codes: a of 2 bits, b and c of 3, the match (distance 3, long) of 3, the end of 2. */
	packed['a' / 2] |= 3 << 4;
	packed['b' / 2] |= 3;
	packed['c' / 2] |= 2 << 4;
	packed[256 / 2] |= 2;
	packed[(256 + 0x1f) / 2] |= 2 << 4;
	/* a 110, b 111, c 00, match 10, its one bit of distance 1: 110 111 00 10 1 and zeros. */
	const uint8_t tail[] = {0xa8, 0xdc, 0x00, 0x00, 0xff, 0x26, 0x01};
	memcpy(packed + 256, tail, sizeof tail);
	check(RD_ETL_XPRESS_HUFFMAN, packed, sizeof packed, hundred_abc(), 300);
}

static void fill_random(uint8_t *p, size_t n, unsigned letters, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		/* Now and then a run, so that long matches come up. */
		p[i] = i && *seed >> 59 == 0 ? p[i - 1] : (uint8_t)((*seed >> 33) % letters);
	}
}

static void round_trip_of(uint32_t compression, const uint8_t *plain, size_t n)
{
	struct rd_bytes packed = {0};
	uint8_t *out = malloc(n);

	etl_pack(&packed, compression, plain, n);
	memset(out, 0xee, n);
	assert_int_equal(unpack(compression, packed.at, packed.n, out, n), 0);
	assert_memory_equal(out, plain, n);
	/* More output than there is input for is corrupt, and so is half the input. */
	uint8_t *more = malloc(n + 70000);
	assert_int_equal(unpack(compression, packed.at, packed.n, more, n + 70000), RD_CORRUPT);
	assert_int_equal(unpack(compression, packed.at, packed.n / 2, out, n), RD_CORRUPT);
	free(more);
	free(out);
	rd_bytes_release(&packed);
}

static void round_trip(uint32_t compression)
{
	const size_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 4095, 4096, 4097, 8191, 65535, 65536, 65537, 140000};
	const unsigned letters[] = {1, 2, 5, 256};
	uint64_t seed = compression;
	uint8_t *plain = malloc(140000);

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		for (size_t l = 0; l < sizeof letters / sizeof *letters; l++) {
			fill_random(plain, sizes[s], letters[l], &seed);
			round_trip_of(compression, plain, sizes[s]);
		}
	}
	for (int i = 0; i < 200; i++) {
		size_t n = 1 + (size_t)(seed >> 40) % 600;
		fill_random(plain, n, 1 + (unsigned)i % 7, &seed);
		round_trip_of(compression, plain, n);
	}
	free(plain);
}

static void round_trip_lznt1(void **state)
{
	round_trip(RD_ETL_LZNT1);
}

static void round_trip_xpress(void **state)
{
	round_trip(RD_ETL_XPRESS);
}

static void round_trip_xpress_huffman(void **state)
{
	round_trip(RD_ETL_XPRESS_HUFFMAN);
}

/* Any bytes at all: no crash, and only the two answers. */
static void garbage(void **state)
{
	uint8_t in[700], out[5000];
	uint64_t seed = 7;

	for (int i = 0; i < 6000; i++) {
		size_t in_bytes = (size_t)i % sizeof in, out_bytes = (size_t)(i * 37) % sizeof out;
		fill_random(in, in_bytes, 1 + (unsigned)i % 256, &seed);
		for (uint32_t compression = RD_ETL_LZNT1; compression <= RD_ETL_XPRESS_HUFFMAN; compression++) {
			int rc = unpack(compression, in, in_bytes, out, out_bytes);
			assert_true(rc == 0 || rc == RD_CORRUPT);
		}
	}
}

static void xpress_lies(void **state)
{
	uint8_t out[300];
	const uint8_t before_the_start[] = {0xff, 0xff, 0xff, 0x7f, 'a', 0x08, 0x00};
	const uint8_t match_first[] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00};
	const uint8_t too_long[] = {0xff, 0xff, 0xff, 0x7f, 'a', 0x07, 0x00, 0x0f, 0xff, 0xff, 0xff};
	const uint8_t too_short[] = {0xff, 0xff, 0xff, 0x7f, 'a', 0x07, 0x00, 0x0f, 0xff, 0x15, 0x00};
	const uint8_t length_of_32[] = {0xff, 0xff, 0xff, 0x7f, 'a',  0x07, 0x00, 0x0f,
					0xff, 0x00, 0x00, 0x28, 0x01, 0x00, 0x00};

	assert_int_equal(unpack(RD_ETL_XPRESS, before_the_start, sizeof before_the_start, out, 10), RD_CORRUPT);
	assert_int_equal(unpack(RD_ETL_XPRESS, match_first, sizeof match_first, out, 10), RD_CORRUPT);
	assert_int_equal(unpack(RD_ETL_XPRESS, too_long, sizeof too_long, out, 300), RD_CORRUPT);
	assert_int_equal(unpack(RD_ETL_XPRESS, too_short, sizeof too_short, out, 26), RD_CORRUPT);
	/* One letter and a match of 0x128 + 3. */
	assert_int_equal(unpack(RD_ETL_XPRESS, length_of_32, sizeof length_of_32, out, 300), 0);
	for (int i = 0; i < 300; i++)
		assert_int_equal(out[i], 'a');
}

static void lznt1_lies(void **state)
{
	uint8_t out[8192];
	const uint8_t ended[] = {0x00, 0x00, 0x00, 0x00};
	const uint8_t match_first[] = {0x02, 0xb0, 0x01, 0x00, 0x00};
	const uint8_t before_the_start[] = {0x03, 0xb0, 0x02, 'a', 0x00, 0x10};
	/* A short chunk before another one: zeros to the next 4,096. */
	const uint8_t short_first[] = {0x01, 0x30, 'a', 'b', 0x00, 0x30, 'c'};

	assert_int_equal(unpack(RD_ETL_LZNT1, ended, sizeof ended, out, 1), RD_CORRUPT);
	assert_int_equal(unpack(RD_ETL_LZNT1, match_first, sizeof match_first, out, 3), RD_CORRUPT);
	assert_int_equal(unpack(RD_ETL_LZNT1, before_the_start, sizeof before_the_start, out, 4), RD_CORRUPT);
	assert_int_equal(unpack(RD_ETL_LZNT1, short_first, sizeof short_first, out, 4097), 0);
	assert_int_equal(out[0], 'a');
	assert_int_equal(out[1], 'b');
	for (int i = 2; i < 4096; i++)
		assert_int_equal(out[i], 0);
	assert_int_equal(out[4096], 'c');
	assert_int_equal(unpack(RD_ETL_LZNT1, short_first, 4, out, 3), RD_CORRUPT);
}

static void huffman_lies(void **state)
{
	uint8_t in[260] = {0}, out[16];

	/* No code at all, too many short ones, and a code that is not there. */
	assert_int_equal(unpack(RD_ETL_XPRESS_HUFFMAN, in, sizeof in, out, 4), RD_CORRUPT);
	memset(in, 0x11, 256);
	assert_int_equal(unpack(RD_ETL_XPRESS_HUFFMAN, in, sizeof in, out, 4), RD_CORRUPT);
	memset(in, 0, sizeof in);
	in['a' / 2] = 1 << 4;
	assert_int_equal(unpack(RD_ETL_XPRESS_HUFFMAN, in, sizeof in, out, 4), 0);
	assert_memory_equal(out, "aaaa", 4);
	in[257] = 0x80;
	assert_int_equal(unpack(RD_ETL_XPRESS_HUFFMAN, in, sizeof in, out, 4), RD_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_xpress),
		cmocka_unit_test(published_lznt1),
		cmocka_unit_test(published_xpress_huffman),
		cmocka_unit_test(round_trip_lznt1),
		cmocka_unit_test(round_trip_xpress),
		cmocka_unit_test(round_trip_xpress_huffman),
		cmocka_unit_test(garbage),
		cmocka_unit_test(xpress_lies),
		cmocka_unit_test(lznt1_lies),
		cmocka_unit_test(huffman_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
