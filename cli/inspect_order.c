/* The order in which rows are told, and events by provider. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/inspect_words.h"

struct order {
	uint64_t key; /* the more, the earlier */
	uint32_t at;
};

static int compare_order(const void *x, const void *y)
{
	const struct order *a = x, *b = y;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The places 0 … n - 1 by falling keys; those of which `wanted` says no are left out. */
static uint32_t *sorted(const struct rd_inspection *in, size_t rows,
			bool (*wanted)(const struct rd_inspection *in, uint32_t at, uint64_t *key), size_t *n)
{
	struct order *order = rd_realloc(NULL, (rows ? rows : 1) * sizeof *order);
	uint32_t *out = rd_realloc(NULL, (rows ? rows : 1) * sizeof *out);

	*n = 0;
	for (size_t i = 0; order && out && i < rows; i++) {
		struct order *o = &order[*n];
		o->at = (uint32_t)i;
		*n += wanted(in, (uint32_t)i, &o->key);
	}
	if (order && out) {
		qsort(order, *n, sizeof *order, compare_order);
		for (size_t i = 0; i < *n; i++)
			out[i] = order[i].at;
	}
	if (order == NULL) {
		rd_free(out);
		out = NULL;
	}
	rd_free(order);
	return out;
}

static bool process_key(const struct rd_inspection *in, uint32_t at, uint64_t *key)
{
	const struct rd_seen_process *p = rd_records_at(&in->processes.rows.rows, at);
	*key = p->samples;
	return p->known;
}

uint32_t *rd_sorted_processes(const struct rd_inspection *in, size_t *n)
{
	return sorted(in, in->processes.rows.rows.n, process_key, n);
}

static bool runtime_key(const struct rd_inspection *in, uint32_t at, uint64_t *key)
{
	const struct rd_seen_runtime *r = rd_records_at(&in->rundowns.runtimes.rows, at);
	*key = 0;
	for (size_t i = 0; i < RD_OPS; i++)
		*key += r->methods[i];
	return rd_runtime_known(r);
}

uint32_t *rd_sorted_runtimes(const struct rd_inspection *in, size_t *n)
{
	return sorted(in, in->rundowns.runtimes.rows.n, runtime_key, n);
}

static bool kind_events(const struct rd_inspection *in, uint32_t at, uint64_t *key)
{
	*key = in->seen.rows.at[at].events;
	return *key > 0;
}

static bool kind_bytes(const struct rd_inspection *in, uint32_t at, uint64_t *key)
{
	*key = in->seen.rows.at[at].bytes;
	return in->seen.rows.at[at].events > 0;
}

uint32_t *rd_sorted_kinds(const struct rd_inspection *in, bool by_bytes, size_t *n)
{
	return sorted(in, in->seen.rows.n, by_bytes ? kind_bytes : kind_events, n);
}

/* ---- providers */

struct rd_span rd_provider_label(const struct rd_kind *kind, const struct rd_kind_words *words, char buf[48])
{
	if (words->provider.size_bytes)
		return words->provider;
	if (words->has_guid)
		rd_guid_text(words->guid, buf);
	else
		snprintf(buf, 48, "%s",
			 kind->key.identity == RD_IDENTITY_WPP      ? "WPP messages"
			 : kind->key.identity == RD_IDENTITY_HEADER ? "records without an identity"
			 : kind->key.identity == RD_IDENTITY_BAD    ? "bad"
								    : "without a name");
	return rd_text_span(buf);
}

struct rd_span rd_provider_name(const struct rd_provider_sum *p)
{
	return p->name.size_bytes ? p->name : rd_text_span(p->own_name);
}

static int compare_providers(const void *x, const void *y)
{
	const struct rd_provider_sum *p = x, *q = y;
	struct rd_span a = rd_provider_name(p), b = rd_provider_name(q);

	if (p->events != q->events)
		return p->events > q->events ? -1 : 1;
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = memcmp(a.at, b.at, n);
	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

static int add_provider(rd_provider_vec *out, const struct rd_kind_words *words, struct rd_span label)
{
	struct rd_provider_sum *p = rd_vec_add(out);

	if (p == NULL)
		return RD_NOMEM;
	*p = (struct rd_provider_sum){.name = words->provider};
	if (words->provider.size_bytes == 0)
		snprintf(p->own_name, sizeof p->own_name, "%.*s", (int)label.size_bytes, (const char *)label.at);
	if (words->has_guid)
		rd_guid_text(words->guid, p->guid);
	return 0;
}

int rd_inspect_providers(const struct rd_inspection *in, rd_provider_vec *out, struct rd_error *err)
{
	struct rd_strings labels = {0};
	int code = 0;

	for (size_t i = 0; i < in->seen.rows.n && code == 0; i++) {
		const struct rd_kind *kind = &in->seen.rows.at[i];
		struct rd_kind_words words;
		char buf[48];
		if (kind->events == 0)
			continue;
		rd_kind_tell(&in->seen, kind, &words);
		struct rd_span label = rd_provider_label(kind, &words, buf);
		uint32_t id = rd_strings_id(&labels, label.at, label.size_bytes);
		if (id == RD_NONE || (id == out->n && add_provider(out, &words, label) != 0)) {
			code = rd_fail_nomem(err);
			break;
		}
		out->at[id].events += kind->events;
		out->at[id].bytes += kind->bytes;
		out->at[id].kinds++;
	}
	if (out->n)
		qsort(out->at, out->n, sizeof *out->at, compare_providers);
	rd_strings_release(&labels);
	return code;
}
