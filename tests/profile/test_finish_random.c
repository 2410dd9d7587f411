/*
 * Random traces in random shards against the sentences of docs/design.md, section 3. RD_SEED=n runs that seed alone.
 */
#include "tests/profile/expected.h"
#include "tests/profile/random_scene.h"
#include "tests/random.h"
#include "tests/support.h"

#ifdef __SANITIZE_ADDRESS__
#define SEEDS 40
#else
#define SEEDS 250
#endif

/* Folded lines without their counts, each as often as it counts. */
static char *unfold(char *folded)
{
	char *text = NULL, *line, *rest = folded;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *count = strrchr(line, ' ');
		if (count == NULL)
			continue;
		*count = 0;
		for (long n = atol(count + 1); n > 0; n--)
			fprintf(f, "%s\n", line);
	}
	fclose(f);
	free(folded);
	return text;
}

static void assert_expected(const struct expected *e, const struct rd_result *r)
{
	char *text = unfold(scene_folded(r, SCENE_TIERS | SCENE_STARTS | SCENE_CLR));

	scene_sort_lines(text);
	assert_string_equal(text, e->text);
	free(text);
	assert_int_equal(r->samples, e->samples);
	assert_int_equal(r->weight, e->weight);
	assert_int_equal(r->discarded, e->discarded);
	assert_int_equal(r->trust.frames, e->trust.frames);
	assert_int_equal(r->trust.unresolved_frames, e->trust.unresolved_frames);
	assert_int_equal(r->trust.ambiguous_frames, e->trust.ambiguous_frames);
	assert_int_equal(r->trust.samples_without_stack, e->trust.samples_without_stack);
	assert_int_equal(r->trust.stacks_unused, e->trust.stacks_unused);
	assert_int_equal(r->trust.broken_stacks, e->trust.broken_stacks);
	assert_int_equal(r->trust.unowned_samples, e->trust.unowned_samples);
	assert_int_equal(r->trust.samples_in_rundown, e->trust.samples_in_rundown);
}

static size_t any_shard(void *ctx, size_t item)
{
	return pick(*(const uint32_t *)ctx);
}

static void try_seed(uint64_t seed)
{
	static const uint32_t shards[] = {1, 3, 11};
	struct rd_finish_options opt = {.kind = -1};
	struct rd_error err;
	struct scene s;
	struct expected e;
	char first[33], digest[33];

	random_begin(seed);
	some_scene(&s);
	if (pick(3) == 0)
		opt.process = "7";
	if (pick(3) == 0)
		opt = (struct rd_finish_options){.kind = (int)pick(4) - 1,
						 .has_from = pick(2),
						 .from_ns = pick(20),
						 .has_to = pick(2),
						 .to_ns = 20 + pick(20),
						 .process = opt.process};
	expect_scene(&e, &s, &opt);
	for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
		struct rd_result r;
		uint32_t n = shards[i];
		assert_ok(scene_finish(&s, n, any_shard, &n, &opt, &r, &err), &err);
		assert_expected(&e, &r);
		assert_ok(rd_result_digest(&r, i ? digest : first, &err), &err);
		if (i)
			assert_string_equal(digest, first);
		rd_result_release(&r);
	}
	free(e.text);
	scene_release(&s);
}

static void test_random_traces_in_random_shards(void **state)
{
	const char *only = getenv("RD_SEED");

	if (only) {
		try_seed(strtoull(only, NULL, 10));
		return;
	}
	const char *seeds = getenv("RD_SEEDS");
	uint64_t n = seeds ? strtoull(seeds, NULL, 10) : SEEDS;
	for (uint64_t seed = 1; seed <= n; seed++) {
		/* Seen when an assertion ends the test. */
		char text[32];
		snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
		setenv("RD_SEED_AT", text, 1);
		try_seed(seed);
	}
	unsetenv("RD_SEED_AT");
}

static int say_seed(void **state)
{
	const char *seed = getenv("RD_SEED_AT");
	if (seed)
		print_error("RD_SEED=%s\n", seed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_random_traces_in_random_shards, say_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
