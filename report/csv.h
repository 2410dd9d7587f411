/*
 * csv - cells for spreadsheets, which neither end early nor are formulas.
 */
#ifndef RD_REPORT_CSV_H
#define RD_REPORT_CSV_H

#include "base/out.h"

/* The cell and a comma behind it. Scratch memory is the caller's; its errors are sticky there. */
void rd_csv_cell(struct rd_out *o, struct rd_bytes *scratch, struct rd_span text);

#endif
