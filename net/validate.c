#include "net/validate.h"

#include <inttypes.h>
#include <string.h>

/*
 * One row a kind: who sends it, what it must carry, what its blob may be. What
 * a row does not name must not be there, so that a handler never sees more
 * than it knows about.
 */

enum {
	STRANGER = 1 << RD_FROM_STRANGER,
	WORKER = 1 << RD_FROM_WORKER,
	MERGER = 1 << RD_FROM_MERGER,
	CLIENT = 1 << RD_FROM_CLIENT,
	BROKER = 1 << RD_FROM_BROKER,
};

/* The sub-messages of an envelope, as bits. */
enum {
	HAS_HELLO = 1 << 0,
	HAS_WELCOME = 1 << 1,
	HAS_ERROR = 1 << 2,
	HAS_WORK = 1 << 3,
	HAS_OPENED = 1 << 4,
	HAS_CHUNK = 1 << 5,
	HAS_SUBMIT = 1 << 6,
	HAS_FINISH = 1 << 7,
	HAS_FINISHED = 1 << 8,
	HAS_STATUS = 1 << 9,
	HAS_TOP = 1 << 10,
};

enum need { NONE, TASK, JOB, MAYBE_JOB, JOB_OR_TASK }; /* TASK: job, task and attempt */
enum blob { NO_BLOB, ONE_FRAME, ANY_BLOB };

struct check {
	const Rd__Envelope *e;
	const struct rd_blob *blob;
	struct rd_error *err;
};

struct rule {
	const char *name;
	unsigned senders;
	unsigned parts;       /* must be there */
	unsigned maybe_parts; /* may be there */
	enum need need;
	enum blob blob;
	int (*more)(const struct check *c);
};

static int bad(const struct check *c, const char *what)
{
	return rd_fail(c->err, RD_PROTOCOL, "%s: %s", rd_kind_name(c->e->kind), what);
}

static bool text_ok(const ProtobufCBinaryData *f, size_t min, size_t max)
{
	return f->len >= min && f->len <= max && (f->len == 0 || memchr(f->data, 0, f->len) == NULL);
}

static bool texts_ok(size_t n, const ProtobufCBinaryData *fields, size_t min, size_t max)
{
	for (size_t i = 0; i < n; i++)
		if (!text_ok(&fields[i], min, max))
			return false;
	return true;
}

static bool path_ok(const ProtobufCBinaryData *f)
{
	return text_ok(f, 1, RD_PATH_MAX);
}

static bool absolute_ok(const ProtobufCBinaryData *f)
{
	return path_ok(f) && f->data[0] == '/';
}

static int check_hello(const struct check *c)
{
	const Rd__Hello *h = c->e->hello;

	if (h->role != RD__ROLE__WORKER && h->role != RD__ROLE__MERGER && h->role != RD__ROLE__CLIENT)
		return bad(c, "an unknown role");
	if (!text_ok(&h->version, 1, 64) || !text_ok(&h->host, 0, 255) || h->uuid.len != 16)
		return bad(c, "its version, host or uuid");
	if (h->role == RD__ROLE__WORKER ? h->capacity < 1 || h->capacity > 64 : h->capacity != 0)
		return bad(c, "its capacity");
	return 0;
}

static int check_welcome(const struct check *c)
{
	const Rd__Welcome *w = c->e->welcome;

	if (w->epoch.len != 16 || !text_ok(&w->version, 1, 64) || w->progress_ms < 1 || w->progress_ms > 60000)
		return bad(c, "its epoch, version or pace");
	return 0;
}

static int error_ok(const struct check *c, const Rd__Error *e)
{
	if (e->code >= 0 || !text_ok(&e->text, 0, 255) || !text_ok(&e->file, 0, 255) || !text_ok(&e->context, 0, 255))
		return bad(c, "its error");
	return 0;
}

static int check_error(const struct check *c)
{
	return error_ok(c, c->e->error);
}

static int check_task(const struct check *c)
{
	const Rd__Assignment *w = c->e->work;
	bool decode = w->work == RD__WORK__DECODE;
	uint64_t sum;

	if (w->work != RD__WORK__OPEN && w->work != RD__WORK__INDEX && !decode)
		return bad(c, "unknown work");
	if (!path_ok(&w->path) || (w->work == RD__WORK__OPEN ? !absolute_ok(&w->scratch) : w->scratch.len != 0))
		return bad(c, "its path or scratch folder");
	if (__builtin_add_overflow(w->info_bytes, w->context_bytes, &sum) ||
	    __builtin_add_overflow(sum, w->blocks_bytes, &sum) || sum != c->blob->size_bytes)
		return bad(c, "its parts are not as long as it says");
	if (decode ? w->info_bytes == 0 : sum != 0)
		return bad(c, "the parts that its work has");
	if (!text_ok(&w->damage, 0, 255) || (w->damage.len != 0 && w->work != RD__WORK__INDEX))
		return bad(c, "its damage");
	if (decode ? w->window < 1 || w->window > 1024 : w->window != 0)
		return bad(c, "its window");
	return 0;
}

static int check_sweep(const struct check *c)
{
	return absolute_ok(&c->e->work->path) ? 0 : bad(c, "its path");
}

static int check_result(const struct check *c)
{
	const Rd__Opened *o = c->e->opened;

	if (o == NULL)
		return c->blob->size_bytes > 0 ? 0 : bad(c, "neither an index nor traces");
	if (c->blob->size_bytes > 0)
		return bad(c, "an index and traces");
	if (o->n_path < 1 || o->n_path > RD_TRACES_MAX || o->n_member != o->n_path || o->n_size_bytes != o->n_path ||
	    o->n_damage != o->n_path)
		return bad(c, "the number of its traces");
	for (size_t i = 0; i < o->n_path; i++)
		if (!absolute_ok(&o->path[i]))
			return bad(c, "the path of a trace");
	if (!texts_ok(o->n_member, o->member, 0, 255))
		return bad(c, "the name of a trace");
	if (!texts_ok(o->n_damage, o->damage, 0, 255))
		return bad(c, "the damage of a trace");
	return 0;
}

static int check_chunk(const struct check *c)
{
	/* The table's number is the merger's to know: it stands in the block too. */
	return c->e->chunk->table >= 1 && c->e->chunk->table <= 255 ? 0 : bad(c, "its table");
}

static int filter_ok(const struct check *c, const Rd__Filter *f)
{
	if (f == NULL)
		return bad(c, "no filter");
	if (!text_ok(&f->process, 0, 1024) || f->kind < 0 || f->kind > 8)
		return bad(c, "its filter");
	return 0;
}

static int check_submit(const struct check *c)
{
	const Rd__Submit *s = c->e->submit;

	if (s->n_path < 1 || s->n_path > RD_TRACES_MAX)
		return bad(c, "the number of its inputs");
	for (size_t i = 0; i < s->n_path; i++)
		if (!absolute_ok(&s->path[i]))
			return bad(c, "the path of an input");
	if (s->n_optional != 0 && s->n_optional != s->n_path)
		return bad(c, "which of its inputs are optional");
	if (!absolute_ok(&s->output) || !absolute_ok(&s->scratch))
		return bad(c, "its output or scratch folder");
	if (s->priority < -RD_PRIORITY_MAX || s->priority > RD_PRIORITY_MAX || s->attempts > RD_ATTEMPTS_MAX)
		return bad(c, "its priority or attempts");
	return filter_ok(c, s->filter);
}

static int check_submitted(const struct check *c)
{
	const Rd__Envelope *e = c->e;

	/* Either, not both. */
	if ((e->error != NULL) == (e->job.len != 0))
		return bad(c, "a job or why there is none");
	return e->error ? error_ok(c, e->error) : 0;
}

static int check_finish(const struct check *c)
{
	const Rd__Finish *f = c->e->finish;
	size_t n = f->n_path;

	if (n < 1 || n > RD_TRACES_MAX || f->n_member != n || f->n_group != n || f->n_shards != n)
		return bad(c, "the number of its traces");
	if (!texts_ok(n, f->path, 1, RD_PATH_MAX) || !texts_ok(n, f->member, 0, 255) || !absolute_ok(&f->output))
		return bad(c, "its paths");
	size_t q = f->n_quarantined_trace;
	if (f->n_quarantined_shard != q || f->n_quarantined_from != q || f->n_quarantined_to != q)
		return bad(c, "the number of its quarantined shards");
	for (size_t i = 0; i < q; i++)
		if (f->quarantined_trace[i] >= n || f->quarantined_shard[i] >= f->shards[f->quarantined_trace[i]] ||
		    f->quarantined_from[i] > f->quarantined_to[i])
			return bad(c, "a quarantined shard");
	return filter_ok(c, f->filter);
}

static int finished_ok(const struct check *c, const Rd__Finished *f)
{
	return absolute_ok(&f->output) ? 0 : bad(c, "its output");
}

static int check_finished(const struct check *c)
{
	return finished_ok(c, c->e->finished);
}

static int check_status(const struct check *c)
{
	const Rd__Status *s = c->e->status;

	if (!text_ok(&s->id, 1, RD_JOB_ID_MAX) || !text_ok(&s->state, 1, 16))
		return bad(c, "its job or state");
	if (!text_ok(&s->path, 0, RD_PATH_MAX) || !text_ok(&s->output, 0, RD_PATH_MAX))
		return bad(c, "its paths");
	int rc = s->error ? error_ok(c, s->error) : 0;
	return rc == 0 && s->finished ? finished_ok(c, s->finished) : rc;
}

static int check_top(const struct check *c)
{
	if (c->e->count < 1 || c->e->count > RD_TOP_MAX)
		return bad(c, "the number of its rows");
	if ((c->e->finish != NULL) != (c->blob->frames.n > 0))
		return bad(c, "its traces");
	return c->e->finish ? check_finish(c) : 0;
}

static int check_top_rows(const struct check *c)
{
	const Rd__Top *t = c->e->top;

	if ((t != NULL) == (c->e->error != NULL))
		return bad(c, "rows or why there are none");
	if (t == NULL)
		return error_ok(c, c->e->error);
	size_t n = t->n_pid;
	if (n > RD_TOP_MAX || t->n_module != n || t->n_namespace_ != n || t->n_name != n || t->n_signature != n ||
	    t->n_exclusive != n || t->n_inclusive != n)
		return bad(c, "the number of its rows");
	if (!texts_ok(n, t->module, 0, RD_TOP_TEXT_MAX) || !texts_ok(n, t->namespace_, 0, RD_TOP_TEXT_MAX) ||
	    !texts_ok(n, t->name, 0, RD_TOP_TEXT_MAX) || !texts_ok(n, t->signature, 0, RD_TOP_TEXT_MAX))
		return bad(c, "its names");
	return 0;
}

static const struct rule rules[] = {
	[RD__KIND__HELLO] = {"HELLO", STRANGER | WORKER | MERGER | CLIENT, HAS_HELLO, 0, NONE, NO_BLOB, check_hello},
	[RD__KIND__WELCOME] = {"WELCOME", BROKER, HAS_WELCOME, 0, NONE, NO_BLOB, check_welcome},
	[RD__KIND__REFUSED] = {"REFUSED", BROKER, HAS_ERROR, 0, NONE, NO_BLOB, check_error},
	[RD__KIND__PING] = {"PING", BROKER, 0, 0, NONE, NO_BLOB, NULL},
	[RD__KIND__TASK] = {"TASK", BROKER, HAS_WORK, 0, TASK, ANY_BLOB, check_task},
	[RD__KIND__ABANDON] = {"ABANDON", BROKER, 0, 0, TASK, NO_BLOB, NULL},
	[RD__KIND__SWEEP] = {"SWEEP", BROKER, HAS_WORK, 0, JOB, NO_BLOB, check_sweep},
	[RD__KIND__PROGRESS] = {"PROGRESS", WORKER, 0, 0, TASK, NO_BLOB, NULL},
	[RD__KIND__RESULT] = {"RESULT", WORKER, 0, HAS_OPENED, TASK, ANY_BLOB, check_result},
	[RD__KIND__FAILED] = {"FAILED", WORKER | MERGER, HAS_ERROR, 0, JOB_OR_TASK, NO_BLOB, check_error},
	[RD__KIND__LEAVE] = {"LEAVE", WORKER, 0, 0, NONE, NO_BLOB, NULL},
	[RD__KIND__CHUNK] = {"CHUNK", WORKER | BROKER, HAS_CHUNK, 0, TASK, ONE_FRAME, check_chunk},
	[RD__KIND__CHUNK_ACK] = {"CHUNK_ACK", MERGER | BROKER, 0, 0, TASK, NO_BLOB, NULL},
	[RD__KIND__COMMIT] = {"COMMIT", WORKER | BROKER, 0, 0, TASK, NO_BLOB, NULL},
	[RD__KIND__MERGED] = {"MERGED", MERGER, 0, 0, TASK, NO_BLOB, NULL},
	[RD__KIND__DONE] = {"DONE", BROKER, 0, 0, TASK, NO_BLOB, NULL},
	[RD__KIND__FINISH] = {"FINISH", BROKER, HAS_FINISH, 0, JOB, ANY_BLOB, check_finish},
	[RD__KIND__FINISHED] = {"FINISHED", MERGER, HAS_FINISHED, 0, JOB, NO_BLOB, check_finished},
	[RD__KIND__FINISH_PROGRESS] = {"FINISH_PROGRESS", MERGER, 0, 0, JOB, NO_BLOB, NULL},
	[RD__KIND__DROP] = {"DROP", BROKER, 0, 0, JOB, NO_BLOB, NULL},
	[RD__KIND__SUBMIT] = {"SUBMIT", CLIENT, HAS_SUBMIT, 0, NONE, NO_BLOB, check_submit},
	[RD__KIND__SUBMITTED] = {"SUBMITTED", BROKER, 0, HAS_ERROR, MAYBE_JOB, NO_BLOB, check_submitted},
	[RD__KIND__STATUS] = {"STATUS", CLIENT, 0, 0, MAYBE_JOB, NO_BLOB, NULL},
	[RD__KIND__JOB_STATUS] = {"JOB_STATUS", BROKER, HAS_STATUS, 0, JOB, NO_BLOB, check_status},
	[RD__KIND__CANCEL] = {"CANCEL", CLIENT, 0, 0, JOB, NO_BLOB, NULL},
	[RD__KIND__TOP] = {"TOP", CLIENT | BROKER, 0, HAS_FINISH, JOB, ANY_BLOB, check_top},
	[RD__KIND__TOP_ROWS] = {"TOP_ROWS", MERGER | BROKER, 0, HAS_TOP | HAS_ERROR, JOB, NO_BLOB, check_top_rows},
	[RD__KIND__JOBS] = {"JOBS", BROKER, 0, 0, NONE, NO_BLOB, NULL},
	[RD__KIND__RETRY] = {"RETRY", CLIENT, 0, 0, JOB, NO_BLOB, NULL},
};

static const struct rule *rule_of(Rd__Kind kind)
{
	if ((int)kind <= 0 || (size_t)kind >= sizeof rules / sizeof *rules || rules[kind].name == NULL)
		return NULL;
	return &rules[kind];
}

const char *rd_kind_name(Rd__Kind kind)
{
	const struct rule *r = rule_of(kind);
	return r ? r->name : "?";
}

bool rd_is_scratch(struct rd_span path)
{
	size_t from = path.size_bytes, n = sizeof RD_SCRATCH_PREFIX - 1;

	while (from > 0 && path.at[from - 1] != '/')
		from--;
	return path.size_bytes - from > n && memcmp(path.at + from, RD_SCRATCH_PREFIX, n) == 0;
}

static unsigned parts_of(const Rd__Envelope *e)
{
	return (e->hello ? HAS_HELLO : 0) | (e->welcome ? HAS_WELCOME : 0) | (e->error ? HAS_ERROR : 0) |
	       (e->work ? HAS_WORK : 0) | (e->opened ? HAS_OPENED : 0) | (e->chunk ? HAS_CHUNK : 0) |
	       (e->submit ? HAS_SUBMIT : 0) | (e->finish ? HAS_FINISH : 0) | (e->finished ? HAS_FINISHED : 0) |
	       (e->status ? HAS_STATUS : 0) | (e->top ? HAS_TOP : 0);
}

static int check_ids(const struct check *c, enum need need)
{
	const Rd__Envelope *e = c->e;
	bool job = text_ok(&e->job, 1, RD_JOB_ID_MAX);
	bool task = e->task != 0 && e->attempt != 0;
	bool no_task = e->task == 0 && e->attempt == 0;
	bool ok = false;

	switch (need) {
	case NONE:
		ok = e->job.len == 0 && no_task;
		break;
	case TASK:
		ok = job && task;
		break;
	case JOB:
		ok = job && no_task;
		break;
	case MAYBE_JOB:
		ok = (e->job.len == 0 || job) && no_task;
		break;
	case JOB_OR_TASK:
		ok = job && (task || no_task);
		break;
	}
	return ok ? 0 : bad(c, "its job, task or attempt");
}

int rd_validate(const struct rd_message *m, enum rd_sender from, struct rd_error *err)
{
	const Rd__Envelope *e = m->envelope;
	struct check c = {e, &m->blob, err};

	if (e->protocol != RD_PROTOCOL_VERSION)
		return rd_fail(err, RD_PROTOCOL, "the peer speaks protocol %" PRIu32 ", this program %d", e->protocol,
			       RD_PROTOCOL_VERSION);
	const struct rule *r = rule_of(e->kind);
	if (r == NULL)
		return rd_fail(err, RD_PROTOCOL, "a message of the unknown kind %d", (int)e->kind);
	if (!(r->senders & 1u << from))
		return bad(&c, "not from this sender");
	if (e->token.len != 0 && e->token.len != 16)
		return bad(&c, "its token");
	unsigned parts = parts_of(e);
	if ((parts & r->parts) != r->parts || parts & ~(r->parts | r->maybe_parts))
		return bad(&c, "not the parts that it must have");
	if (r->blob == NO_BLOB ? m->blob.frames.n != 0 : r->blob == ONE_FRAME && m->blob.frames.n != 1)
		return bad(&c, "the number of its frames");
	int rc = check_ids(&c, r->need);
	return rc == 0 && r->more ? r->more(&c) : rc;
}
