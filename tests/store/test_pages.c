#include "tests/support.h"

#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/pages.h"
#include "tests/random.h"

static struct rd_error err;

/* What a key's value is: bytes of a kind, of a size that leaves some in the leaf and gives others pages of their own.
 */
static size_t size_of(uint32_t key)
{
	return key % 7 == 0 ? 3000 + key % 20000 : key % 5 == 0 ? 0 : key % 300;
}

static void make_key(uint32_t key, uint8_t out[8])
{
	memset(out, 0, 8);
	for (int i = 0; i < 4; i++)
		out[4 + i] = (uint8_t)(key >> (24 - 8 * i));
}

/* A file of LMDB's with the keys 0, 2, 4, … below `keys`, written in several commits; from malloc. */
static uint8_t *make_file(const char *name, uint32_t keys, size_t *size_bytes)
{
	const char *path = scratch_path(name);
	static uint8_t bytes[24000];
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;

	unlink(path);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_mapsize(env, (size_t)1 << 28), 0);
	assert_int_equal(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600), 0);
	for (uint32_t key = 0; key == 0 || key < keys;) {
		assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
		assert_int_equal(mdb_dbi_open(txn, NULL, 0, &dbi), 0);
		for (uint32_t n = 0; n < 1000 && key < keys; n++, key += 2) {
			uint8_t raw[8];
			make_key(key, raw);
			memset(bytes, (int)(key % 251), size_of(key));
			MDB_val k = {8, raw}, v = {size_of(key), bytes};
			assert_int_equal(mdb_put(txn, dbi, &k, &v, MDB_APPEND), 0);
		}
		assert_int_equal(mdb_txn_commit(txn), 0);
		if (keys == 0)
			break;
	}
	mdb_env_close(env);
	return read_whole(path, size_bytes);
}

static int get(struct rd_pages *p, uint32_t key, struct rd_span *v)
{
	uint8_t raw[8];

	make_key(key, raw);
	return rd_pages_get(p, (struct rd_span){raw, 8}, v, &err);
}

static void check_file(uint32_t keys)
{
	size_t n;
	uint8_t *bytes = make_file("good", keys, &n);
	struct rd_pages p;
	struct rd_span v;

	assert_ok(rd_pages_open(&p, (struct rd_span){bytes, n}, &err), &err);
	for (uint32_t key = 0; key < keys; key += 2) {
		assert_int_equal(get(&p, key, &v), 1);
		assert_int_equal(v.size_bytes, size_of(key));
		for (size_t i = 0; i < v.size_bytes; i++)
			assert_int_equal(v.at[i], key % 251);
	}
	/* Between all keys, and behind the last. */
	for (uint32_t key = 1; key <= keys + 1; key += 2)
		assert_int_equal(get(&p, key, &v), 0);
	assert_int_equal(get(&p, UINT32_MAX, &v), 0);
	assert_int_equal(rd_pages_get(&p, (struct rd_span){(const uint8_t *)"", 0}, &v, &err), 0);
	free(bytes);
}

static void what_lmdb_wrote_is_found(void **state)
{
	/* No leaf, one leaf, branches. */
	check_file(0);
	check_file(1);
	check_file(10);
	check_file(6000);
}

/* Whatever is asked of a file that is off: an answer inside of it, or an error. */
static void ask_all(const uint8_t *bytes, size_t n, uint32_t keys)
{
	struct rd_pages p;
	struct rd_span v;
	uint64_t sum = 0;
	/* A buffer of its own size, so that a sanitizer sees a step beyond. */
	uint8_t *own = malloc(n ? n : 1);

	memcpy(own, bytes, n);
	int code = rd_pages_open(&p, (struct rd_span){own, n}, &err);
	if (code < 0)
		assert_true(code == RD_CORRUPT || code == RD_UNSUPPORTED);
	for (uint32_t key = 0; code == 0 && key <= keys; key++) {
		int rc = get(&p, key, &v);
		assert_true(rc == 0 || rc == 1 || rc == RD_CORRUPT);
		if (rc == 1) {
			assert_true(v.at >= own && v.size_bytes <= n && v.at + v.size_bytes <= own + n);
			sum += v.size_bytes;
		}
	}
	assert_true(sum <= n);
	free(own);
}

static void any_byte_may_be_off(void **state)
{
	size_t n;
	uint8_t *bytes = make_file("off", 300, &n);

	for (size_t page = 0; page < n / 4096; page++) {
		/* The heads of pages and nodes. */
		for (size_t i = 0; i < (page < 2 ? 152 : 24); i++) {
			uint8_t *at = &bytes[page * 4096 + i], was = *at;
			static const uint8_t others[] = {0, 1, 0x7f, 0xff};
			for (size_t k = 0; k < sizeof others; k++) {
				*at = others[k];
				ask_all(bytes, n < 80000 ? n : 80000, 60);
			}
			*at = was;
		}
		if (page == 12)
			break;
	}
	free(bytes);
}

static void any_words_may_be_off(void **state)
{
	size_t n;
	uint8_t *bytes = make_file("words", 120, &n), *changed = malloc(n);

	random_begin(7);
	for (unsigned turn = 0; turn < 3000; turn++) {
		memcpy(changed, bytes, n);
		for (unsigned i = 0; i < 1 + turn % 4; i++) {
			size_t page = pick((uint32_t)(n / 4096)), at = pick(200);
			/* Node heads stand towards the end of a page. */
			if (turn & 1)
				at = 4096 - at - 2;
			uint16_t v = (uint16_t)(next_random() >> pick(16) >> 20);
			memcpy(changed + page * 4096 + at, &v, 2);
		}
		ask_all(changed, n, 130);
	}
	free(changed);
	free(bytes);
}

static void a_file_may_end_anywhere(void **state)
{
	size_t n;
	uint8_t *bytes = make_file("short", 60, &n);

	for (size_t end = 0; end < 200; end++)
		ask_all(bytes, end, 2);
	for (size_t end = 200; end < n; end += 997)
		ask_all(bytes, end, 70);
	for (size_t page = 1; page < n / 4096; page++) {
		ask_all(bytes, page * 4096 - 1, 70);
		ask_all(bytes, page * 4096, 70);
	}
	free(bytes);
}

/* A tree that leads back to itself. */
static void circles_end(void **state)
{
	size_t n;
	uint8_t *bytes = make_file("circle", 6000, &n);
	struct rd_pages p;
	struct rd_span v;

	assert_ok(rd_pages_open(&p, (struct rd_span){bytes, n}, &err), &err);
	uint8_t *root = bytes + p.root * p.page_bytes;
	assert_int_equal(root[10], 1);
	for (unsigned i = 0; i < (root[12] | root[13] << 8) / 2u - 8; i++) {
		uint8_t *node = root + (root[16 + 2 * i] | root[17 + 2 * i] << 8);
		uint64_t child = p.root;
		memcpy(node, &child, 6);
	}
	assert_code(RD_CORRUPT, get(&p, 8, &v));
	assert_non_null(strstr(err.text, "a tree that does not end"));
	free(bytes);
}

/* One value of many keys is no way to make much of little. */
static void values_are_no_longer_than_the_file(void **state)
{
	size_t n;
	uint8_t *bytes = make_file("often", 10, &n);
	struct rd_pages p;
	struct rd_span v;

	assert_ok(rd_pages_open(&p, (struct rd_span){bytes, n}, &err), &err);
	uint64_t got = 0;
	int rc;
	while ((rc = get(&p, 8, &v)) == 1)
		got += v.size_bytes;
	assert_code(RD_CORRUPT, rc);
	assert_true(got <= n && got + size_of(8) > n);
	free(bytes);
}

static void another_lmdb_is_named(void **state)
{
	size_t n;
	uint8_t *bytes = make_file("version", 10, &n);
	struct rd_pages p;

	bytes[20] = bytes[4096 + 20] = 2;
	assert_code(RD_UNSUPPORTED, rd_pages_open(&p, (struct rd_span){bytes, n}, &err));
	assert_string_equal(err.text, "a result that another LMDB wrote, of data format 2");
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lmdb_wrote_is_found),
		cmocka_unit_test(any_byte_may_be_off),
		cmocka_unit_test(any_words_may_be_off),
		cmocka_unit_test(a_file_may_end_anywhere),
		cmocka_unit_test(circles_end),
		cmocka_unit_test(values_are_no_longer_than_the_file),
		cmocka_unit_test(another_lmdb_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
