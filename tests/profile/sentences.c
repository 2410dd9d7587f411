#include "tests/profile/sentences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/order.h"
#include "tests/profile/random_scene.h"

static const struct scene *trace;

void sentences_about(const struct scene *s)
{
	trace = s;
}

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
bool comes_before(const struct scene_item *a, const struct scene_item *b)
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
uint32_t life_number(uint32_t pid, uint64_t time, struct life *out)
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

bool same_life(uint32_t pid_a, uint64_t time_a, uint32_t pid_b, uint64_t time_b)
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
	return i->table == RD_TABLE_THREADS && i->thread.thread == *(const uint64_t *)ctx;
}

const struct scene_item *thread_record(uint64_t thread, uint64_t time)
{
	return latest_else_earliest(is_thread, &thread, time);
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

/* Whether the module has a fact between these two. */
static bool module_goes_on(const struct scene_item *from, const struct scene_item *to, const struct question *q)
{
	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (is_module(i, q) && comes_before(from, i) && comes_before(i, to))
			return true;
	}
	return false;
}

/*
 * A method was not there before its module's life began: at the first load since the last unload before the event; when
 * no load tells, at that unload; with neither it was there from ever.
 */
static bool was_there(const struct scene_item *event, uint64_t time)
{
	struct question q = of_event(event);
	const struct scene_item *end = NULL, *begin = NULL;

	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		bool before = is_module(i, &q) && comes_before(i, event);
		/* The last fact may be the unload of that very life. */
		if (before && i->module.op == RD_OP_UNLOAD && module_goes_on(i, event, &q) &&
		    (end == NULL || comes_before(end, i)))
			end = i;
	}
	for (size_t k = 0; k < trace->items.n; k++) {
		const struct scene_item *i = &trace->items.at[k];
		if (is_module(i, &q) && comes_before(i, event) && (end == NULL || comes_before(end, i)) &&
		    (begin == NULL || comes_before(i, begin)))
			begin = i;
	}
	if (begin && begin->module.op == RD_OP_LOAD)
		return begin->module.time <= time;
	return end == NULL || end->module.time <= time;
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

struct frame resolve(uint32_t pid, uint64_t time, uint64_t address)
{
	struct question q = {.pid = pid, .time = time, .address = address};
	struct frame f = {.label = "0:?", .unresolved = true};

	if (!owner_of(is_method_there, &q, method_frame, &f) && !owner_of(is_own_image_there, &q, image_frame, &f) &&
	    !owner_of(is_kernel_image_there, &q, image_frame, &f))
		mapped(&q, &f);
	return f;
}
