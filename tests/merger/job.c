#include "tests/merger/job.h"

#include <string.h>

#include "base/file.h"
#include "net/task.h"
#include "profile/index_codec.h"
#include "profile/shard.h"
#include "tests/support.h"
#include "trace/archive.h"

static int keep_block(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	struct test_block *b = rd_vec_add((test_block_vec *)ctx);
	uint8_t *copy = malloc(block.size_bytes);

	assert_non_null(b);
	assert_non_null(copy);
	memcpy(copy, block.at, block.size_bytes);
	*b = (struct test_block){table, seq, {copy, block.size_bytes}};
	return 0;
}

/* The blocks that an earlier shard holds and a later one needs, all of them: replaying too much changes nothing. */
static void find_context(const struct rd_index *index, size_t before, rd_block_vec *out)
{
	for (size_t i = 0; i < before; i++) {
		if (!index->blocks.at[i].provides && !index->blocks.at[i].resets)
			continue;
		struct rd_block *b = rd_vec_add(out);
		assert_non_null(b);
		*b = index->blocks.at[i];
	}
}

void job_open_trace(struct rd_source *s)
{
	struct rd_source packed;
	rd_unpacked_vec files = {0};
	struct rd_error err;

	assert_ok(rd_source_open(&packed, repository_path("tests/traces/shop-small.nettrace.zst"), &err), &err);
	assert_ok(rd_archive_unpack(&packed, scratch_folder(), NULL, &files, NULL, NULL, &err), &err);
	rd_source_close(&packed);
	assert_ok(rd_source_open(s, files.at[0].path, &err), &err);
	remove(files.at[0].path);
	rd_vec_release(&files);
}

void job_make(struct test_job *j, unsigned shards)
{
	const struct rd_format *format;
	struct rd_index index = {0};
	struct rd_source source;
	struct rd_error err;

	job_open_trace(&source);
	assert_ok(rd_trace_probe(&source, &format, &err), &err);
	assert_ok(format->index(&source, &index, NULL, NULL, &err), &err);
	*j = (struct test_job){.info = index.info, .shards = shards, .blocks = calloc(shards, sizeof *j->blocks)};
	assert_non_null(j->blocks);
	for (unsigned i = 0; i < shards; i++) {
		size_t from = index.blocks.n * i / shards, to = index.blocks.n * (i + 1) / shards;
		struct rd_shard_options opt = {.preliminary = true};
		rd_block_vec context = {0};
		find_context(&index, from, &context);
		struct rd_shard shard = {&index.info, context.at, context.n, index.blocks.at + from, to - from};
		assert_ok(rd_shard_decode(&source, &shard, &opt, keep_block, &j->blocks[i], &err), &err);
		rd_vec_release(&context);
	}
	rd_index_release(&index);
	rd_source_close(&source);
}

void job_release(struct test_job *j)
{
	for (unsigned i = 0; i < j->shards; i++)
		release_blocks(&j->blocks[i]);
	free(j->blocks);
}

void job_order(const struct test_job *j, const char *job, const char *output, bool replace, unsigned given_up,
	       struct rd_message *out)
{
	Rd__Envelope e = rd_envelope(RD__KIND__FINISH);
	Rd__Finish f = RD__FINISH__INIT;
	Rd__Filter filter = RD__FILTER__INIT;
	ProtobufCBinaryData path = rd_field("shop-small.nettrace"), member = rd_field("");
	uint32_t group = 0, shards = j->shards, traces[16] = {0}, numbers[16];
	uint64_t from[16] = {0}, to[16];
	struct rd_bytes info = {0}, infos = {0}, packed = {0};
	struct rd_error err;
	size_t n = 0;

	for (unsigned i = given_up; i < shards; i++, n++) {
		numbers[n] = i;
		to[n] = 1000 * i;
	}
	e.job = rd_field(job);
	e.finish = &f;
	f.output = rd_field(output);
	f.replace = replace;
	f.filter = &filter;
	f.n_path = f.n_member = f.n_group = f.n_shards = 1;
	f.path = &path;
	f.member = &member;
	f.group = &group;
	f.shards = &shards;
	f.n_quarantined_trace = f.n_quarantined_shard = f.n_quarantined_from = f.n_quarantined_to = n;
	f.quarantined_trace = traces;
	f.quarantined_shard = numbers;
	f.quarantined_from = from;
	f.quarantined_to = to;
	*out = (struct rd_message){0};
	assert_ok(rd_envelope_pack(&e, &packed, &err), &err);
	assert_ok(rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &out->envelope, &err), &err);
	assert_ok(rd_info_pack(&j->info, &info, &err), &err);
	assert_ok(rd_infos_pack(&infos, (struct rd_span){info.at, info.n}, &err), &err);
	assert_ok(rd_blob_add(&out->blob, infos.at, infos.n, &err), &err);
	rd_bytes_release(&info);
	rd_bytes_release(&infos);
	rd_bytes_release(&packed);
}
