/*
 * key_file - one key in one file. Inside net/ only.
 */
#ifndef RD_NET_KEY_FILE_H
#define RD_NET_KEY_FILE_H

#include "net/keys.h"

enum rd_key_kind { RD_KEY_PUBLIC, RD_KEY_SECRET };

/*
 * RD_NOT_FOUND; RD_USAGE: it holds no such key, or it is a secret that others may read; RD_IO. A file that root owns
 * may be readable to its group: so services are given their secrets.
 */
int rd_key_read(const char *path, enum rd_key_kind kind, char out[RD_KEY_TEXT], struct rd_error *err);
/* A new file that appears whole, 0600 when it is a secret. `whose` is for people. RD_EXISTS, RD_IO. */
int rd_key_write(const char *path, enum rd_key_kind kind, const char *key, const char *whose, struct rd_error *err);

#endif
