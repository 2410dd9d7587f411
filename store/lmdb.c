#include "store/lmdb.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <xxhash.h>

#include "base/text.h"

void rd_store_key(uint8_t key[RD_KEY_BYTES], uint32_t table, uint32_t chunk)
{
	for (int i = 0; i < 4; i++) {
		key[i] = (uint8_t)(table >> (24 - 8 * i));
		key[4 + i] = (uint8_t)(chunk >> (24 - 8 * i));
	}
}

uint64_t rd_store_checksum(uint32_t table, uint32_t chunk, struct rd_span body)
{
	return XXH3_64bits_withSeed(body.at, body.size_bytes, (uint64_t)table << 32 | chunk);
}

int rd_fail_lmdb(struct rd_error *err, int rc, const char *what)
{
	if (rc == ENOMEM)
		return rd_fail_nomem(err);
	if (rc > 0) {
		errno = rc;
		return rd_fail_errno(err, "%s", what);
	}
	int code = rc == MDB_MAP_FULL ? RD_LIMIT : RD_CORRUPT;
	return rd_fail(err, code, "%s: %s", what, mdb_strerror(rc));
}

/* Of what a limit of address space leaves to all that a process does. */
#define MAP_SHARE 8

uint64_t rd_map_first(uint64_t wish)
{
	struct rlimit space;
	uint64_t bytes = wish;

	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur / MAP_SHARE < bytes)
		bytes = space.rlim_cur / MAP_SHARE;
	return (bytes > RD_MAP_BYTES_MIN ? bytes : RD_MAP_BYTES_MIN) / RD_MAP_BYTES_MIN * RD_MAP_BYTES_MIN;
}

int rd_fail_map(struct rd_error *err, const char *whose, uint64_t bytes)
{
	char size[32];

	return rd_fail(err, RD_NOMEM, "%s needs %s of address space, and a limit (ulimit -v) does not leave it", whose,
		       rd_size_text(bytes, size, sizeof size));
}

/*
 * Whether the map can have so many bytes more. LMDB gives the old map back before it takes the new one, and has none
 * when that fails, so it must not.
 */
static bool is_room(uint64_t more_bytes)
{
	void *at = mmap(NULL, (size_t)more_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	munmap(at, (size_t)more_bytes);
	return true;
}

int rd_map_grow(MDB_env *env, uint64_t *map_bytes, const char *whose, struct rd_error *err)
{
	uint64_t more = *map_bytes;

	while (more > RD_MAP_BYTES_MIN && !is_room(more))
		more /= 2;
	if (more < RD_MAP_BYTES_MIN || !is_room(more))
		return rd_fail_map(err, whose, *map_bytes + RD_MAP_BYTES_MIN);
	int rc = mdb_env_set_mapsize(env, (size_t)(*map_bytes + more));
	if (rc)
		return rd_fail_lmdb(err, rc, "growing a map");
	*map_bytes += more;
	return 0;
}
