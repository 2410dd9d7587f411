/*
 * folder - the traces right inside a folder.
 */
#ifndef RD_CLI_FOLDER_H
#define RD_CLI_FOLDER_H

#include "base/error.h"
#include "base/memory.h"

struct rd_folder_entry {
	char *name;
	char *main; /* the main file of its unmerged set, which is in the folder; its own name when it is in none */
};
typedef RD_VEC(struct rd_folder_entry) rd_folder_vec;

/*
 * All files, hidden ones aside, that are traces or archives with a trace in them; what cannot be read, or has a trace's
 * name and is none, is among them, so that it is told and not passed over. By name; a set stands at its main file's name, which comes first.
 * beside: only files whose names may be of one set with this one; NULL all.
 */
int rd_folder_list(const char *path, const char *beside, rd_folder_vec *out, struct rd_error *err);
void rd_folder_release(rd_folder_vec *v);

#endif
