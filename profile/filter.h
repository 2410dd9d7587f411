/*
 * filter - which samples count: the options of a finish.
 */
#ifndef RD_PROFILE_FILTER_H
#define RD_PROFILE_FILTER_H

#include "profile/content.h"
#include "profile/finish.h"
#include "profile/moments.h"

struct rd_filter_life {
	enum { RD_LIFE_NOT_ASKED, RD_LIFE_IN, RD_LIFE_OUT } verdict;
	uint64_t left_out; /* samples that nothing but the process keeps from counting */
};

struct rd_filter {
	bool has_from, has_to;
	int64_t from_utc_ns, to_utc_ns; /* [from, to) */
	int kind;                       /* -1 all */
	const char *process;            /* borrowed; NULL all */
	RD_VEC(struct rd_filter_life) lives;
};

/* moments are sealed: their origin is where from and to count from. opt may be NULL. */
void rd_filter_init(struct rd_filter *f, const struct rd_finish_options *opt, const struct rd_moments *moments);
/* What is kept of it in a result. */
void rd_filter_keep(const struct rd_filter *f, const struct rd_moments *moments, struct rd_result_filter *out);
/* Whether nothing is left out. */
bool rd_filter_is_all(const struct rd_filter *f);
/* The ticks [*from, *to) of this clock that may count. */
void rd_filter_ticks(const struct rd_filter *f, const struct rd_clock *clock, uint64_t *from, uint64_t *to);
/* Whether a sample counts, its time aside: 1, 0 it is discarded, or RD_NOMEM. */
int rd_filter_takes(struct rd_filter *f, const struct rd_content *content, uint32_t life, uint32_t kind);
/*
 * Why none of so many samples passed: what there is instead, in one line of an error; returns RD_NOT_FOUND.
 */
int rd_filter_nothing(const struct rd_filter *f, const struct rd_content *content, const struct rd_moments *moments,
		      uint64_t samples, struct rd_error *err);
void rd_filter_release(struct rd_filter *f);

/* "shop (pid 7, 12 samples)" for the text of an error, its name cut; the bytes without the NUL. */
size_t rd_process_text(struct rd_span name, uint32_t pid, uint64_t samples, char *to, size_t size);

/*
 * Whether a process is the one that a user named: by pid, by the pid that it has
 * inside its container (0 unknown), or by name, letter case aside and with or
 * without ".exe" on either side.
 */
bool rd_process_is(const char *wanted, uint32_t pid, uint32_t namespace_pid, struct rd_span name);

#endif
