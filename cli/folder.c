#include "cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "trace/archive.h"
#include "trace/trace.h"
#include "trace/unmerged.h"

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcasecmp(name + n - m, ending) == 0;
}

static bool is_called_a_trace(const char *name)
{
	static const char *const endings[] = {".nettrace", ".etl", ".netperf", ".diagsession"};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (ends_with(name, endings[i]))
			return true;
	return false;
}

/* What an opened file is by its bytes. */
static int look_inside(const struct rd_source *s, bool *trace, bool *etl, struct rd_error *err)
{
	const struct rd_format *format;
	bool packed;
	int rc = rd_archive_is(s, &packed, err);

	if (rc == 0 && packed) {
		*trace = true;
		(void)rd_archive_holds(s, trace, NULL);
	} else if (rc == 0 && rd_trace_probe(s, &format, NULL) == 0) {
		*trace = true;
		*etl = format->id == RD_FORMAT_ETL;
	}
	return rc;
}

/*
 * Files of other kinds are passed over. One that cannot be read, or has the name of a trace and is none (an empty one,
 * the page of an error in its place), is not: whoever uses it says what is wrong with it.
 */
static int is_trace(const char *path, bool *trace, bool *etl, struct rd_error *err)
{
	struct rd_source s;
	int rc = rd_source_open(&s, path, err);

	*trace = *etl = false;
	if (rc == RD_USAGE || rc == RD_NOMEM)
		return rc == RD_USAGE ? 0 : rc;
	if (rc == 0) {
		rc = look_inside(&s, trace, etl, err);
		rd_source_close(&s);
	}
	*trace = *trace || (rc < 0 && rc != RD_NOT_FOUND) || is_called_a_trace(path);
	*etl = *etl || (*trace && ends_with(path, ".etl"));
	return rc == RD_NOMEM ? rc : 0;
}

static int compare_names(const void *x, const void *y)
{
	const struct rd_folder_entry *a = x, *b = y;
	return strcmp(a->name, b->name);
}

static int compare_sets(const void *x, const void *y)
{
	const struct rd_folder_entry *a = x, *b = y;
	int c = strcmp(a->main, b->main);

	if (c == 0)
		c = (strcmp(a->name, a->main) != 0) - (strcmp(b->name, b->main) != 0);
	return c ? c : strcmp(a->name, b->name);
}

/* `main` of an entry is its own name until the sets are known, and NULL when it is no ETL. */
static int add(rd_folder_vec *out, const char *name, bool etl)
{
	struct rd_folder_entry *e = rd_vec_add(out);

	if (e == NULL)
		return RD_NOMEM;
	*e = (struct rd_folder_entry){strdup(name), etl ? strdup(name) : NULL};
	return e->name == NULL || (etl && e->main == NULL) ? RD_NOMEM : 0;
}

/* How many bytes the names of all that may be of one set with this one begin with; 0: it can be in none. */
static size_t stem_bytes(const char *name)
{
	size_t n = strlen(name);
	char text[256];

	if (n <= 4 || strcasecmp(name + n - 4, ".etl") != 0)
		return 0;
	if (rd_unmerged_main((struct rd_span){(const uint8_t *)name, n}, 0, text, sizeof text))
		n = strlen(text);
	return n - 3;
}

static int read_all(DIR *dir, const char *path, const char *beside, rd_folder_vec *out, struct rd_error *err)
{
	size_t stem = beside ? stem_bytes(beside) : 0;
	char file[4096];
	bool trace, etl;

	for (;;) {
		errno = 0;
		const struct dirent *d = readdir(dir);
		if (d == NULL)
			return errno ? rd_fail_errno(err, "cannot read the folder") : 0;
		if (d->d_name[0] == '.' || (beside && (stem == 0 || strncmp(d->d_name, beside, stem) != 0)))
			continue;
		int rc = rd_path(file, sizeof file, err, "%s/%s", path, d->d_name);
		if (rc == 0)
			rc = is_trace(file, &trace, &etl, err);
		if (rc == 0 && trace && add(out, d->d_name, etl) < 0)
			rc = rd_fail_nomem(err);
		if (rc < 0)
			return rc;
	}
}

static int find_main(const rd_folder_vec *v, struct rd_folder_entry *e)
{
	struct rd_span name = rd_text_span(e->name);
	char text[256];
	struct rd_folder_entry key = {.name = text};

	for (size_t n = 0; e->main && rd_unmerged_main(name, n, text, sizeof text); n++) {
		const struct rd_folder_entry *main = bsearch(&key, v->at, v->n, sizeof *v->at, compare_names);
		if (main == NULL || main->main == NULL)
			continue;
		free(e->main);
		e->main = strdup(text);
		return e->main ? 0 : RD_NOMEM;
	}
	if (e->main == NULL)
		e->main = strdup(e->name);
	return e->main ? 0 : RD_NOMEM;
}

/* In two rounds: whether a file is an ETL is asked of its `main` while mains are sought. */
static int find_mains(rd_folder_vec *v)
{
	for (int etls = 1; etls >= 0; etls--)
		for (size_t i = 0; i < v->n; i++)
			if ((v->at[i].main != NULL) == etls && find_main(v, &v->at[i]) < 0)
				return RD_NOMEM;
	return 0;
}

int rd_folder_list(const char *path, const char *beside, rd_folder_vec *out, struct rd_error *err)
{
	DIR *dir = opendir(path);

	if (dir == NULL)
		return rd_error_at(err, rd_fail_errno(err, "cannot read the folder"), path, RD_NO_OFFSET);
	int rc = read_all(dir, path, beside, out, err);
	closedir(dir);
	if (rc < 0)
		return rd_error_at(err, rc, path, RD_NO_OFFSET);
	if (out->n > 0)
		qsort(out->at, out->n, sizeof *out->at, compare_names);
	if (find_mains(out) < 0)
		return rd_fail_nomem(err);
	if (out->n > 0)
		qsort(out->at, out->n, sizeof *out->at, compare_sets);
	return 0;
}

void rd_folder_release(rd_folder_vec *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->at[i].name);
		free(v->at[i].main);
	}
	rd_vec_release(v);
}
