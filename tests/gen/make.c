/*
 * Who and what there is: processes, threads, modules, code, images, mappings;
 * and which of it was told. Stacks and samples are made in make_samples.c.
 */
#include "tests/gen/make.h"

#include "tests/random.h"

bool gen_chance(uint32_t of_1000)
{
	return of_1000 && pick(1000) < of_1000;
}

uint32_t gen_between(uint32_t from, uint32_t to)
{
	return to > from ? from + pick(to - from) : from;
}

uint16_t gen_cpu(const struct gen_options *o)
{
	return (uint16_t)pick(o->cpus);
}

/* Which of the events are lost. */
static uint8_t lost_of(const struct gen_options *o)
{
	return (uint8_t)((gen_chance(o->lost) ? GEN_BEGIN : 0) | (gen_chance(o->lost) ? GEN_END : 0));
}

static struct gen_span span_of(const struct gen_options *o, uint32_t born, uint32_t dies, uint8_t told)
{
	struct gen_span is = {.born = born, .dies = dies, .told = told, .lost = lost_of(o)};

	if (gen_chance(o->untold))
		is.told &= (uint8_t)~GEN_BEGIN;
	if (gen_chance(o->untold))
		is.told &= (uint8_t)~GEN_END;
	is.born_cpu = (uint8_t)gen_cpu(o);
	is.dies_cpu = (uint8_t)gen_cpu(o);
	return is;
}

static bool is_etl(const struct gen_options *o)
{
	return o->format == GEN_ETL;
}

static bool is_universal(const struct gen_options *o)
{
	return o->format == GEN_NETTRACE6;
}

/* ---- the cast */

static void add_thread(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t tid,
		       struct gen_span is)
{
	struct gen_thread t = {.is = is, .tid = tid, .process = process};

	t.index = GEN_CPUS_MAX + 1 + (uint32_t)a->threads.n;
	t.unnamed = is_universal(o) && gen_chance(o->untold / 4);
	GEN_ADD(&a->threads, t);
}

static void add_lasting(struct gen_act *a, const struct gen_options *o, uint32_t pid, bool managed, uint32_t threads)
{
	struct gen_span always = {.born = 0, .dies = o->slots};
	uint32_t process = (uint32_t)a->processes.n;

	GEN_ADD(&a->processes, (struct gen_process){.is = always,
						    .pid = pid,
						    .namespace_pid = pick(2) ? 1 : 0,
						    .speaker = (uint32_t)a->threads.n,
						    .managed = managed});
	for (uint32_t i = 0; i < threads; i++) {
		add_thread(a, o, process, pid ? pid + 4 + i * 4 : 0, always);
		if (i == 0)
			a->threads.at[a->threads.n - 1].unnamed = false;
	}
}

static void lasting_processes(struct gen_act *a, const struct gen_options *o)
{
	if (is_etl(o)) {
		add_lasting(a, o, 0, false, 1);
		add_lasting(a, o, 4, false, 1);
	}
	for (uint32_t i = 0; i < o->lasting; i++) {
		add_lasting(a, o, 5000 + i * 400, true, o->threads);
		if (o->format == GEN_NETTRACE4 || o->format == GEN_NETTRACE5)
			return;
	}
}

static void kernel_images(struct gen_act *a, const struct gen_options *o)
{
	uint64_t base = gen_memory(o).kernel;

	for (uint32_t i = 0; is_etl(o) && i < 2; i++)
		GEN_ADD(&a->images,
			(struct gen_image){.base = base + i * 0x20000, .size = 0x10000, .process = 1, .name = i});
}

static void shared_code(struct gen_act *a, const struct gen_options *o, uint32_t process)
{
	struct gen_memory memory = gen_memory(o);
	uint32_t clr = is_universal(o) ? 0 : 1 + process % 3, module = (uint32_t)a->modules.n;

	for (uint32_t i = 0; i < 3; i++)
		GEN_ADD(&a->modules,
			(struct gen_module){.id = 0x7000 + i * 16, .process = process, .clr = clr, .name = i});
	for (uint32_t i = 0; i < o->shared; i++)
		GEN_ADD(&a->methods, (struct gen_method){.id = 0x70000 + i * 8,
							 .module_id = 0x7000 + i % 3 * 16,
							 .start = memory.shared + i * GEN_LANE_BYTES,
							 .size = 40 + pick(GEN_LANE_BYTES - 39),
							 .flags = pick(3) ? 0 : 8u | pick(8) << 7,
							 .process = process,
							 .clr = clr,
							 .module = module + i % 3,
							 .name = i + process * 1000});
	for (uint32_t i = 0; is_etl(o) && i < 2; i++)
		GEN_ADD(&a->images, (struct gen_image){.base = memory.images + i * 0x10000,
						       .size = 0x8000,
						       .process = process,
						       .name = 10 + i});
}

/* Symbols for some of a mapping, some of them over each other. */
static void add_symbols(struct gen_act *a, const struct gen_options *o, const struct gen_mapping *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t start = m->start + pick((uint32_t)((m->end - m->start) / 8)) * 8;
		struct gen_span is = {.born = m->is.born, .told = GEN_BEGIN, .lost = lost_of(o)};
		is.born_cpu = m->is.born_cpu;
		GEN_ADD(&a->symbols, (struct gen_symbol){.is = is,
							 .mapping_id = m->id,
							 .start = start,
							 .last = start + 8 + pick(100),
							 .process = m->process,
							 .name = pick(40),
							 .compiled = pick(3) == 0});
	}
}

static void shared_mappings(struct gen_act *a, const struct gen_options *o, uint32_t process)
{
	struct gen_memory memory = gen_memory(o);
	struct gen_span is = {.born = 2, .told = GEN_BEGIN};

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t start = i < 2 ? memory.images + i * 0x10000 : memory.kernel;
		struct gen_mapping m = {.is = is,
					.id = 1 + process * 8 + i,
					.start = start,
					.end = start + 0x8000,
					.process = process,
					.name = i};
		GEN_ADD(&a->mappings, m);
		add_symbols(a, o, &m, 6);
	}
}

/* Of all there is, lines: what a rundown at the beginning or at the end says. */
static void add_lines(struct gen_act *a, const struct gen_options *o, uint32_t kind, size_t n, uint8_t op,
		      uint32_t missing)
{
	for (uint32_t i = 0; i < n; i++) {
		struct gen_line line = {.kind = (uint8_t)kind, .op = op, .index = i, .cpu = gen_cpu(o)};
		line.lost = gen_chance(o->lost);
		line.slot = gen_take_slot(a, 4, UINT32_MAX);
		if (!gen_chance(missing))
			GEN_ADD(&a->lines, line);
	}
}

static void add_markers(struct gen_act *a, const struct gen_options *o, uint8_t marker)
{
	for (uint32_t i = 0; i < a->processes.n; i++) {
		if (!a->processes.at[i].managed)
			continue;
		struct gen_line line = {.kind = GEN_MARKER, .op = marker, .process = i, .cpu = gen_cpu(o)};
		line.clr = is_universal(o) ? 0 : 1 + i % 3;
		line.lost = gen_chance(o->lost);
		line.slot = gen_take_slot(a, 4, UINT32_MAX);
		GEN_ADD(&a->lines, line);
	}
}

/* One of the two tellings may be missing; in a sound scenario one of them is always there. */
static void tell_cast(struct gen_act *a, const struct gen_options *o, bool end)
{
	uint8_t op = end ? GEN_DCEND : GEN_DCSTART;
	uint32_t missing = o->sound ? 0 : o->untold;

	if (is_etl(o) || is_universal(o))
		add_lines(a, o, GEN_PROCESS, is_universal(o) && end ? 0 : a->processes.n, op, missing / 4);
	if (is_etl(o)) {
		add_lines(a, o, GEN_THREAD, a->threads.n, op, missing / 2);
		add_lines(a, o, GEN_IMAGE, a->images.n, op, missing);
	}
	add_markers(a, o, end ? GEN_END_INIT : GEN_START_INIT);
	add_lines(a, o, GEN_MODULE, a->modules.n, op, missing);
	add_lines(a, o, GEN_METHOD, a->methods.n, op, missing + (end ? 0 : o->seed % 3 * 300));
	if (!gen_chance(missing))
		add_markers(a, o, end ? GEN_END_COMPLETE : GEN_START_COMPLETE);
}

static void begin_act(struct gen_act *a, const struct gen_options *o, uint32_t number, uint32_t slots)
{
	*a = (struct gen_act){.number = number, .jitters = o->jitter > 0};
	for (uint32_t i = 0; i < o->cpus; i++)
		a->skew[i] = o->jitter ? gen_between(0, o->jitter + 1) : 0;
	if (rd_vec_reserve(&a->taken, slots) != 0)
		gen_out_of_memory();
	memset(a->taken.at, 0, slots);
	a->taken.n = slots;
}

void gen_make_cast(struct gen_cast *c, const struct gen_options *o)
{
	struct gen_act *acts[] = {&c->first, &c->last};
	uint32_t lines = 200 + (o->lasting + 2) * (o->threads + o->shared + 20) * 2;

	for (int end = 0; end < 2; end++) {
		struct gen_act *a = acts[end];
		begin_act(a, o, 0, lines);
		/* The same things both times, whatever was drawn in between. */
		random_begin(o->seed ^ 0xca57);
		lasting_processes(a, o);
		kernel_images(a, o);
		for (uint32_t i = 0; i < a->processes.n; i++) {
			if (!a->processes.at[i].managed)
				continue;
			shared_code(a, o, i);
			if (is_universal(o))
				shared_mappings(a, o, i);
		}
		/* Mappings have no end to tell of. */
		if (end)
			a->mappings.n = a->symbols.n = 0;
		random_begin(o->seed * 2 + (uint64_t)end);
		tell_cast(a, o, end != 0);
		a->jitters = false;
		memset(a->skew, 0, sizeof a->skew);
	}
	random_begin(o->seed ^ 0x57ac);
	gen_make_stacks(&c->first, o);
	c->processes = (uint32_t)c->first.processes.n;
	c->threads = (uint32_t)c->first.threads.n;
}

/* ---- an act */

/* Slots in which its own things happen; what is outside is for the seals. */
static void content(const struct gen_options *o, uint32_t *from, uint32_t *to)
{
	*from = GEN_EDGE_SLOTS;
	*to = o->slots - GEN_EDGE_SLOTS;
}

static void copy_cast(struct gen_act *a, const struct gen_cast *c)
{
	for (uint32_t i = 0; i < c->processes; i++)
		GEN_ADD(&a->processes, c->first.processes.at[i]);
	for (uint32_t i = 0; i < c->threads; i++)
		GEN_ADD(&a->threads, c->first.threads.at[i]);
	for (size_t i = 0; i < c->first.frames.n; i++)
		GEN_ADD(&a->frames, c->first.frames.at[i]);
	for (size_t i = 0; i < c->first.stacks.n; i++)
		GEN_ADD(&a->stacks, c->first.stacks.at[i]);
}

/* Threads of a process that is there for a while: its speaker lives as long, the tids of others are used again. */
static void act_threads(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t *tid)
{
	const struct gen_span *is = &a->processes.at[process].is;
	uint32_t born = is->born;

	a->processes.at[process].speaker = (uint32_t)a->threads.n;
	add_thread(a, o, process, *tid, span_of(o, is->born, is->dies, 0));
	a->threads.at[a->threads.n - 1].unnamed = false;
	struct gen_span *speaker = &a->threads.at[a->threads.n - 1].is;
	if (is_etl(o)) {
		speaker->born = gen_take_slot(a, is->born, is->dies);
		speaker->dies = speaker->born ? gen_take_slot(a, is->dies > 8 ? is->dies - 8 : 1, is->dies) : 0;
		speaker->told = speaker->born && speaker->dies ? GEN_BEGIN | GEN_END : 0;
		if (speaker->born == 0)
			speaker->born = is->born;
		if (speaker->dies == 0)
			speaker->dies = is->dies;
	}
	*tid += 4;
	for (uint32_t i = 1; i < o->threads; i++) {
		uint32_t dies = gen_take_slot(a, gen_between(born, is->dies), is->dies);
		born = gen_take_slot(a, born + 1, dies);
		if (born == 0 || dies == 0)
			break;
		add_thread(a, o, process, *tid, span_of(o, born, dies, is_etl(o) ? GEN_BEGIN | GEN_END : 0));
		*tid += pick(2) * 4;
		born = dies;
	}
	*tid += 4;
}

/* Chains of processes with one pid, one after the other. */
static void act_processes(struct gen_act *a, const struct gen_options *o)
{
	uint32_t from, to, pid = 100000 + a->number * 1024, tid = pid + 512;

	content(o, &from, &to);
	if (o->format == GEN_NETTRACE4 || o->format == GEN_NETTRACE5)
		return;
	for (uint32_t chain = 0; chain < o->processes; chain++) {
		uint32_t born = from;
		for (int i = 0; i < 3; i++) {
			uint32_t dies = gen_take_slot(a, gen_between(born + 40, to), to);
			born = gen_take_slot(a, born + pick(20), dies);
			if (born == 0 || dies <= born + 30)
				break;
			struct gen_process p = {.pid = pid + chain * 4, .managed = true};
			p.is = span_of(o, born, dies, GEN_BEGIN | GEN_END);
			p.namespace_pid = pick(2) ? 1 : 0;
			GEN_ADD(&a->processes, p);
			act_threads(a, o, (uint32_t)a->processes.n - 1, &tid);
			born = dies;
		}
	}
}

/* Where in the act a process is. */
static void presence(const struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t *from,
		     uint32_t *to)
{
	const struct gen_span *is = &a->processes.at[process].is;

	content(o, from, to);
	*from = is->born + 1 > *from ? is->born + 1 : *from;
	*to = is->dies < *to ? is->dies : *to;
}

/* Ids are used again when the module before is gone. */
static void act_modules(struct gen_act *a, const struct gen_options *o, uint32_t process)
{
	uint32_t from, to, born, clr = is_universal(o) ? 0 : 1 + process % 3;
	uint64_t id = 0x10000 + a->number * UINT64_C(0x1000);

	presence(a, o, process, &from, &to);
	born = from;
	for (uint32_t i = 0; i < o->modules; i++) {
		uint32_t dies = o->still || pick(2) ? to : gen_take_slot(a, gen_between(born + 10, to), to);
		born = gen_take_slot(a, born + pick(6), dies);
		if (born == 0 || dies == 0)
			return;
		struct gen_module m = {.id = id, .process = process, .name = 3 + pick(30)};
		m.clr = clr + (pick(8) == 0 && !is_universal(o));
		m.is = span_of(o, born, dies, dies == to ? GEN_BEGIN : GEN_BEGIN | GEN_END);
		GEN_ADD(&a->modules, m);
		if (dies == to) {
			id += 16;
			born = o->still ? born : from + (i + 1) * (to - from) / (o->modules + 1) / 2;
		} else {
			born = dies;
		}
	}
}

struct code {
	uint32_t process, from, to;
	uint32_t first_module, modules;
	uint32_t free[GEN_LANES_MAX]; /* by lane: from when on */
};

/* A module that is there for some of [born, to); its end bounds the method's. */
static uint32_t module_for(const struct gen_act *a, const struct code *c, uint32_t born, uint32_t *to)
{
	for (uint32_t tries = 0; tries < 4 && c->modules; tries++) {
		uint32_t m = c->first_module + pick(c->modules);
		const struct gen_span *is = &a->modules.at[m].is;
		if (is->born >= born || is->dies <= born + 4)
			continue;
		*to = is->dies < *to ? is->dies : *to;
		return m;
	}
	return GEN_NONE;
}

static void add_life(struct gen_act *a, const struct gen_options *o, struct code *c)
{
	uint32_t lane = pick(o->lanes), lanes = 1 + (pick(4) == 0) + (pick(12) == 0), born = c->from, to = c->to;
	struct gen_method m = {.process = c->process, .name = pick(o->lives + 4), .clr = 1 + c->process % 3};

	if (o->still)
		m.name = 2000 + (uint32_t)a->methods.n; /* names are nobody else's either */
	lanes = lane + lanes > o->lanes ? 1 : lanes;
	for (uint32_t i = lane; i < lane + lanes; i++)
		born = c->free[i] > born ? c->free[i] : born;
	if (o->still && born > c->from)
		return;
	/* In the tick in which the one before ends, or later; one load a tick, or their order would be the file's. */
	bool at_once = born > c->from && a->taken.at[born] == 1 && pick(3) == 0;
	if (at_once)
		a->taken.at[born] = 2;
	else
		born = gen_take_slot(a, born + 1 + pick(2) * pick(1 + o->slots / 16), to);
	m.module = born ? module_for(a, c, born, &to) : GEN_NONE;
	uint32_t dies = !o->still && pick(4) ? gen_take_slot(a, born + 1 + pick(1 + o->slots / 6), to) : to;
	if (born == 0 || born >= to)
		return;
	/* Of those that end with their module each has a tick of its own. */
	if (dies == 0 || (dies == to && to < c->to))
		dies = gen_take_slot(a, to > born + 100 ? to - 100 : born + 1, to);
	if (dies == 0 && to < c->to)
		return;
	dies = dies ? dies : to;
	m.is = span_of(o, born, dies, GEN_BEGIN | (dies < c->to ? GEN_END : 0));
	if (o->sound && pick(4) == 0)
		m.is.told &= (uint8_t)~GEN_BEGIN;
	m.module_id = m.module == GEN_NONE ? 0 : a->modules.at[m.module].id;
	m.clr = m.module == GEN_NONE ? m.clr : a->modules.at[m.module].clr;
	if (is_universal(o))
		m.clr = 0;
	m.id = 0x20000000 + a->number * UINT64_C(0x100000) + (o->sound || pick(3) ? m.name : pick(4)) * 8;
	m.rejit = pick(3) ? 0 : pick(4);
	m.plain = !o->sound && pick(6) == 0;
	m.flags = (pick(5) ? 8u : 0) | pick(8) << 7 | pick(2) << 28 | pick(2);
	m.start = gen_memory(o).local + lane * GEN_LANE_BYTES + pick(3) * 8;
	m.size = lanes * GEN_LANE_BYTES - pick(4) * 8 - (uint32_t)(m.start % GEN_LANE_BYTES);
	GEN_ADD(&a->methods, m);
	for (uint32_t i = lane; i < lane + lanes; i++)
		c->free[i] = dies;
}

static const struct gen_span *thing(const struct gen_act *a, uint8_t kind, uint32_t i, uint32_t *process)
{
	*process = kind == GEN_MODULE ? a->modules.at[i].process : a->methods.at[i].process;
	return kind == GEN_MODULE ? &a->modules.at[i].is : &a->methods.at[i].is;
}

/* What a rundown says of one kind, from *at on. Returns whether it was cut short. */
static bool run_lines(struct gen_act *a, const struct gen_options *o, uint32_t process, uint8_t kind, uint8_t op,
		      uint32_t *at, uint32_t to)
{
	uint32_t n = (uint32_t)(kind == GEN_MODULE ? a->modules.n : a->methods.n), owner;

	for (uint32_t i = 0; i < n; i++) {
		const struct gen_span *is = thing(a, kind, i, &owner);
		if (owner != process || is->seal || is->born > *at || is->dies <= *at)
			continue;
		struct gen_line line = {.kind = kind, .op = op, .index = i, .cpu = gen_cpu(o)};
		line.slot = gen_take_slot(a, *at, to < is->dies ? to : is->dies);
		if (line.slot == 0)
			continue;
		*at = line.slot;
		line.lost = gen_chance(o->lost);
		if (o->sound || !gen_chance(o->untold))
			GEN_ADD(&a->lines, line);
		if (!o->sound && gen_chance(o->untold / 20))
			return true;
	}
	return false;
}

static void add_marker(struct gen_act *a, const struct gen_options *o, uint32_t process, uint8_t marker, uint32_t *at,
		       uint32_t to)
{
	struct gen_line line = {.kind = GEN_MARKER, .op = marker, .process = process, .cpu = gen_cpu(o)};

	line.slot = gen_take_slot(a, *at, to);
	if (line.slot == 0)
		return;
	*at = line.slot;
	line.lost = gen_chance(o->lost);
	line.clr = is_universal(o) ? 0 : 1 + process % 3;
	GEN_ADD(&a->lines, line);
}

static void act_rundown(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t at, uint32_t to)
{
	uint8_t op = !o->still && pick(2) ? GEN_DCSTART : GEN_DCEND;

	add_marker(a, o, process, op == GEN_DCSTART ? GEN_START_INIT : GEN_END_INIT, &at, to);
	if (!run_lines(a, o, process, GEN_MODULE, op, &at, to) && !run_lines(a, o, process, GEN_METHOD, op, &at, to))
		add_marker(a, o, process, op == GEN_DCSTART ? GEN_START_COMPLETE : GEN_END_COMPLETE, &at, to);
}

/* Whole ones: what they leave out is lost, not untold. */
static void act_keyframes(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t from, uint32_t to)
{
	struct gen_options whole = *o;

	whole.untold = 0;
	for (uint32_t i = 1; i <= o->keyframes; i++)
		act_rundown(a, &whole, process, from + (uint32_t)((uint64_t)(to - from) * i / (o->keyframes + 1)), to);
}

static void act_code(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t lives)
{
	struct code c = {.process = process, .first_module = (uint32_t)a->modules.n};

	presence(a, o, process, &c.from, &c.to);
	if (c.from + 20 > c.to)
		return;
	act_modules(a, o, process);
	c.modules = (uint32_t)a->modules.n - c.first_module;
	for (uint32_t i = 0; i < lives; i++)
		add_life(a, o, &c);
	if (!o->still && pick(2))
		act_rundown(a, o, process, gen_between(c.from, c.to), c.to);
	act_keyframes(a, o, process, c.from, c.to);
	/* The last one has the time it needs before the end, unless nobody wanted it. */
	uint32_t need = 2 * (o->modules + (uint32_t)(a->methods.n)) + 20;
	if (o->sound || pick(4))
		act_rundown(a, o, process, c.to - c.from > need ? c.to - need : c.from + 1, c.to);
}

/* Some of them lie where code is compiled to. */
static void act_images(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t n)
{
	struct gen_memory memory = gen_memory(o);
	uint32_t from, to, born;

	presence(a, o, process, &from, &to);
	born = from;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t dies = gen_take_slot(a, gen_between(born, to), to);
		born = gen_take_slot(a, born + pick(30), dies);
		if (born == 0 || dies == 0)
			return;
		bool under_code = pick(2);
		struct gen_image m = {.process = process, .name = 20 + pick(20)};
		m.base = under_code ? memory.local + pick(o->lanes) * GEN_LANE_BYTES : memory.images + 0x40000;
		m.size = under_code ? (1 + pick(3)) * GEN_LANE_BYTES : 0x1000;
		m.is = span_of(o, born, dies, GEN_BEGIN | GEN_END);
		GEN_ADD(&a->images, m);
		born = dies;
	}
}

static void act_mappings(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t n)
{
	uint32_t from, to;

	presence(a, o, process, &from, &to);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t lanes = 1 + pick(o->lanes);
		struct gen_mapping m = {.process = process, .name = pick(8)};
		m.is = span_of(o, gen_take_slot(a, gen_between(from, to), to), o->slots, GEN_BEGIN);
		m.id = 0x1000 + a->number * UINT64_C(0x1000) + a->mappings.n;
		m.start = gen_memory(o).local + pick(o->lanes) * GEN_LANE_BYTES;
		m.end = m.start + lanes * GEN_LANE_BYTES;
		if (m.is.born == 0)
			continue;
		GEN_ADD(&a->mappings, m);
		add_symbols(a, o, &m, pick(8));
	}
}

/* docs/generator.md: nothing speaks across this. */
static void add_seal(struct gen_act *a, const struct gen_options *o, uint32_t process, uint32_t slot)
{
	struct gen_span is = {.born = slot, .dies = slot + 1, .told = GEN_BEGIN | GEN_END, .seal = true};
	struct gen_memory memory = gen_memory(o);
	uint64_t id = 0x10000000 + a->number * UINT64_C(0x100000) + slot;

	GEN_ADD(&a->methods, (struct gen_method){.is = is,
						 .id = id,
						 .start = memory.local,
						 .size = (o->lanes + 4) * GEN_LANE_BYTES,
						 .process = process,
						 .clr = is_universal(o) ? 0 : 1 + process % 3,
						 .module = GEN_NONE,
						 .name = GEN_NAME_SEAL});
	if (is_etl(o)) {
		GEN_ADD(&a->images, (struct gen_image){.is = is,
						       .base = memory.local,
						       .size = (o->lanes + 4) * GEN_LANE_BYTES,
						       .process = process,
						       .name = GEN_NAME_SEAL});
		GEN_ADD(&a->images, (struct gen_image){.is = is,
						       .base = memory.images + 0x40000,
						       .size = 0x1000,
						       .process = process,
						       .name = GEN_NAME_SEAL});
	}
	if (is_universal(o))
		GEN_ADD(&a->mappings, (struct gen_mapping){.is = is,
							   .id = 0x10000000 + id,
							   .start = memory.local,
							   .end = memory.local + (o->lanes + 4) * GEN_LANE_BYTES,
							   .process = process,
							   .name = GEN_NAME_SEAL});
}

void gen_make_act(struct gen_act *a, uint32_t number, const struct gen_cast *c, const struct gen_options *o)
{
	begin_act(a, o, number, o->slots);
	copy_cast(a, c);
	/* Slots of an edge are nobody's but the seals'. */
	act_processes(a, o);
	for (uint32_t i = 0; i < a->processes.n; i++) {
		uint32_t n = (uint32_t)a->processes.n;
		if (!a->processes.at[i].managed)
			continue;
		act_code(a, o, i, o->lives / n + (i == n - 1 ? o->lives % n : 0));
		if (is_etl(o))
			act_images(a, o, i, o->images / n + pick(2));
		if (is_universal(o))
			act_mappings(a, o, i, o->images / n + pick(2));
		if (i < c->processes && o->acts != 1) {
			add_seal(a, o, i, 2);
			add_seal(a, o, i, o->slots - 4);
		}
	}
	gen_make_samples(a, o);
}
