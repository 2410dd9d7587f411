/*
 * Damage of every kind to traces of every format: cut at any byte, bytes changed, the start missing.
 *
 * Made files take it at every byte, small real ones at a few. With RD_DAMAGE=full (make check-damage) every
 * trace of the shared folder is cut at every byte of its last 4 KiB and at 1,000 random places, and changed at
 * 300. RD_DAMAGE_PART=K/N takes every N-th file from the K-th on (from 0), for several at once.
 */
#include "tests/support.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/profile/damage.h"
#include "tests/random.h"
#include "tests/trace/trace_log.h"
#include "tests/trace/trace_made.h"
#include "trace/archive.h"

#define TAIL_BYTES 4096
/* No reading takes this long, not of the largest trace with sanitizers. */
#define HANG_S     60
/* What a reading may take above what the whole file took. */
#define SLACK_KIB  (UINT64_C(64) << 10)

struct effort {
	uint64_t tail_step; /* bytes between two cuts of the tail */
	uint64_t cuts;      /* at random places */
	uint64_t changes;
	uint64_t packed_cuts; /* of the archive that the trace came in: so many in its tail, and so many anywhere */
};

static bool is_full(void)
{
	const char *word = getenv("RD_DAMAGE");
	return word != NULL && strcmp(word, "full") == 0;
}

static bool has_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	return true;
#endif
#endif
	return false;
}

static void check(const char *name, const char *wrong, const char *how, uint64_t at)
{
	if (wrong != NULL)
		fail_msg("%s %s byte %llu: %s", name, how, (unsigned long long)at, wrong);
	/* A hang ends the program; the runner tells. */
	alarm(HANG_S);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void check_cuts(struct damage *d, const char *name, const struct effort *e)
{
	uint64_t size = d->source->size_bytes, tail = size < TAIL_BYTES ? 0 : size - TAIL_BYTES;
	uint64_t *at = calloc(e->cuts + 1, sizeof *at);
	assert_non_null(at);
	for (uint64_t n = size; n > tail; n -= n - tail < e->tail_step ? n - tail : e->tail_step)
		check(name, damage_check_cut(d, n - 1), "cut at", n - 1);
	/* In order, so that what stands between two cuts and changes nothing is decoded once. */
	for (uint64_t i = 0; i < e->cuts; i++)
		at[i] = next_random() % size;
	qsort(at, e->cuts, sizeof *at, by_value);
	for (uint64_t i = 0; i < e->cuts; i++)
		check(name, damage_check_cut(d, at[i]), "cut at", at[i]);
	free(at);
}

/* A copy that can be written to. */
static void copy_source(struct rd_source *s, const struct rd_source *from)
{
	static uint8_t piece[1 << 20];
	*s = *from;
	s->fd = memfd_create("changed", MFD_CLOEXEC);
	assert_true(s->fd >= 0);
	for (uint64_t at = 0; at < from->size_bytes; at += sizeof piece) {
		uint64_t left = from->size_bytes - at;
		size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
		assert_ok(rd_source_read(from, piece, n, at, NULL), NULL);
		assert_ok(rd_write_all(s->fd, piece, n, NULL), NULL);
	}
}

/* Up to four bytes at once become others: zero, all ones, or one bit of the first. */
static void check_change(struct damage *d, const char *name, const struct rd_source *copy, uint64_t at, uint32_t way)
{
	static const uint8_t ones[4] = {0xff, 0xff, 0xff, 0xff}, zeros[4];
	uint8_t right[4], changed[4];
	size_t n = d->source->size_bytes - at < 4 ? (size_t)(d->source->size_bytes - at) : 4;
	assert_ok(rd_source_read(d->source, right, n, at, NULL), NULL);
	memcpy(changed, way == 0 ? zeros : way == 1 ? ones : right, 4);
	if (way >= 2)
		changed[0] ^= (uint8_t)(1u << (way % 8));
	assert_ok(rd_pwrite_all(copy->fd, changed, n, at, NULL), NULL);
	check(name, damage_check_change(d, copy, at), "changed at", at);
	assert_ok(rd_pwrite_all(copy->fd, right, n, at, NULL), NULL);
}

static void check_changes(struct damage *d, const char *name, uint64_t changes)
{
	struct rd_source copy;
	uint64_t size = d->source->size_bytes;
	copy_source(&copy, d->source);
	for (uint64_t i = 0; i < changes; i++)
		check_change(d, name, &copy, next_random() % size, pick(10));
	/* Heads of blocks say most. */
	for (uint64_t i = 0; i < changes / 2; i++) {
		const struct damage_block *b = &d->whole.blocks.at[next_random() % d->whole.blocks.n];
		uint64_t at = b->offset + pick(0x48);
		check_change(d, name, &copy, at < size ? at : size - 1, pick(10));
	}
	rd_source_close(&copy);
}

static void check_source(const struct rd_source *s, const char *name, const struct effort *e)
{
	struct damage d;
	alarm(HANG_S);
	check(name, damage_begin(&d, s), "at", 0);
	uint64_t whole_kib = damage_peak_kib();
	check_cuts(&d, name, e);
	check_changes(&d, name, e->changes);
	uint64_t peak_kib = damage_peak_kib();
	/* The rows of the second reading are this test's own. */
	uint64_t most_kib = whole_kib + SLACK_KIB + d.cut.events.cap * sizeof *d.cut.events.at / 1024;
	if (is_full())
		printf("# %s: %llu bytes, %zu blocks, %llu readings, %llu KiB, whole %llu KiB\n", name,
		       (unsigned long long)s->size_bytes, d.whole.blocks.n, (unsigned long long)d.decoded,
		       (unsigned long long)peak_kib, (unsigned long long)whole_kib);
	fflush(stdout);
	if (!has_sanitizer() && peak_kib > most_kib)
		fail_msg("%s: %llu KiB, the whole file took %llu KiB", name, (unsigned long long)peak_kib,
			 (unsigned long long)whole_kib);
	damage_release(&d);
	alarm(0);
}

/* A cut archive gives its traces or none of them, and says why. */
static void check_packed(const struct rd_source *whole, const char *name, uint64_t cuts)
{
	for (uint64_t i = 0; i < 2 * cuts; i++) {
		uint64_t tail = whole->size_bytes < TAIL_BYTES ? whole->size_bytes : TAIL_BYTES;
		uint64_t less = 1 + (i % 2 != 0 ? next_random() % tail : next_random() % whole->size_bytes);
		struct rd_source s = *whole;
		struct rd_error err;
		rd_unpacked_vec files = {0};
		s.size_bytes -= less;
		alarm(HANG_S);
		int rc = rd_archive_unpack(&s, scratch_folder(), NULL, &files, NULL, NULL, &err);
		bool typed = rc == RD_TRUNCATED || rc == RD_CORRUPT || rc == RD_UNSUPPORTED || rc == RD_NOT_FOUND;
		/* What is left of it is so little that its own word of its plain size looks like a bomb. */
		typed = typed || rc == RD_LIMIT;
		if (rc != 0 && !typed)
			fail_msg("%s without its last %llu bytes: %s: %s", name, (unsigned long long)less,
				 rd_code_name(rc), err.text);
		for (size_t k = 0; k < files.n; k++)
			assert_int_equal(unlink(files.at[k].path), 0);
		rd_vec_release(&files);
		/* Nothing else is left: the folder is empty, and so can go. */
		assert_int_equal(rmdir(scratch_folder()), 0);
		assert_int_equal(mkdir(scratch_folder(), 0700), 0);
	}
	alarm(0);
}

/* A trace, packed or plain. */
static void check_file(const char *path, const char *name, const struct effort *e)
{
	struct rd_source packed;
	struct rd_error err;
	rd_unpacked_vec files = {0};
	bool is_packed;
	assert_ok(rd_source_open(&packed, path, &err), &err);
	assert_ok(rd_archive_is(&packed, &is_packed, &err), &err);
	if (is_packed) {
		check_packed(&packed, name, e->packed_cuts);
		assert_ok(rd_archive_unpack(&packed, scratch_folder(), NULL, &files, NULL, NULL, &err), &err);
	} else {
		check_source(&packed, name, e);
	}
	for (size_t i = 0; i < files.n; i++) {
		struct rd_source s;
		assert_ok(rd_source_open(&s, files.at[i].path, &err), &err);
		check_source(&s, files.at[i].name[0] != '\0' ? files.at[i].name : name, e);
		rd_source_close(&s);
		unlink(files.at[i].path);
	}
	rd_vec_release(&files);
	rd_source_close(&packed);
}

/* ---- the tests */

static void row_01_made_files_cut_anywhere(void **state)
{
	EACH_MADE(c)
	{
		struct rd_bytes bytes = {0};
		struct rd_source s;
		struct damage d;
		c->make(&bytes);
		memory_source(&s, bytes.at, bytes.n);
		check(c->name, damage_begin(&d, &s), "at", 0);
		for (uint64_t n = bytes.n; n > 0; n--)
			check(c->name, damage_check_cut(&d, n - 1), "cut at", n - 1);
		damage_release(&d);
		rd_source_close(&s);
		rd_bytes_release(&bytes);
	}
	alarm(0);
}

static void made_files_changed_anywhere(void **state)
{
	EACH_MADE(c)
	{
		struct rd_bytes bytes = {0};
		struct rd_source s, copy;
		struct damage d;
		c->make(&bytes);
		memory_source(&s, bytes.at, bytes.n);
		check(c->name, damage_begin(&d, &s), "at", 0);
		copy_source(&copy, &s);
		for (uint64_t i = 0; i < bytes.n; i++)
			check_change(&d, c->name, &copy, i, (uint32_t)i % 10);
		rd_source_close(&copy);
		damage_release(&d);
		rd_source_close(&s);
		rd_bytes_release(&bytes);
	}
	alarm(0);
}

static void row_01_real_files_cut_and_changed(void **state)
{
	static const struct effort few = {.tail_step = 61, .cuts = 12, .changes = 10, .packed_cuts = 2};
	static const char *const names[] = {"shop-small.nettrace", "linux-cpu-v6.nettrace", "site-crashed.nettrace"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[64];
		snprintf(path, sizeof path, "tests/traces/%s.zst", names[i]);
		check_file(repository_path(path), names[i], &few);
	}
}

/* Whatever the file is, without its first 4 KiB it is none, and each reader that is asked says so. */
static void check_without_start(const struct rd_source *whole, const char *name, uint64_t missing)
{
	struct rd_source s;
	struct rd_error err;
	struct rd_index ix;
	const struct rd_format *f;
	size_t n = (size_t)(whole->size_bytes - missing);
	uint8_t *bytes = malloc(n + 1);
	assert_non_null(bytes);
	assert_ok(rd_source_read(whole, bytes, n, missing, &err), &err);
	memory_source(&s, bytes, n);
	int rc = rd_trace_probe(&s, &f, &err);
	/* A buffer of an ETL file looks like the first one, until its header event is asked for. */
	if (rc == 0)
		rc = f->index(&s, &ix, NULL, NULL, &err);
	if (rc != RD_UNSUPPORTED && rc != RD_CORRUPT && rc != RD_TRUNCATED)
		fail_msg("%s without %llu bytes: %s", name, (unsigned long long)missing, rd_code_name(rc));
	assert_true(err.text[0] != '\0');
	for (size_t i = 0; rd_formats()[i] != NULL; i++)
		assert_true(rd_formats()[i]->index(&s, &ix, NULL, NULL, &err) < 0);
	rd_source_close(&s);
	free(bytes);
}

static void row_02_a_file_without_its_start_is_refused(void **state)
{
	EACH_MADE(c)
	{
		struct rd_bytes bytes = {0};
		struct rd_source s;
		c->make(&bytes);
		memory_source(&s, bytes.at, bytes.n);
		for (uint64_t missing = 1; missing < bytes.n; missing++)
			check_without_start(&s, c->name, missing);
		rd_source_close(&s);
		rd_bytes_release(&bytes);
	}
}

static void check_folder(const char *folder, unsigned *turn, unsigned part, unsigned parts)
{
	static const struct effort whole = {.tail_step = 1, .cuts = 1000, .changes = 300, .packed_cuts = 40};
	struct dirent **files;
	int n = scandir(folder, &files, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char path[4096];
		struct stat st;
		snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (*turn)++ % parts == part)
			check_file(path, files[i]->d_name, &whole);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
}

static void row_01_every_shared_file_cut_and_changed(void **state)
{
	static const char *const folders[] = {"traces/perfview", "traces/etwanalyzer", "traces/own"};
	unsigned part = 0, parts = 1, turn = 0;
	const char *word = getenv("RD_DAMAGE_PART");
	if (word != NULL && (sscanf(word, "%u/%u", &part, &parts) != 2 || parts == 0))
		fail_msg("RD_DAMAGE_PART=%s is not K/N", word);
	random_begin(1);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		check_folder(shared_path(folders[i]), &turn, part, parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_01_made_files_cut_anywhere),
		cmocka_unit_test(made_files_changed_anywhere),
		cmocka_unit_test(row_01_real_files_cut_and_changed),
		cmocka_unit_test(row_02_a_file_without_its_start_is_refused),
	};
	const struct CMUnitTest full[] = {
		cmocka_unit_test(row_01_every_shared_file_cut_and_changed),
	};
	return is_full() ? cmocka_run_group_tests_name("damage of shared traces", full, NULL, NULL)
			 : cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
