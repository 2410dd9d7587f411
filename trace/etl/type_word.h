/*
 * type_word - what types of fields are called (trace/description.h); events that describe themselves and manifests
 * number them alike, but for structures.
 */
#ifndef RD_TRACE_ETL_TYPE_WORD_H
#define RD_TRACE_ETL_TYPE_WORD_H

enum { RD_ETL_SELF_STRUCT = 24 };

/* "u32"; "other" for a number that is not known. */
const char *rd_etl_type_word(unsigned type);

#endif
