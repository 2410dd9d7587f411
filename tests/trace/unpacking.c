#include "tests/trace/unpacking.h"

#include <archive_entry.h>
#include <dirent.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "tests/trace/trace_log.h"

void pack(struct rd_bytes *out, int (*format)(struct archive *), int (*filter)(struct archive *),
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

void zip(struct rd_bytes *out, const struct member *members, size_t n)
{
	pack(out, archive_write_set_format_zip, NULL, members, n);
}

void gzip(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	pack(out, archive_write_set_format_raw, archive_write_add_filter_gzip,
	     &(struct member){"x", bytes, size_bytes, AE_IFREG}, 1);
}

void zstd(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	size_t room = ZSTD_compressBound(size_bytes);
	uint8_t *at = rd_bytes_extend(out, room);
	size_t used = ZSTD_compress(at, room, bytes, size_bytes, 1);
	assert_false(ZSTD_isError(used));
	out->n -= room - used;
}

void bzip2(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	pack(out, archive_write_set_format_raw, archive_write_add_filter_bzip2,
	     &(struct member){"x", bytes, size_bytes, AE_IFREG}, 1);
}

void xz(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	pack(out, archive_write_set_format_raw, archive_write_add_filter_xz,
	     &(struct member){"x", bytes, size_bytes, AE_IFREG}, 1);
}

void seven_zip(struct rd_bytes *out, const struct member *members, size_t n)
{
	pack(out, archive_write_set_format_7zip, NULL, members, n);
}

const packer packers[PACKERS] = {gzip, zstd, bzip2, xz};

char folder[4096];
uint64_t packed_seen;

static void on_progress(void *ctx, uint64_t packed_bytes)
{
	packed_seen = packed_bytes;
}

void unpack(struct unpacked *u, const struct rd_bytes *bytes, const struct rd_unpack_limits *limits)
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

size_t count_files(void)
{
	DIR *d = opendir(folder);
	size_t n = 0;
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

void done(struct unpacked *u)
{
	assert_true(u->rc == 0 || u->files.n == 0);
	assert_int_equal(count_files(), u->files.n);
	for (size_t i = 0; i < u->files.n; i++)
		unlink(u->files.at[i].path);
	rd_vec_release(&u->files);
}

void check_file(const struct unpacked *u, size_t i, const void *bytes, size_t size_bytes)
{
	size_t n;
	uint8_t *there = read_whole(u->files.at[i].path, &n);
	assert_int_equal(n, size_bytes);
	assert_int_equal(u->files.at[i].size_bytes, size_bytes);
	assert_memory_equal(there, bytes, n);
	free(there);
}

struct nettrace_build trace;
uint8_t *big;
size_t big_bytes;

int set_up(void **state)
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

int tear_down(void **state)
{
	nettrace_release(&trace);
	free(big);
	return 0;
}
