/*
 * The unpackers against another implementation, libfwnt, where that is
 * installed: the same bytes out of packed ones, and out of bytes that are
 * mostly no streams at all. libfwnt is known not to take lengths of 2^15 and
 * more, and reads on where a stream of Huffman codes has ended.
 */
#include <dlfcn.h>

#include "tests/support.h"
#include "tests/trace/etl/etl_pack.h"
#include "trace/etl/etl.h"
#include "trace/etl/unpack.h"

typedef int (*peer_fn)(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t *out_bytes, void **error);

static peer_fn peers[RD_ETL_XPRESS_HUFFMAN + 1];
static void (*free_error)(void **error);
static struct rd_xpress_huffman huffman;

static void find_peer(void)
{
	void *library = dlopen("libfwnt.so.1", RTLD_NOW);

	if (library == NULL)
		skip_test("libfwnt is not installed");
	*(void **)&peers[RD_ETL_LZNT1] = dlsym(library, "libfwnt_lznt1_decompress");
	*(void **)&peers[RD_ETL_XPRESS] = dlsym(library, "libfwnt_lzxpress_decompress");
	*(void **)&peers[RD_ETL_XPRESS_HUFFMAN] = dlsym(library, "libfwnt_lzxpress_huffman_decompress");
	*(void **)&free_error = dlsym(library, "libfwnt_error_free");
	assert_non_null(peers[RD_ETL_LZNT1]);
	assert_non_null(peers[RD_ETL_XPRESS]);
	assert_non_null(peers[RD_ETL_XPRESS_HUFFMAN]);
	assert_non_null(free_error);
}

static bool ours(uint32_t compression, const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	if (compression == RD_ETL_LZNT1)
		return rd_lznt1_unpack(in, in_bytes, out, out_bytes) == 0;
	if (compression == RD_ETL_XPRESS)
		return rd_xpress_unpack(in, in_bytes, out, out_bytes) == 0;
	return rd_xpress_huffman_unpack(&huffman, in, in_bytes, out, out_bytes) == 0;
}

static bool theirs(uint32_t compression, const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	void *error = NULL;
	size_t n = out_bytes;
	bool whole = peers[compression](in, in_bytes, out, &n, &error) == 1 && n == out_bytes;

	if (error)
		free_error(&error);
	return whole;
}

static uint64_t seed = 3;

static size_t random_below(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % n;
}

static void packed_streams(void **state)
{
	find_peer();
	uint8_t *plain = malloc(200000), *a = malloc(200000), *b = malloc(200000);

	for (int round = 0; round < 60; round++) {
		size_t n = 1 + random_below(round % 10 ? 2000 : 200000),
		       letters = 2 + random_below(round % 2 ? 4 : 255);
		for (size_t i = 0; i < n; i++)
			plain[i] = (uint8_t)random_below(letters);
		for (uint32_t compression = RD_ETL_LZNT1; compression <= RD_ETL_XPRESS_HUFFMAN; compression++) {
			struct rd_bytes packed = {0};
			etl_pack(&packed, compression, plain, n);
			assert_true(theirs(compression, packed.at, packed.n, a, n));
			assert_true(ours(compression, packed.at, packed.n, b, n));
			assert_memory_equal(a, plain, n);
			assert_memory_equal(b, plain, n);
			rd_bytes_release(&packed);
		}
	}
	free(plain);
	free(a);
	free(b);
}

static void any_bytes(void **state)
{
	uint8_t in[200], a[300], b[300];
	unsigned both = 0;

	find_peer();
	for (int round = 0; round < 20000; round++) {
		size_t in_bytes = 1 + random_below(sizeof in), out_bytes = 1 + random_below(sizeof a);
		for (size_t i = 0; i < in_bytes; i++)
			in[i] = (uint8_t)random_below(round % 2 ? 256 : 4);
		bool we = ours(RD_ETL_XPRESS, in, in_bytes, a, out_bytes);
		assert_int_equal(theirs(RD_ETL_XPRESS, in, in_bytes, b, out_bytes), we);
		if (we)
			assert_memory_equal(a, b, out_bytes);
		both += we;
	}
	assert_in_range(both, 100, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_streams),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
