/*
 * Random traces in random shards against the sentences of docs/design.md, section 3, taken one by one: every
 * question below looks at every fact. Times, addresses and ids are few, so that everything collides.
 * RD_SEED=n runs that seed alone.
 */
#include "tests/profile/scene.h"
#include "tests/support.h"

#include "profile/order.h"

#define KERNEL 0xffff800000000000u
#ifdef __SANITIZE_ADDRESS__
#define SEEDS 40
#else
#define SEEDS 250
#endif

static uint64_t random_state;

static uint32_t pick(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 11) % n);
}

#define ONE_OF(...) pick_one((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)
static uint64_t pick_one(const uint64_t *of, size_t n)
{
	return of[pick((uint32_t)n)];
}

/* ---- a random trace */

static uint64_t some_time(void)
{
	return pick(40);
}

static uint64_t some_address(void)
{
	return (pick(3) ? 0x1000 : KERNEL) + pick(12) * 8;
}

static uint32_t some_op(void)
{
	return (uint32_t)ONE_OF(RD_OP_LOAD, RD_OP_LOAD, RD_OP_UNLOAD, RD_OP_UNLOAD, RD_OP_DCSTART, RD_OP_DCEND);
}

static uint32_t some_pid(void)
{
	return (uint32_t)ONE_OF(7, 7, 7, 8, 4, 0);
}

static const char *some_name(const char *const names[3])
{
	return names[pick(3)];
}

static void some_frames(uint64_t *frames)
{
	uint32_t n = pick(4);
	for (uint32_t i = 0; i < n; i++)
		frames[i] = some_address();
}

static struct scene_item some_method(void)
{
	static const char *const names[] = {"A", "B", "C"};
	struct scene_item item = {
		.table = RD_TABLE_METHODS,
		.method = {.time = some_time(),
			   .pid = some_pid(),
			   .op = some_op(),
			   .clr = pick(2),
			   .module_id = pick(2),
			   .method_id = pick(3),
			   .rejit_id = pick(2),
			   .start = some_address(),
			   .size_bytes = pick(40),
			   .flags = pick(8) << 7 | (pick(4) ? 8u : 0)},
	};
	if (pick(4)) {
		item.text[0] = "";
		item.text[1] = some_name(names);
		item.text[2] = "()";
	}
	return item;
}

static struct scene_item some_mapping(void)
{
	static const char *const paths[] = {"/lib/one.dll", "C:\\two.dll", "three"};
	struct scene_item item = {.text = {some_name(paths)}};

	if (pick(2)) {
		item.table = RD_TABLE_MODULES;
		item.module = (struct rd_fact_module){
			.time = some_time(), .pid = some_pid(), .op = some_op(), .clr = pick(2), .module_id = pick(2)};
	} else {
		item.table = RD_TABLE_IMAGES;
		item.image = (struct rd_fact_image){.time = some_time(),
						    .pid = some_pid(),
						    .op = some_op(),
						    .base = some_address(),
						    .size_bytes = pick(64)};
	}
	return item;
}

/* Symbols: what their names make of a frame. Of compiled code the label is whole, of the others it lacks the module. */
static const struct symbol {
	const char *text, *label;
	uint32_t tier;
} symbols[] = {
	{"int32 [app] N.T::A(int32)[Optimized]", "0:app!A", RD_TIER_OPTIMIZED},
	{"int32 [app] N.T::A(int32)[QuickJitted]", "0:app!A", RD_TIER_QUICK},
	{"int32 [app] N.T::B(int32)[Optimized]", "0:app!B", RD_TIER_OPTIMIZED},
	{"n", "n", RD_TIER_NATIVE},
	{"_m", "_m", RD_TIER_NATIVE},
	{"__", "__", RD_TIER_NATIVE},
	{"oo", "oo", RD_TIER_NATIVE},
};

static struct scene_item some_machine(void)
{
	static const char *const paths[] = {"/lib/one.dll", "C:\\two.dll", "three"};
	struct scene_item item = {.text = {some_name(paths)}};
	uint64_t start = some_address();

	if (pick(2)) {
		item.table = RD_TABLE_MAPPINGS;
		item.mapping = (struct rd_fact_mapping){.time = some_time(),
							.pid = some_pid(),
							.id = pick(3),
							.start = start,
							.end = start + pick(96) - 2};
	} else {
		item.table = RD_TABLE_SYMBOLS;
		item.symbol = (struct rd_fact_symbol){.time = some_time(),
						      .pid = some_pid(),
						      .mapping = pick(3),
						      .start = start,
						      .last = start + pick(64) - 2};
		/* Native ones as often as compiled ones: these beat them everywhere. */
		item.text[0] = symbols[pick(2) ? pick(3) : 3 + pick(4)].text;
	}
	return item;
}

static struct scene_item some_life(void)
{
	struct scene_item item = {.text = {"p.exe"}};

	switch (pick(3)) {
	case 0:
		item.table = RD_TABLE_PROCESSES;
		item.process = (struct rd_fact_process){.time = some_time(), .pid = some_pid(), .op = some_op()};
		break;
	case 1:
		item.table = RD_TABLE_THREADS;
		item.thread = (struct rd_fact_thread){
			.time = some_time(), .pid = some_pid(), .op = some_op(), .thread = 70 + pick(2)};
		break;
	default:
		item.table = RD_TABLE_MARKERS;
		item.marker = (struct rd_fact_marker){.time = some_time(), .pid = some_pid(), .marker = 1 + pick(4)};
	}
	return item;
}

static struct scene_item some_sample(void)
{
	struct scene_item item = {
		.table = RD_TABLE_SAMPLES,
		.sample = {.time = some_time(), .thread = ONE_OF(0, 70, 71, 72), .cpu = pick(2), .weight = 1 + pick(3)},
	};

	if (pick(3)) {
		item.sample.pid = RD_NO_PID;
		item.sample.pointer = pick(4) ? some_address() : 0;
	} else {
		item.sample.pid = some_pid();
		item.sample.kind = pick(3);
		some_frames(item.frames);
	}
	return item;
}

static struct scene_item some_record(void)
{
	struct scene_item item = {.table = RD_TABLE_STACK_RECORDS};
	uint64_t time = some_time();

	if (pick(4) == 0) {
		item.table = RD_TABLE_STACK_KEYS;
		item.stack_key = (struct rd_fact_stack_key){.time = time, .key = pick(3)};
		some_frames(item.frames);
		return item;
	}
	item.record = (struct rd_stack_row){.sample_time = time,
					    .time = time + pick(6),
					    .cpu = pick(2),
					    .thread = ONE_OF(0, 70, 71, 72),
					    .pid = some_pid(),
					    .part = pick(3)};
	if (item.record.part == RD_STACK_PLAIN)
		some_frames(item.frames);
	else
		item.record.key = pick(3);
	return item;
}

static void some_scene(struct scene *s)
{
	static struct scene_item (*const some[])(void) = {some_method, some_method, some_mapping,
							  some_life,   some_sample, some_sample,
							  some_record, some_record, some_machine};
	/* Few traces have methods and mappings; those that do should have many of both. */
	uint32_t kinds = pick(2) ? 8 : 9, machines = kinds == 8 || pick(2) ? 0 : 20 + pick(60);
	uint32_t n = 5 + pick(120);

	scene_init(s);
	s->files = 1 + pick(2);
	for (uint32_t i = 0; i < n; i++) {
		struct scene_item item = some[pick(kinds)]();
		item.file = pick((uint32_t)s->files);
		scene_add(s, item);
	}
	for (uint32_t i = 0; i < machines; i++)
		scene_add(s, some_machine());
	/* Half of them so long that buckets are wide. */
	if (pick(2)) {
		struct scene_item late = some_sample();
		late.sample.time = 100000;
		scene_add(s, late);
	}
	/* Places in no order. */
	for (size_t i = s->items.n; i > 1; i--) {
		size_t k = pick((uint32_t)i);
		struct scene_item swap = s->items.at[i - 1];
		s->items.at[i - 1] = s->items.at[k];
		s->items.at[k] = swap;
	}
}

/* ---- the sentences */

struct life {
	uint32_t pid;
	uint64_t begin;
	bool started, known;
};

struct frame {
	char label[64]; /* of its row */
	uint32_t tier;
	bool unresolved, ambiguous;
};

static struct scene *trace;

/* Every fact's head. */
static struct rd_when when_of(const struct scene_item *i)
{
	switch ((int)i->table) {
	case RD_TABLE_METHODS:
		return (struct rd_when){i->method.time, i->method.place, (uint16_t)i->file, (uint16_t)i->method.op, 0};
	case RD_TABLE_MODULES:
		return (struct rd_when){i->module.time, i->module.place, (uint16_t)i->file, (uint16_t)i->module.op, 0};
	case RD_TABLE_IMAGES:
		return (struct rd_when){i->image.time, i->image.place, (uint16_t)i->file, (uint16_t)i->image.op, 0};
	case RD_TABLE_PROCESSES:
		return (struct rd_when){i->process.time, i->process.place, (uint16_t)i->file, (uint16_t)i->process.op,
					0};
	case RD_TABLE_THREADS:
		return (struct rd_when){i->thread.time, i->thread.place, (uint16_t)i->file, (uint16_t)i->thread.op, 0};
	case RD_TABLE_STACK_KEYS:
		return (struct rd_when){i->stack_key.time, i->stack_key.place, (uint16_t)i->file, 0, 0};
	case RD_TABLE_STACK_RECORDS:
		return (struct rd_when){i->record.time, i->record.place, (uint16_t)i->file, 0, 0};
	case RD_TABLE_MAPPINGS:
		return (struct rd_when){i->mapping.time, i->mapping.place, (uint16_t)i->file, 0, 0};
	case RD_TABLE_SYMBOLS:
		return (struct rd_when){i->symbol.time, i->symbol.place, (uint16_t)i->file, 0, 0};
	default:
		return (struct rd_when){0};
	}
}

/* "Facts are ordered by (time, unloads and ends before all others, file index, block, place inside the block)." */
static bool comes_before(const struct scene_item *a, const struct scene_item *b)
{
	struct rd_when x = when_of(a), y = when_of(b);

	if (x.time != y.time)
		return x.time < y.time;
	if ((x.op == RD_OP_UNLOAD) != (y.op == RD_OP_UNLOAD))
		return x.op == RD_OP_UNLOAD;
	return x.file != y.file ? x.file < y.file : x.place < y.place;
}

/* The latest at or before the time and the earliest after, among the items that a question is about. */
typedef bool (*about_fn)(const struct scene_item *i, const void *ctx);
static void around(about_fn about, const void *ctx, uint64_t time, const struct scene_item **before,
		   const struct scene_item **after)
{
	*before = *after = NULL;
	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (!about(i, ctx))
			continue;
		if (when_of(i).time <= time) {
			if (*before == NULL || comes_before(*before, i))
				*before = i;
		} else if (*after == NULL || comes_before(i, *after)) {
			*after = i;
		}
	}
}

static const struct scene_item *latest_else_earliest(about_fn about, const void *ctx, uint64_t time)
{
	const struct scene_item *before, *after;
	around(about, ctx, time, &before, &after);
	return before ? before : after;
}

static int compare_items(const void *a, const void *b)
{
	const struct scene_item *const *x = a, *const *y = b;
	return comes_before(*x, *y) ? -1 : 1;
}

/* "A process's life begins at its start, or at its first record when none is open, and ends at its end." */
static size_t lives_of(uint32_t pid, struct life *lives)
{
	const struct scene_item *items[256];
	size_t n = 0, lives_n = 0;
	bool open = false;

	for (size_t k = 0; k < trace->items.n; k++)
		if (trace->items.at[k].table == RD_TABLE_PROCESSES && trace->items.at[k].process.pid == pid)
			items[n++] = &trace->items.at[k];
	if (n)
		qsort(items, n, sizeof *items, compare_items);
	for (size_t k = 0; k < n; k++) {
		uint32_t op = items[k]->process.op;
		if (op == RD_OP_LOAD || !open)
			lives[lives_n++] = (struct life){pid, items[k]->process.time, op == RD_OP_LOAD, true};
		open = op != RD_OP_UNLOAD;
	}
	return lives_n;
}

/* "The latest life that began at or before the time, else the earliest after." The number of the life. */
static uint32_t life_number(uint32_t pid, uint64_t time, struct life *out)
{
	struct life lives[256];
	size_t n = lives_of(pid, lives), number = 0;

	*out = (struct life){.pid = pid};
	for (size_t k = 0; k < n; k++)
		if (lives[k].begin <= time)
			number = k;
	if (n)
		*out = lives[number];
	return (uint32_t)number;
}

static bool same_life(uint32_t pid_a, uint64_t time_a, uint32_t pid_b, uint64_t time_b)
{
	struct life life;
	return pid_a == pid_b && life_number(pid_a, time_a, &life) == life_number(pid_b, time_b, &life);
}

/* What is asked of an address: whose, and of methods, which. */
struct question {
	uint32_t pid;
	uint64_t time; /* of the sample, or of the method event whose life it is */
	uint64_t address;
	uint32_t clr;
	uint64_t module_id, method_id, rejit_id;
	uint64_t thread;
};

static bool covers(uint64_t start, uint64_t size, uint64_t address)
{
	return address >= start && address - start < size;
}

static bool is_method_there(const struct scene_item *i, const void *ctx)
{
	const struct question *q = ctx;
	return i->table == RD_TABLE_METHODS && covers(i->method.start, i->method.size_bytes, q->address) &&
	       same_life(i->method.pid, i->method.time, q->pid, q->time);
}

static bool is_own_image_there(const struct scene_item *i, const void *ctx)
{
	const struct question *q = ctx;
	return i->table == RD_TABLE_IMAGES && i->image.pid != 0 && i->image.pid != 4 &&
	       covers(i->image.base, i->image.size_bytes, q->address) &&
	       same_life(i->image.pid, i->image.time, q->pid, q->time);
}

/* "The kernel's images are those of processes 0 and 4 and hold for every process." */
static bool is_kernel_image_there(const struct scene_item *i, const void *ctx)
{
	const struct question *q = ctx;
	return i->table == RD_TABLE_IMAGES && (i->image.pid == 0 || i->image.pid == 4) &&
	       covers(i->image.base, i->image.size_bytes, q->address);
}

static bool is_module(const struct scene_item *i, const void *ctx)
{
	const struct question *q = ctx;
	return i->table == RD_TABLE_MODULES && i->module.clr == q->clr && i->module.module_id == q->module_id &&
	       same_life(i->module.pid, i->module.time, q->pid, q->time);
}

static bool is_named_twin(const struct scene_item *i, const void *ctx)
{
	const struct question *q = ctx;
	return i->table == RD_TABLE_METHODS && i->text[1] && i->method.clr == q->clr &&
	       i->method.method_id == q->method_id && i->method.rejit_id == q->rejit_id &&
	       same_life(i->method.pid, i->method.time, q->pid, q->time);
}

static bool is_thread(const struct scene_item *i, const void *ctx)
{
	return i->table == RD_TABLE_THREADS && i->thread.thread == ((const struct question *)ctx)->thread;
}

static struct question of_event(const struct scene_item *i)
{
	return (struct question){.pid = i->method.pid,
				 .time = i->method.time,
				 .clr = i->method.clr,
				 .module_id = i->method.module_id,
				 .method_id = i->method.method_id,
				 .rejit_id = i->method.rejit_id};
}

static const char *module_label(const char *path, bool managed)
{
	if (strcmp(path, "/lib/one.dll") == 0)
		return managed ? "one" : "one.dll";
	if (strcmp(path, "C:\\two.dll") == 0)
		return managed ? "two" : "two.dll";
	return path;
}

static struct frame method_frame(const struct scene_item *i)
{
	struct question q = of_event(i);
	const struct scene_item *module = latest_else_earliest(is_module, &q, q.time);
	const char *name = i->text[1];
	struct frame f = {.tier = i->method.flags & 8 ? i->method.flags >> 7 & 7 : RD_TIER_PRECOMPILED};

	if (name == NULL) {
		const struct scene_item *twin = latest_else_earliest(is_named_twin, &q, q.time);
		name = twin ? twin->text[1] : NULL;
	}
	f.unresolved = name == NULL;
	snprintf(f.label, sizeof f.label, "%u:%s%s%s", i->method.clr, module ? module_label(module->text[0], true) : "",
		 module ? "!" : "", name ? name : "?");
	return f;
}

static struct frame image_frame(const struct scene_item *i)
{
	struct frame f = {.tier = RD_TIER_NATIVE, .unresolved = true};
	snprintf(f.label, sizeof f.label, "0:%s!?", module_label(i->text[0], false));
	return f;
}

/* A method was not there before its module: a load of it between the time and the event silences the event. */
static bool was_there(const struct scene_item *event, uint64_t time)
{
	struct question q = of_event(event);
	const struct scene_item *before, *after;

	around(is_module, &q, time, &before, &after);
	if (before && rd_alive_from(before->module.op))
		return true;
	return !(after && after->module.op == RD_OP_LOAD && comes_before(after, event));
}

/* "Who owned an address": true and the frame, if somebody did. */
static bool owner_of(about_fn about, const struct question *q, struct frame (*frame_of)(const struct scene_item *i),
		     struct frame *out)
{
	const struct scene_item *before, *after;

	around(about, q, q->time, &before, &after);
	bool before_speaks = before && rd_alive_from(when_of(before).op);
	bool after_speaks = after && rd_alive_until(when_of(after).op) &&
			    (after->table != RD_TABLE_METHODS || was_there(after, q->time));
	if (!before_speaks && !after_speaks)
		return false;
	*out = frame_of(before_speaks ? before : after);
	if (before_speaks && after_speaks)
		out->ambiguous = strcmp(out->label, frame_of(after).label) != 0;
	return true;
}

/* "The newest at or before t, else the earliest after (ties: higher id before, lower after)." */
static bool is_older(const struct scene_item *a, const struct scene_item *b)
{
	if (a->mapping.time != b->mapping.time)
		return a->mapping.time < b->mapping.time;
	return a->mapping.id != b->mapping.id ? a->mapping.id < b->mapping.id : comes_before(a, b);
}

static const struct scene_item *mapping_at(const struct question *q)
{
	const struct scene_item *before = NULL, *after = NULL;

	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (i->table != RD_TABLE_MAPPINGS || q->address < i->mapping.start || q->address >= i->mapping.end ||
		    !same_life(i->mapping.pid, i->mapping.time, q->pid, q->time))
			continue;
		if (i->mapping.time <= q->time && (before == NULL || is_older(before, i)))
			before = i;
		if (i->mapping.time > q->time && (after == NULL || is_older(i, after)))
			after = i;
	}
	return before ? before : after;
}

static bool is_symbol_of(const struct scene_item *i, const struct scene_item *mapping)
{
	return i->table == RD_TABLE_SYMBOLS && i->file == mapping->file && i->symbol.mapping == mapping->mapping.id;
}

static bool is_own_symbol_of(const struct scene_item *i, const struct scene_item *mapping)
{
	return is_symbol_of(i, mapping) &&
	       same_life(i->symbol.pid, i->symbol.time, mapping->mapping.pid, mapping->mapping.time);
}

static const struct symbol *symbol_of(const struct scene_item *i)
{
	const struct symbol *s = symbols;
	while (strcmp(s->text, i->text[0]) != 0)
		s++;
	return s;
}

static bool is_compiled(const struct scene_item *i)
{
	return symbol_of(i)->tier != RD_TIER_NATIVE;
}

/* "Of those with the highest start: fewest leading underscores, then shortest, then byte order." */
static bool is_better(const struct scene_item *a, const struct scene_item *b)
{
	size_t x = strspn(a->text[0], "_"), y = strspn(b->text[0], "_");

	if (a->symbol.start != b->symbol.start)
		return a->symbol.start > b->symbol.start;
	if (x != y)
		return x < y;
	if (strlen(a->text[0]) != strlen(b->text[0]))
		return strlen(a->text[0]) < strlen(b->text[0]);
	return strcmp(a->text[0], b->text[0]) < 0;
}

/* "If any is a JIT symbol, the last written of them holds." */
static bool holds(const struct scene_item *i, const struct scene_item *best)
{
	if (best == NULL || is_compiled(i) != is_compiled(best))
		return best == NULL || is_compiled(i);
	return is_compiled(i) ? i->symbol.place > best->symbol.place : is_better(i, best);
}

/* "Only symbols of the chosen mapping that cover the address (both ends inclusive) count." */
static void name_by_symbols(const struct scene_item *mapping, uint64_t address, struct frame *f)
{
	const struct scene_item *best = NULL;
	bool own = false;

	for (size_t k = 0; k < trace->items.n; k++)
		own |= is_own_symbol_of(&trace->items.at[k], mapping);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < trace->items.n; k++) {
			const struct scene_item *i = &trace->items.at[k];
			if (!(own ? is_own_symbol_of(i, mapping) : is_symbol_of(i, mapping)) ||
			    address < i->symbol.start || address > i->symbol.last)
				continue;
			if (pass == 0 && holds(i, best))
				best = i;
			if (pass == 1 && is_compiled(i) && strcmp(symbol_of(i)->label, symbol_of(best)->label) != 0)
				f->ambiguous = true;
		}
	}
	if (best == NULL)
		return;
	f->unresolved = false;
	f->tier = symbol_of(best)->tier;
	if (is_compiled(best))
		snprintf(f->label, sizeof f->label, "%s", symbol_of(best)->label);
	else
		snprintf(f->label, sizeof f->label, "0:%s!%s", module_label(mapping->text[0], false), best->text[0]);
}

static bool mapped(const struct question *q, struct frame *f)
{
	const struct scene_item *mapping = mapping_at(q);

	if (mapping == NULL)
		return false;
	*f = image_frame(mapping);
	name_by_symbols(mapping, q->address, f);
	return true;
}

static struct frame resolve(uint32_t pid, uint64_t time, uint64_t address)
{
	struct question q = {.pid = pid, .time = time, .address = address};
	struct frame f = {.label = "0:?", .unresolved = true};

	if (!owner_of(is_method_there, &q, method_frame, &f) && !owner_of(is_own_image_there, &q, image_frame, &f) &&
	    !owner_of(is_kernel_image_there, &q, image_frame, &f))
		mapped(&q, &f);
	return f;
}

/* ---- stacks */

struct part {
	const struct scene_item *record;
	const uint64_t *frames;
};

/* "The first definition of its key at or after the stack record's own time." */
static const uint64_t *defined(const struct scene_item *record)
{
	static const uint64_t none[1];
	const struct scene_item *first = NULL;

	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (i->table == RD_TABLE_STACK_KEYS && i->stack_key.key == record->record.key &&
		    i->stack_key.time >= record->record.time && (first == NULL || comes_before(i, first)))
			first = i;
	}
	return first ? first->frames : none;
}

static bool is_part(const struct scene_item *i, const struct rd_sample *s, bool kernel)
{
	if (i->table != RD_TABLE_STACK_RECORDS || i->record.sample_time != s->time || i->record.thread != s->thread)
		return false;
	if (s->thread == 0 && i->record.cpu != s->cpu)
		return false;
	if (i->record.part != RD_STACK_PLAIN)
		return kernel == (i->record.part == RD_STACK_KERNEL_KEY);
	return i->frames[0] && kernel == (i->frames[0] >= KERNEL);
}

/* "Of two records of one kind the first by (own time, place), and an undefined key still takes its place." */
static struct part part_of(const struct rd_sample *s, bool kernel)
{
	struct part p = {0};

	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (is_part(i, s, kernel) && (p.record == NULL || comes_before(i, p.record)))
			p.record = i;
	}
	if (p.record)
		p.frames = p.record->record.part == RD_STACK_PLAIN ? p.record->frames : defined(p.record);
	return p;
}

static uint32_t owner_pid(const struct rd_sample *s, const struct part *kernel, const struct part *user)
{
	struct question q = {.thread = s->thread};
	const struct scene_item *first = kernel->record;

	if (s->pid != RD_NO_PID)
		return s->pid;
	if (s->thread == 0)
		return 0;
	const struct scene_item *thread = latest_else_earliest(is_thread, &q, s->time);
	if (thread)
		return thread->thread.pid;
	if (first == NULL || (user->record && comes_before(user->record, first)))
		first = user->record;
	return first ? first->record.pid : RD_PID_UNOWNED;
}

struct expected {
	struct rd_trust trust;
	uint64_t samples, weight, discarded;
	FILE *folded;
	char *text;
	size_t size;
};

static bool in_rundown(uint32_t pid, uint64_t time)
{
	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (i->table == RD_TABLE_MARKERS && i->marker.marker == RD_MARKER_END_INIT && i->marker.time <= time &&
		    same_life(i->marker.pid, i->marker.time, pid, time))
			return true;
	}
	return false;
}

static size_t add_frames(struct frame *frames, size_t n, uint32_t pid, uint64_t time, const uint64_t *addresses)
{
	for (size_t i = 0; addresses && i < SCENE_FRAMES && addresses[i]; i++)
		frames[n++] = resolve(pid, time, addresses[i]);
	return n;
}

static void put_folded(struct expected *e, uint32_t pid, uint64_t time, const struct frame *frames, size_t n)
{
	struct life life;
	char tier[32];

	life_number(pid, time, &life);
	fprintf(e->folded, "%d", (int)pid);
	if (life.started)
		fprintf(e->folded, "@%llu", (unsigned long long)life.begin);
	for (size_t i = n; i > 0; i--)
		fprintf(e->folded, ";%s[%s]", frames[i - 1].label, rd_tier_name(frames[i - 1].tier, tier));
	fprintf(e->folded, "%s\n", n ? "" : ";[no stack]");
}

static void expect_sample(struct expected *e, const struct scene_item *item, const struct rd_finish_options *opt)
{
	const struct rd_sample *s = &item->sample;
	struct part kernel = part_of(s, true), user = part_of(s, false);
	uint32_t pid = owner_pid(s, &kernel, &user);
	struct frame frames[3 * SCENE_FRAMES + 1];
	size_t n = 0;

	if ((opt->process && pid != (uint32_t)atoi(opt->process)) ||
	    (opt->kind >= 0 && s->kind != (uint32_t)opt->kind) || (opt->has_from && (int64_t)s->time < opt->from_ns) ||
	    (opt->has_to && (int64_t)s->time >= opt->to_ns)) {
		e->discarded++;
		return;
	}
	if (item->frames[0]) {
		n = add_frames(frames, n, pid, s->time, item->frames);
	} else {
		n = add_frames(frames, n, pid, s->time, kernel.frames);
		n = add_frames(frames, n, pid, s->time, user.frames);
	}
	e->trust.samples_without_stack += n == 0;
	if (s->pointer) {
		struct frame head = resolve(pid, s->time, s->pointer);
		if (n == 0 || strcmp(head.label, frames[0].label) != 0) {
			memmove(frames + 1, frames, n++ * sizeof *frames);
			frames[0] = head;
		}
	}
	for (size_t i = 0; i < n; i++) {
		e->trust.unresolved_frames += frames[i].unresolved;
		e->trust.ambiguous_frames += frames[i].ambiguous;
	}
	e->trust.frames += n;
	e->trust.unowned_samples += pid == RD_PID_UNOWNED;
	e->trust.broken_stacks += kernel.record && !user.record && pid != 0 && pid != 4 && pid != RD_PID_UNOWNED;
	e->trust.samples_in_rundown += in_rundown(pid, s->time);
	e->samples++;
	e->weight += s->weight;
	put_folded(e, pid, s->time, frames, n);
}

/* A record that is a part of no sample at all. */
static bool is_unused(const struct scene_item *record)
{
	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (i->table == RD_TABLE_SAMPLES &&
		    (part_of(&i->sample, true).record == record || part_of(&i->sample, false).record == record))
			return false;
	}
	return true;
}

static void expect(struct expected *e, const struct rd_finish_options *opt)
{
	*e = (struct expected){0};
	e->folded = open_memstream(&e->text, &e->size);
	assert_non_null(e->folded);
	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (i->table == RD_TABLE_SAMPLES)
			expect_sample(e, i, opt);
		if (i->table == RD_TABLE_STACK_RECORDS)
			e->trust.stacks_unused += is_unused(i);
	}
	fclose(e->folded);
	scene_sort_lines(e->text);
}

/* ---- the comparison */

/* Folded lines without their counts, each as often as it counts. */
static char *unfold(char *folded)
{
	char *text = NULL, *line, *rest = folded;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *count = strrchr(line, ' ');
		if (count == NULL)
			continue;
		*count = 0;
		for (long n = atol(count + 1); n > 0; n--)
			fprintf(f, "%s\n", line);
	}
	fclose(f);
	free(folded);
	return text;
}

static void assert_expected(const struct expected *e, const struct rd_result *r)
{
	char *text = unfold(scene_folded(r, SCENE_TIERS | SCENE_STARTS | SCENE_CLR));

	scene_sort_lines(text);
	assert_string_equal(text, e->text);
	free(text);
	assert_int_equal(r->samples, e->samples);
	assert_int_equal(r->weight, e->weight);
	assert_int_equal(r->discarded, e->discarded);
	assert_int_equal(r->trust.frames, e->trust.frames);
	assert_int_equal(r->trust.unresolved_frames, e->trust.unresolved_frames);
	assert_int_equal(r->trust.ambiguous_frames, e->trust.ambiguous_frames);
	assert_int_equal(r->trust.samples_without_stack, e->trust.samples_without_stack);
	assert_int_equal(r->trust.stacks_unused, e->trust.stacks_unused);
	assert_int_equal(r->trust.broken_stacks, e->trust.broken_stacks);
	assert_int_equal(r->trust.unowned_samples, e->trust.unowned_samples);
	assert_int_equal(r->trust.samples_in_rundown, e->trust.samples_in_rundown);
}

static size_t any_shard(void *ctx, size_t item)
{
	return pick(*(const uint32_t *)ctx);
}

static void try_seed(uint64_t seed)
{
	static const uint32_t shards[] = {1, 3, 11};
	struct rd_finish_options opt = {.kind = -1};
	struct rd_error err;
	struct scene s;
	struct expected e;
	char first[33], digest[33];

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	some_scene(&s);
	trace = &s;
	if (pick(3) == 0)
		opt.process = "7";
	if (pick(3) == 0)
		opt = (struct rd_finish_options){.kind = (int)pick(4) - 1,
						 .has_from = pick(2),
						 .from_ns = pick(20),
						 .has_to = pick(2),
						 .to_ns = 20 + pick(20),
						 .process = opt.process};
	expect(&e, &opt);
	for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
		struct rd_result r;
		uint32_t n = shards[i];
		assert_ok(scene_finish(&s, n, any_shard, &n, &opt, &r, &err), &err);
		assert_expected(&e, &r);
		assert_ok(rd_result_digest(&r, i ? digest : first, &err), &err);
		if (i)
			assert_string_equal(digest, first);
		rd_result_release(&r);
	}
	free(e.text);
	scene_release(&s);
}

static void test_random_traces_in_random_shards(void **state)
{
	const char *only = getenv("RD_SEED");

	if (only) {
		try_seed(strtoull(only, NULL, 10));
		return;
	}
	const char *seeds = getenv("RD_SEEDS");
	uint64_t n = seeds ? strtoull(seeds, NULL, 10) : SEEDS;
	for (uint64_t seed = 1; seed <= n; seed++) {
		/* Seen when an assertion ends the test. */
		char text[32];
		snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
		setenv("RD_SEED_AT", text, 1);
		try_seed(seed);
	}
	unsetenv("RD_SEED_AT");
}

static int say_seed(void **state)
{
	const char *seed = getenv("RD_SEED_AT");
	if (seed)
		print_error("RD_SEED=%s\n", seed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_random_traces_in_random_shards, say_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
