/* Traces out of archives, and what archives must not do. */
#include "tests/support.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "tests/trace/trace_log.h"
#include "trace/archive.h"

struct member {
	const char *name;
	const void *bytes;
	size_t size_bytes;
	mode_t type; /* AE_IFREG, … */
};

/* An archive of these members, or the one member packed alone when filter says so. */
static void pack(struct rd_bytes *out, int (*format)(struct archive *), int (*filter)(struct archive *),
		 const struct member *members, size_t n)
{
	size_t used = 0, room = 1 << 16;
	for (size_t i = 0; i < n; i++)
		room += 2 * members[i].size_bytes + 1024;
	uint8_t *at = rd_bytes_extend(out, room);
	struct archive *a = archive_write_new();
	assert_int_equal(format(a), ARCHIVE_OK);
	if (filter != NULL)
		assert_int_equal(filter(a), ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open_memory(a, at, room, &used), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		struct archive_entry *e = archive_entry_new();
		archive_entry_set_pathname(e, members[i].name);
		archive_entry_set_filetype(e, members[i].type);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_size(e, (la_int64_t)members[i].size_bytes);
		if (members[i].type == AE_IFLNK)
			archive_entry_set_symlink(e, "/etc/passwd");
		assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
		if (members[i].size_bytes != 0)
			assert_int_equal(archive_write_data(a, members[i].bytes, members[i].size_bytes),
					 members[i].size_bytes);
		archive_entry_free(e);
	}
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
	out->n = used;
}

static void zip(struct rd_bytes *out, const struct member *members, size_t n)
{
	pack(out, archive_write_set_format_zip, NULL, members, n);
}

static void gzip(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	pack(out, archive_write_set_format_raw, archive_write_add_filter_gzip,
	     &(struct member){"x", bytes, size_bytes, AE_IFREG}, 1);
}

/* One frame that names its size, unless it is written as a stream. */
static void zstd(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	size_t room = ZSTD_compressBound(size_bytes);
	uint8_t *at = rd_bytes_extend(out, room);
	size_t used = ZSTD_compress(at, room, bytes, size_bytes, 1);
	assert_false(ZSTD_isError(used));
	out->n -= room - used;
}

static char folder[4096]; /* empty between two archives */

struct unpacked {
	rd_unpacked_vec files;
	struct rd_error err;
	int rc;
};

static uint64_t packed_seen;
static void on_progress(void *ctx, uint64_t packed_bytes)
{
	packed_seen = packed_bytes;
}

static void unpack(struct unpacked *u, const struct rd_bytes *bytes, const struct rd_unpack_limits *limits)
{
	struct rd_source s;
	bool packed = false;
	memset(u, 0, sizeof *u);
	memory_source(&s, bytes->at, bytes->n);
	assert_ok(rd_archive_is(&s, &packed, &u->err), &u->err);
	assert_true(packed || bytes->n < 6);
	u->rc = rd_archive_unpack(&s, folder, limits, &u->files, on_progress, NULL, &u->err);
	rd_source_close(&s);
}

static size_t count_files(void)
{
	DIR *d = opendir(folder);
	size_t n = 0;
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void done(struct unpacked *u)
{
	assert_true(u->rc == 0 || u->files.n == 0);
	assert_int_equal(count_files(), u->files.n);
	for (size_t i = 0; i < u->files.n; i++)
		unlink(u->files.at[i].path);
	rd_vec_release(&u->files);
}

static void check_file(const struct unpacked *u, size_t i, const void *bytes, size_t size_bytes)
{
	size_t n;
	uint8_t *there = read_whole(u->files.at[i].path, &n);
	assert_int_equal(n, size_bytes);
	assert_int_equal(u->files.at[i].size_bytes, size_bytes);
	assert_memory_equal(there, bytes, n);
	free(there);
}

static struct nettrace_build trace;
static uint8_t *big; /* a trace head and 17 MB behind it */
static size_t big_bytes;

static int set_up(void **state)
{
	assert_int_equal(rd_private_folder(scratch_folder(), "unpack", folder, sizeof folder, NULL), 0);
	nettrace_sample_file(&trace, NULL);
	big_bytes = 17 << 20;
	big = calloc(1, big_bytes);
	memcpy(big, trace.file.at, trace.file.n);
	uint32_t x = 1;
	/* Hard to pack at first, then zeros. */
	for (size_t i = trace.file.n; i < big_bytes / 8; i++)
		big[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	return 0;
}

static int tear_down(void **state)
{
	nettrace_release(&trace);
	free(big);
	return 0;
}

static void plain_files_are_no_archives(void **state)
{
	struct rd_source s;
	struct rd_error err;
	rd_unpacked_vec files = {0};
	bool packed = true;
	memory_source(&s, trace.file.at, trace.file.n);
	assert_ok(rd_archive_is(&s, &packed, &err), &err);
	assert_false(packed);
	assert_code(RD_UNSUPPORTED, rd_archive_unpack(&s, scratch_folder(), NULL, &files, NULL, NULL, &err));
	rd_source_close(&s);
	memory_source(&s, "", 0);
	assert_ok(rd_archive_is(&s, &packed, &err), &err);
	assert_false(packed);
	rd_source_close(&s);
}

static void bzip2(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	pack(out, archive_write_set_format_raw, archive_write_add_filter_bzip2,
	     &(struct member){"x", bytes, size_bytes, AE_IFREG}, 1);
}

static void xz(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	pack(out, archive_write_set_format_raw, archive_write_add_filter_xz,
	     &(struct member){"x", bytes, size_bytes, AE_IFREG}, 1);
}

static void seven_zip(struct rd_bytes *out, const struct member *members, size_t n)
{
	pack(out, archive_write_set_format_7zip, NULL, members, n);
}

typedef void (*packer)(struct rd_bytes *, const void *, size_t);
static const packer packers[] = {gzip, zstd, bzip2, xz};
#define PACKERS (sizeof packers / sizeof *packers)

static void single_streams(void **state)
{
	const struct {
		const uint8_t *bytes;
		size_t size_bytes;
	} inputs[] = {{trace.file.at, trace.file.n}, {big, big_bytes}};
	for (size_t i = 0; i < PACKERS; i++) {
		for (size_t k = 0; k < 2; k++) {
			struct rd_bytes packed = {0};
			struct unpacked u;
			/* The slow ones once. */
			if (k == 1 && i > 1)
				continue;
			packers[i](&packed, inputs[k].bytes, inputs[k].size_bytes);
			unpack(&u, &packed, NULL);
			assert_ok(u.rc, &u.err);
			assert_int_equal(u.files.n, 1);
			assert_string_equal(u.files.at[0].name, "");
			check_file(&u, 0, inputs[k].bytes, inputs[k].size_bytes);
			assert_int_equal(packed_seen, packed.n);
			done(&u);
			rd_bytes_release(&packed);
		}
	}
}

/* Several frames are one stream, whichever way the first one goes. */
static void zstd_frames_one_after_the_other(void **state)
{
	struct rd_bytes packed = {0};
	struct unpacked u;
	zstd(&packed, big, big_bytes - 5);
	zstd(&packed, big + big_bytes - 5, 5);
	unpack(&u, &packed, NULL);
	assert_ok(u.rc, &u.err);
	check_file(&u, 0, big, big_bytes);
	done(&u);
	rd_bytes_release(&packed);
}

static void archives_give_their_traces_and_no_more(void **state)
{
	void (*const archivers[])(struct rd_bytes *, const struct member *, size_t) = {zip, seven_zip};
	const struct member members[] = {
		{"readme.txt", "hello", 5, AE_IFREG},
		{"sub/", NULL, 0, AE_IFDIR},
		{"sub/one.nettrace", trace.file.at, trace.file.n, AE_IFREG},
		{"one.nettrace", trace.file.at, trace.file.n - 1, AE_IFREG},
		{"a\n..b/.../.nettrace", trace.file.at, trace.file.n - 2, AE_IFREG},
		{"link", NULL, 0, AE_IFLNK},
		{"empty", "", 0, AE_IFREG},
	};
	for (size_t i = 0; i < 2; i++) {
		struct rd_bytes packed = {0};
		struct unpacked u;
		archivers[i](&packed, members, sizeof members / sizeof *members);
		unpack(&u, &packed, NULL);
		assert_ok(u.rc, &u.err);
		assert_int_equal(u.files.n, 3);
		assert_string_equal(u.files.at[0].name, "sub/one.nettrace");
		assert_string_equal(u.files.at[1].name, "one.nettrace");
		assert_string_equal(u.files.at[2].name, "a?..b/.../.nettrace");
		for (size_t k = 0; k < 3; k++) {
			assert_memory_equal(u.files.at[k].path, folder, strlen(folder));
			check_file(&u, k, trace.file.at, trace.file.n - k);
		}
		done(&u);
		rd_bytes_release(&packed);
	}
}

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

/* A member's name is long, and longer than what is kept of it. */
static void the_end_of_a_long_name_is_shown(void **state)
{
	char name[401];
	struct rd_bytes packed = {0};
	struct unpacked u;
	for (size_t i = 0; i < 200; i++)
		memcpy(name + 2 * i, "\xc3\xa4", 2);
	name[400] = 0;
	zip(&packed, &(struct member){name, trace.file.at, trace.file.n, AE_IFREG}, 1);
	unpack(&u, &packed, NULL);
	assert_ok(u.rc, &u.err);
	assert_string_equal(u.files.at[0].name, name + 400 - 254);
	done(&u);
	rd_bytes_release(&packed);
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

static bool holds(const struct rd_bytes *bytes)
{
	struct rd_source s;
	struct rd_error err;
	bool trace_there = false;
	memory_source(&s, bytes->at, bytes->n);
	assert_ok(rd_archive_holds(&s, &trace_there, &err), &err);
	rd_source_close(&s);
	return trace_there;
}

static void whether_there_is_a_trace_inside(void **state)
{
	const struct member members[] = {
		{"readme.txt", "hello", 5, AE_IFREG},
		{"one.nettrace", trace.file.at, trace.file.n, AE_IFREG},
	};
	struct rd_bytes packed = {0};
	for (size_t n = 1; n <= 2; n++) {
		packed.n = 0;
		zip(&packed, members, n);
		assert_int_equal(holds(&packed), n == 2);
		packed.n = 0;
		seven_zip(&packed, members, n);
		assert_int_equal(holds(&packed), n == 2);
	}
	for (size_t i = 0; i < PACKERS; i++) {
		packed.n = 0;
		packers[i](&packed, trace.file.at, trace.file.n);
		assert_true(holds(&packed));
		packed.n = 0;
		packers[i](&packed, "hello", 5);
		assert_false(holds(&packed));
	}
	assert_int_equal(count_files(), 0);
	rd_bytes_release(&packed);
}

static void archives_without_a_trace(void **state)
{
	static const uint8_t empty_zip[22] = "PK\5\6";
	struct rd_bytes packed = {0};
	struct unpacked u;
	zip(&packed, &(struct member){"readme.txt", "hello", 5, AE_IFREG}, 1);
	unpack(&u, &packed, NULL);
	assert_code(RD_NOT_FOUND, u.rc);
	done(&u);
	packed.n = 0;
	gzip(&packed, "hello", 5);
	unpack(&u, &packed, NULL);
	assert_code(RD_NOT_FOUND, u.rc);
	done(&u);
	packed.n = 0;
	uint8_t *zeros = calloc(1, 20 << 20);
	zstd(&packed, zeros, 20 << 20);
	free(zeros);
	unpack(&u, &packed, NULL);
	assert_code(RD_NOT_FOUND, u.rc);
	done(&u);
	packed.n = 0;
	assert_int_equal(rd_bytes_append(&packed, empty_zip, sizeof empty_zip), 0);
	unpack(&u, &packed, NULL);
	assert_code(RD_NOT_FOUND, u.rc);
	done(&u);
	rd_bytes_release(&packed);
}

static void a_cut_archive_leaves_nothing(void **state)
{
	for (size_t i = 0; i < PACKERS; i++) {
		struct rd_bytes packed = {0};
		packers[i](&packed, trace.file.at, trace.file.n);
		size_t whole = packed.n;
		for (size_t n = 6; n < whole; n++) {
			struct unpacked u;
			packed.n = n;
			unpack(&u, &packed, NULL);
			assert_true(u.rc == RD_TRUNCATED || u.rc == RD_CORRUPT || u.rc == RD_NOT_FOUND);
			done(&u);
		}
		rd_bytes_release(&packed);
	}
	struct rd_bytes packed = {0};
	struct unpacked u;
	zstd(&packed, big, big_bytes);
	packed.n -= 1000;
	unpack(&u, &packed, NULL);
	assert_code(RD_TRUNCATED, u.rc);
	done(&u);
	packed.at[packed.n / 2] ^= 0xff;
	packed.at[packed.n / 2 + 1] ^= 0xff;
	unpack(&u, &packed, NULL);
	assert_true(u.rc == RD_TRUNCATED || u.rc == RD_CORRUPT);
	done(&u);
	rd_bytes_release(&packed);
}

static void any_byte_of_a_zip_may_be_wrong(void **state)
{
	const struct member members[] = {
		{"one.nettrace", trace.file.at, trace.file.n, AE_IFREG},
		{"two.nettrace", trace.file.at, 200, AE_IFREG},
	};
	struct rd_bytes packed = {0};
	zip(&packed, members, 2);
	for (size_t i = 0; i < packed.n; i++) {
		struct unpacked u;
		uint8_t right = packed.at[i];
		if (i < 4)
			continue;
		packed.at[i] = (uint8_t)~right;
		unpack(&u, &packed, NULL);
		assert_true(u.rc == 0 || u.rc == RD_TRUNCATED || u.rc == RD_CORRUPT || u.rc == RD_NOT_FOUND ||
			    u.rc == RD_UNSUPPORTED || u.rc == RD_LIMIT);
		done(&u);
		packed.at[i] = right;
	}
	rd_bytes_release(&packed);
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

static void a_folder_that_is_not_there(void **state)
{
	struct rd_bytes packed = {0};
	struct rd_source s;
	rd_unpacked_vec files = {0};
	struct rd_error err;
	gzip(&packed, trace.file.at, trace.file.n);
	memory_source(&s, packed.at, packed.n);
	assert_code(RD_IO, rd_archive_unpack(&s, scratch_path("nowhere"), NULL, &files, NULL, NULL, &err));
	assert_non_null(strstr(err.file, "nowhere"));
	rd_source_close(&s);
	rd_vec_release(&files);
	rd_bytes_release(&packed);
}

static void allocations_may_fail(void **state)
{
	struct rd_bytes packed = {0};
	gzip(&packed, trace.file.at, trace.file.n);
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct rd_source s;
		rd_unpacked_vec files = {0};
		memory_source(&s, packed.at, packed.n);
		rd_fail_allocation(nth);
		int rc = rd_archive_unpack(&s, scratch_folder(), NULL, &files, NULL, NULL, NULL);
		rd_fail_allocation(0);
		rd_source_close(&s);
		if (rc == 0)
			unlink(files.at[0].path);
		rd_vec_release(&files);
		if (rc == 0)
			break;
		assert_code(RD_NOMEM, rc);
	}
	rd_bytes_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_files_are_no_archives),
		cmocka_unit_test(single_streams),
		cmocka_unit_test(zstd_frames_one_after_the_other),
		cmocka_unit_test(archives_give_their_traces_and_no_more),
		cmocka_unit_test(names_that_no_honest_archive_has),
		cmocka_unit_test(the_end_of_a_long_name_is_shown),
		cmocka_unit_test(members_that_overlap),
		cmocka_unit_test(whether_there_is_a_trace_inside),
		cmocka_unit_test(archives_without_a_trace),
		cmocka_unit_test(a_cut_archive_leaves_nothing),
		cmocka_unit_test(any_byte_of_a_zip_may_be_wrong),
		cmocka_unit_test(caps),
		cmocka_unit_test(bombs),
		cmocka_unit_test(a_folder_that_is_not_there),
		cmocka_unit_test(allocations_may_fail),
	};
	return cmocka_run_group_tests_name("archive", tests, set_up, tear_down);
}
