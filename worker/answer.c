#include "worker/answer.h"

#include <stdio.h>
#include <string.h>

#include "profile/partial.h"

void rd_answer_init(struct rd_answer *a, Rd__Work work, const char *folder)
{
	*a = (struct rd_answer){.work = work};
	rd_error_clear(&a->error);
	snprintf(a->folder, sizeof a->folder, "%s", folder);
}

void rd_answer_release(struct rd_answer *a)
{
	rd_blob_release(&a->index);
	rd_vec_release(&a->members);
}

static int breach(struct rd_error *err, const char *what)
{
	return rd_fail(err, RD_PROTOCOL, "the parser's answer is off: %s", what);
}

static int take_progress(struct rd_answer *a, struct rd_cursor *c, struct rd_error *err)
{
	uint64_t bytes = rd_u64(c);

	if (c->failed || rd_left(c))
		return breach(err, "a progress that is none");
	if (bytes > a->bytes)
		a->bytes = bytes;
	return RD_ANSWER_PROGRESS;
}

static int take_index(struct rd_answer *a, struct rd_cursor *c, struct rd_error *err)
{
	if (a->work == RD__WORK__DECODE || a->members.n)
		return breach(err, "an index that nobody asked for");
	if (rd_left(c) == 0 || rd_left(c) > RD_ANSWER_PART_BYTES)
		return breach(err, "a part of an index of a wrong size");
	int code = rd_blob_add(&a->index, c->at, rd_left(c), err);
	return code < 0 ? code : RD_ANSWER_RESULT;
}

/* A text behind its length, without NUL; false when it is empty (unless allowed), too long or not there. */
static bool take_text(struct rd_cursor *c, char *to, size_t size, bool may_be_empty)
{
	uint16_t n = rd_u16(c);
	const uint8_t *from = rd_take(c, n);

	if (from == NULL || n >= size || (n == 0 && !may_be_empty) || memchr(from, 0, n))
		return false;
	memcpy(to, from, n);
	to[n] = 0;
	return true;
}

/* The path is a file right inside the task's folder. */
static bool inside(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (n == 0 || strncmp(path, folder, n) != 0 || path[n] != '/')
		return false;
	const char *name = path + n + 1;
	return *name && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int take_member(struct rd_answer *a, struct rd_cursor *c, struct rd_error *err)
{
	if (a->work != RD__WORK__OPEN || a->index.frames.n)
		return breach(err, "a file that nobody asked for");
	if (a->members.n >= RD_ANSWER_MEMBERS_MAX)
		return breach(err, "too many files");
	struct rd_answer_member *m = rd_vec_add(&a->members);
	if (m == NULL)
		return rd_fail_nomem(err);
	m->size_bytes = rd_u64(c);
	if (take_text(c, m->path, sizeof m->path, false) && take_text(c, m->name, sizeof m->name, true) &&
	    take_text(c, m->damage, sizeof m->damage, true) && rd_left(c) == 0 && inside(m->path, a->folder))
		return RD_ANSWER_MEMBER;
	a->members.n--;
	return breach(err, "a file that is none of this task");
}

static int take_block(struct rd_answer *a, struct rd_cursor *c, struct rd_error *err)
{
	uint32_t table = rd_u32(c);
	uint32_t seq = rd_u32(c);
	struct rd_span block = {c->at, rd_left(c)};
	enum rd_partial_table inner;

	if (a->work != RD__WORK__DECODE)
		return breach(err, "a block that nobody asked for");
	if (c->failed || table == 0 || table >= RD_TABLE_END || block.size_bytes > RD_FRAME_BYTES)
		return breach(err, "a block that is none");
	bool follows = a->blocks && table == a->table ? seq == a->seq + 1 : table > a->table && seq == 0;
	if (!follows)
		return breach(err, "a block out of order");
	int code = rd_partial_block_check(block, &inner, err);
	if (code < 0) {
		rd_error_in(err, code, "the parser's answer");
		return code == RD_NOMEM ? code : RD_PROTOCOL;
	}
	if (inner != table)
		return breach(err, "a block of another table");
	a->table = table;
	a->seq = seq;
	a->block = block;
	a->blocks++;
	return RD_ANSWER_BLOCK;
}

int rd_answer_take(struct rd_answer *a, const struct rd_pipe_frame *frame, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(frame->body.at, frame->body.size_bytes);

	if (a->over)
		return breach(err, "a frame behind the last one");
	switch (frame->type) {
	case RD_ANSWER_PROGRESS:
		return take_progress(a, &c, err);
	case RD_ANSWER_RESULT:
		return take_index(a, &c, err);
	case RD_ANSWER_MEMBER:
		return take_member(a, &c, err);
	case RD_ANSWER_BLOCK:
		return take_block(a, &c, err);
	case RD_ANSWER_ERROR:
		if (rd_pipe_error_unpack(&a->error, frame->body) < 0) {
			rd_error_clear(&a->error);
			return breach(err, "an error that is none");
		}
		a->over = true;
		return RD_ANSWER_ERROR;
	case RD_ANSWER_END:
		if (rd_left(&c))
			return breach(err, "an end that is none");
		a->over = true;
		return RD_ANSWER_END;
	default:
		return breach(err, "a frame of an unknown type");
	}
}

int rd_answer_complete(const struct rd_answer *a, struct rd_error *err)
{
	bool something = a->work == RD__WORK__DECODE ? a->blocks > 0 : a->index.frames.n > 0 || a->members.n > 0;

	return something ? 0 : breach(err, "it ends with nothing said");
}

/* ---- the child's side */

static struct rd_span span_of(const struct rd_bytes *b)
{
	return (struct rd_span){b->at, b->n};
}

static size_t put(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
	return bytes;
}

int rd_answer_progress(int fd, uint64_t bytes, struct rd_error *err)
{
	uint8_t raw[8];

	put(raw, bytes, 8);
	return rd_pipe_write(fd, RD_ANSWER_PROGRESS, (struct rd_span){raw, 8}, (struct rd_span){0}, err);
}

int rd_answer_index(int fd, struct rd_span packed, struct rd_error *err)
{
	while (packed.size_bytes) {
		size_t n = packed.size_bytes < RD_ANSWER_PART_BYTES ? packed.size_bytes : RD_ANSWER_PART_BYTES;
		int code =
			rd_pipe_write(fd, RD_ANSWER_RESULT, (struct rd_span){packed.at, n}, (struct rd_span){0}, err);
		if (code < 0)
			return code;
		packed.at += n;
		packed.size_bytes -= n;
	}
	return 0;
}

static void append_text(struct rd_bytes *b, const char *text)
{
	uint8_t raw[2];
	size_t n = strlen(text);

	put(raw, n, 2);
	rd_bytes_append(b, raw, 2);
	rd_bytes_append(b, text, n);
}

int rd_answer_member(int fd, const struct rd_answer_member *m, struct rd_error *err)
{
	struct rd_bytes b = {0};
	uint8_t raw[8];

	put(raw, m->size_bytes, 8);
	rd_bytes_append(&b, raw, 8);
	append_text(&b, m->path);
	append_text(&b, m->name);
	append_text(&b, m->damage);
	int code = b.failed ? rd_fail_nomem(err)
			    : rd_pipe_write(fd, RD_ANSWER_MEMBER, span_of(&b), (struct rd_span){0}, err);
	rd_bytes_release(&b);
	return code;
}

int rd_answer_block(int fd, uint32_t table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	uint8_t raw[8];

	put(raw, table, 4);
	put(raw + 4, seq, 4);
	return rd_pipe_write(fd, RD_ANSWER_BLOCK, (struct rd_span){raw, 8}, block, err);
}

int rd_answer_error(int fd, const struct rd_error *e)
{
	struct rd_bytes b = {0};
	int code = rd_pipe_error_pack(e, &b);

	if (code == 0)
		code = rd_pipe_write(fd, RD_ANSWER_ERROR, span_of(&b), (struct rd_span){0}, NULL);
	rd_bytes_release(&b);
	return code;
}

int rd_answer_end(int fd, struct rd_error *err)
{
	return rd_pipe_write(fd, RD_ANSWER_END, (struct rd_span){0}, (struct rd_span){0}, err);
}
