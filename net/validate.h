/*
 * validate - everything about a message checked once, before anybody acts on it.
 *
 * After rd_validate says 0, a handler may rely on: the protocol is ours; the
 * kind is one that such a sender sends; every sub-message of the kind is there
 * and none other; enums are in range; ids, texts and paths have sane lengths
 * and no NUL; parallel arrays are of equal length; the blob is as long as the
 * kind says.
 */
#ifndef RD_NET_VALIDATE_H
#define RD_NET_VALIDATE_H

#include "net/message.h"

#define RD_JOB_ID_MAX     64
/* What the last part of a scratch folder's path begins with, so that nothing else is ever swept. */
#define RD_SCRATCH_PREFIX ".rundown-scratch-"
#define RD_PATH_MAX       4095
#define RD_TRACES_MAX     65536
#define RD_PRIORITY_MAX   1000
#define RD_ATTEMPTS_MAX   100
/* Early answers: rows, and bytes of a name. */
#define RD_TOP_MAX        100
#define RD_TOP_TEXT_MAX   500

enum rd_sender {
	RD_FROM_STRANGER = 1, /* says HELLO first and nothing else */
	RD_FROM_WORKER,
	RD_FROM_MERGER,
	RD_FROM_CLIENT,
	RD_FROM_BROKER,
};

/* 0, or RD_PROTOCOL with a text that names the kind and what is off. */
int rd_validate(const struct rd_message *m, enum rd_sender from, struct rd_error *err);

/* "HELLO", "TASK", …; "?" for a number that is none. For logs. */
const char *rd_kind_name(Rd__Kind kind);

/* Whether this is the path of a scratch folder, by its last part. */
bool rd_is_scratch(struct rd_span path);

#endif
