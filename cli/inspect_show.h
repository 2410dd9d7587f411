/*
 * inspect_show - an inspection as text and as JSON.
 */
#ifndef RD_CLI_INSPECT_SHOW_H
#define RD_CLI_INSPECT_SHOW_H

#include "base/out.h"
#include "cli/inspection.h"

/* path as the user gave it; member: its name inside an archive, "" none. */
void rd_inspect_text(const struct rd_inspection *in, const char *path, const char *member, struct rd_out *o);
/* The members of an object that is already open. */
void rd_inspect_json(const struct rd_inspection *in, const char *path, const char *member, struct rd_json *j);

#endif
