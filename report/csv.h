/*
 * csv - cells for spreadsheets, which neither end early nor are formulas.
 */
#ifndef RD_REPORT_CSV_H
#define RD_REPORT_CSV_H

#include "base/out.h"
#include "report/view.h"

/* The cell and a comma behind it. Scratch memory is the caller's; its errors are sticky there. */
void rd_csv_cell(struct rd_out *o, struct rd_bytes *scratch, struct rd_span text);
/* Cells of module, namespace, name, signature; with tiers of the tier. */
void rd_csv_names(struct rd_out *o, struct rd_bytes *scratch, const struct rd_view_method *m, bool tiers);

#endif
