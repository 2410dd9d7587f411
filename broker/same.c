#include "broker/state.h"

#include <string.h>

#include <xxhash.h>

/*
 * Is it done already? Two jobs are the same when their wishes are, and every
 * trace is: by path, size, time of change, and the digest of the index that a
 * worker read just now. A trace that grew makes another job, whose result
 * takes the old one's place.
 */

static void put(struct rd_bytes *to, const void *bytes, size_t n)
{
	uint64_t size = n;

	/* With its size before it, so that neighbours do not run into each other. */
	rd_bytes_append(to, &size, sizeof size);
	rd_bytes_append(to, bytes, n);
}

static void put_field(struct rd_bytes *to, const ProtobufCBinaryData *f)
{
	put(to, f->data, f->len);
}

static void put_wishes(struct rd_bytes *to, const Rd__Submit *s)
{
	uint32_t numbers[] = {s->join, s->apart, s->stack_depth};
	size_t n = rd__filter__get_packed_size(s->filter);
	uint8_t *at;

	put_field(to, &s->output);
	put(to, numbers, sizeof numbers);
	if ((at = rd_bytes_extend(to, n)) != NULL)
		rd__filter__pack(s->filter, at);
}

static void put_trace(struct rd_bytes *to, const struct rd_job *j, const struct rd_trace *t)
{
	const struct rd_trace_info *info = &t->index.info;
	/* What was unpacked is as old as the unpacking. */
	bool unpacked = t->path.data != j->submit->path[t->input].data;
	int64_t mtime_ns = unpacked ? 0 : info->mtime_ns;

	put_field(to, &j->submit->path[t->input]);
	put_field(to, &t->member);
	put(to, &info->size_bytes, sizeof info->size_bytes);
	put(to, &mtime_ns, sizeof mtime_ns);
	put(to, &info->digest, sizeof info->digest);
}

static bool identify(struct rd_job *j)
{
	struct rd_bytes all = {0};

	put_wishes(&all, j->submit);
	for (size_t i = 0; i < j->traces.n; i++)
		put_trace(&all, j, j->traces.at[i]);
	XXH128_canonical_t digest;
	if (!all.failed)
		XXH128_canonicalFromHash(&digest, XXH3_128bits(all.at, all.n));
	bool ok = !all.failed;
	if (ok)
		memcpy(j->identity, digest.digest, sizeof j->identity);
	rd_bytes_release(&all);
	return ok;
}

/* The latest result of this place counts: an older one is not there any more. */
static const struct rd_job *latest_at(const struct rd_broker *b, const struct rd_job *j)
{
	struct rd_span output = rd_field_span(&j->submit->output);

	for (size_t i = b->jobs.n; i > 0; i--) {
		const struct rd_job *old = b->jobs.at[i - 1];
		struct rd_span other = rd_field_span(&old->submit->output);
		if (old != j && old->state == RD_JOB_DONE && old->finished && other.size_bytes == output.size_bytes &&
		    memcmp(other.at, output.at, output.size_bytes) == 0)
			return old;
	}
	return NULL;
}

bool rd_job_is_done_already(struct rd_broker *b, struct rd_job *j)
{
	if (!identify(j)) {
		b->failed = true;
		return false;
	}
	const struct rd_job *old = j->submit->update ? latest_at(b, j) : NULL;
	if (old == NULL || old->quarantined > 0 || memcmp(old->identity, j->identity, sizeof j->identity) != 0)
		return false;
	if (rd_envelope_copy(old->finished, &j->finished, NULL) < 0) {
		b->failed = true;
		return false;
	}
	j->shards = j->shards_done = old->shards;
	j->bytes_total = j->bytes_done = old->bytes_total;
	rd_job_end(b, j, RD_JOB_DONE);
	return true;
}

bool rd_job_wishes_same(const Rd__Submit *a, const Rd__Submit *b)
{
	struct rd_bytes x = {0}, y = {0};

	put_wishes(&x, a);
	put_wishes(&y, b);
	for (size_t i = 0; i < a->n_path; i++)
		put_field(&x, &a->path[i]);
	for (size_t i = 0; i < b->n_path; i++)
		put_field(&y, &b->path[i]);
	bool same = !x.failed && !y.failed && x.n == y.n && memcmp(x.at, y.at, x.n) == 0;
	rd_bytes_release(&x);
	rd_bytes_release(&y);
	return same;
}
