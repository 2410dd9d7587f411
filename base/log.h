/*
 * log - the one logger: a line of key=value per happening, to stderr.
 *
 *   rd_log(RD_LOG_INFO, "shard_done", "job=%s shard=%u attempt=%u", …);
 *   -> level=info t=12.345 event=shard_done job=… shard=3 attempt=1
 *
 * Per job at info, per shard at debug, never per event of a trace. t is
 * seconds of the monotonic clock since the process began logging. A value with
 * blanks or quotes goes through rd_log_quote.
 */
#ifndef RD_BASE_LOG_H
#define RD_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum rd_log_level { RD_LOG_ERROR, RD_LOG_WARN, RD_LOG_INFO, RD_LOG_DEBUG };

/* Their names, in that order; NULL-ended. */
extern const char *const rd_log_level_names[];

/* Lines above `level` are dropped; `role` ("broker", "worker 3") is in each line. Before this: warn. */
void rd_log_init(enum rd_log_level level, const char *role);
void rd_log(enum rd_log_level level, const char *event, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * What somebody else can make happen as often as he likes must not fill the disk: one of these, zeros at first, for
 * each who can. RD_LOG_BURST lines may go out at once, then one in ten seconds; after a minute of silence all is
 * forgotten.
 */
struct rd_log_limit {
	uint64_t last_ns; /* when it was asked last */
	uint64_t said_ns; /* when it last said yes */
	uint64_t unsaid;  /* since then */
	unsigned said;
};
#define RD_LOG_BURST 5
/* Whether a line may go out now; *unsaid: how many did not since the last one. */
bool rd_log_may(struct rd_log_limit *l, uint64_t *unsaid);
/* text in double quotes with \" and \n escaped; buf is returned. */
const char *rd_log_quote(const char *text, char *buf, unsigned size);

#endif
