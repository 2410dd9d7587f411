#include "tests/profile/scene.h"

#include "tests/profile/packed.h"
#include "tests/support.h"

void scene_init(struct scene *s)
{
	*s = (struct scene){.files = 1};
	for (size_t i = 0; i < sizeof s->info / sizeof *s->info; i++) {
		s->info[i] = (struct rd_trace_info){
			.format = RD_FORMAT_ETL,
			.pointer_bytes = 8,
			.clock = {.kind = RD_CLOCK_QPC, .frequency_hz = 1000000000},
			.complete = true,
			.cut_at = RD_NO_OFFSET,
		};
	}
}

static uint64_t *place_of(struct scene_item *item)
{
	switch ((int)item->table) {
	case RD_TABLE_METHODS:
		return &item->method.place;
	case RD_TABLE_MODULES:
		return &item->module.place;
	case RD_TABLE_IMAGES:
		return &item->image.place;
	case RD_TABLE_THREADS:
		return &item->thread.place;
	case RD_TABLE_PROCESSES:
		return &item->process.place;
	case RD_TABLE_STACK_KEYS:
		return &item->stack_key.place;
	case RD_TABLE_MARKERS:
		return &item->marker.place;
	case RD_TABLE_RUNTIMES:
		return &item->runtime.place;
	case RD_TABLE_STACK_RECORDS:
		return &item->record.place;
	case RD_TABLE_MAPPINGS:
		return &item->mapping.place;
	case RD_TABLE_SYMBOLS:
		return &item->symbol.place;
	default:
		return NULL;
	}
}

void scene_add(struct scene *s, struct scene_item item)
{
	uint64_t *place = place_of(&item);

	if (place && *place == 0)
		*place = ++s->places[item.file] << 8;
	struct scene_item *at = rd_vec_add(&s->items);
	assert_non_null(at);
	*at = item;
}

void scene_release(struct scene *s)
{
	rd_vec_release(&s->items);
}

static uint32_t put_text(struct rd_partial *p, const char *text)
{
	return text ? rd_strings_id(&p->strings, text, strlen(text)) + 1 : 0;
}

/* The stack's number + 1; equal stacks are one. */
static uint32_t put_stack(struct rd_partial *p, const uint64_t *frames)
{
	size_t n = 0, begin = 0;

	while (n < SCENE_FRAMES && frames[n])
		n++;
	if (n == 0)
		return 0;
	for (size_t i = 0; i < p->stack_ends.n; begin = p->stack_ends.at[i++])
		if (p->stack_ends.at[i] - begin == n && memcmp(p->stack_frames.at + begin, frames, n * 8) == 0)
			return (uint32_t)i + 1;
	assert_int_equal(rd_vec_reserve(&p->stack_frames, n), 0);
	for (size_t i = 0; i < n; i++)
		p->stack_frames.at[p->stack_frames.n++] = frames[i];
	assert_int_equal(rd_vec_reserve(&p->stack_ends, 1), 0);
	p->stack_ends.at[p->stack_ends.n++] = p->stack_frames.n;
	return (uint32_t)p->stack_ends.n;
}

#define PUSH(vec, row) (assert_int_equal(rd_vec_reserve(&(vec), 1), 0), (vec).at[(vec).n++] = (row))

static void put_method(struct rd_partial *p, const struct scene_item *item)
{
	struct rd_fact_method row = item->method;

	row.ns = put_text(p, item->text[0]);
	row.name = put_text(p, item->text[1]);
	row.signature = put_text(p, item->text[2]);
	bool rundown = row.op == RD_OP_DCSTART || row.op == RD_OP_DCEND;
	p->summary.providers_seen |=
		rundown ? RD_SEEN_RUNDOWN | RD_SEEN_RUNDOWN_METHODS : RD_SEEN_RUNTIME | RD_SEEN_RUNTIME_METHODS;
	PUSH(p->methods, row);
}

static void put_sample(struct rd_partial *p, const struct scene_item *item)
{
	struct rd_sample row = item->sample;
	struct rd_partial_summary *s = &p->summary;

	row.stack = put_stack(p, item->frames);
	s->first_sample = row.time < s->first_sample ? row.time : s->first_sample;
	s->last_sample = row.time > s->last_sample ? row.time : s->last_sample;
	s->samples++;
	s->providers_seen |= row.stack ? RD_SEEN_SAMPLES | RD_SEEN_STACKS : RD_SEEN_SAMPLES;
	PUSH(p->samples, row);
}

static void put_record(struct rd_partial *p, const struct scene_item *item)
{
	struct rd_stack_row row = item->record;
	struct rd_partial_summary *s = &p->summary;

	row.stack = put_stack(p, item->frames);
	s->first_stack_record = row.sample_time < s->first_stack_record ? row.sample_time : s->first_stack_record;
	s->last_stack_record = row.sample_time > s->last_stack_record ? row.sample_time : s->last_stack_record;
	s->stack_records++;
	s->providers_seen |= RD_SEEN_STACKS;
	PUSH(p->stack_records, row);
}

static void put_item(struct rd_partial *p, const struct scene_item *item)
{
	struct scene_item row = *item;

	switch ((int)item->table) {
	case RD_TABLE_METHODS:
		put_method(p, item);
		break;
	case RD_TABLE_MODULES:
		row.module.il_path = put_text(p, item->text[0]);
		PUSH(p->modules, row.module);
		break;
	case RD_TABLE_IMAGES:
		row.image.path = put_text(p, item->text[0]);
		PUSH(p->images, row.image);
		break;
	case RD_TABLE_THREADS:
		PUSH(p->threads, row.thread);
		break;
	case RD_TABLE_PROCESSES:
		row.process.name = put_text(p, item->text[0]);
		row.process.command_line = put_text(p, item->text[1]);
		PUSH(p->processes, row.process);
		break;
	case RD_TABLE_STACK_KEYS:
		row.stack_key.stack = put_stack(p, item->frames);
		PUSH(p->stack_keys, row.stack_key);
		break;
	case RD_TABLE_MARKERS:
		p->summary.providers_seen |= RD_SEEN_RUNDOWN;
		PUSH(p->markers, row.marker);
		break;
	case RD_TABLE_RUNTIMES:
		row.runtime.command_line = put_text(p, item->text[0]);
		PUSH(p->runtimes, row.runtime);
		break;
	case RD_TABLE_MAPPINGS:
		row.mapping.path = put_text(p, item->text[0]);
		PUSH(p->mappings, row.mapping);
		break;
	case RD_TABLE_SYMBOLS:
		row.symbol.name = put_text(p, item->text[0]);
		PUSH(p->symbols, row.symbol);
		break;
	case RD_TABLE_SAMPLES:
		put_sample(p, item);
		break;
	case RD_TABLE_STACK_RECORDS:
		put_record(p, item);
		break;
	default:
		fail_msg("a scene has no items of table %d", (int)item->table);
	}
}

static void begin_partial(struct rd_partial *p)
{
	*p = (struct rd_partial){.summary = {.first_sample = UINT64_MAX, .first_stack_record = UINT64_MAX}};
}

static void end_partial(struct rd_partial *p)
{
	if (p->samples.n)
		qsort(p->samples.at, p->samples.n, sizeof *p->samples.at, rd_sample_order);
	if (p->stack_records.n)
		qsort(p->stack_records.at, p->stack_records.n, sizeof *p->stack_records.at, rd_stack_row_order);
}

void scene_partial(const struct scene *s, struct rd_partial *p)
{
	begin_partial(p);
	for (size_t i = 0; i < s->items.n; i++)
		put_item(p, &s->items.at[i]);
	end_partial(p);
}

struct dealt {
	struct packed *shards; /* of all files, those of a file together */
	size_t of_file[4];     /* the first of each */
};

struct dealt_file {
	const struct packed *shards;
};

static int give_block(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		      struct rd_error *err)
{
	const struct packed *k = &((const struct dealt_file *)ctx)->shards[shard];

	for (size_t i = 0; i < k->blocks.n; i++) {
		if (k->blocks.at[i].table == table && k->blocks.at[i].seq == seq) {
			*block = (struct rd_span){k->blocks.at[i].at, k->blocks.at[i].n};
			return 1;
		}
	}
	return 0;
}

static void deal(const struct scene *s, size_t shards, size_t (*shard_of)(void *ctx, size_t item), void *ctx,
		 struct packed *packed)
{
	struct rd_partial *partials = calloc(shards * s->files, sizeof *partials);
	struct rd_error err;

	assert_non_null(partials);
	for (size_t i = 0; i < shards * s->files; i++)
		begin_partial(&partials[i]);
	for (size_t i = 0; i < s->items.n; i++) {
		size_t shard = shard_of ? shard_of(ctx, i) : i % shards;
		put_item(&partials[s->items.at[i].file * shards + shard], &s->items.at[i]);
	}
	for (size_t i = 0; i < shards * s->files; i++) {
		end_partial(&partials[i]);
		if (s->spoil)
			s->spoil(&partials[i], i);
		assert_ok(rd_partial_pack(&partials[i], packed_keep, &packed[i], &err), &err);
		rd_partial_release(&partials[i]);
	}
	free(partials);
}

int scene_finish(const struct scene *s, size_t shards, size_t (*shard_of)(void *ctx, size_t item), void *ctx,
		 const struct rd_finish_options *opt, struct rd_result *out, struct rd_error *err)
{
	struct packed *packed = calloc(shards * s->files, sizeof *packed);
	struct dealt_file files[4];
	struct rd_finish_trace traces[4];

	assert_non_null(packed);
	deal(s, shards, shard_of, ctx, packed);
	for (size_t i = 0; i < s->files; i++) {
		files[i] = (struct dealt_file){&packed[i * shards]};
		traces[i] = (struct rd_finish_trace){
			.path = "made.etl",
			.info = &s->info[i],
			.partials = {.ctx = &files[i], .shards = shards, .block = give_block},
			.group = s->group[i],
		};
	}
	rd_fail_allocation(s->fail_allocation);
	int rc = rd_finish(traces, s->files, opt, out, err);
	rd_fail_allocation(0);
	for (size_t i = 0; i < shards * s->files; i++)
		packed_release(&packed[i]);
	free(packed);
	return rc;
}

void scene_run(const struct scene *s, struct rd_result *out)
{
	struct rd_error err;

	assert_ok(scene_finish(s, 1, NULL, NULL, NULL, out, &err), &err);
}

/* ---- folded */

static void put_frame(FILE *f, const struct rd_result *r, uint32_t id, unsigned show)
{
	const struct rd_result_frame *frame = &r->frames.at[id];
	struct rd_span module = rd_strings_at(&r->strings, frame->module);
	struct rd_span name = rd_strings_at(&r->strings, frame->name);
	char tier[32];

	assert_int_equal(frame->flags & RD_FRAME_UNRESOLVED, name.size_bytes == 1 && name.at[0] == '?');
	fputc(';', f);
	if (show & SCENE_CLR)
		fprintf(f, "%u:", frame->clr);
	if (module.size_bytes)
		fprintf(f, "%.*s!", (int)module.size_bytes, (const char *)module.at);
	fprintf(f, "%.*s", (int)name.size_bytes, (const char *)name.at);
	if (show & SCENE_TIERS)
		fprintf(f, "[%s]", rd_tier_name(frame->tier, tier));
}

static void put_row(FILE *f, const struct rd_result *r, uint32_t process, uint32_t stack, uint64_t count, unsigned show)
{
	const struct rd_result_process *p = &r->processes.at[process];
	uint32_t frames[256], n = 0;

	for (const struct rd_result_call *c = rd_result_innermost(r, stack); c; c = rd_result_call(r, c->caller)) {
		assert_in_range(n, 0, sizeof frames / sizeof *frames - 1);
		frames[n++] = c->frame;
	}
	fprintf(f, "%d", (int)p->pid);
	if (show & SCENE_STARTS && p->start_utc_ns != INT64_MIN)
		fprintf(f, "@%lld", (long long)p->start_utc_ns);
	for (uint32_t i = n; i > 0; i--)
		put_frame(f, r, frames[i - 1], show);
	if (n == 0)
		fputs(";[no stack]", f);
	fprintf(f, " %llu\n", (unsigned long long)count);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void scene_sort_lines(char *text)
{
	char *copy = strdup(text), *line, *rest = copy;
	char **lines = calloc(strlen(text) + 1, sizeof *lines);
	size_t n = 0;

	assert_non_null(copy);
	assert_non_null(lines);
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			lines[n++] = line;
	if (n)
		qsort(lines, n, sizeof *lines, compare_lines);
	for (size_t i = 0; i < n; i++)
		text += sprintf(text, "%s\n", lines[i]);
	free(lines);
	free(copy);
}

static int compare_pairs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : 0;
}

char *scene_folded(const struct rd_result *r, unsigned show)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	uint64_t(*pairs)[2] = calloc(r->rows.n + 1, sizeof *pairs);

	assert_non_null(f);
	assert_non_null(pairs);
	for (size_t i = 0; i < r->rows.n; i++) {
		pairs[i][0] = (uint64_t)r->rows.at[i].process << 32 | r->rows.at[i].stack;
		pairs[i][1] = r->rows.at[i].count;
	}
	if (r->rows.n)
		qsort(pairs, r->rows.n, sizeof *pairs, compare_pairs);
	for (size_t i = 0; i < r->rows.n;) {
		uint64_t count = 0, key = pairs[i][0];
		while (i < r->rows.n && pairs[i][0] == key)
			count += pairs[i++][1];
		put_row(f, r, (uint32_t)(key >> 32), (uint32_t)key, count, show);
	}
	fclose(f);
	free(pairs);
	scene_sort_lines(text);
	return text;
}

void scene_assert_folded(const struct rd_result *r, unsigned show, const char *expected, const char *file, int line)
{
	char *text = scene_folded(r, show);
	bool same = strcmp(text, expected) == 0;

	if (!same)
		print_error("folded:\n%sexpected:\n%s", text, expected);
	free(text);
	if (!same)
		_fail(file, line);
}

void scene_of_samples(struct scene *s)
{
	scene_init(s);
	s->info[0].clock.start_utc_ns = 1000;
	s->info[0].clock.start_ticks = 100;
	SCENE_PROCESS(s, "Shop.exe", .time = 101, .op = RD_OP_LOAD, .pid = 7);
	SCENE_PROCESS(s, "7", .time = 101, .op = RD_OP_LOAD, .pid = 8);
	for (uint64_t time = 110; time < 150; time += 10) {
		SCENE_SAMPLE(s, time, 7, 0x1000);
		SCENE_SAMPLE(s, time, 8, 0x1000);
	}
	scene_add(s, (struct scene_item){
			     .table = RD_TABLE_SAMPLES,
			     .sample = {.time = 150, .kind = RD_SAMPLE_MANAGED, .pid = 9, .thread = 3, .weight = 5}});
}

void scene_believe(struct rd_partial *p, size_t shard)
{
	struct rd_error err;
	struct scene none;

	scene_init(&none);
	assert_ok(rd_finish_preliminary(&none.info[0], p, NULL, &err), &err);
}
