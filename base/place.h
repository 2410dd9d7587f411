/*
 * place - a folder that one process owns, on a disk of its own machine.
 *
 * LMDB needs locks and memory maps that all processes see alike. Network file
 * systems promise neither between hosts, and FUSE hands the question on to a
 * stranger, so both are refused, by name.
 */
#ifndef RD_BASE_PLACE_H
#define RD_BASE_PLACE_H

#include <stdbool.h>

#include "base/error.h"

/* The name of the file system under a path when others may share it ("NFS"), NULL when it is of this machine. */
int rd_place_shared(const char *path, const char **name, struct rd_error *err);

/*
 * Make the folder and those above it if they are not there, and own it as long as the descriptor
 * stays open. owner is the program for people: "merger". The descriptor;
 * RD_EXISTS: another one has it; RD_UNSUPPORTED: a shared file system (allowed
 * for a folder that is thrown away); RD_IO.
 */
int rd_place_own(const char *folder, const char *owner, bool thrown_away, struct rd_error *err);

#endif
