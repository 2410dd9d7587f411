/*
 * Searching the event tables, and the text of an identity.
 *
 * The tables are few, so they are tried one after the other; rows are found by
 * halving. That is done once per metadata entry or interned key of a file.
 */
#include "trace/catalogue.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const struct rd_event_table *const tables_named[] = {
	&rd_table_clr_runtime, &rd_table_clr_rundown,      &rd_table_clr_private,      &rd_table_sample_profiler,
	&rd_table_eventpipe,   &rd_table_universal_system, &rd_table_universal_events, NULL,
};

/* Both lists as one: table i, NULL past the end. */
static const struct rd_event_table *table_at(size_t i)
{
	size_t n = RD_ROW_COUNT(tables_named) - 1;
	if (i < n)
		return tables_named[i];
	for (size_t k = 0; rd_tables_kernel[k] != NULL; k++)
		if (k == i - n)
			return rd_tables_kernel[k];
	return NULL;
}

/* The row of this id with the greatest version_from that is not above version. */
static const struct rd_event_type *find_row(const struct rd_event_table *t, uint32_t id, uint32_t version)
{
	size_t low = 0, high = t->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct rd_event_type *row = &t->rows[middle];
		if (row->id < id || (row->id == id && row->version_from <= version))
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && t->rows[low - 1].id == id ? &t->rows[low - 1] : NULL;
}

static bool span_is(struct rd_span s, const char *text)
{
	return s.size_bytes == strlen(text) && memcmp(s.at, text, s.size_bytes) == 0;
}

static const struct rd_event_type *find_name(const struct rd_event_table *t, struct rd_span name, uint32_t version)
{
	const struct rd_event_type *best = NULL;
	for (size_t i = 0; i < t->n; i++)
		if (span_is(name, t->rows[i].name) && t->rows[i].version_from <= version)
			best = &t->rows[i];
	return best;
}

static const struct rd_event_type *find_guid(uint32_t identity, const uint8_t guid[16], uint32_t id, uint32_t version)
{
	const struct rd_event_table *t;
	for (size_t i = 0; (t = table_at(i)) != NULL; i++)
		if (t->identity == identity && memcmp(t->guid, guid, 16) == 0)
			return find_row(t, id, version);
	return NULL;
}

const struct rd_event_type *rd_catalogue_event(const uint8_t guid[16], uint32_t id, uint32_t version)
{
	return find_guid(RD_IDENTITY_EVENT, guid, id, version);
}

const struct rd_event_type *rd_catalogue_classic(const uint8_t guid[16], uint32_t opcode, uint32_t version)
{
	return find_guid(RD_IDENTITY_CLASSIC, guid, opcode, version);
}

const struct rd_event_type *rd_catalogue_named(struct rd_span provider, struct rd_span name, uint32_t id,
					       uint32_t version)
{
	const struct rd_event_table *t;
	for (size_t i = 0; (t = table_at(i)) != NULL; i++) {
		if (t->identity != RD_IDENTITY_EVENT && t->identity != RD_IDENTITY_NAMED)
			continue;
		if (span_is(provider, t->provider))
			return t->by_name ? find_name(t, name, version) : find_row(t, id, version);
	}
	return NULL;
}

const struct rd_event_type *rd_catalogue_kernel(uint32_t group, uint32_t opcode, uint32_t version)
{
	const struct rd_event_table *t;
	for (size_t i = 0; (t = table_at(i)) != NULL; i++)
		if (t->identity == RD_IDENTITY_KERNEL && t->group == group)
			return find_row(t, opcode, version);
	return NULL;
}

const char *rd_catalogue_provider(const struct rd_event_key *key)
{
	const struct rd_event_table *t;
	for (size_t i = 0; (t = table_at(i)) != NULL; i++) {
		bool same = t->identity == RD_IDENTITY_KERNEL ? true : memcmp(t->guid, key->guid, 16) == 0;
		if (t->identity == key->identity && key->identity != RD_IDENTITY_NAMED && same)
			return t->provider;
	}
	return NULL;
}

bool rd_catalogue_guid(struct rd_span provider, uint8_t guid[16])
{
	const struct rd_event_table *t;
	for (size_t i = 0; (t = table_at(i)) != NULL; i++)
		if (t->identity == RD_IDENTITY_EVENT && span_is(provider, t->provider)) {
			memcpy(guid, t->guid, 16);
			return true;
		}
	return false;
}

const struct rd_event_type *rd_catalogue_row(size_t i)
{
	const struct rd_event_table *t;
	for (size_t k = 0; (t = table_at(k)) != NULL; k++) {
		if (i < t->n)
			return &t->rows[i];
		i -= t->n;
	}
	return NULL;
}

static int append_text(struct rd_bytes *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int append_text(struct rd_bytes *out, const char *fmt, ...)
{
	char text[96];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof text)
		return RD_INTERNAL;
	return rd_bytes_append(out, text, (size_t)n);
}

/* Provider/id/version; the Universal providers number their events anew in every file, so there the name counts. */
static int named_text(const struct rd_event_key *key, struct rd_bytes *out)
{
	static const char universal[] = "Universal.";
	size_t n = sizeof universal - 1;
	int rc = rd_bytes_append(out, key->provider.at, key->provider.size_bytes);
	if (rc == 0 && key->provider.size_bytes >= n && memcmp(key->provider.at, universal, n) == 0) {
		rc = rd_bytes_append(out, "/", 1);
		if (rc == 0)
			rc = rd_bytes_append(out, key->name.at, key->name.size_bytes);
		return rc != 0 ? rc : append_text(out, "/%" PRIu32, key->version);
	}
	return rc != 0 ? rc : append_text(out, "/%" PRIu32 "/%" PRIu32, key->id, key->version);
}

int rd_event_key_text(const struct rd_event_key *key, struct rd_bytes *out)
{
	char guid[37];
	switch ((enum rd_identity)key->identity) {
	case RD_IDENTITY_EVENT:
		rd_guid_text(key->guid, guid);
		return append_text(out, "%s/%" PRIu32 "/%" PRIu32, guid, key->id, key->version);
	case RD_IDENTITY_CLASSIC:
		rd_guid_text(key->guid, guid);
		return append_text(out, "classic:%s/%" PRIu32 "/%" PRIu32, guid, key->id, key->version);
	case RD_IDENTITY_KERNEL:
		return append_text(out, "kernel/%02" PRIx32 "/%" PRIu32 "/%" PRIu32, key->group, key->id, key->version);
	case RD_IDENTITY_HEADER:
		return append_text(out, "hdr%" PRIu32, key->id);
	case RD_IDENTITY_NAMED:
		return named_text(key, out);
	case RD_IDENTITY_WPP:
		return append_text(out, "wpp message");
	case RD_IDENTITY_BAD:
		return append_text(out, "bad");
	}
	return RD_INTERNAL;
}
