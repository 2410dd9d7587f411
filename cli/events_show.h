/*
 * events_show - the catalogue of a trace's events, as text and as JSON.
 */
#ifndef RD_CLI_EVENTS_SHOW_H
#define RD_CLI_EVENTS_SHOW_H

#include "base/out.h"
#include "cli/inspect_show.h"

enum rd_events_sort { RD_EVENTS_BY_ID, RD_EVENTS_BY_COUNT, RD_EVENTS_BY_BYTES };

/* Which kinds are shown, and in which order. */
struct rd_events_view {
	const char *provider; /* its name in any case of letters, a part of it, or its GUID; NULL all */
	bool by_id;
	uint64_t id; /* or opcode; if by_id */
	int sort;    /* enum rd_events_sort */
};

/*
 * How many kinds are shown, or RD_NOMEM; when none is, what there is instead, as "A, B and 3 more": providers, or the
 * ids of those that are meant. there may be shorter than the list.
 */
int rd_events_match(const struct rd_shown *s, const struct rd_events_view *v, char *there, size_t size,
		    struct rd_error *err);
/* 0, or RD_NOMEM. */
int rd_events_text(const struct rd_shown *s, const struct rd_events_view *v, struct rd_out *o, struct rd_error *err);
/* The members of an object that is already open. 0, or RD_NOMEM. */
int rd_events_json(const struct rd_shown *s, const struct rd_events_view *v, struct rd_json *j, struct rd_error *err);

#endif
