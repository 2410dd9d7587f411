/* What archives must not do: bad names, overlaps, bombs. */
#include "tests/trace/unpacking.h"

static void names_that_no_honest_archive_has(void **state)
{
	static const struct {
		const char *name, *why;
	} names[] = {
		{"/etc/one.nettrace", "absolute"},   {"\\\\host\\one.nettrace", "absolute"},
		{"C:\\one.nettrace", "absolute"},    {"c:one.nettrace", "absolute"},
		{"../one.nettrace", ".."},           {"sub/../../one.nettrace", ".."},
		{"sub\\..\\one.nettrace", ".."},     {"sub/..", ".."},
		{"good.nettrace", "two members of"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct member members[] = {
			{"good.nettrace", trace.file.at, trace.file.n, AE_IFREG},
			{names[i].name, trace.file.at, trace.file.n, AE_IFREG},
		};
		struct rd_bytes packed = {0};
		struct unpacked u;
		zip(&packed, members, 2);
		unpack(&u, &packed, NULL);
		assert_code(RD_CORRUPT, u.rc);
		assert_non_null(strstr(u.err.text, names[i].why));
		done(&u);
		rd_bytes_release(&packed);
	}
}

static int stored_zip(struct archive *a)
{
	int rc = archive_write_set_format_zip(a);
	return rc == ARCHIVE_OK ? archive_write_zip_set_compression_store(a) : rc;
}

/* Where this begins for the n-th time, from 0. */
static size_t find(const struct rd_bytes *in, const char *what, size_t nth)
{
	for (size_t i = 0; i + 4 <= in->n; i++)
		if (memcmp(in->at + i, what, 4) == 0 && nth-- == 0)
			return i;
	fail_msg("there is no such place");
	return 0;
}

/* One member's bytes hold another member, whole, and the directory speaks of that one. */
static void members_that_overlap(void **state)
{
	struct rd_bytes inner = {0}, bytes = {0}, packed = {0};
	struct unpacked u;
	pack(&inner, stored_zip, NULL, &(struct member){"two.nettrace", trace.file.at, trace.file.n, AE_IFREG}, 1);
	assert_int_equal(rd_bytes_append(&bytes, trace.file.at, trace.file.n), 0);
	assert_int_equal(rd_bytes_append(&bytes, inner.at, find(&inner, "PK\1\2", 0)), 0);
	const struct member members[] = {
		{"one.nettrace", bytes.at, bytes.n, AE_IFREG},
		{"two.nettrace", trace.file.at, trace.file.n, AE_IFREG},
	};
	pack(&packed, stored_zip, NULL, members, 2);
	unpack(&u, &packed, NULL);
	assert_ok(u.rc, &u.err);
	done(&u);
	uint32_t inside = (uint32_t)find(&packed, "PK\3\4", 1);
	memcpy(packed.at + find(&packed, "PK\1\2", 1) + 42, &inside, 4);
	unpack(&u, &packed, NULL);
	assert_code(RD_CORRUPT, u.rc);
	assert_non_null(strstr(u.err.text, "overlap"));
	done(&u);
	rd_bytes_release(&packed);
	rd_bytes_release(&bytes);
	rd_bytes_release(&inner);
}

static void caps(void **state)
{
	const struct member members[] = {
		{"one.nettrace", trace.file.at, trace.file.n, AE_IFREG},
		{"two.nettrace", trace.file.at, trace.file.n, AE_IFREG},
		{"three.txt", "hello", 5, AE_IFREG},
	};
	struct rd_bytes packed = {0};
	struct unpacked u;
	zip(&packed, members, 3);
	unpack(&u, &packed, &(struct rd_unpack_limits){.plain_bytes = 2 * trace.file.n, .members = 3});
	assert_ok(u.rc, &u.err);
	done(&u);
	unpack(&u, &packed, &(struct rd_unpack_limits){.plain_bytes = 2 * trace.file.n - 1});
	assert_code(RD_LIMIT, u.rc);
	done(&u);
	unpack(&u, &packed, &(struct rd_unpack_limits){.members = 2});
	assert_code(RD_LIMIT, u.rc);
	done(&u);
	/* The directory's count is enough: no member is looked at, and the first one's head is off. */
	packed.at[8] ^= 1;
	unpack(&u, &packed, &(struct rd_unpack_limits){.members = 2});
	assert_code(RD_LIMIT, u.rc);
	done(&u);
	unpack(&u, &packed, &(struct rd_unpack_limits){.members = 3});
	assert_code(RD_CORRUPT, u.rc);
	done(&u);
	packed.at[8] ^= 1;
	unpack(&u, &packed, &(struct rd_unpack_limits){.traces = 2});
	assert_ok(u.rc, &u.err);
	done(&u);
	unpack(&u, &packed, &(struct rd_unpack_limits){.traces = 1});
	assert_code(RD_LIMIT, u.rc);
	done(&u);
	packed.n = 0;
	zstd(&packed, big, big_bytes);
	unpack(&u, &packed, &(struct rd_unpack_limits){.plain_bytes = big_bytes - 1});
	assert_code(RD_LIMIT, u.rc);
	done(&u);
	rd_bytes_release(&packed);
}

static void expect_bomb(const struct rd_bytes *packed, uint32_t ratio, const char *says)
{
	struct unpacked u;
	unpack(&u, packed, &(struct rd_unpack_limits){.ratio = ratio});
	assert_code(RD_LIMIT, u.rc);
	assert_non_null(strstr(u.err.text, says));
	done(&u);
}

/* 66 MB of next to nothing: as one frame that says so, as streams that do not, as members that do. */
static void bombs(void **state)
{
	size_t n = 66 << 20;
	uint8_t *zeros = calloc(1, n);
	struct rd_bytes packed = {0};
	struct unpacked u;
	memcpy(zeros, trace.file.at, trace.file.n);
	gzip(&packed, zeros, n);
	expect_bomb(&packed, 900, "900 times");
	/* DEFLATE cannot do worse than its cap. */
	unpack(&u, &packed, NULL);
	assert_ok(u.rc, &u.err);
	done(&u);
	packed.n = 0;
	zstd(&packed, zeros, n);
	expect_bomb(&packed, 900, "900 times");
	packed.n = 0;
	bzip2(&packed, zeros, n);
	expect_bomb(&packed, 0, "10000 times");
	packed.n = 0;
	/* No trace, so it is passed over; but to do that it must be unpacked. */
	seven_zip(&packed, &(struct member){"zeros", zeros + trace.file.n, n - trace.file.n, AE_IFREG}, 1);
	expect_bomb(&packed, 900, "900 times");
	free(zeros);
	rd_bytes_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_no_honest_archive_has),
		cmocka_unit_test(members_that_overlap),
		cmocka_unit_test(caps),
		cmocka_unit_test(bombs),
	};
	return cmocka_run_group_tests_name("archive harm", tests, set_up, tear_down);
}
