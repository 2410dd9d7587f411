/*
 * writer - from cues to bytes, as a recorder would write them.
 *
 * begin, then the cues of each act in their order, then end. Lost cues take a
 * number and leave no bytes. Writers count events, losses and bytes in the truth,
 * and nothing else.
 */
#ifndef RD_TESTS_GEN_WRITER_H
#define RD_TESTS_GEN_WRITER_H

#include "tests/gen/put.h"
#include "tests/gen/truth.h"

/* Where the bytes go: a file, or memory (fd -1). */
struct gen_output {
	int fd;
	struct rd_bytes bytes; /* all, or what is not yet written */
	uint64_t total;        /* so far, written or not */
	int sys_errno;         /* of the first failure */
};
void gen_output_bytes(struct gen_output *out, const void *at, size_t n);
void gen_output_flush(struct gen_output *out);
/* Over bytes that were put before. */
void gen_output_patch(struct gen_output *out, uint64_t offset, const void *at, size_t n);

struct gen_writer {
	const struct gen_options *o;
	struct gen_truth *truth;
	struct gen_output *out;
	const struct gen_act *act;
	struct gen_put payload; /* of the event at hand */
	struct gen_texts texts;
	void *own; /* of the format */
};

struct gen_format_writer {
	void (*begin)(struct gen_writer *w);
	void (*act)(struct gen_writer *w); /* w->act is a new one; NULL: it makes no difference */
	void (*cue)(struct gen_writer *w, const struct gen_cue *c);
	void (*end)(struct gen_writer *w);
};
extern const struct gen_format_writer gen_write_etl, gen_write_nettrace, gen_write_nettrace6;

/* What noise is made of. */
const uint8_t *gen_noise_bytes(uint32_t n);

/* The clock: the first tick, when that is, and ticks a second. */
#define GEN_START_UTC_FILETIME UINT64_C(133500000000000000) /* 2024-01-17 */
uint64_t gen_start_ticks(const struct gen_options *o);
uint64_t gen_frequency_hz(const struct gen_options *o);

#endif
