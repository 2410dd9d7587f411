#include "net/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zmq.h>

#include "base/file.h"
#include "net/key_file.h"

const char *const rd_role_names[] = {"worker", "merger", "client", NULL};

const char *rd_role_name(Rd__Role role)
{
	return role >= RD__ROLE__WORKER && role <= RD__ROLE__CLIENT ? rd_role_names[role - RD__ROLE__WORKER] : NULL;
}

void rd_keys_forget(struct rd_keys *k)
{
	explicit_bzero(k, sizeof *k);
}

int rd_keys_load(struct rd_keys *k, Rd__Role role, const char *folder, const char *server, struct rd_error *err)
{
	const char *mine = role == RD__ROLE__ROLE_NONE ? "server" : rd_role_name(role);
	char path[4096];

	*k = (struct rd_keys){0};
	int rc = rd_path(path, sizeof path, err, "%s/%s.secret", folder, mine ? mine : "?");
	if (rc == 0)
		rc = rd_key_read(path, RD_KEY_SECRET, k->secret, err);
	if (rc == 0 && zmq_curve_public(k->public, k->secret) != 0)
		rc = rd_error_at(err, rd_fail(err, RD_USAGE, "this is no secret key"), path, RD_NO_OFFSET);
	if (rc == 0 && role == RD__ROLE__ROLE_NONE) {
		memcpy(k->server, k->public, sizeof k->server);
	} else if (rc == 0) {
		if (server == NULL)
			rc = rd_path(path, sizeof path, err, "%s/server.public", folder);
		rc = rc == 0 ? rd_key_read(server ? server : path, RD_KEY_PUBLIC, k->server, err) : rc;
	}
	if (rc < 0)
		rd_keys_forget(k);
	return rc;
}

/* ---- making them */

static int make_folder(const char *path, mode_t mode, struct rd_error *err)
{
	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return 0;
	return rd_error_at(err, rd_fail_errno(err, "making a folder"), path, RD_NO_OFFSET);
}

static bool name_ok(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return strlen(name) <= RD_KEY_NAME_MAX && strspn(name, allowed) == strlen(name);
}

/* The folder that its owner gets. The broker's public key comes first, the secret last: a folder with it is whole. */
static int hand_out(const char *folder, const char *path, const char *role, const char *secret, struct rd_error *err)
{
	char server[RD_KEY_TEXT], file[4200], from[4200];
	int rc = rd_path(from, sizeof from, err, "%s/server.public", folder);

	if (rc == 0)
		rc = rd_key_read(from, RD_KEY_PUBLIC, server, err);
	if (rc == 0)
		rc = make_folder(path, 0700, err);
	if (rc == 0)
		rc = rd_path(file, sizeof file, err, "%s/server.public", path);
	if (rc == 0 && (rc = rd_key_write(file, RD_KEY_PUBLIC, server, "the broker's", err)) == RD_EXISTS)
		rc = 0;
	if (rc == 0)
		rc = rd_path(file, sizeof file, err, "%s/%s.secret", path, role);
	return rc == 0 ? rd_key_write(file, RD_KEY_SECRET, secret, role, err) : rc;
}

int rd_keys_add(const char *folder, Rd__Role role, const char *name, char *path, size_t path_size, struct rd_error *err)
{
	char public[RD_KEY_TEXT], secret[RD_KEY_TEXT], file[4200], whose[RD_KEY_NAME_MAX + 16];

	if (rd_role_name(role) == NULL || !name_ok(name))
		return rd_fail(err, RD_USAGE, "the name of a key has letters, digits, dots and dashes, at most %d",
			       RD_KEY_NAME_MAX);
	snprintf(whose, sizeof whose, "%s%s%s", rd_role_name(role), name[0] ? "-" : "", name);
	int rc = rd_path(path, path_size, err, "%s/%s", folder, whose);
	if (rc == 0)
		rc = rd_path(file, sizeof file, err, "%s/authorised/%s.public", folder, whose);
	if (rc == 0 && access(file, F_OK) == 0)
		rc = rd_error_at(err, rd_fail(err, RD_EXISTS, "there is a key of this name already"), file,
				 RD_NO_OFFSET);
	if (rc == 0 && zmq_curve_keypair(public, secret) != 0)
		rc = rd_fail(err, RD_UNSUPPORTED, "this libzmq has no CURVE");
	if (rc == 0)
		rc = hand_out(folder, path, rd_role_name(role), secret, err);
	/* Last: who is let in has what he needs for it. */
	if (rc == 0)
		rc = rd_key_write(file, RD_KEY_PUBLIC, public, whose, err);
	explicit_bzero(secret, sizeof secret);
	return rc;
}

/* The secret first: a folder that has a public key is whole. */
static int make_server(const char *folder, struct rd_error *err)
{
	char public[RD_KEY_TEXT], secret[RD_KEY_TEXT], file[4200];

	if (zmq_curve_keypair(public, secret) != 0)
		return rd_fail(err, RD_UNSUPPORTED, "this libzmq has no CURVE");
	int rc = rd_path(file, sizeof file, err, "%s/server.secret", folder);
	if (rc == 0)
		rc = rd_key_write(file, RD_KEY_SECRET, secret, "the broker's", err);
	if (rc == 0)
		rc = rd_path(file, sizeof file, err, "%s/server.public", folder);
	if (rc == 0)
		rc = rd_key_write(file, RD_KEY_PUBLIC, public, "the broker's", err);
	explicit_bzero(secret, sizeof secret);
	return rc;
}

int rd_keys_make(const char *folder, struct rd_error *err)
{
	char path[4200];
	int rc = make_folder(folder, 0700, err);

	if (rc == 0)
		rc = rd_path(path, sizeof path, err, "%s/authorised", folder);
	if (rc == 0)
		rc = make_folder(path, 0700, err);
	if (rc == 0)
		rc = make_server(folder, err);
	for (Rd__Role role = RD__ROLE__WORKER; rc == 0 && role <= RD__ROLE__CLIENT; role++)
		rc = rd_keys_add(folder, role, "", path, sizeof path, err);
	return rc;
}
