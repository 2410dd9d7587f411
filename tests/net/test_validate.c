#include "tests/support.h"

#include "net/validate.h"
#include "net/wire_error.h"

/*
 * One good message of each kind, and what makes each bad. A case changes one
 * thing of a good message and names the text that the refusal must hold.
 */

static Rd__Envelope e;
static Rd__Hello hello;
static Rd__Welcome welcome;
static Rd__Error error;
static Rd__Assignment work;
static Rd__Opened opened;
static Rd__Chunk chunk;
static Rd__Submit submit;
static Rd__Finish finish;
static Rd__Finished finished;
static Rd__Status status;
static Rd__Top top;
static Rd__Filter filter;
static struct rd_message m;
static uint8_t sixteen[16] = {1};
static ProtobufCBinaryData paths[2], members[2], damages[2];
static uint64_t sizes[2];
static uint32_t groups[2], shards[2], q_trace[1], q_shard[1];
static uint64_t q_from[1], q_to[1];
static char long_text[5000];

static void good_parts(void)
{
	hello = (Rd__Hello)RD__HELLO__INIT;
	hello.role = RD__ROLE__WORKER;
	hello.version = rd_field("1.0");
	hello.host = rd_field("here");
	hello.uuid = (ProtobufCBinaryData){16, sixteen};
	hello.capacity = 1;
	welcome = (Rd__Welcome)RD__WELCOME__INIT;
	welcome.epoch = (ProtobufCBinaryData){16, sixteen};
	welcome.version = rd_field("1.0");
	welcome.progress_ms = 100;
	error = (Rd__Error)RD__ERROR__INIT;
	error.code = RD_IO;
	work = (Rd__Assignment)RD__ASSIGNMENT__INIT;
	work.work = RD__WORK__DECODE;
	work.path = rd_field("/t/a");
	work.window = 8;
	work.info_bytes = 2;
	work.blocks_bytes = 2;
	opened = (Rd__Opened)RD__OPENED__INIT;
	for (int i = 0; i < 2; i++) {
		paths[i] = rd_field("/t/a");
		members[i] = rd_field("a");
		damages[i] = rd_field("");
		shards[i] = 3;
	}
	opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = 2;
	opened.path = paths;
	opened.member = members;
	opened.size_bytes = sizes;
	opened.damage = damages;
	chunk = (Rd__Chunk)RD__CHUNK__INIT;
	chunk.table = 1;
	filter = (Rd__Filter)RD__FILTER__INIT;
	submit = (Rd__Submit)RD__SUBMIT__INIT;
	submit.n_path = 2;
	submit.path = paths;
	submit.output = rd_field("/o/r");
	submit.scratch = rd_field("/s");
	submit.filter = &filter;
	top = (Rd__Top)RD__TOP__INIT;
	finish = (Rd__Finish)RD__FINISH__INIT;
	finish.n_path = finish.n_member = finish.n_group = finish.n_shards = 2;
	finish.path = paths;
	finish.member = members;
	finish.group = groups;
	finish.shards = shards;
	finish.output = rd_field("/o/r");
	finish.filter = &filter;
	q_trace[0] = 1;
	q_shard[0] = 2;
	q_from[0] = 5;
	q_to[0] = 9;
	finish.n_quarantined_trace = finish.n_quarantined_shard = finish.n_quarantined_from = finish.n_quarantined_to =
		1;
	finish.quarantined_trace = q_trace;
	finish.quarantined_shard = q_shard;
	finish.quarantined_from = q_from;
	finish.quarantined_to = q_to;
	finished = (Rd__Finished)RD__FINISHED__INIT;
	finished.output = rd_field("/o/r");
	status = (Rd__Status)RD__STATUS__INIT;
	status.id = rd_field("j");
	status.state = rd_field("running");
}

/* Which parts a kind has, and whether it names a job (1) and a task (2). */
static void good(Rd__Kind kind)
{
	rd_blob_release(&m.blob);
	good_parts();
	e = rd_envelope(kind);
	m.envelope = &e;
	switch (kind) {
	case RD__KIND__HELLO:
		e.hello = &hello;
		return;
	case RD__KIND__WELCOME:
		e.welcome = &welcome;
		return;
	case RD__KIND__REFUSED:
		e.error = &error;
		return;
	case RD__KIND__PING:
	case RD__KIND__LEAVE:
	case RD__KIND__JOBS:
		return;
	case RD__KIND__SUBMIT:
		e.submit = &submit;
		return;
	default:
		break;
	}
	e.job = rd_field("j");
	switch (kind) {
	case RD__KIND__FINISH:
		e.finish = &finish;
		return;
	case RD__KIND__FINISHED:
		e.finished = &finished;
		return;
	case RD__KIND__JOB_STATUS:
		e.status = &status;
		return;
	case RD__KIND__TOP:
		e.count = 1;
		return;
	case RD__KIND__TOP_ROWS:
		e.top = &top;
		return;
	case RD__KIND__SWEEP:
		e.work = &work;
		return;
	case RD__KIND__FINISH_PROGRESS:
	case RD__KIND__DROP:
	case RD__KIND__SUBMITTED:
	case RD__KIND__STATUS:
	case RD__KIND__CANCEL:
	case RD__KIND__RETRY:
		return;
	default:
		break;
	}
	e.task = 1;
	e.attempt = 1;
	if (kind == RD__KIND__TASK) {
		e.work = &work;
		rd_blob_add(&m.blob, "info", 4, NULL);
	} else if (kind == RD__KIND__RESULT) {
		e.opened = &opened;
	} else if (kind == RD__KIND__FAILED) {
		e.error = &error;
	} else if (kind == RD__KIND__CHUNK) {
		e.chunk = &chunk;
		rd_blob_add(&m.blob, "block", 5, NULL);
	}
}

static void passes(enum rd_sender from)
{
	struct rd_error err;
	assert_ok(rd_validate(&m, from, &err), &err);
}

static void refused_as(enum rd_sender from, const char *text, int line)
{
	struct rd_error err;

	if (rd_validate(&m, from, &err) != RD_PROTOCOL)
		_fail(__FILE__, line);
	if (strstr(err.text, text) == NULL) {
		print_error("\"%s\" holds no \"%s\"\n", err.text, text);
		_fail(__FILE__, line);
	}
}
#define refused(from, text) refused_as((from), (text), __LINE__)

static const struct {
	Rd__Kind kind;
	const char *name;
	unsigned senders; /* by enum rd_sender */
} kinds[] = {
	{RD__KIND__HELLO, "HELLO",
	 1 << RD_FROM_STRANGER | 1 << RD_FROM_WORKER | 1 << RD_FROM_MERGER | 1 << RD_FROM_CLIENT},
	{RD__KIND__WELCOME, "WELCOME", 1 << RD_FROM_BROKER},
	{RD__KIND__REFUSED, "REFUSED", 1 << RD_FROM_BROKER},
	{RD__KIND__PING, "PING", 1 << RD_FROM_BROKER},
	{RD__KIND__TASK, "TASK", 1 << RD_FROM_BROKER},
	{RD__KIND__ABANDON, "ABANDON", 1 << RD_FROM_BROKER},
	{RD__KIND__SWEEP, "SWEEP", 1 << RD_FROM_BROKER},
	{RD__KIND__PROGRESS, "PROGRESS", 1 << RD_FROM_WORKER},
	{RD__KIND__RESULT, "RESULT", 1 << RD_FROM_WORKER},
	{RD__KIND__FAILED, "FAILED", 1 << RD_FROM_WORKER | 1 << RD_FROM_MERGER},
	{RD__KIND__LEAVE, "LEAVE", 1 << RD_FROM_WORKER},
	{RD__KIND__CHUNK, "CHUNK", 1 << RD_FROM_WORKER | 1 << RD_FROM_BROKER},
	{RD__KIND__CHUNK_ACK, "CHUNK_ACK", 1 << RD_FROM_MERGER | 1 << RD_FROM_BROKER},
	{RD__KIND__COMMIT, "COMMIT", 1 << RD_FROM_WORKER | 1 << RD_FROM_BROKER},
	{RD__KIND__MERGED, "MERGED", 1 << RD_FROM_MERGER},
	{RD__KIND__DONE, "DONE", 1 << RD_FROM_BROKER},
	{RD__KIND__FINISH, "FINISH", 1 << RD_FROM_BROKER},
	{RD__KIND__FINISHED, "FINISHED", 1 << RD_FROM_MERGER},
	{RD__KIND__FINISH_PROGRESS, "FINISH_PROGRESS", 1 << RD_FROM_MERGER},
	{RD__KIND__DROP, "DROP", 1 << RD_FROM_BROKER},
	{RD__KIND__SUBMIT, "SUBMIT", 1 << RD_FROM_CLIENT},
	{RD__KIND__SUBMITTED, "SUBMITTED", 1 << RD_FROM_BROKER},
	{RD__KIND__STATUS, "STATUS", 1 << RD_FROM_CLIENT},
	{RD__KIND__JOB_STATUS, "JOB_STATUS", 1 << RD_FROM_BROKER},
	{RD__KIND__CANCEL, "CANCEL", 1 << RD_FROM_CLIENT},
	{RD__KIND__TOP, "TOP", 1 << RD_FROM_CLIENT | 1 << RD_FROM_BROKER},
	{RD__KIND__TOP_ROWS, "TOP_ROWS", 1 << RD_FROM_MERGER | 1 << RD_FROM_BROKER},
	{RD__KIND__JOBS, "JOBS", 1 << RD_FROM_BROKER},
	{RD__KIND__RETRY, "RETRY", 1 << RD_FROM_CLIENT},
};

static void every_kind_from_every_sender(void **state)
{
	size_t named = 0;

	for (int k = -2; k < 300; k++)
		named += strcmp(rd_kind_name((Rd__Kind)k), "?") != 0;
	assert_int_equal(sizeof kinds / sizeof *kinds, named);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		good(kinds[i].kind);
		assert_string_equal(kinds[i].name, rd_kind_name(kinds[i].kind));
		for (unsigned from = RD_FROM_STRANGER; from <= RD_FROM_BROKER; from++) {
			if (kinds[i].senders & 1u << from)
				passes((enum rd_sender)from);
			else
				refused((enum rd_sender)from, "not from this sender");
		}
	}
}

static enum rd_sender a_sender(unsigned senders)
{
	unsigned from = RD_FROM_STRANGER;
	while (!(senders & 1u << from))
		from++;
	return (enum rd_sender)from;
}

static void every_kind_with_what_it_must_not_have(void **state)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		Rd__Kind kind = kinds[i].kind;
		enum rd_sender from = a_sender(kinds[i].senders);

		good(kind);
		e.protocol++;
		refused(from, "speaks protocol 2");
		good(kind);
		if (e.chunk == NULL) {
			e.chunk = &chunk;
			refused(from, "parts");
		}
		good(kind);
		if (e.hello == NULL) {
			e.hello = &hello;
			refused(from, "parts");
		}
		good(kind);
		e.job = rd_field("");
		if (kind != RD__KIND__STATUS && rd_field_span(&e.job).size_bytes == 0 && e.task)
			refused(from, "job, task or attempt");
		good(kind);
		e.job = (ProtobufCBinaryData){3, (uint8_t *)"a\0b"};
		refused(from, "job, task or attempt");
		good(kind);
		long_text[RD_JOB_ID_MAX + 1] = 0;
		memset(long_text, 'x', RD_JOB_ID_MAX + 1);
		e.job = rd_field(long_text);
		refused(from, "job, task or attempt");
		good(kind);
		if (e.task == 0) {
			e.task = 1;
			refused(from, "job, task or attempt");
		} else {
			e.attempt = 0;
			refused(from, "job, task or attempt");
		}
		good(kind);
		if (m.blob.frames.n == 0 && kind != RD__KIND__RESULT && kind != RD__KIND__FINISH &&
		    kind != RD__KIND__TOP) {
			rd_blob_add(&m.blob, "x", 1, NULL);
			refused(from, "frames");
		}
	}
	good(RD__KIND__PING);
	e.kind = (Rd__Kind)9;
	refused(RD_FROM_BROKER, "unknown kind 9");
	e.kind = (Rd__Kind)-1;
	refused(RD_FROM_BROKER, "unknown kind -1");
	e.kind = (Rd__Kind)1000000;
	refused(RD_FROM_BROKER, "unknown kind 1000000");
}

#define BAD(KIND, FROM, CHANGE, TEXT)                                                                                  \
	do {                                                                                                           \
		good(RD__KIND__##KIND);                                                                                \
		CHANGE;                                                                                                \
		refused(RD_FROM_##FROM, TEXT);                                                                         \
	} while (0)

static void greetings(void **state)
{
	BAD(HELLO, STRANGER, e.hello = NULL, "parts");
	BAD(HELLO, STRANGER, hello.role = RD__ROLE__ROLE_NONE, "role");
	BAD(HELLO, STRANGER, hello.role = (Rd__Role)77, "role");
	BAD(HELLO, STRANGER, hello.uuid.len = 15, "uuid");
	BAD(HELLO, STRANGER, hello.version = rd_field(""), "version");
	BAD(HELLO, STRANGER, hello.capacity = 0, "capacity");
	BAD(HELLO, STRANGER, hello.capacity = 65, "capacity");
	BAD(HELLO, STRANGER, hello.role = RD__ROLE__CLIENT, "capacity");
	BAD(WELCOME, BROKER, welcome.epoch.len = 0, "epoch");
	BAD(WELCOME, BROKER, welcome.progress_ms = 0, "pace");
	BAD(REFUSED, BROKER, error.code = 0, "error");
	BAD(FAILED, WORKER, error.code = 7, "error");
	memset(long_text, 'x', 256);
	long_text[256] = 0;
	BAD(FAILED, WORKER, error.text = rd_field(long_text), "error");
	BAD(FAILED, MERGER, error.file = ((ProtobufCBinaryData){2, (uint8_t *)"\0x"}), "error");
}

static void tasks(void **state)
{
	BAD(TASK, BROKER, work.work = RD__WORK__WORK_NONE, "work");
	BAD(TASK, BROKER, work.work = (Rd__Work)9, "work");
	BAD(TASK, BROKER, work.path = rd_field(""), "path");
	BAD(TASK, BROKER, work.scratch = rd_field("/s"), "scratch");
	BAD(TASK, BROKER, work.blocks_bytes = 3, "parts");
	BAD(TASK, BROKER, (work.info_bytes = UINT64_MAX, work.blocks_bytes = 5), "parts");
	BAD(TASK, BROKER, (work.info_bytes = 0, work.blocks_bytes = 4), "parts");
	BAD(TASK, BROKER, work.window = 0, "window");
	BAD(TASK, BROKER, work.window = 1025, "window");
	BAD(TASK, BROKER, work.work = RD__WORK__INDEX, "parts");
	BAD(TASK, BROKER, work.work = RD__WORK__OPEN, "scratch");
	good(RD__KIND__TASK);
	rd_blob_release(&m.blob);
	work = (Rd__Assignment)RD__ASSIGNMENT__INIT;
	work.work = RD__WORK__OPEN;
	work.path = rd_field("relative is the worker's affair");
	work.scratch = rd_field("/s");
	passes(RD_FROM_BROKER);
	work.window = 1;
	refused(RD_FROM_BROKER, "window");
	work.window = 0;
	work.damage = rd_field("cut");
	refused(RD_FROM_BROKER, "damage");
	work.damage = rd_field("");
	work.scratch = rd_field("s");
	refused(RD_FROM_BROKER, "scratch");
}

static void results(void **state)
{
	BAD(RESULT, WORKER, e.opened = NULL, "neither");
	BAD(RESULT, WORKER, rd_blob_add(&m.blob, "x", 1, NULL), "index and traces");
	BAD(RESULT, WORKER, opened.n_path = 0, "number");
	BAD(RESULT, WORKER, opened.n_member = 1, "number");
	BAD(RESULT, WORKER, opened.n_size_bytes = 1, "number");
	BAD(RESULT, WORKER, opened.n_damage = 1, "number");
	BAD(RESULT, WORKER, damages[1] = ((ProtobufCBinaryData){3, (uint8_t *)"a\0b"}), "damage");
	BAD(RESULT, WORKER, paths[1] = rd_field("../a"), "path");
	BAD(RESULT, WORKER, paths[1] = ((ProtobufCBinaryData){3, (uint8_t *)"/\0a"}), "path");
	memset(long_text, 'x', 4999);
	long_text[0] = '/';
	long_text[RD_PATH_MAX + 1] = 0;
	BAD(RESULT, WORKER, paths[0] = rd_field(long_text), "path");
	long_text[RD_PATH_MAX] = 0;
	good(RD__KIND__RESULT);
	paths[0] = rd_field(long_text);
	passes(RD_FROM_WORKER);
	BAD(RESULT, WORKER, members[0] = rd_field(long_text), "name");
	BAD(CHUNK, WORKER, chunk.table = 0, "table");
	BAD(CHUNK, WORKER, chunk.table = 256, "table");
	BAD(CHUNK, WORKER, rd_blob_add(&m.blob, "x", 1, NULL), "frames");
	BAD(CHUNK, WORKER, rd_blob_release(&m.blob), "frames");
}

static void scratch_folders(void **state)
{
	static const struct {
		const char *path;
		bool is;
	} rows[] = {
		{"/a/.rundown-scratch-1f", true},
		{"/.rundown-scratch-1f", true},
		{"/a/.rundown-scratch-", false},
		{"/a/.rundown-scratch", false},
		{"/a/.rundown-scratch-1/b", false},
		{"/.rundown-scratch-1/", false},
		{"", false},
		{"/", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(rows[i].is,
				 rd_is_scratch((struct rd_span){(const uint8_t *)rows[i].path, strlen(rows[i].path)}));
	BAD(TOP, CLIENT, e.count = 0, "rows");
	BAD(TOP, CLIENT, e.count = RD_TOP_MAX + 1, "rows");
	BAD(TOP, BROKER, e.finish = &finish, "traces");
	BAD(TOP, BROKER, rd_blob_add(&m.blob, "x", 1, NULL), "traces");
	BAD(TOP, BROKER, (e.finish = &finish, rd_blob_add(&m.blob, "x", 1, NULL), finish.n_path = 0), "number");
	BAD(TOP_ROWS, MERGER, e.top = NULL, "rows or why");
	BAD(TOP_ROWS, MERGER, e.error = &error, "rows or why");
	BAD(TOP_ROWS, MERGER, top.n_exclusive = 1, "rows");
	top.n_exclusive = 0;
	BAD(SWEEP, BROKER, work.path = rd_field("a"), "path");
}

static void jobs(void **state)
{
	BAD(SUBMIT, CLIENT, submit.n_path = 0, "number");
	BAD(SUBMIT, CLIENT, (submit.n_optional = 1, submit.optional = &(protobuf_c_boolean){true}), "optional");
	BAD(SUBMIT, CLIENT, submit.n_path = RD_TRACES_MAX + 1, "number");
	BAD(SUBMIT, CLIENT, paths[1] = rd_field("a"), "path");
	BAD(SUBMIT, CLIENT, submit.output = rd_field("r"), "output");
	BAD(SUBMIT, CLIENT, submit.scratch = rd_field(""), "scratch");
	BAD(SUBMIT, CLIENT, submit.filter = NULL, "filter");
	BAD(SUBMIT, CLIENT, filter.kind = -1, "filter");
	BAD(SUBMIT, CLIENT, filter.kind = 9, "filter");
	BAD(SUBMIT, CLIENT, submit.priority = RD_PRIORITY_MAX + 1, "priority");
	BAD(SUBMIT, CLIENT, submit.priority = -RD_PRIORITY_MAX - 1, "priority");
	BAD(SUBMIT, CLIENT, submit.attempts = RD_ATTEMPTS_MAX + 1, "attempts");
	BAD(SUBMIT, CLIENT, e.token = rd_field("short"), "token");
	good(RD__KIND__SUBMITTED);
	e.job = rd_field("");
	refused(RD_FROM_BROKER, "a job or why");
	e.error = &error;
	passes(RD_FROM_BROKER);
	e.job = rd_field("j");
	refused(RD_FROM_BROKER, "a job or why");
	BAD(FINISH, BROKER, finish.n_path = 1, "number");
	BAD(FINISH, BROKER, finish.n_path = 0, "number");
	BAD(FINISH, BROKER, finish.n_group = 1, "number");
	BAD(FINISH, BROKER, finish.output = rd_field(""), "paths");
	BAD(FINISH, BROKER, finish.n_quarantined_to = 0, "quarantined");
	BAD(FINISH, BROKER, q_trace[0] = 2, "quarantined");
	BAD(FINISH, BROKER, q_shard[0] = 3, "quarantined");
	BAD(FINISH, BROKER, q_from[0] = 10, "quarantined");
	BAD(FINISH, BROKER, finish.filter = NULL, "filter");
	BAD(FINISHED, MERGER, finished.output = rd_field("x"), "output");
	BAD(JOB_STATUS, BROKER, status.id = rd_field(""), "job");
	BAD(JOB_STATUS, BROKER, status.state = rd_field("a state that is too long"), "state");
	memset(long_text, 'x', RD_PATH_MAX + 1);
	long_text[RD_PATH_MAX + 1] = 0;
	BAD(JOB_STATUS, BROKER, status.path = rd_field(long_text), "paths");
	BAD(JOB_STATUS, BROKER, (error.code = 1, status.error = &error), "error");
	BAD(JOB_STATUS, BROKER, (finished.output = rd_field(""), status.finished = &finished), "output");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_from_every_sender),
		cmocka_unit_test(every_kind_with_what_it_must_not_have),
		cmocka_unit_test(greetings),
		cmocka_unit_test(tasks),
		cmocka_unit_test(results),
		cmocka_unit_test(jobs),
		cmocka_unit_test(scratch_folders),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	rd_blob_release(&m.blob);
	return failed;
}
