/*
 * write_etl - buffers of an ETL file; write_etl_records.c fills them.
 */
#ifndef RD_TESTS_GEN_WRITE_ETL_H
#define RD_TESTS_GEN_WRITE_ETL_H

#include "tests/gen/writer.h"

/* n bytes for a record in the CPU's buffer, at a multiple of 8; a full buffer goes out first. */
uint8_t *gen_etl_room(struct gen_writer *w, uint32_t cpu, uint64_t stamp, size_t n);
/* Count an event by numbers that say which it is; the text of its key is asked for the first time only. */
void gen_etl_count(struct gen_writer *w, uint64_t which, const char *(*key)(uint64_t which, char text[96]));
/* The record of a cue, into its CPU's buffer. */
void gen_etl_record(struct gen_writer *w, const struct gen_cue *c);

#endif
