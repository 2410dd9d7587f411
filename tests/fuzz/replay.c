/*
 * replay - run a fuzz body without a fuzzer: over every file and folder
 * named, and over the empty input. Each file also runs cut short at up to
 * CUTS places and with up to FLIPS bytes changed, the same on every run.
 * Every input lies alone in a block of its exact size, so that a sanitizer
 * sees a read past its end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

#define CUTS  64
#define FLIPS 64

static unsigned files, runs;

static void run_copy(const uint8_t *bytes, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);

	if (copy == NULL)
		exit(1);
	if (size_bytes)
		memcpy(copy, bytes, size_bytes);
	rd_fuzz_one(copy, size_bytes);
	free(copy);
	runs++;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void run_variants(uint8_t *bytes, size_t size_bytes)
{
	uint64_t state = size_bytes;

	run_copy(bytes, size_bytes);
	size_t step = size_bytes / CUTS + 1;
	for (size_t cut = 0; cut < size_bytes; cut += step)
		run_copy(bytes, cut);
	for (unsigned i = 0; i < FLIPS && size_bytes; i++) {
		size_t at = next_random(&state) % size_bytes;
		uint8_t was = bytes[at];
		bytes[at] = (uint8_t)next_random(&state);
		run_copy(bytes, size_bytes);
		bytes[at] = was;
	}
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (f == NULL || fstat(fileno(f), &st) != 0) {
		perror(path);
		return -1;
	}
	uint8_t *bytes = malloc((size_t)st.st_size + 1);
	size_t n = bytes ? fread(bytes, 1, (size_t)st.st_size, f) : 0;
	int whole = bytes && n == (size_t)st.st_size;
	fclose(f);
	if (whole)
		run_variants(bytes, n);
	free(bytes);
	files++;
	return whole ? 0 : -1;
}

static int run_path(const char *path)
{
	struct stat st;
	struct dirent *entry;
	int status = 0;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return run_file(path);
	DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL) {
		char name[4096];
		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= sizeof name ||
		    run_file(name) != 0)
			status = -1;
	}
	if (dir)
		closedir(dir);
	return dir ? status : -1;
}

int main(int argc, char **argv)
{
	int status = 0;

	run_copy((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		if (run_path(argv[i]) != 0)
			status = -1;
	printf("1..1\n%s 1 - %u files, %u inputs\n", status == 0 && files ? "ok" : "not ok", files, runs);
	return status == 0 && files ? 0 : 1;
}
