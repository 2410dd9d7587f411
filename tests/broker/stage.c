#include "tests/broker/stage.h"

#include "net/validate.h"
#include "profile/index_codec.h"

#define KEPT_MAX 4096
static Rd__Envelope *kept[KEPT_MAX];
static size_t kept_n;

static int collect(void *ctx, rd_peer to, struct rd_span envelope, struct rd_blob *blob)
{
	struct stage *s = ctx;
	struct rd_error err;

	for (size_t i = 0; i < sizeof s->unreachable / sizeof *s->unreachable; i++)
		if (s->unreachable[i] == to && to != 0)
			return RD_NOT_FOUND;
	if (s->gone && s->gone(to))
		return RD_NOT_FOUND;
	struct letter *l = rd_vec_add(&s->letters);
	*l = (struct letter){.to = to};
	assert_ok(rd_envelope_unpack(envelope, &l->m.envelope, &err), &err);
	l->m.blob = *blob;
	*blob = (struct rd_blob){0};
	assert_ok(rd_validate(&l->m, RD_FROM_BROKER, &err), &err);
	return 1;
}

/* ---- the journal */

static int compare_keys(struct rd_span a, struct rd_span b)
{
	int c = memcmp(a.at, b.at, a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes);
	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

static struct rd_span key_at(const struct stage *s, size_t i)
{
	return (struct rd_span){s->kept.at[i].key.at, s->kept.at[i].key.n};
}

static void put(struct stage *s, const struct rd_change *c)
{
	size_t i = 0;

	while (i < s->kept.n && compare_keys(key_at(s, i), c->key) < 0)
		i++;
	if (i == s->kept.n || compare_keys(key_at(s, i), c->key) != 0) {
		rd_vec_add(&s->kept);
		memmove(s->kept.at + i + 1, s->kept.at + i, (s->kept.n - 1 - i) * sizeof *s->kept.at);
		s->kept.at[i] = (struct kept){0};
		rd_bytes_append(&s->kept.at[i].key, c->key.at, c->key.size_bytes);
	}
	s->kept.at[i].value.n = 0;
	rd_bytes_append(&s->kept.at[i].value, c->value.at, c->value.size_bytes);
}

static void release_kept(struct kept *k)
{
	rd_bytes_release(&k->key);
	rd_bytes_release(&k->value);
}

static void erase(struct stage *s, const struct rd_change *c)
{
	size_t left = 0;

	for (size_t i = 0; i < s->kept.n; i++) {
		if (compare_keys(key_at(s, i), c->key) >= 0 && compare_keys(key_at(s, i), c->last) <= 0)
			release_kept(&s->kept.at[i]);
		else
			s->kept.at[left++] = s->kept.at[i];
	}
	s->kept.n = left;
}

static int keep(void *ctx, const struct rd_change *changes, size_t n, struct rd_error *err)
{
	struct stage *s = ctx;
	bool crash = ++s->commits == s->crash_at;

	if (s->disk_full > 0) {
		s->disk_full--;
		return rd_fail(err, RD_IO, "No space left on device");
	}
	assert_true(n > 0);
	for (size_t i = 0; i < n && !(crash && s->crash == STAGE_BEFORE_COMMIT); i++) {
		if (changes[i].last.size_bytes)
			erase(s, &changes[i]);
		else
			put(s, &changes[i]);
	}
	s->crashed = crash;
	return crash ? rd_fail(err, RD_IO, "a crash") : 0;
}

static void flush(struct stage *s)
{
	struct rd_error err;
	int rc;

	do
		rc = rd_broker_flush(s->broker, s->now_ns, collect, s, &err);
	while (rc == RD_IO && s->keeps && !s->crashed);
	if (!s->crashed)
		assert_ok(rc, &err);
}

static void new_broker(struct stage *s)
{
	struct rd_error err;

	if (s->keeps) {
		s->opt.keep = keep;
		s->opt.keep_ctx = s;
	}
	assert_ok(rd_broker_new(&s->opt, &s->broker, &err), &err);
	for (size_t i = 0; i < s->kept.n; i++) {
		struct rd_span value = {s->kept.at[i].value.at, s->kept.at[i].value.n};
		assert_ok(rd_broker_recall(s->broker, key_at(s, i), value, &err), &err);
	}
	assert_ok(rd_broker_recalled(s->broker, &err), &err);
}

void stage_open(struct stage *s, const struct rd_broker_options *opt)
{
	*s = (struct stage){.now_ns = 1000 * UINT64_C(1000000000)};
	s->opt = opt ? *opt : (struct rd_broker_options){.epoch = {0xab, 0xcd, 1, 2}};
	new_broker(s);
}

void stage_open_kept(struct stage *s, const struct rd_broker_options *opt)
{
	stage_open(s, opt);
	rd_broker_free(s->broker);
	s->keeps = true;
	new_broker(s);
}

void stage_restart(struct stage *s)
{
	rd_broker_free(s->broker);
	for (size_t i = 0; i < s->letters.n; i++)
		rd_message_release(&s->letters.at[i].m);
	s->letters.n = 0;
	s->crashed = false;
	s->opt.epoch[0]++;
	/* Another process, another machine's uptime perhaps. */
	s->now_ns = s->now_ns / 3 + UINT64_C(1000000000);
	new_broker(s);
}

static void drop_letter(struct stage *s, size_t i)
{
	s->letters.n--;
	memmove(s->letters.at + i, s->letters.at + i + 1, (s->letters.n - i) * sizeof *s->letters.at);
}

static void forget_last(struct stage *s)
{
	rd_envelope_free(s->last);
	rd_blob_release(&s->last_blob);
	s->last = NULL;
}

void stage_close(struct stage *s)
{
	rd_broker_free(s->broker);
	for (size_t i = 0; i < s->letters.n; i++)
		rd_message_release(&s->letters.at[i].m);
	rd_vec_release(&s->letters);
	for (size_t i = 0; i < s->kept.n; i++)
		release_kept(&s->kept.at[i]);
	rd_vec_release(&s->kept);
	forget_last(s);
	while (kept_n > 0)
		rd_envelope_free(kept[--kept_n]);
}

void stage_pass(struct stage *s, uint64_t ns)
{
	s->now_ns += ns;
	if (s->crashed)
		return;
	rd_broker_tick(s->broker, s->now_ns);
	flush(s);
}

void say(struct stage *s, rd_peer from, const Rd__Envelope *e, struct rd_blob *blob)
{
	struct rd_message m = {.from = from};
	struct rd_bytes packed = {0};
	struct rd_error err;

	/* As it would arrive. */
	assert_ok(rd_envelope_pack(e, &packed, &err), &err);
	assert_ok(rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &m.envelope, &err), &err);
	rd_bytes_release(&packed);
	if (blob) {
		m.blob = *blob;
		*blob = (struct rd_blob){0};
	}
	if (s->crashed) {
		rd_message_release(&m);
		return;
	}
	rd_broker_hear(s->broker, &m, s->now_ns);
	assert_null(m.envelope);
	flush(s);
}

void say_hello(struct stage *s, rd_peer from, Rd__Role role, uint32_t capacity, uint8_t first)
{
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	Rd__Hello h = RD__HELLO__INIT;
	uint8_t uuid[16] = {first};

	h.role = role;
	h.version = rd_field("1");
	h.host = rd_field("host");
	h.pid = from;
	h.uuid = (ProtobufCBinaryData){16, uuid};
	h.capacity = capacity;
	e.hello = &h;
	say(s, from, &e, NULL);
}

void hello(struct stage *s, rd_peer from, Rd__Role role, uint32_t capacity)
{
	say_hello(s, from, role, capacity, ++s->uuids);
	assert_int_equal(1000, expect(s, from, RD__KIND__WELCOME)->welcome->progress_ms);
}

bool next_letter(struct stage *s, rd_peer to, struct rd_message *m)
{
	for (size_t i = 0; i < s->letters.n; i++) {
		if (s->letters.at[i].to != to)
			continue;
		*m = s->letters.at[i].m;
		drop_letter(s, i);
		return true;
	}
	return false;
}

Rd__Submit plain_submit(void)
{
	static Rd__Filter filter;
	Rd__Submit submit = RD__SUBMIT__INIT;

	rd__filter__init(&filter);
	submit.output = rd_field("/out/x.rundown");
	submit.scratch = rd_field("/scratch");
	submit.filter = &filter;
	submit.watch = true;
	return submit;
}

void submit(struct stage *s, const Rd__Submit *base, size_t n, const char *const *paths)
{
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMIT);
	ProtobufCBinaryData fields[16];
	Rd__Submit m = *base;

	for (size_t i = 0; i < n; i++)
		fields[i] = rd_field(paths[i]);
	m.path = fields;
	m.n_path = n;
	e.submit = &m;
	say(s, CLIENT, &e, NULL);
	rd_field_text(&expect(s, CLIENT, RD__KIND__SUBMITTED)->job, s->job, sizeof s->job);
}

Rd__Envelope about(struct stage *s, Rd__Kind kind, uint64_t task, uint32_t attempt)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field(s->job);
	e.task = task;
	e.attempt = attempt;
	return e;
}

const Rd__Envelope *expect(struct stage *s, rd_peer to, Rd__Kind kind)
{
	forget_last(s);
	for (size_t i = 0; i < s->letters.n; i++) {
		struct letter *l = &s->letters.at[i];
		Rd__Kind got = l->m.envelope->kind;
		if (l->to != to || (got != kind && (got == RD__KIND__PING || got == RD__KIND__JOB_STATUS)))
			continue;
		/* The next task does not wait for the end of the one before. */
		if (kind == RD__KIND__DONE && got == RD__KIND__TASK)
			continue;
		if (got != kind)
			fail_msg("peer %d was told %s, expected %s", (int)to, rd_kind_name(got), rd_kind_name(kind));
		s->last = l->m.envelope;
		s->last_blob = l->m.blob;
		drop_letter(s, i);
		return s->last;
	}
	fail_msg("peer %d was not told %s", (int)to, rd_kind_name(kind));
	return NULL;
}

void expect_nothing(struct stage *s, rd_peer to)
{
	for (size_t i = 0; i < s->letters.n; i++) {
		Rd__Kind got = s->letters.at[i].m.envelope->kind;
		if (s->letters.at[i].to == to && got != RD__KIND__PING && got != RD__KIND__JOB_STATUS)
			fail_msg("peer %d was told %s, expected nothing", (int)to, rd_kind_name(got));
	}
}

const Rd__Status *newest_status(struct stage *s, rd_peer to)
{
	size_t i = 0;
	bool any = false;

	forget_last(s);
	while (i < s->letters.n) {
		struct letter *l = &s->letters.at[i];
		if (l->to != to || l->m.envelope->kind != RD__KIND__JOB_STATUS) {
			i++;
			continue;
		}
		forget_last(s);
		s->last = l->m.envelope;
		s->last_blob = l->m.blob;
		any = true;
		drop_letter(s, i);
	}
	if (!any)
		fail_msg("peer %d was told no status", (int)to);
	return s->last->status;
}

void make_index(struct rd_index *ix, uint32_t n, uint64_t size_bytes)
{
	*ix = (struct rd_index){0};
	ix->info = (struct rd_trace_info){.format = RD_FORMAT_NETTRACE,
					  .version_major = 4,
					  .pointer_bytes = 8,
					  .cpus = 2,
					  .size_bytes = 100 + n * size_bytes,
					  .mtime_ns = 77,
					  .clock = {RD_CLOCK_QPC, 1000000000, 0, 0},
					  .digest = 0x1234,
					  .complete = true,
					  .cut_at = RD_NO_OFFSET};
	for (uint32_t i = 0; i < n; i++) {
		struct rd_block *b = rd_vec_add(&ix->blocks);
		*b = (struct rd_block){.offset = 100 + i * size_bytes,
				       .size_bytes = size_bytes,
				       .time = 1000 + i,
				       .ordinal = i,
				       .kind = 2};
	}
}

void say_index(struct stage *s, rd_peer from, const Rd__Envelope *task, uint32_t blocks, uint64_t size_bytes)
{
	struct rd_index ix;

	make_index(&ix, blocks, size_bytes);
	say_this_index(s, from, task, &ix);
	rd_index_release(&ix);
}

void say_this_index(struct stage *s, rd_peer from, const Rd__Envelope *task, const struct rd_index *ix)
{
	Rd__Envelope e = about(s, RD__KIND__RESULT, task->task, task->attempt);
	struct rd_bytes packed = {0};
	struct rd_blob blob = {0};
	struct rd_error err;

	assert_ok(rd_index_pack(ix, &packed, &err), &err);
	assert_ok(rd_blob_add(&blob, packed.at, packed.n, &err), &err);
	rd_bytes_release(&packed);
	say(s, from, &e, &blob);
	expect(s, from, RD__KIND__DONE);
}

void say_failed(struct stage *s, rd_peer from, const Rd__Envelope *task, int code, const char *text, const char *file,
		bool retry)
{
	Rd__Envelope e = about(s, RD__KIND__FAILED, task->task, task->attempt);
	Rd__Error error = RD__ERROR__INIT;

	error.code = code;
	error.text = rd_field(text);
	error.file = rd_field(file);
	error.offset = RD_NO_OFFSET;
	error.retry = retry;
	e.error = &error;
	say(s, from, &e, NULL);
	expect(s, from, RD__KIND__DONE);
}

void say_partial(struct stage *s, rd_peer from, const Rd__Envelope *task, uint32_t chunks)
{
	for (uint32_t i = 0; i < chunks; i++) {
		Rd__Envelope e = about(s, RD__KIND__CHUNK, task->task, task->attempt);
		Rd__Chunk chunk = RD__CHUNK__INIT;
		struct rd_blob blob = {0};
		chunk.trace = task->work->trace;
		chunk.shard = task->work->shard;
		chunk.table = 1;
		chunk.seq = i;
		e.chunk = &chunk;
		assert_ok(rd_blob_add(&blob, "block", 5, NULL), NULL);
		say(s, from, &e, &blob);
		assert_int_equal(i, expect(s, MERGER, RD__KIND__CHUNK)->chunk->seq);
		assert_span(rd_blob_frame(&s->last_blob, 0), "block");
	}
	Rd__Envelope e = about(s, RD__KIND__COMMIT, task->task, task->attempt);
	e.count = chunks;
	say(s, from, &e, NULL);
	assert_int_equal(chunks, expect(s, MERGER, RD__KIND__COMMIT)->count);
}

void say_merged(struct stage *s, const Rd__Envelope *task, bool duplicate)
{
	Rd__Envelope e = about(s, RD__KIND__MERGED, task->task, task->attempt);

	e.duplicate = duplicate;
	say(s, MERGER, &e, NULL);
}

void say_not_merged(struct stage *s, rd_peer merger, uint64_t task, uint32_t attempt)
{
	const Rd__Envelope *asked = expect(s, merger, RD__KIND__COMMIT);
	Rd__Envelope e = about(s, RD__KIND__FAILED, task, attempt);
	Rd__Error error = RD__ERROR__INIT;

	assert_int_equal(0, asked->count);
	assert_int_equal(task, asked->task);
	assert_int_equal(attempt, asked->attempt);
	error.code = RD_PROTOCOL;
	error.text = rd_field("the chunks of this partial are not here");
	error.retry = true;
	e.error = &error;
	say(s, merger, &e, NULL);
}

const Rd__Envelope *take_task(struct stage *s, rd_peer worker, Rd__Work work)
{
	assert_int_equal(work, expect(s, worker, RD__KIND__TASK)->work->work);
	assert_true(kept_n < KEPT_MAX);
	kept[kept_n++] = s->last;
	s->last = NULL;
	return kept[kept_n - 1];
}

const char *text(const ProtobufCBinaryData *f)
{
	static char buf[8][1024];
	static unsigned turn;
	return rd_field_text(f, buf[turn++ % 8], 1024);
}

void start(struct stage *s, uint32_t workers, uint32_t shards, uint32_t blocks)
{
	Rd__Submit base = plain_submit();

	base.shards = shards;
	hello(s, MERGER, RD__ROLE__MERGER, 0);
	hello(s, CLIENT, RD__ROLE__CLIENT, 0);
	for (uint32_t i = 0; i < workers; i++)
		hello(s, W1 + i, RD__ROLE__WORKER, 1);
	submit(s, &base, 1, (const char *[]){"/t/a.nettrace"});
	const Rd__Envelope *open = take_task(s, W1, RD__WORK__OPEN);
	assert_string_equal("/t/a.nettrace", text(&open->work->path));
	assert_string_equal("/scratch", text(&open->work->scratch));
	say_index(s, W1, open, blocks, MIB);
}

const Rd__Status *status_of_job(struct stage *s)
{
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);

	e.job = rd_field(s->job);
	e.watch = true;
	say(s, CLIENT, &e, NULL);
	return newest_status(s, CLIENT);
}

void say_finished(struct stage *s)
{
	Rd__Envelope e = rd_envelope(RD__KIND__FINISHED);
	Rd__Finished f = RD__FINISHED__INIT;

	e.job = rd_field(s->job);
	f.output = rd_field("/out/x.rundown");
	f.samples = 42;
	f.complete = true;
	e.finished = &f;
	say(s, MERGER, &e, NULL);
}

void settle(struct stage *s, rd_peer worker)
{
	const Rd__Envelope *task = take_task(s, worker, RD__WORK__DECODE);

	say_partial(s, worker, task, 2);
	say_merged(s, task, false);
	expect(s, worker, RD__KIND__DONE);
}
