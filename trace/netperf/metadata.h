/*
 * metadata - the metadata of versions 1 and 2, and the places by which events name it.
 *
 * Version 3 has nettrace's records and ids (trace/nettrace/types.h). Before it
 * an event names the file's byte at which the record's own event begins; here
 * such places get ids 1, 2, 3, … in the order of their coming, to be used as
 * the ids of that module.
 */
#ifndef RD_TRACE_NETPERF_METADATA_H
#define RD_TRACE_NETPERF_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/nettrace/types.h"

/* Read the payload of a metadata record, all but its id; false when it is none. */
bool rd_netperf_metadata(uint32_t version, const uint8_t *payload, size_t size_bytes, struct rd_nettrace_metadata *out);

struct rd_netperf_places {
	RD_VEC(uint32_t) at; /* places, by id - 1 */
	struct rd_table table;
};

void rd_netperf_places_release(struct rd_netperf_places *p);
/* The id of a place, made if need be; 0 when out of memory. */
uint32_t rd_netperf_places_id(struct rd_netperf_places *p, uint32_t place);
/* The id if there is one, else 0. */
uint32_t rd_netperf_places_find(const struct rd_netperf_places *p, uint32_t place);

#endif
