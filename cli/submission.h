/*
 * submission - a SUBMIT out of a user's words: the same for `run` and `submit`.
 */
#ifndef RD_CLI_SUBMISSION_H
#define RD_CLI_SUBMISSION_H

#include "cli/run_words.h"
#include "net/message.h"

struct rd_submission {
	Rd__Envelope envelope;
	Rd__Submit submit;
	Rd__Filter filter;
	ProtobufCBinaryData *paths;
	protobuf_c_boolean *optional;
	uint8_t token[16];
};

/*
 * Of the inputs [first, first + n) of the words, into their result. scratch is
 * borrowed, as are the words; *s must stay where it is. RD_NOMEM, RD_IO.
 */
int rd_submission_fill(struct rd_submission *s, const struct rd_run_words *w, size_t first, size_t n,
		       const char *scratch, struct rd_error *err);
void rd_submission_release(struct rd_submission *s);

#endif
