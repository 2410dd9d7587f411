/*
 * version - the number that --version prints and messages carry.
 */
#ifndef RD_BASE_VERSION_H
#define RD_BASE_VERSION_H

#define RD_VERSION "0.1.0"

#endif
