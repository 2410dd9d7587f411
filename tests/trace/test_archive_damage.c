/*
 * Archives that are not what was written: bits of small ones changed, every byte cut off. What comes out is a
 * failure, or what went in, or something that says of itself that it is not whole.
 */
#include "tests/trace/unpacking.h"

#include <zstd.h>

#include "tests/trace/trace_log.h"
#include "trace/archive_zip.h"

static void checked_zstd(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(size_bytes);
	uint8_t *at = rd_bytes_extend(out, room);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	size_t used = ZSTD_compress2(c, at, room, bytes, size_bytes);
	assert_false(ZSTD_isError(used));
	out->n -= room - used;
	ZSTD_freeCCtx(c);
}

static const packer checked[PACKERS] = {gzip, checked_zstd, bzip2, xz};

/* Another part behind what is packed already; the packers write at the end of what they are given. */
static void append(packer one, struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	struct rd_bytes part = {0};
	one(&part, bytes, size_bytes);
	assert_int_equal(rd_bytes_append(out, part.at, part.n), 0);
	rd_bytes_release(&part);
}

/* What came out of the file is the first n bytes of the trace. */
static bool begins_trace(const struct unpacked *u, size_t i, size_t *n)
{
	uint8_t *there = read_whole(u->files.at[i].path, n);
	bool same = *n <= trace.file.n && memcmp(there, trace.file.at, *n) == 0;
	free(there);
	assert_int_equal(*n, u->files.at[i].size_bytes);
	return same;
}

struct wanted {
	const char *name;
	size_t size_bytes;
};

/* A success that says nothing of damage is what went in. */
static void expect_told(const struct unpacked *u, const struct wanted *wanted, size_t wanted_n, size_t where)
{
	bool told = u->rc < 0 || u->files.at[u->files.n - 1].damage[0] != 0;
	size_t n;
	if (told)
		return;
	if (u->files.n != wanted_n)
		fail_msg("%zu traces, and not a word, after a change of byte %zu", u->files.n, where);
	for (size_t i = 0; i < wanted_n; i++)
		if (!begins_trace(u, i, &n) || n != wanted[i].size_bytes ||
		    strcmp(u->files.at[i].name, wanted[i].name) != 0)
			fail_msg("another trace, and not a word, after a change of byte %zu", where);
}

/* Every step-th bit: no step is a multiple of 2, so that every place in a byte has its turn. */
static void change_bits(struct rd_bytes *packed, const struct wanted *wanted, size_t wanted_n, size_t step)
{
	/* The first bytes say that it is an archive. */
	for (size_t bit = 8 * 6; bit < 8 * packed->n; bit += step) {
		struct unpacked u;
		packed->at[bit / 8] ^= (uint8_t)(1 << bit % 8);
		unpack(&u, packed, NULL);
		expect_told(&u, wanted, wanted_n, bit / 8);
		done(&u);
		packed->at[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* ---- one stream */

static void any_bit_of_a_stream_may_be_wrong(void **state)
{
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		checked[i](&packed, trace.file.at, trace.file.n);
		change_bits(&packed, &(struct wanted){"", trace.file.n}, 1, 23);
		rd_bytes_release(&packed);
	}
}

static void expect_cut(struct unpacked *u, size_t cut_at, size_t plain_least)
{
	char says[80];
	size_t n = 0;
	assert_ok(u->rc, &u->err);
	assert_int_equal(u->files.n, 1);
	assert_true(begins_trace(u, 0, &n));
	assert_in_range(n, plain_least, trace.file.n);
	snprintf(says, sizeof says, "the compressed file ends early at byte %zu", cut_at);
	assert_string_equal(u->files.at[0].damage, says);
}

static void what_came_of_a_cut_stream_is_kept(void **state)
{
	/* A block comes whole or not at all, and here is one. */
	static const bool blocks[PACKERS] = {false, true, true, false};
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		size_t kept = 0;
		checked[i](&packed, trace.file.at, trace.file.n);
		for (size_t n = packed.n - 1; n >= 6; n--) {
			struct unpacked u;
			packed.n = n;
			unpack(&u, &packed, NULL);
			if (u.rc == 0) {
				expect_cut(&u, n, 8);
				kept++;
			} else {
				assert_code(RD_TRUNCATED, u.rc);
				assert_non_null(strstr(u.err.text, "ends early at byte"));
			}
			done(&u);
		}
		assert_in_range(kept, blocks[i] ? 4 : 100, trace.file.n);
		rd_bytes_release(&packed);
	}
}

/* Far enough behind the end of a buffer; the large zstd frame goes its own way. */
static void what_came_of_a_large_stream_is_kept(void **state)
{
	const packer large[] = {gzip, checked_zstd};
	for (size_t i = 0; i < 2; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		large[i](&packed, big, big_bytes);
		packed.n = packed.n / 2;
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		assert_non_null(strstr(u.files.at[0].damage, "ends early"));
		assert_in_range(u.files.at[0].size_bytes, 1 << 20, big_bytes - 1);
		check_file(&u, 0, big, u.files.at[0].size_bytes);
		done(&u);
		/* What is behind the damage, and what was before it, failed one and the same check. */
		packed.n = 0;
		large[i](&packed, big, big_bytes);
		packed.at[packed.n / 2] ^= 0xff;
		unpack(&u, &packed, NULL);
		assert_code(RD_CORRUPT, u.rc);
		assert_non_null(strstr(u.err.context, "the archive cannot be unpacked"));
		done(&u);
		rd_bytes_release(&packed);
	}
}

/* A check alone that is wrong: of gzip the sum and the size, of the others whatever stands at the end. */
static void a_wrong_check_is_an_error(void **state)
{
	const struct {
		size_t packer, from_end;
		const char *says;
	} places[] = {
		{0, 8, "incorrect data check"},
		{0, 5, "incorrect data check"},
		{0, 4, "incorrect length check"},
		{0, 1, "incorrect length check"},
		{1, 1, "checksum"},
		{2, 2, "checks"},
		{3, 20, "checks"},
	};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		checked[places[i].packer](&packed, trace.file.at, trace.file.n);
		packed.at[packed.n - places[i].from_end] ^= 0x40;
		unpack(&u, &packed, NULL);
		assert_code(RD_CORRUPT, u.rc);
		assert_non_null(strstr(u.err.text, places[i].says));
		done(&u);
		rd_bytes_release(&packed);
	}
}

/* ---- several parts */

static void parts_one_after_the_other(void **state)
{
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		for (size_t at = 0; at < trace.file.n; at += 100)
			append(checked[i], &packed, trace.file.at + at,
			       trace.file.n - at < 100 ? trace.file.n - at : 100);
		append(checked[i], &packed, "", 0);
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		assert_string_equal(u.files.at[0].damage, "");
		check_file(&u, 0, trace.file.at, trace.file.n);
		done(&u);
		change_bits(&packed, &(struct wanted){"", trace.file.n}, 1, 61);
		rd_bytes_release(&packed);
	}
}

/* The parts before the damage passed their checks, and nothing else did. */
static void parts_before_the_damage_are_kept(void **state)
{
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		char says[100];
		append(checked[i], &packed, trace.file.at, 900);
		size_t second = packed.n;
		append(checked[i], &packed, trace.file.at + 900, trace.file.n - 900);
		size_t third = packed.n;
		append(checked[i], &packed, trace.file.at, 100);
		packed.at[third - 6] ^= 0x10;
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		check_file(&u, 0, trace.file.at, 900);
		snprintf(says, sizeof says, "is damaged in the part that begins at byte %zu", second);
		assert_non_null(strstr(u.files.at[0].damage, says));
		done(&u);
		rd_bytes_release(&packed);
	}
}

/* What may stand behind the last part: zeros, in gzip and xz. */
static void something_behind_the_end(void **state)
{
	static const uint8_t zeros[70000];
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		bool may = i == 0 || i == 3;
		checked[i](&packed, trace.file.at, trace.file.n);
		size_t end = packed.n;
		assert_int_equal(rd_bytes_append(&packed, zeros, sizeof zeros), 0);
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		check_file(&u, 0, trace.file.at, trace.file.n);
		assert_int_equal(u.files.at[0].damage[0] == 0, may);
		done(&u);
		/* Another part behind the zeros: parts may be missing there. */
		append(checked[i], &packed, trace.file.at, 100);
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		assert_int_equal(u.files.at[0].damage[0] == 0, i == 3);
		done(&u);
		packed.n = end;
		assert_int_equal(rd_bytes_append(&packed, "\0rubbish", 8), 0);
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		check_file(&u, 0, trace.file.at, trace.file.n);
		assert_non_null(strstr(u.files.at[0].damage, "goes on with something else at byte"));
		done(&u);
		rd_bytes_release(&packed);
	}
}

static void nothing_inside(void **state)
{
	static const uint8_t inner[] = "\x1f\x8b and what follows";
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		append(checked[i], &packed, "", 0);
		unpack(&u, &packed, NULL);
		assert_code(RD_NOT_FOUND, u.rc);
		assert_string_equal(u.err.text, "an empty file, compressed");
		done(&u);
		packed.n = 0;
		append(checked[i], &packed, inner, sizeof inner);
		unpack(&u, &packed, NULL);
		assert_code(RD_NOT_FOUND, u.rc);
		assert_non_null(strstr(u.err.text, "another archive"));
		done(&u);
		rd_bytes_release(&packed);
	}
}

/* ---- members */

static int stored_zip(struct archive *a)
{
	int rc = archive_write_set_format_zip(a);
	return rc == ARCHIVE_OK ? archive_write_zip_set_compression_store(a) : rc;
}

static int (*const archivers[])(struct archive *) = {archive_write_set_format_zip, stored_zip,
						     archive_write_set_format_7zip};
#define ARCHIVERS (sizeof archivers / sizeof *archivers)

static void any_bit_of_an_archive_may_be_wrong(void **state)
{
	const struct wanted wanted[] = {{"one.nettrace", trace.file.n}, {"two.ETL", 700}};
	const struct member members[] = {
		{"one.nettrace", trace.file.at, trace.file.n, AE_IFREG},
		{"readme.txt", "hello", 5, AE_IFREG},
		{"two.ETL", trace.file.at, 700, AE_IFREG},
	};
	for (size_t i = 0; i < ARCHIVERS; i++) {
		struct rd_bytes packed = {0};
		pack(&packed, archivers[i], NULL, members, 3);
		change_bits(&packed, wanted, 2, 37);
		rd_bytes_release(&packed);
	}
}

/* A member that is cut is kept up to there; members behind it are missing, and that is told. */
static void what_came_of_a_cut_zip_is_kept(void **state)
{
	const struct member members[] = {
		{"one.nettrace", trace.file.at, 900, AE_IFREG},
		{"two.nettrace", trace.file.at, trace.file.n, AE_IFREG},
	};
	for (size_t i = 0; i < 2; i++) {
		struct rd_bytes packed = {0};
		size_t most = 0;
		pack(&packed, archivers[i], NULL, members, 2);
		for (size_t n = packed.n - 1; n >= 6; n--) {
			struct unpacked u;
			packed.n = n;
			unpack(&u, &packed, NULL);
			if (u.rc < 0)
				assert_code(RD_TRUNCATED, u.rc);
			for (size_t k = 0; k < u.files.n; k++) {
				size_t bytes;
				assert_true(begins_trace(&u, k, &bytes));
				assert_int_equal(u.files.at[k].damage[0] != 0, k + 1 == u.files.n);
				/* The first one is whole when the second one began. */
				assert_true(k > 0 || u.files.n < 2 || bytes == 900);
			}
			most = u.files.n > most ? u.files.n : most;
			done(&u);
		}
		assert_int_equal(most, 2);
		rd_bytes_release(&packed);
	}
}

static void a_cut_7z_is_an_error(void **state)
{
	struct rd_bytes packed = {0};
	seven_zip(&packed, &(struct member){"one.nettrace", trace.file.at, trace.file.n, AE_IFREG}, 1);
	for (size_t n = packed.n - 1; n >= 6; n--) {
		struct unpacked u;
		packed.n = n;
		unpack(&u, &packed, NULL);
		assert_code(RD_TRUNCATED, u.rc);
		assert_non_null(strstr(u.err.text, "nothing of a 7z can be unpacked without its end"));
		done(&u);
	}
	rd_bytes_release(&packed);
}

/* A member with a trace's name and not its bytes may be one whose first bytes are damaged. */
static void a_damaged_member_that_is_no_trace(void **state)
{
	const struct member members[] = {
		{"one.nettrace", trace.file.at, trace.file.n, AE_IFREG},
		{"two.nettrace", trace.file.at, trace.file.n, AE_IFREG},
	};
	struct rd_bytes packed = {0};
	struct unpacked u;
	pack(&packed, stored_zip, NULL, members, 2);
	for (size_t i = packed.n; i-- > 0;) {
		if (memcmp(packed.at + i, "Nettrace", 8) != 0)
			continue;
		packed.at[i] = 'M';
		break;
	}
	unpack(&u, &packed, NULL);
	assert_code(RD_CORRUPT, u.rc);
	assert_non_null(strstr(u.err.text, "bad CRC"));
	assert_non_null(strstr(u.err.context, "two.nettrace"));
	done(&u);
	rd_bytes_release(&packed);
}

/* ---- the directory of a zip */

static void put_le(uint8_t *at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

/* As archives above 4 GiB have it: offset and directory are told where there is room for 64 bits. */
static void enlarge(struct rd_bytes *packed)
{
	uint8_t large[12 + 56 + 20] = "\1\0\10\0", end[22];
	size_t entry = 0, end_at = packed->n - sizeof end;
	while (memcmp(packed->at + entry, "PK\1\2", 4) != 0)
		entry++;
	memcpy(end, packed->at + end_at, sizeof end);
	put_le(packed->at + entry + 30, (uint64_t)packed->at[entry + 30] + 12, 2);
	put_le(packed->at + entry + 42, UINT32_MAX, 4);
	packed->n = end_at;
	uint8_t *end64 = large + 12, *locator = end64 + 56;
	memcpy(end64, "PK\6\6\54\0\0\0\0\0\0\0\55\0\55\0", 16);
	put_le(end64 + 24, 1, 8);
	put_le(end64 + 32, 1, 8);
	put_le(end64 + 40, end_at + 12 - entry, 8);
	put_le(end64 + 48, entry, 8);
	memcpy(locator, "PK\6\7", 4);
	put_le(locator + 8, end_at + 12, 8);
	put_le(locator + 16, 1, 4);
	memset(end + 8, 0xff, 12);
	assert_int_equal(rd_bytes_append(packed, large, sizeof large), 0);
	assert_int_equal(rd_bytes_append(packed, end, sizeof end), 0);
}

static int check_zip(const struct rd_bytes *packed)
{
	struct rd_source s;
	memory_source(&s, packed->at, packed->n);
	int rc = rd_zip_check(&s, 65536, NULL);
	rd_source_close(&s);
	return rc;
}

static void directories_of_zips(void **state)
{
	struct rd_bytes packed = {0};
	struct unpacked u;
	zip(&packed, &(struct member){"one.nettrace", trace.file.at, trace.file.n, AE_IFREG}, 1);
	assert_int_equal(check_zip(&packed), 1);
	/* A comment. */
	put_le(packed.at + packed.n - 2, 60000, 2);
	memset(rd_bytes_extend(&packed, 60000), 'c', 60000);
	assert_int_equal(check_zip(&packed), 1);
	packed.n -= 60000;
	put_le(packed.at + packed.n - 2, 0, 2);
	enlarge(&packed);
	assert_int_equal(check_zip(&packed), 1);
	unpack(&u, &packed, NULL);
	assert_ok(u.rc, &u.err);
	assert_string_equal(u.files.at[0].damage, "");
	check_file(&u, 0, trace.file.at, trace.file.n);
	done(&u);
	/* Nor is any byte of that believed. */
	for (size_t i = 0; i < packed.n; i++) {
		packed.at[i] ^= 0xff;
		int rc = check_zip(&packed);
		assert_true(rc == 1 || rc == 0 || rc == RD_CORRUPT);
		packed.at[i] ^= 0xff;
	}
	for (; packed.n > 0; packed.n--) {
		int rc = check_zip(&(struct rd_bytes){packed.at, packed.n - 1, 0, 0});
		assert_true(rc == 0 || rc == RD_CORRUPT);
	}
	rd_bytes_release(&packed);
}

/* The name stands in the member's head and in the directory. */
static void a_name_that_differs(void **state)
{
	struct rd_bytes packed = {0};
	struct unpacked u;
	zip(&packed, &(struct member){"one.nettrace", trace.file.at, trace.file.n, AE_IFREG}, 1);
	packed.at[30] ^= 1;
	unpack(&u, &packed, NULL);
	assert_code(RD_CORRUPT, u.rc);
	assert_non_null(strstr(u.err.text, "disagree: one.nettrace"));
	done(&u);
	rd_bytes_release(&packed);
}

static void a_mark_says_that_more_is_missing(void **state)
{
	struct rd_trace_info info = {.size_bytes = 100, .complete = true, .cut_at = RD_NO_OFFSET};
	rd_archive_mark(&info, "");
	assert_true(info.complete);
	rd_archive_mark(&info, "the compressed file ends early at byte 7");
	assert_false(info.complete);
	assert_int_equal(info.cut_at, 100);
	assert_string_equal(info.damage, "the compressed file ends early at byte 7");
	/* A damage that the index found lies before that. */
	info.cut_at = 40;
	rd_archive_mark(&info, "again");
	assert_int_equal(info.cut_at, 40);
	assert_string_equal(info.damage, "again");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bit_of_a_stream_may_be_wrong),
		cmocka_unit_test(what_came_of_a_cut_stream_is_kept),
		cmocka_unit_test(what_came_of_a_large_stream_is_kept),
		cmocka_unit_test(a_wrong_check_is_an_error),
		cmocka_unit_test(parts_one_after_the_other),
		cmocka_unit_test(parts_before_the_damage_are_kept),
		cmocka_unit_test(something_behind_the_end),
		cmocka_unit_test(nothing_inside),
		cmocka_unit_test(any_bit_of_an_archive_may_be_wrong),
		cmocka_unit_test(what_came_of_a_cut_zip_is_kept),
		cmocka_unit_test(a_cut_7z_is_an_error),
		cmocka_unit_test(a_damaged_member_that_is_no_trace),
		cmocka_unit_test(directories_of_zips),
		cmocka_unit_test(a_name_that_differs),
		cmocka_unit_test(a_mark_says_that_more_is_missing),
	};
	return cmocka_run_group_tests_name("archive damage", tests, set_up, tear_down);
}
