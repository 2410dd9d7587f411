/*
 * page - all of the HTML report that comes before its data: report/page.html, which page/ builds (`make page`).
 */
#ifndef RD_REPORT_PAGE_H
#define RD_REPORT_PAGE_H

#include "base/cursor.h"
#include "base/out.h"

/* Ends with the opening of the element that holds the data. */
struct rd_span rd_page(void);
/* What comes behind the data. */
void rd_page_close(struct rd_out *out);

#endif
