/*
 * unpacking - archives made in memory, and what comes out of them into a folder of the tests' own.
 */
#ifndef RD_TESTS_TRACE_UNPACKING_H
#define RD_TESTS_TRACE_UNPACKING_H

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include "tests/support.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/archive.h"

struct member {
	const char *name;
	const void *bytes;
	size_t size_bytes;
	mode_t type; /* AE_IFREG, … */
};

/* An archive of these members, or the one member packed alone when filter says so. */
void pack(struct rd_bytes *out, int (*format)(struct archive *), int (*filter)(struct archive *),
	  const struct member *members, size_t n);
void zip(struct rd_bytes *out, const struct member *members, size_t n);
void seven_zip(struct rd_bytes *out, const struct member *members, size_t n);
void gzip(struct rd_bytes *out, const void *bytes, size_t size_bytes);
/* One frame that names its size. */
void zstd(struct rd_bytes *out, const void *bytes, size_t size_bytes);
void bzip2(struct rd_bytes *out, const void *bytes, size_t size_bytes);
void xz(struct rd_bytes *out, const void *bytes, size_t size_bytes);
/* All of those that pack one stream. */
#define PACKERS 4
typedef void (*packer)(struct rd_bytes *out, const void *bytes, size_t size_bytes);
extern const packer packers[PACKERS];

struct unpacked {
	rd_unpacked_vec files;
	struct rd_error err;
	int rc;
};
extern char folder[4096];    /* empty between two archives */
extern uint64_t packed_seen; /* what progress told last */

void unpack(struct unpacked *u, const struct rd_bytes *bytes, const struct rd_unpack_limits *limits);
size_t count_files(void);
/* File i holds exactly these bytes. */
void check_file(const struct unpacked *u, size_t i, const void *bytes, size_t size_bytes);
/* Nothing but its files is in the folder; then they are taken away. */
void done(struct unpacked *u);

extern struct nettrace_build trace; /* a small one */
extern uint8_t *big;                /* its head and 17 MB behind it */
extern size_t big_bytes;

int set_up(void **state);
int tear_down(void **state);

#endif
