/*
 * progress - how far a job is, for people and for programs, on stderr.
 *
 * A bar that is drawn over itself, plain lines, or a JSON object a line. What
 * is told is thinned out here: the caller shows every state it hears of.
 */
#ifndef RD_CLI_PROGRESS_H
#define RD_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum rd_progress_form {
	RD_PROGRESS_AUTO = 0, /* a bar on a terminal, else none */
	RD_PROGRESS_BAR,
	RD_PROGRESS_PLAIN,
	RD_PROGRESS_JSON,
	RD_PROGRESS_NONE,
};
/* In the same order, NULL-ended: for an option. */
extern const char *const rd_progress_words[];

struct rd_progress_state {
	const char *state;                /* "queued", "running", "finishing", "done", … */
	uint64_t bytes_done, bytes_total; /* total 0: not known yet */
	uint32_t shards_done, shards_total;
	uint64_t finish_done, finish_total;
};

struct rd_progress {
	enum rd_progress_form form;
	const char *name, *job;
	int fd;
	uint64_t began_ns; /* of the bytes: the first that were done */
	uint64_t began_bytes;
	uint64_t shown_ns; /* when the last line was written; 0 none yet */
	char shown_state[16];
	char shown_line[160]; /* plain: a line is not told twice in a row */
	bool drawn; /* a bar stands on the terminal */
};

/* name: of the command. job: the id, where there may be several; NULL none. Both are borrowed. */
void rd_progress_init(struct rd_progress *p, enum rd_progress_form form, const char *name, const char *job, int fd);
void rd_progress_show(struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns);
/* Take the bar away, so that lines may follow. */
void rd_progress_end(struct rd_progress *p);

#endif
