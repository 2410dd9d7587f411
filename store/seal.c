#include "store/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/file.h"
#include "base/memory.h"
#include "store/store.h"

#define PIECE_BYTES    (256u << 10)
#define SEAL_BYTES_MAX 256
#define SEAL_FORMAT    "rundown result %u\nsize %llu\nxxh3-128 %016llx%016llx\n"

static void fill(struct rd_seal *s, uint64_t size_bytes, XXH128_hash_t hash)
{
	*s = (struct rd_seal){.version = RD_STORE_VERSION, .size_bytes = size_bytes, .hash = {hash.high64, hash.low64}};
}

void rd_seal_of(struct rd_span bytes, struct rd_seal *out)
{
	fill(out, bytes.size_bytes, XXH3_128bits(bytes.at, bytes.size_bytes));
}

int rd_seal_measure(int fd, struct rd_seal *out, struct rd_error *err)
{
	uint8_t *piece = rd_realloc(NULL, PIECE_BYTES);
	XXH3_state_t *state = XXH3_createState();
	uint64_t size_bytes = 0;
	int64_t n = RD_NOMEM;

	if (piece == NULL || state == NULL || XXH3_128bits_reset(state) != XXH_OK) {
		rd_fail_nomem(err);
		goto end;
	}
	while ((n = rd_pread_some(fd, piece, PIECE_BYTES, size_bytes, err)) > 0) {
		XXH3_128bits_update(state, piece, (size_t)n);
		size_bytes += (uint64_t)n;
	}
	if (n == 0)
		fill(out, size_bytes, XXH3_128bits_digest(state));
end:
	XXH3_freeState(state);
	rd_free(piece);
	return (int)n;
}

static int seal_text(const struct rd_seal *s, char text[SEAL_BYTES_MAX])
{
	return snprintf(text, SEAL_BYTES_MAX, SEAL_FORMAT, s->version, (unsigned long long)s->size_bytes,
			(unsigned long long)s->hash[0], (unsigned long long)s->hash[1]);
}

int rd_seal_write(const char *folder, const struct rd_seal *seal, struct rd_error *err)
{
	char path[4096], text[SEAL_BYTES_MAX];
	int n = seal_text(seal, text);
	int code = rd_path(path, sizeof path, err, "%s/" RD_SEAL_NAME, folder);

	if (code < 0)
		return code;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return rd_error_at(err, rd_fail_errno(err, "cannot make it"), path, RD_NO_OFFSET);
	code = rd_write_all(fd, text, (size_t)n, err);
	if (code == 0 && fsync(fd) != 0)
		code = rd_fail_errno(err, "cannot sync it");
	if (close(fd) != 0 && code == 0)
		code = rd_fail_errno(err, "cannot close it");
	return code < 0 ? rd_error_at(err, code, path, RD_NO_OFFSET) : code;
}

static int not_a_result(const char *folder, int why, struct rd_error *err)
{
	struct stat st;

	if (why != ENOENT && why != ENOTDIR) {
		errno = why;
		return rd_fail_errno(err, "cannot open its " RD_SEAL_NAME);
	}
	if (stat(folder, &st) != 0)
		return rd_fail(err, RD_NOT_FOUND, "no such result");
	if (!S_ISDIR(st.st_mode))
		return rd_fail(err, RD_NOT_FOUND, "not a result: it is no folder");
	return rd_fail(err, RD_NOT_FOUND, "not a result: the folder has no " RD_SEAL_NAME);
}

/* The parse is strict: the text must be what writing the parsed values gives. */
static int parse(const char *text, struct rd_seal *out, struct rd_error *err)
{
	struct rd_seal s;
	unsigned long long size, high, low;
	char again[SEAL_BYTES_MAX];

	if (sscanf(text, "rundown result %9u\n", &s.version) != 1)
		return rd_fail(err, RD_CORRUPT, "its " RD_SEAL_NAME " is damaged");
	out->version = s.version;
	if (s.version != RD_STORE_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "a result of version %u; this rundown reads version %u", s.version,
			       RD_STORE_VERSION);
	if (sscanf(text, "rundown result %*u\nsize %19llu\nxxh3-128 %16llx%16llx\n", &size, &high, &low) != 3)
		return rd_fail(err, RD_CORRUPT, "its " RD_SEAL_NAME " is damaged");
	s.size_bytes = size;
	s.hash[0] = high;
	s.hash[1] = low;
	seal_text(&s, again);
	if (strcmp(text, again) != 0)
		return rd_fail(err, RD_CORRUPT, "its " RD_SEAL_NAME " is damaged");
	*out = s;
	return 0;
}

int rd_seal_read(const char *folder, struct rd_seal *out, struct rd_error *err)
{
	char path[4096], text[SEAL_BYTES_MAX];
	int code = rd_path(path, sizeof path, err, "%s/" RD_SEAL_NAME, folder);

	if (code < 0)
		return code;
	/* Not blocking, so that a FIFO of that name does not hang its reader. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return not_a_result(folder, errno, err);
	int64_t n = rd_pread_some(fd, text, sizeof text - 1, 0, err);
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = 0;
	return parse(text, out, err);
}

bool rd_seal_is(int fd)
{
	char text[SEAL_BYTES_MAX];
	unsigned version;
	int end = 0;
	int64_t n = rd_pread_some(fd, text, sizeof text - 1, 0, NULL);

	if (n <= 0)
		return false;
	text[n] = 0;
	return sscanf(text, "rundown result %9u%n", &version, &end) == 1 && text[end] == '\n';
}
