#include "cli/telling.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "cli/scratch.h"
#include "trace/archive.h"

/* member: what it came out of, of an archive; NULL: it is the input itself. */
static int show_one(struct rd_telling *s, const struct rd_source *source, const struct rd_unpacked *member,
		    struct rd_error *err)
{
	struct rd_inspection in;
	int code = rd_inspection_make(&in, source, member ? member->damage : "", err);

	if (code == 0) {
		s->incomplete |= !in.complete;
		if (s->json)
			rd_json_object(&s->j, NULL);
		code = s->one(s, &in, s->path, member ? member->name : "", err);
		if (s->json)
			rd_json_object_end(&s->j);
		s->shown++;
	}
	rd_inspection_release(&in);
	return code;
}

static void begin_list(struct rd_telling *s)
{
	if (s->listed || !s->json)
		return;
	rd_json_object(&s->j, NULL);
	rd_json_array(&s->j, "traces");
	s->listed = true;
}

static void end_list(struct rd_telling *s)
{
	if (!s->listed)
		return;
	rd_json_array_end(&s->j);
	rd_json_object_end(&s->j);
}

static int show_member(struct rd_telling *s, const struct rd_unpacked *m, struct rd_error *err)
{
	struct rd_source source;
	int code = rd_source_open(&source, m->path, err);

	if (code == 0) {
		code = show_one(s, &source, m, err);
		rd_source_close(&source);
	}
	if (code < 0) {
		/* The scratch file means nothing to the user: the member and its archive do. */
		err->file[0] = 0;
		rd_error_at(err, code, s->path, err->offset);
		if (m->name[0])
			rd_error_in(err, code, "%.100s", m->name);
	}
	return code;
}

/* The wanted member, or NULL: by its whole name, or by the part behind the last slash when only one has that. */
static const struct rd_unpacked *find_member(const struct rd_telling *s, const rd_unpacked_vec *members,
					     struct rd_error *err)
{
	const struct rd_unpacked *found = NULL;
	size_t found_n = 0;

	for (size_t i = 0; i < members->n; i++) {
		const struct rd_unpacked *m = &members->at[i];
		const char *slash = strrchr(m->name, '/');
		if (strcmp(m->name, s->member) == 0)
			return m;
		if (slash == NULL || strcmp(slash + 1, s->member) != 0)
			continue;
		found = m;
		found_n++;
	}
	if (found_n == 1)
		return found;
	int code = found_n ? rd_fail(err, RD_NOT_FOUND, "%zu members have this name: %.100s", found_n, s->member)
			   : rd_fail(err, RD_NOT_FOUND, "the archive has no trace of this name: %.100s", s->member);
	rd_error_at(err, code, s->path, RD_NO_OFFSET);
	return NULL;
}

static int show_members(struct rd_telling *s, const rd_unpacked_vec *members, struct rd_error *err)
{
	int code = 0;

	if (s->member) {
		const struct rd_unpacked *m = find_member(s, members, err);
		return m ? show_member(s, m, err) : err->code;
	}
	if (members->n > 1)
		begin_list(s);
	for (size_t i = 0; i < members->n && code == 0; i++)
		code = show_member(s, &members->at[i], err);
	return code;
}

static int show_packed(struct rd_telling *s, const struct rd_source *source, struct rd_error *err)
{
	rd_unpacked_vec members = {0};
	const char *folder = rd_scratch_open(err);

	if (folder == NULL)
		return err->code;
	int code = rd_archive_unpack(source, folder, NULL, &members, NULL, NULL, err);
	if (code == 0)
		code = show_members(s, &members, err);
	rd_vec_release(&members);
	rd_scratch_close();
	return code;
}

static int show(struct rd_telling *s, const char *path, struct rd_error *err)
{
	struct rd_source source;
	bool packed;
	int code = rd_source_open(&source, path, err);

	s->path = path;
	if (code < 0) {
		/* What cannot be read is a failure, whatever it is: the words were right. */
		err->code = code == RD_USAGE ? RD_IO : code;
		return err->code;
	}
	code = rd_archive_is(&source, &packed, err);
	if (code == 0 && !packed && s->member)
		code = rd_error_at(err, rd_fail(err, RD_USAGE, "no archive, so it has no members"), path, RD_NO_OFFSET);
	else if (code == 0)
		code = packed ? show_packed(s, &source, err) : show_one(s, &source, NULL, err);
	rd_source_close(&source);
	return code;
}

/* A folder's file that cannot be told is noted, and the others are told. */
static int show_or_note(struct rd_telling *s, const char *path, struct rd_error *err)
{
	int code = show(s, path, err);

	if (code == 0 || code == RD_NOMEM)
		return code;
	s->incomplete = true;
	rd_note_left_out(s->name, path, err);
	rd_error_at(err, code, path, RD_NO_OFFSET);
	return 0;
}

/* The files behind a folder's name, else the word itself. */
static int show_word(struct rd_telling *s, const char *word, struct rd_error *err)
{
	rd_folder_vec entries = {0};
	char path[4096];

	if (!rd_is_folder(word))
		return show(s, word, err);
	begin_list(s);
	int code = rd_folder_list(word, NULL, &entries, err);
	if (code == 0 && entries.n == 0)
		code = rd_error_at(err, rd_fail(err, RD_NOT_FOUND, "a folder without a trace right in it"), word,
				   RD_NO_OFFSET);
	size_t shown = s->shown;
	for (size_t i = 0; i < entries.n && code == 0; i++) {
		code = rd_path_below(path, sizeof path, err, word, entries.at[i].name);
		if (code == 0)
			code = show_or_note(s, path, err);
	}
	rd_folder_release(&entries);
	/* With nothing to tell, the last reason is the answer. */
	return code == 0 && s->shown == shown ? err->code : code;
}

static int show_all(struct rd_telling *s, const char *const *words, size_t n, struct rd_error *err)
{
	int code = 0;

	if (n > 1)
		begin_list(s);
	for (size_t i = 0; i < n && code == 0; i++)
		code = show_word(s, words[i], err);
	end_list(s);
	return code;
}

int rd_telling_run(struct rd_telling *t, const char *const *words, size_t n, const char *output)
{
	struct rd_error err;

	rd_error_clear(&err);
	int code = rd_output_open(&t->output, output, &err);
	if (code < 0)
		return rd_complain(t->name, &err);
	int fd = t->output.out.fd;
	t->output.out.fd = -1;
	rd_json_init(&t->j, &t->output.out, true);
	code = show_all(t, words, n, &err);
	if (code == 0 && t->end)
		code = t->end(t, &err);
	t->output.out.fd = fd;
	if (code < 0)
		t->output.out.buffer.n = 0;
	int closed = rd_output_close(&t->output, code == 0, &err);
	if (code < 0 || closed < 0)
		return rd_complain(t->name, &err);
	return t->incomplete ? RD_EXIT_INCOMPLETE : RD_EXIT_OK;
}
