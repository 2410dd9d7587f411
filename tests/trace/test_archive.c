/* Traces out of archives. */
#include "tests/trace/unpacking.h"

#include <unistd.h>

#include "tests/trace/trace_log.h"

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
		cmocka_unit_test(the_end_of_a_long_name_is_shown),
		cmocka_unit_test(whether_there_is_a_trace_inside),
		cmocka_unit_test(archives_without_a_trace),
		cmocka_unit_test(a_folder_that_is_not_there),
		cmocka_unit_test(allocations_may_fail),
	};
	return cmocka_run_group_tests_name("archive", tests, set_up, tear_down);
}
