/*
 * run_watch - whether those who work for a run still answer, and what to say when one does not.
 *
 * Three things show it: a process that a signal stopped, a broker that does
 * not answer a question asked every second, and a merger whose work does not
 * move on. Nobody is given up for it: a person is told, and decides.
 */
#ifndef RD_CLI_RUN_WATCH_H
#define RD_CLI_RUN_WATCH_H

#include "cli/family.h"
#include "cli/progress.h"

/* How long somebody may be silent before it is told; then again each time the silence has doubled. */
#define RD_STOPPED_NS UINT64_C(3000000000)
#define RD_SILENT_NS  UINT64_C(5000000000)
#define RD_STALLED_NS UINT64_C(20000000000)

enum rd_watch_fault { RD_WATCH_STOPPED, RD_WATCH_SILENT, RD_WATCH_STALLED, RD_WATCH_FAULTS };

struct rd_watch {
	uint64_t ticked_ns;
	uint64_t heard_ns; /* the last word of the broker */
	uint64_t moved_ns; /* when the job's numbers last changed */
	struct rd_progress_state seen;
	bool merging;                       /* the merger is the one whose turn it is */
	uint64_t after_ns[RD_WATCH_FAULTS]; /* the silence at which it is told next */
};

void rd_watch_init(struct rd_watch *w, uint64_t now_ns);
/* The broker said something. */
void rd_watch_heard(struct rd_watch *w, uint64_t now_ns);
/* What it said of the job. */
void rd_watch_state(struct rd_watch *w, const struct rd_progress_state *s, uint64_t now_ns);
/* Call it about every second: true when `text` is to be told, "the merger (pid 7) does not answer since 5 s…". */
bool rd_watch_tick(struct rd_watch *w, const struct rd_family *f, uint64_t now_ns, char *text, size_t size);

#endif
