/* Stacks, samples, and what ETL writes of stacks: records, keys and their definitions. */
#include "base/radix.h"
#include "tests/gen/make.h"
#include "tests/random.h"

struct making {
	struct gen_act *act;
	const struct gen_options *o;
	uint32_t from, to;         /* slots in which samples are taken */
	RD_VEC(uint32_t) next_key; /* by key: another one of its stack */
	RD_VEC(uint32_t) key_of;   /* by stack: one of its keys */
};

static bool is_etl(const struct gen_options *o)
{
	return o->format == GEN_ETL;
}

static uint64_t kernel_address(const struct gen_options *o)
{
	return gen_memory(o).kernel + pick(8) * 0x5008;
}

static uint64_t user_address(const struct gen_options *o)
{
	struct gen_memory memory = gen_memory(o);
	uint32_t what = pick(10);

	if (what < 5)
		return memory.local + pick(o->lanes) * GEN_LANE_BYTES + pick(3) * 24;
	if (what < 8 && o->shared)
		return memory.shared + pick(o->shared) * GEN_LANE_BYTES + pick(3) * 24;
	if (what == 8)
		return memory.images + (pick(5) * 0x10000) + pick(16) * 8;
	return o->format == GEN_NETTRACE6 ? kernel_address(o) : memory.local + pick(o->lanes) * GEN_LANE_BYTES;
}

static void add_stack(struct gen_act *a, const struct gen_options *o, bool kernel)
{
	struct gen_stack s = {.first = (uint32_t)a->frames.n, .n = 1 + pick(o->depth)};

	for (uint32_t i = 0; i < s.n; i++) {
		bool again = i && pick(6) == 0;
		uint64_t address = again ? a->frames.at[a->frames.n - 1] : kernel ? kernel_address(o) : user_address(o);
		GEN_ADD(&a->frames, address);
	}
	GEN_ADD(&a->stacks, s);
}

/* Two pools for processes, one for the kernel: the same in every act, whatever lies at their addresses then. */
#define POOLS 2

void gen_make_stacks(struct gen_act *a, const struct gen_options *o)
{
	for (uint32_t i = 0; i < POOLS * o->stacks; i++)
		add_stack(a, o, false);
	for (uint32_t i = 0; is_etl(o) && i < o->stacks; i++)
		add_stack(a, o, true);
}

/* Each key value is one stack's after the other. */
static void make_keys(struct making *m)
{
	struct gen_act *a = m->act;
	uint32_t limit = m->o->slots - 20, values = 1 + m->o->stacks / 2;
	uint64_t value = gen_memory(m->o).kernel + (a->number + 1) * UINT64_C(0x10000);

	for (uint32_t i = 0; i < a->stacks.n; i++)
		GEN_ADD(&m->key_of, GEN_NONE);
	for (uint32_t v = 0; is_etl(m->o) && m->o->seed % 3 && v < values; v++) {
		uint32_t born = 0;
		for (;;) {
			uint32_t dies = gen_take_slot(a, born + 10 + pick(m->o->slots / 4), limit);
			if (dies == 0)
				break;
			struct gen_key k = {.value = value + v * 16, .stack = pick((uint32_t)a->stacks.n)};
			k.is = (struct gen_span){.born = born, .dies = dies, .told = GEN_END};
			k.is.dies_cpu = (uint8_t)gen_cpu(m->o);
			k.is.lost = gen_chance(m->o->lost) ? GEN_END : 0;
			if (gen_chance(m->o->untold / 3))
				k.is.told = 0;
			GEN_ADD(&m->next_key, m->key_of.at[k.stack]);
			m->key_of.at[k.stack] = (uint32_t)a->keys.n;
			GEN_ADD(&a->keys, k);
			born = dies;
		}
	}
}

/* ---- samples */

/* When something else happens, or at any time. */
static uint32_t sample_slot(const struct making *m, uint32_t from, uint32_t to)
{
	const struct gen_act *a = m->act;
	uint32_t slot = gen_between(from, to);

	if (m->o->samples < 1000 && a->methods.n && pick(2)) {
		const struct gen_span *is = &a->methods.at[pick((uint32_t)a->methods.n)].is;
		slot = (pick(2) ? is->born : is->dies) + pick(3) - 1;
	}
	return slot >= from && slot < to ? slot : gen_between(from, to);
}

static uint32_t stack_of(const struct making *m, uint32_t process)
{
	return process % POOLS * m->o->stacks + pick(m->o->stacks);
}

static uint32_t kernel_stack(const struct making *m)
{
	return POOLS * m->o->stacks + pick(m->o->stacks);
}

static uint64_t first_frame(const struct gen_act *a, uint32_t stack)
{
	return a->frames.at[a->stacks.at[stack].first];
}

static void etl_stack(const struct making *m, struct gen_sample *s, const struct gen_process *p, uint32_t process)
{
	s->kernel = pick(5) < 2 || !p->managed ? kernel_stack(m) : GEN_NONE;
	s->user = p->managed && pick(5) ? stack_of(m, process) : GEN_NONE;
	if (!p->managed && pick(3))
		s->kernel = GEN_NONE;
	s->pointer = s->kernel != GEN_NONE ? first_frame(m->act, s->kernel)
		     : s->user != GEN_NONE ? first_frame(m->act, s->user)
					   : kernel_address(m->o);
	if (pick(12) == 0)
		s->pointer = pick(4) ? user_address(m->o) : 0;
}

static void add_sample(const struct making *m)
{
	struct gen_act *a = m->act;
	const struct gen_options *o = m->o;
	struct gen_sample s = {.thread = pick((uint32_t)a->threads.n), .cpu = gen_cpu(o), .weight = 1};
	const struct gen_thread *t = &a->threads.at[s.thread];
	const struct gen_process *p = &a->processes.at[t->process];
	uint32_t from = t->is.born > m->from ? t->is.born : m->from, to = t->is.dies < m->to ? t->is.dies : m->to;

	if (from >= to)
		return;
	s.slot = sample_slot(m, from, to);
	s.lost = gen_chance(o->lost);
	s.kernel = GEN_NONE;
	s.user = o->sound || pick(20) ? stack_of(m, t->process) : GEN_NONE;
	if (is_etl(o))
		etl_stack(m, &s, p, t->process);
	else if (o->format == GEN_NETTRACE6)
		s.weight = pick(2) ? 1 : 1 + pick(1000000);
	else
		s.kind = 1 + pick(3) / 2;
	GEN_ADD(&a->samples, s);
	/* Processors that have nothing to do are sampled at once. */
	for (uint16_t cpu = 0; is_etl(o) && t->tid == 0 && pick(2) && cpu < o->cpus; cpu++) {
		if (cpu == s.cpu)
			continue;
		struct gen_sample more = s;
		more.cpu = cpu;
		GEN_ADD(&a->samples, more);
	}
}

/* ---- stack records */

static uint32_t key_for(const struct making *m, uint32_t stack, uint32_t slot)
{
	const struct gen_act *a = m->act;

	for (uint32_t k = m->key_of.at[stack]; k != GEN_NONE; k = m->next_key.at[k])
		if (a->keys.at[k].is.born < slot && slot <= a->keys.at[k].is.dies)
			return k;
	return GEN_NONE;
}

static void add_record(const struct making *m, uint32_t sample, uint32_t stack, bool user, uint32_t slot, uint16_t cpu)
{
	struct gen_act *a = m->act;
	const struct gen_thread *t = &a->threads.at[a->samples.at[sample].thread];
	struct gen_record r = {.slot = slot, .cpu = cpu, .user = user, .sample = sample, .stack = stack, .tid = t->tid};

	r.pid = a->processes.at[t->process].pid;
	r.lost = gen_chance(m->o->lost);
	r.key = key_for(m, stack, slot);
	GEN_ADD(&a->records, r);
}

/* Mostly at once, on the same processor; some much later, a few from elsewhere. */
static void records_of(const struct making *m, uint32_t sample)
{
	struct gen_act *a = m->act;
	struct gen_sample s = a->samples.at[sample];
	uint32_t late = pick(30) ? pick(3) : pick(m->o->slots / 10), last = m->o->slots - 24;
	uint32_t slot = s.slot + late < last ? s.slot + late : last;
	uint16_t cpu = a->threads.at[s.thread].tid && pick(20) == 0 ? gen_cpu(m->o) : s.cpu;

	if (s.kernel != GEN_NONE)
		add_record(m, sample, s.kernel, false, slot, cpu);
	if (s.user == GEN_NONE)
		return;
	slot += pick(8) ? 0 : pick(6);
	add_record(m, sample, s.user, true, slot, cpu);
	/* The same once more, or another one: the first holds. */
	if (!m->o->sound && pick(40) == 0)
		add_record(m, sample, stack_of(m, a->threads.at[s.thread].process), true, slot + 1 + pick(4), cpu);
}

static void add_orphan(const struct making *m)
{
	struct gen_act *a = m->act;
	struct gen_record r = {.slot = gen_between(m->from, m->to), .cpu = gen_cpu(m->o), .sample = GEN_NONE};

	r.user = pick(2);
	r.stack = r.user ? stack_of(m, 0) : kernel_stack(m);
	r.key = key_for(m, r.stack, r.slot);
	r.tid = a->threads.at[pick((uint32_t)a->threads.n)].tid;
	r.lost = gen_chance(m->o->lost);
	GEN_ADD(&a->records, r);
}

/* Samples of one moment and thread get their records once: those of two would say whose is first by their places only.
 */
static void make_records(const struct making *m)
{
	struct gen_act *a = m->act;
	struct rd_radix_item *order = rd_realloc(NULL, (a->samples.n + 1) * sizeof *order);

	if (order == NULL)
		gen_out_of_memory();
	for (uint32_t i = 0; i < a->samples.n; i++) {
		const struct gen_sample *s = &a->samples.at[i];
		uint64_t tid = a->threads.at[s->thread].tid;
		order[i] = (struct rd_radix_item){(tid ? tid : 0x80000000u + s->cpu) << 32 | s->slot, i};
	}
	if (rd_radix_sort(order, a->samples.n) != 0)
		gen_out_of_memory();
	for (uint32_t i = 0; i < a->samples.n; i++)
		if (i == 0 || order[i].key != order[i - 1].key)
			records_of(m, order[i].index);
	rd_free(order);
	for (uint32_t i = 0; i < a->samples.n / 12; i++)
		add_orphan(m);
}

void gen_make_samples(struct gen_act *a, const struct gen_options *o)
{
	struct making m = {.act = a, .o = o, .from = GEN_EDGE_SLOTS, .to = o->slots - GEN_EDGE_SLOTS};

	/* By then everything is there, and not yet gone through by the rundown. */
	if (o->still) {
		m.from = o->slots / 2;
		m.to = o->slots / 4 * 3;
	}
	make_keys(&m);
	while (a->samples.n < o->samples) {
		size_t before = a->samples.n;
		for (int tries = 0; a->samples.n == before && tries < 64; tries++)
			add_sample(&m);
		if (a->samples.n == before)
			break;
	}
	if (is_etl(o))
		make_records(&m);
	for (uint32_t i = 0; i < o->noise; i++) {
		struct gen_noise n = {.slot = gen_between(1, o->slots), .cpu = gen_cpu(o), .bytes = o->noise_bytes};
		n.lost = gen_chance(o->lost);
		n.bytes = n.bytes / 2 + pick(n.bytes + 1);
		GEN_ADD(&a->noise, n);
	}
	rd_vec_release(&m.next_key);
	rd_vec_release(&m.key_of);
}
