#include "cli/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "trace/source.h"

struct finding {
	struct rd_inputs *in;
	const char *command;
	bool sets;
	uint32_t sets_n;
	int worst; /* exit code */
};

static int fail_about(struct finding *f, const char *path, const char *what)
{
	struct rd_error err;

	rd_error_at(&err, rd_fail(&err, RD_IO, "%s", what), path, RD_NO_OFFSET);
	return f->worst = rd_complain(f->command, &err);
}

static int fail_errno_about(struct finding *f, const char *path)
{
	struct rd_error err;

	rd_error_at(&err, rd_fail_errno(&err, "cannot read the trace"), path, RD_NO_OFFSET);
	return f->worst = rd_complain(f->command, &err);
}

/* What is behind the name: a folder, or a file that we may read and that has something in it. */
static int look_at(struct finding *f, const char *path, struct stat *st)
{
	struct rd_source source;
	struct rd_error err;

	if (stat(path, st) == 0 && S_ISDIR(st->st_mode))
		return 0;
	/* In the words of those who read it, so that a fault has one sentence. */
	int rc = rd_source_open(&source, path, &err);
	if (rc < 0) {
		/* The user's words were right; the file is not. */
		err.code = rc == RD_USAGE ? RD_IO : rc;
		return f->worst = rd_complain(f->command, &err);
	}
	rc = fstat(source.fd, st);
	rd_source_close(&source);
	if (rc != 0)
		return fail_errno_about(f, path);
	return st->st_size == 0 ? fail_about(f, path, "an empty file") : 0;
}

/* Links of folders are followed, the file's own is not: the name that it has here tells what set it is of. */
static char *absolute(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash == NULL   ? strdup(".")
		       : slash == path ? strdup("/")
				       : strndup(path, (size_t)(slash - path));
	char *real = folder ? realpath(folder, NULL) : NULL;
	size_t size = real ? strlen(real) + strlen(name) + 2 : 0;
	char *out = real ? malloc(size) : NULL;

	if (out)
		snprintf(out, size, "%s%s%s", real, strcmp(real, "/") ? "/" : "", name);
	free(folder);
	free(real);
	return out;
}

/* The same file is fine when a set brought it along, and a mistake when the user named it twice. */
static bool known(struct finding *f, const char *path, const struct stat *st, bool found)
{
	for (size_t i = 0; i < f->in->files.n; i++) {
		struct rd_input_file *file = &f->in->files.at[i];
		if (file->device != st->st_dev || file->inode != st->st_ino)
			continue;
		if (!found && !file->found)
			fail_about(f, path, "the same trace is given twice");
		file->found = file->found && found;
		file->optional = file->optional && found;
		return true;
	}
	return false;
}

/* How a file was found: by its own word, in a folder, or as a part of a set whose other part has a word. */
enum way { NAMED, IN_FOLDER, OF_SET };

static void add_file(struct finding *f, const char *path, enum way way, uint32_t set)
{
	struct stat st = {0};
	bool found = way == OF_SET;

	if (way == NAMED && look_at(f, path, &st) != 0)
		return;
	/* What nobody named is looked at by those who read it, and is left out when it cannot be used. */
	bool there = way == NAMED || stat(path, &st) == 0;
	if (there && known(f, path, &st, found))
		return;
	struct rd_input_file *file = rd_vec_add(&f->in->files);
	if (file == NULL) {
		fail_about(f, path, "out of memory");
		return;
	}
	*file = (struct rd_input_file){
		.shown = strdup(path),
		.path = absolute(path),
		.size_bytes = (uint64_t)st.st_size,
		.device = st.st_dev,
		.inode = st.st_ino,
		.found = found,
		.optional = way != NAMED,
		.set = set,
	};
	if (file->shown == NULL || file->path == NULL)
		fail_errno_about(f, path);
}

static void add_from_folder(struct finding *f, const char *folder, const char *name, enum way way, uint32_t set)
{
	char path[4096];

	if (rd_path_below(path, sizeof path, NULL, folder, name) < 0)
		fail_about(f, folder, "a path that is too long");
	else
		add_file(f, path, way, set);
}

/* The number of the entry's set, a new one for the first of several; 0 when it is alone. Entries come in order. */
static uint32_t set_of(struct finding *f, const rd_folder_vec *v, size_t i)
{
	const char *main = v->at[i].main;
	bool follows = i > 0 && strcmp(v->at[i - 1].main, main) == 0;
	bool followed = i + 1 < v->n && strcmp(v->at[i + 1].main, main) == 0;

	if (!f->sets || (!follows && !followed))
		return 0;
	return follows ? f->sets_n : ++f->sets_n;
}

static void add_folder(struct finding *f, const char *folder)
{
	rd_folder_vec entries = {0};
	struct rd_error err;

	rd_error_clear(&err);
	if (rd_folder_list(folder, NULL, &entries, &err) < 0)
		f->worst = rd_complain(f->command, &err);
	else if (entries.n == 0)
		fail_about(f, folder, "a folder without a trace right in it");
	for (size_t i = 0; i < entries.n; i++)
		add_from_folder(f, folder, entries.at[i].name, IN_FOLDER, set_of(f, &entries, i));
	rd_folder_release(&entries);
}

/* The file, and what belongs to it beside it. A folder that cannot be listed has nothing beside it. */
static void add_with_set(struct finding *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[4096] = "";
	rd_folder_vec entries = {0};
	const char *main = NULL;

	if (slash && (size_t)(slash - path) + 1 < sizeof folder)
		memcpy(folder, path, (size_t)(slash - path) + 1);
	if (rd_folder_list(folder[0] ? folder : ".", name, &entries, NULL) < 0) {
		rd_folder_release(&entries);
		entries = (rd_folder_vec){0};
	}
	for (size_t i = 0; i < entries.n; i++)
		if (strcmp(entries.at[i].name, name) == 0)
			main = entries.at[i].main;
	if (main == NULL)
		add_file(f, path, NAMED, 0);
	for (size_t i = 0; main && i < entries.n; i++)
		if (strcmp(entries.at[i].main, main) == 0)
			add_from_folder(f, folder, entries.at[i].name,
					strcmp(entries.at[i].name, name) != 0 ? OF_SET : NAMED, set_of(f, &entries, i));
	rd_folder_release(&entries);
}

int rd_inputs_find(struct rd_inputs *in, const char *command, const char *const *words, size_t n, bool sets)
{
	struct finding f = {.in = in, .command = command, .sets = sets};

	for (size_t i = 0; i < n; i++) {
		if (rd_is_folder(words[i]))
			add_folder(&f, words[i]);
		else if (sets)
			add_with_set(&f, words[i]);
		else
			add_file(&f, words[i], NAMED, 0);
	}
	return f.worst;
}

const char *rd_inputs_shown(const struct rd_inputs *in, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < in->files.n && n > 0; i++) {
		const char *whole = in->files.at[i].path;
		size_t whole_n = strlen(whole);
		/* An error keeps the end of a path only. */
		if (n <= whole_n && strcmp(whole + whole_n - n, path) == 0 && (n == whole_n || n > 200))
			return in->files.at[i].shown;
	}
	return NULL;
}

void rd_inputs_show(const struct rd_inputs *in, struct rd_error *err)
{
	const char *shown = rd_inputs_shown(in, err->file);

	if (shown == NULL)
		return;
	err->file[0] = 0;
	rd_error_at(err, err->code, shown, RD_NO_OFFSET);
}

void rd_inputs_release(struct rd_inputs *in)
{
	for (size_t i = 0; i < in->files.n; i++) {
		free(in->files.at[i].shown);
		free(in->files.at[i].path);
	}
	rd_vec_release(&in->files);
}
