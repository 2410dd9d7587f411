/*
 * framing - from one buffer of an ETL file to the next, and past damage
 * (docs/formats/etl.md, "Framing").
 *
 * Buffers stand one behind the other, each as long as its own header says.
 * Where a header is none, the next one is looked for: in plain files at
 * multiples of the session's buffer size, in compressed ones at every byte.
 */
#ifndef RD_TRACE_ETL_FRAMING_H
#define RD_TRACE_ETL_FRAMING_H

#include "trace/etl/buffer.h"
#include "trace/source.h"

struct rd_etl_framing {
	const struct rd_source *source;
	uint64_t base;          /* where the grid of plain buffers begins: the end of the first one */
	uint32_t nominal_bytes; /* of a plain buffer, 0 unknown */
	bool compressed;
	uint64_t asked_for; /* the system was asked to have the headers before this byte ready */
};

enum rd_etl_frame {
	RD_ETL_FRAME_BUFFER = 1, /* one stands there, whole */
	RD_ETL_FRAME_CUT,        /* one begins there, and the file ends inside it */
	RD_ETL_FRAME_BROKEN,     /* none stands there, but one stands at *next */
	RD_ETL_FRAME_ZEROS,      /* nothing but zeros to the end: space that was never written */
	RD_ETL_FRAME_GARBAGE,    /* none stands there nor behind it */
};

/*
 * What stands at byte `at`, which is below the file's size. Fills *b for BUFFER, *next for BUFFER and
 * BROKEN. Returns enum rd_etl_frame, or a negative code when the file cannot be read.
 */
int rd_etl_frame_at(const struct rd_etl_framing *f, uint64_t at, struct rd_etl_buffer *b, uint64_t *next,
		    struct rd_error *err);

/*
 * Before a walk goes on at byte `at`: ask the system for the headers that will
 * probably follow, so that a file that is not in memory is not waited for
 * header by header. Changes no answer.
 */
void rd_etl_frame_ahead(struct rd_etl_framing *f, uint64_t at);

#endif
