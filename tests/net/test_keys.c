#include "tests/support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "net/keys.h"

static const char *fresh_folder(void)
{
	static unsigned n;
	char name[32];

	snprintf(name, sizeof name, "keys-%u", n++);
	return scratch_path(name);
}

static const char *in(const char *folder, const char *file)
{
	static char path[4][4400];
	static unsigned n;
	char *at = path[n++ % 4];

	snprintf(at, sizeof path[0], "%s/%s", folder, file);
	return at;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_ok(rd_write_all(fd, text, strlen(text), NULL), NULL);
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void made_keys_fit_each_other(void **state)
{
	char folder[4200];
	struct rd_keys server, worker;
	struct rd_authorised a;
	struct rd_error err;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_ok(rd_keys_make(folder, &err), &err);
	assert_int_equal(mode_of(folder), 0700);
	assert_int_equal(mode_of(in(folder, "server.secret")), 0600);
	assert_int_equal(mode_of(in(folder, "worker/worker.secret")), 0600);
	assert_int_equal(mode_of(in(folder, "authorised")), 0700);
	assert_ok(rd_keys_load(&server, RD__ROLE__ROLE_NONE, folder, NULL, &err), &err);
	assert_ok(rd_authorised_open(&a, folder, &err), &err);
	assert_int_equal(a.keys.n, 3);
	for (Rd__Role role = RD__ROLE__WORKER; role <= RD__ROLE__CLIENT; role++) {
		assert_ok(rd_keys_load(&worker, role, in(folder, rd_role_name(role)), NULL, &err), &err);
		assert_string_equal(worker.server, server.public);
		const struct rd_key *key = rd_authorised_find(&a, worker.public);
		assert_non_null(key);
		assert_int_equal(key->role, role);
		assert_string_equal(key->name, rd_role_name(role));
	}
	assert_null(rd_authorised_find(&a, server.public));
	assert_null(rd_authorised_find(&a, ""));
	rd_authorised_release(&a);
	/* Nothing of it is made a second time. */
	assert_code(RD_EXISTS, rd_keys_make(folder, &err));
}

static void more_keys_of_a_role(void **state)
{
	char folder[4200], path[4300];
	struct rd_error err;
	struct rd_keys keys;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_code(RD_NOT_FOUND, rd_keys_add(folder, RD__ROLE__WORKER, "n", path, sizeof path, &err));
	assert_ok(rd_keys_make(folder, &err), &err);
	assert_ok(rd_keys_add(folder, RD__ROLE__WORKER, "node.7_a-b", path, sizeof path, &err), &err);
	assert_string_equal(path, in(folder, "worker-node.7_a-b"));
	assert_ok(rd_keys_load(&keys, RD__ROLE__WORKER, path, NULL, &err), &err);
	/* Its own role only: there is no other secret in the folder. */
	assert_code(RD_NOT_FOUND, rd_keys_load(&keys, RD__ROLE__CLIENT, path, NULL, &err));
	assert_string_equal(keys.secret, "");
	assert_code(RD_EXISTS, rd_keys_add(folder, RD__ROLE__WORKER, "node.7_a-b", path, sizeof path, &err));
	assert_code(RD_USAGE, rd_keys_add(folder, RD__ROLE__WORKER, "../x", path, sizeof path, &err));
	assert_code(RD_USAGE, rd_keys_add(folder, RD__ROLE__WORKER, "a b", path, sizeof path, &err));
	assert_code(RD_USAGE, rd_keys_add(folder, RD__ROLE__ROLE_NONE, "a", path, sizeof path, &err));
	assert_code(RD_USAGE, rd_keys_add(folder, RD__ROLE__WORKER, "1234567890123456789012345678901234567890123456789",
					  path, sizeof path, &err));
	assert_ok(rd_keys_add(folder, RD__ROLE__WORKER, "123456789012345678901234567890123456789012345678", path,
			      sizeof path, &err),
		  &err);
}

static void a_secret_that_others_may_read_is_none(void **state)
{
	char folder[4200];
	struct rd_error err;
	struct rd_keys keys;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_ok(rd_keys_make(folder, &err), &err);
	const char *secret = in(folder, "client/client.secret");
	assert_int_equal(chmod(secret, 0604), 0);
	assert_code(RD_USAGE, rd_keys_load(&keys, RD__ROLE__CLIENT, in(folder, "client"), NULL, &err));
	assert_non_null(strstr(err.text, "chmod 600"));
	assert_int_equal(chmod(secret, 0620), 0);
	assert_code(RD_USAGE, rd_keys_load(&keys, RD__ROLE__CLIENT, in(folder, "client"), NULL, &err));
	assert_int_equal(chmod(secret, 0400), 0);
	assert_ok(rd_keys_load(&keys, RD__ROLE__CLIENT, in(folder, "client"), NULL, &err), &err);
	/* A group may read what root gives to a service, and nothing else. */
	assert_int_equal(chmod(secret, 0440), 0);
	if (getuid() == 0)
		assert_ok(rd_keys_load(&keys, RD__ROLE__CLIENT, in(folder, "client"), NULL, &err), &err);
	else
		assert_code(RD_USAGE, rd_keys_load(&keys, RD__ROLE__CLIENT, in(folder, "client"), NULL, &err));
}

#define KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static void what_is_no_key(void **state)
{
	static const char *const bad[] = {
		"",
		"\n\n",
		"# public " KEY "\n",
		"public\n",
		"public \n",
		"public short\n",
		"public " KEY "x\n",
		"secret " KEY "\n",
		"public " KEY "\npublic " KEY "\n",
		"public " KEY " \n",
		"public " KEY "\nsomething else\n",
		"public 0123456789012345678901234567890123456789\"\n",
		"public ~123456789012345678901234567890123456789\n",
	};
	static const char *const good[] = {"public " KEY, "public " KEY "\n", "\n# x\r\npublic " KEY "\r\n#\n"};
	char folder[4200], server[4300];
	struct rd_error err;
	struct rd_keys keys;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_ok(rd_keys_make(folder, &err), &err);
	snprintf(server, sizeof server, "%s", in(folder, "other.public"));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		write_file(server, bad[i], 0644);
		assert_code(RD_USAGE, rd_keys_load(&keys, RD__ROLE__WORKER, in(folder, "worker"), server, &err));
	}
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		write_file(server, good[i], 0644);
		assert_ok(rd_keys_load(&keys, RD__ROLE__WORKER, in(folder, "worker"), server, &err), &err);
		assert_string_equal(keys.server, KEY);
	}
	/* Neither a fifo nor a folder holds anybody up. */
	unlink(server);
	assert_int_equal(mkfifo(server, 0600), 0);
	assert_code(RD_USAGE, rd_keys_load(&keys, RD__ROLE__WORKER, in(folder, "worker"), server, &err));
	assert_code(RD_USAGE, rd_keys_load(&keys, RD__ROLE__WORKER, in(folder, "worker"), folder, &err));
	assert_code(RD_NOT_FOUND, rd_keys_load(&keys, RD__ROLE__WORKER, in(folder, "worker"), "/no/such", &err));
}

static void the_list_follows_its_folder(void **state)
{
	char folder[4200], path[4300], file[4300];
	struct rd_authorised a;
	struct rd_keys keys;
	struct rd_error err;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_ok(rd_keys_make(folder, &err), &err);
	assert_ok(rd_authorised_open(&a, folder, &err), &err);
	uint64_t now = rd_now_ns();
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 0);

	/* At once, though a clock of the file system may not have moved. */
	assert_ok(rd_keys_add(folder, RD__ROLE__MERGER, "b", path, sizeof path, &err), &err);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 1);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 0);
	assert_int_equal(a.keys.n, 4);
	snprintf(file, sizeof file, "%s", in(folder, "authorised/merger-b.public"));
	assert_ok(rd_keys_load(&keys, RD__ROLE__MERGER, path, NULL, &err), &err);
	assert_non_null(rd_authorised_find(&a, keys.public));

	/* Long after. */
	now += UINT64_C(20000000000);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 0);
	usleep(20000);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 1);
	assert_null(rd_authorised_find(&a, keys.public));

	/* Rewritten in place: the folder does not say so, and it is seen within a minute or so. */
	now += UINT64_C(20000000000);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 0);
	write_file(in(folder, "authorised/client.public"), "public " KEY "\n", 0644);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 0);
	now += UINT64_C(61000000000);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 1);
	assert_non_null(rd_authorised_find(&a, KEY));
	rd_authorised_release(&a);
}

static void files_that_are_no_keys_shut_out_nobody_else(void **state)
{
	char folder[4200];
	struct rd_authorised a;
	struct rd_error err;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_ok(rd_keys_make(folder, &err), &err);
	write_file(in(folder, "authorised/worker-empty.public"), "", 0644);
	write_file(in(folder, "authorised/admin.public"), "public " KEY "\n", 0644);
	write_file(in(folder, "authorised/workers.public"), "public " KEY "\n", 0644);
	write_file(in(folder, "authorised/.public"), "public " KEY "\n", 0644);
	write_file(in(folder, "authorised/README"), "x", 0644);
	write_file(in(folder, "authorised/worker-x.public.new"), "x", 0644);
	assert_ok(rd_authorised_open(&a, folder, &err), &err);
	assert_int_equal(a.keys.n, 3);
	assert_null(rd_authorised_find(&a, KEY));
	rd_authorised_release(&a);

	/* One key with two roles has none. */
	write_file(in(folder, "authorised/worker-x.public"), "public " KEY "\n", 0644);
	write_file(in(folder, "authorised/client-x.public"), "public " KEY "\n", 0644);
	assert_ok(rd_authorised_open(&a, folder, &err), &err);
	assert_int_equal(a.keys.n, 3);
	assert_null(rd_authorised_find(&a, KEY));
	rd_authorised_release(&a);
}

static void a_list_that_is_gone_lets_nobody_in(void **state)
{
	char folder[4200], list[4300], away[4300];
	struct rd_authorised a;
	struct rd_error err;

	snprintf(folder, sizeof folder, "%s", fresh_folder());
	assert_ok(rd_keys_make(folder, &err), &err);
	snprintf(list, sizeof list, "%s", in(folder, "authorised"));
	snprintf(away, sizeof away, "%s", in(folder, "away"));
	assert_ok(rd_authorised_open(&a, folder, &err), &err);
	assert_int_equal(chmod(list, 0770), 0);
	uint64_t now = rd_now_ns();
	assert_code(RD_USAGE, rd_authorised_refresh(&a, now, &err));
	assert_int_equal(a.keys.n, 0);
	assert_int_equal(chmod(list, 0700), 0);
	now += UINT64_C(20000000000);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 1);
	assert_int_equal(a.keys.n, 3);
	assert_int_equal(rename(list, away), 0);
	assert_code(RD_NOT_FOUND, rd_authorised_refresh(&a, now, &err));
	assert_int_equal(a.keys.n, 0);
	assert_int_equal(rename(away, list), 0);
	assert_int_equal(rd_authorised_refresh(&a, now, &err), 1);
	assert_int_equal(a.keys.n, 3);
	rd_authorised_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_keys_fit_each_other),
		cmocka_unit_test(more_keys_of_a_role),
		cmocka_unit_test(a_secret_that_others_may_read_is_none),
		cmocka_unit_test(what_is_no_key),
		cmocka_unit_test(the_list_follows_its_folder),
		cmocka_unit_test(files_that_are_no_keys_shut_out_nobody_else),
		cmocka_unit_test(a_list_that_is_gone_lets_nobody_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
