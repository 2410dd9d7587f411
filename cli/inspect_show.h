/*
 * inspect_show - an inspection as text (inspect_text.c) and as JSON (inspect_json.c).
 */
#ifndef RD_CLI_INSPECT_SHOW_H
#define RD_CLI_INSPECT_SHOW_H

#include "base/out.h"
#include "cli/inspect_words.h"

/* What is shown, and what it is called. */
struct rd_shown {
	const struct rd_inspection *in;
	const char *path;   /* as the user gave it */
	const char *member; /* its name inside an archive, "" none */
	struct rd_shards shards;
};

/* Lists are cut short. 0, or RD_NOMEM. */
int rd_inspect_text(const struct rd_shown *s, struct rd_out *o, struct rd_error *err);
/* The members of an object that is already open; lists are whole. 0, or RD_NOMEM. */
int rd_inspect_json(const struct rd_shown *s, struct rd_json *j, struct rd_error *err);

/* Parts of the text: lists (inspect_lists.c), and how lines are made (inspect_text.c). 0, or RD_NOMEM. */
int rd_inspect_text_people(const struct rd_shown *s, struct rd_out *o);
int rd_inspect_text_events(const struct rd_shown *s, struct rd_out *o, struct rd_error *err);
void rd_line_label(struct rd_out *o, const char *label);
/* "1 block", "2 blocks". */
void rd_line_count(struct rd_out *o, uint64_t n, const char *one);
/* A line for those of n that are not among the `most` shown, if there are any. */
void rd_line_more(struct rd_out *o, size_t n, size_t most, const char *hint);

/* What `events` has in its JSON, too: "key", "provider", "guid", "name". */
void rd_json_kind_names(struct rd_json *j, const struct rd_kind *kind, const struct rd_kind_words *words);
/* "0x10", as a text: JSON's numbers are not exact so far up. */
void rd_json_hex(struct rd_json *j, const char *key, uint64_t v);

#endif
