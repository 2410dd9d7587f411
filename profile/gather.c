/*
 * Two passes over the shards, and a third that is rare.
 *
 * The first learns which addresses will be asked for, and the lives. Only then
 * can the second leave out the method and image events that nobody will ask
 * about, and turn each fact's (pid, time) into a life at once. The third looks
 * for names of methods whose remaining events have none.
 */
#include "profile/gather.h"

#include "base/text.h"
#include "profile/shard_names.h"

/* One shard while its tables are read. */
struct visit {
	struct rd_group *group;
	struct rd_group_file *file;
	struct rd_shard_ref *shard;
	struct rd_shard_names names;
	bool stacks_loaded; /* in this pass */
};

/*
 * The stacks of few shards are mapped once, in the first pass, and kept until
 * their samples have passed; of many shards each maps its own when it is open.
 */
#define KEPT_STACKS (1u << 18)

/* What a block of rows is worth. */
#define STEPS_OF_BLOCK 4096

typedef int (*rows_fn)(struct visit *v, const struct rd_partial *rows, struct rd_error *err);

static int read_table(struct visit *v, enum rd_partial_table table, rows_fn each, struct rd_error *err)
{
	struct rd_table_reader reader;
	const struct rd_partial *rows;
	int rc;

	rd_table_open(&reader, v->shard->tables, v->shard->shard, table);
	while ((rc = rd_table_next(&reader, &rows, err)) > 0)
		if ((rc = each(v, rows, err)) < 0 ||
		    (rc = rd_progress_step(v->group->progress, STEPS_OF_BLOCK, err)) < 0)
			break;
	rd_table_close(&reader);
	return rc;
}

/* A fact is met: it counts, and its time does. */
static struct rd_when meet(struct visit *v, uint64_t time, uint64_t place, uint32_t op)
{
	v->group->facts++;
	if (!v->file->any_time || time > v->file->last_time)
		v->file->last_time = time;
	v->file->any_time = true;
	return (struct rd_when){time, place, v->shard->file, (uint16_t)op, 0};
}

static uint32_t life_of(struct visit *v, uint32_t pid, uint64_t time)
{
	return rd_lives_of(&v->group->lives, pid, time, v->shard->file);
}

/* ---- the first pass */

static int processes(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->processes.n; i++) {
		const struct rd_fact_process *f = &rows->processes.at[i];
		struct rd_when when = meet(v, f->time, f->place, f->op);
		struct rd_life_names names;
		int rc = rd_shard_name(&v->names, f->name, &names.name, err);
		if (rc == 0)
			rc = rd_shard_name(&v->names, f->command_line, &names.command_line, err);
		names.namespace_pid = f->namespace_pid;
		if (rc == 0)
			rc = rd_lives_add_process(&v->group->lives, f->pid, when, names, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int pointers(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rows->samples.n; i++)
		if (rows->samples.at[i].pointer != 0)
			rc = rd_addresses_add(&v->group->addresses, rows->samples.at[i].pointer, err);
	return rc;
}

static int load_stacks(struct visit *v, struct rd_error *err)
{
	if (v->shard->kept || v->stacks_loaded)
		return 0;
	v->stacks_loaded = true;
	return rd_stack_map_load(&v->shard->stacks, &v->group->raw_stacks, v->shard->tables, v->shard->shard, err);
}

/* Keep the map that this pass made while there is room, or let it go. */
static void leave_stacks(struct visit *v)
{
	size_t n = v->shard->stacks.ids.n;

	if (!v->stacks_loaded)
		return;
	v->shard->kept = n <= KEPT_STACKS - v->group->kept_stacks;
	if (v->shard->kept)
		v->group->kept_stacks += n;
	else
		rd_stack_map_release(&v->shard->stacks);
}

static int first_visit(struct visit *v, struct rd_error *err)
{
	const struct rd_partial_summary *sum = &v->shard->summary;

	if (sum->latest > v->file->latest)
		v->file->latest = sum->latest;
	if (sum->first_sample <= sum->last_sample) {
		meet(v, sum->last_sample, 0, RD_OP_NONE);
		v->group->facts--;
	}
	int rc = read_table(v, RD_TABLE_PROCESSES, processes, err);
	if (rc == 0)
		rc = load_stacks(v, err);
	if (rc < 0 || sum->pointerless_samples == sum->samples)
		return rc;
	return read_table(v, RD_TABLE_SAMPLES, pointers, err);
}

/* ---- the second pass */

static int threads(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rows->threads.n; i++) {
		const struct rd_fact_thread *f = &rows->threads.at[i];
		struct rd_when when = meet(v, f->time, f->place, f->op);
		rc = rd_lives_add_thread(&v->group->lives, f->thread, f->pid, when, err);
	}
	return rc;
}

/* What a path makes a module's name: the IL file's base name without extension, or an image's base name as it is. */
static int module_name(struct visit *v, uint32_t path, struct rd_span (*of)(struct rd_span), uint32_t *id,
		       struct rd_error *err)
{
	struct rd_span span;
	int rc = rd_shard_name_span(&v->names, path, &span, err);

	if (rc < 0)
		return rc;
	span = of(span);
	*id = rd_strings_id(&v->group->content->strings, span.at, span.size_bytes);
	return *id == RD_NONE ? rd_fail_nomem(err) : 0;
}

static int modules(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->modules.n; i++) {
		const struct rd_fact_module *f = &rows->modules.at[i];
		struct rd_when when = meet(v, f->time, f->place, f->op);
		struct rd_code_key key = {.id = f->module_id, .life = life_of(v, f->pid, f->time), .clr = f->clr};
		if (key.life == RD_NONE)
			return rd_fail_nomem(err);
		int rc = module_name(v, f->il_path, rd_module_name, &when.id, err);
		if (rc == 0)
			rc = rd_modules_add(&v->group->modules, &key, when, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int images(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->images.n; i++) {
		const struct rd_fact_image *f = &rows->images.at[i];
		struct rd_when when = meet(v, f->time, f->place, f->op);
		uint32_t low, high, module;
		if (f->op == RD_OP_NONE || !rd_addresses_in(&v->group->addresses, f->base, f->size_bytes, &low, &high))
			continue;
		uint32_t life = life_of(v, f->pid, f->time);
		if (life == RD_NONE)
			return rd_fail_nomem(err);
		int rc = module_name(v, f->path, rd_base_name, &module, err);
		if (rc == 0)
			rc = rd_images_add(&v->group->images, life, module, when, low, high, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int mappings(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->mappings.n; i++) {
		const struct rd_fact_mapping *f = &rows->mappings.at[i];
		struct rd_mapping mapping = {.when = meet(v, f->time, f->place, RD_OP_NONE), .id = f->id};
		uint64_t size_bytes = f->end > f->start ? f->end - f->start : 0;
		if (!rd_addresses_in(&v->group->addresses, f->start, size_bytes, &mapping.low, &mapping.high))
			continue;
		mapping.life = life_of(v, f->pid, f->time);
		if (mapping.life == RD_NONE)
			return rd_fail_nomem(err);
		int rc = module_name(v, f->path, rd_base_name, &mapping.module, err);
		if (rc == 0)
			rc = rd_mappings_add(&v->group->mappings, &mapping, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int symbols(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->symbols.n; i++) {
		const struct rd_fact_symbol *f = &rows->symbols.at[i];
		struct rd_when when = meet(v, f->time, f->place, RD_OP_NONE);
		uint32_t life = life_of(v, f->pid, f->time), low = 0, high = 0;
		uint32_t name = 0;
		int rc = 0;
		if (life == RD_NONE)
			return rd_fail_nomem(err);
		if (rd_addresses_between(&v->group->addresses, f->start, f->last, &low, &high))
			rc = rd_shard_name(&v->names, f->name, &name, err);
		if (rc == 0)
			rc = rd_mappings_add_symbol(&v->group->mappings, life, f->mapping, f->start, name, when, low,
						    high, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int method_names(struct visit *v, const struct rd_fact_method *f, struct rd_method_names *names,
			struct rd_error *err)
{
	int rc = rd_shard_name(&v->names, f->ns, &names->ns, err);
	if (rc == 0)
		rc = rd_shard_name(&v->names, f->name, &names->name, err);
	return rc < 0 ? rc : rd_shard_name(&v->names, f->signature, &names->signature, err);
}

static bool is_named(const struct rd_fact_method *f)
{
	return f->ns || f->name || f->signature;
}

/* An event that covers an address somebody will ask for. */
static int keep_method(struct visit *v, const struct rd_fact_method *f, struct rd_when when, uint32_t low,
		       uint32_t high, struct rd_error *err)
{
	uint32_t life = life_of(v, f->pid, f->time);
	struct rd_method_names names;

	if (life == RD_NONE)
		return rd_fail_nomem(err);
	if (!is_named(f))
		return rd_methods_add(&v->group->methods, f, life, NULL, when, low, high, err);
	int rc = method_names(v, f, &names, err);
	return rc < 0 ? rc : rd_methods_add(&v->group->methods, f, life, &names, when, low, high, err);
}

static int methods(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->methods.n; i++) {
		const struct rd_fact_method *f = &rows->methods.at[i];
		struct rd_when when = meet(v, f->time, f->place, f->op);
		uint32_t low, high;
		int rc = 0;
		if (f->op == RD_OP_DCSTART || f->op == RD_OP_DCEND)
			rc = rd_evidence_add_method(&v->group->evidence, life_of(v, f->pid, f->time), f->clr, err);
		if (rc == 0 && f->op != RD_OP_NONE &&
		    rd_addresses_in(&v->group->addresses, f->start, f->size_bytes, &low, &high))
			rc = keep_method(v, f, when, low, high, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int stack_keys(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	int rc = 0;

	if (rows->stack_keys.n > 0)
		rc = load_stacks(v, err);
	for (size_t i = 0; rc == 0 && i < rows->stack_keys.n; i++) {
		const struct rd_fact_stack_key *f = &rows->stack_keys.at[i];
		struct rd_when when = meet(v, f->time, f->place, RD_OP_NONE);
		rc = rd_stack_map_id(&v->shard->stacks, f->stack, &when.id, err);
		if (rc == 0)
			rc = rd_timeline_add(&v->group->keys, f->key, when, err);
	}
	return rc;
}

static int markers(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rows->markers.n; i++) {
		const struct rd_fact_marker *f = &rows->markers.at[i];
		meet(v, f->time, f->place, RD_OP_NONE);
		rc = rd_evidence_add_marker(&v->group->evidence, life_of(v, f->pid, f->time), f->clr, f->marker,
					    f->time, err);
	}
	return rc;
}

static int runtimes(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rows->runtimes.n; i++) {
		const struct rd_fact_runtime *f = &rows->runtimes.at[i];
		struct rd_when when = meet(v, f->time, f->place, RD_OP_NONE);
		rc = rd_shard_name(&v->names, f->command_line, &when.id, err);
		if (rc == 0 && when.id != 0)
			rc = rd_timeline_add(&v->group->command_lines, f->pid, when, err);
	}
	return rc;
}

static int intervals(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	(void)err;
	for (size_t i = 0; i < rows->intervals.n; i++)
		meet(v, rows->intervals.at[i].time, rows->intervals.at[i].place, RD_OP_NONE);
	return 0;
}

static int damage(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	(void)err;
	for (size_t i = 0; i < rows->damage.n; i++)
		if (rows->damage.at[i].offset < v->file->damage_at)
			v->file->damage_at = rows->damage.at[i].offset;
	return 0;
}

static int second_visit(struct visit *v, struct rd_error *err)
{
	static const struct {
		enum rd_partial_table table;
		rows_fn each;
	} tables[] = {
		{RD_TABLE_THREADS, threads},       {RD_TABLE_MODULES, modules},     {RD_TABLE_IMAGES, images},
		{RD_TABLE_METHODS, methods},       {RD_TABLE_MARKERS, markers},     {RD_TABLE_RUNTIMES, runtimes},
		{RD_TABLE_STACK_KEYS, stack_keys}, {RD_TABLE_INTERVALS, intervals}, {RD_TABLE_DAMAGE, damage},
		{RD_TABLE_MAPPINGS, mappings},     {RD_TABLE_SYMBOLS, symbols},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof tables / sizeof *tables; i++)
		rc = read_table(v, tables[i].table, tables[i].each, err);
	return rc;
}

/* ---- the third pass */

static int missing_names(struct visit *v, const struct rd_partial *rows, struct rd_error *err)
{
	for (size_t i = 0; i < rows->methods.n; i++) {
		const struct rd_fact_method *f = &rows->methods.at[i];
		if (!is_named(f))
			continue;
		struct rd_code_key key = {f->method_id, f->rejit_id, life_of(v, f->pid, f->time), f->clr};
		if (!rd_method_namer_wants(&v->group->methods.namer, &key))
			continue;
		struct rd_when when = {f->time, f->place, v->shard->file, (uint16_t)f->op, 0};
		struct rd_method_names names;
		int rc = method_names(v, f, &names, err);
		if (rc == 0)
			rc = rd_method_namer_add(&v->group->methods.namer, &key, when, &names, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int third_visit(struct visit *v, struct rd_error *err)
{
	return read_table(v, RD_TABLE_METHODS, missing_names, err);
}

/* ---- all of it */

static int visit_all(struct rd_group *g, int (*each)(struct visit *v, struct rd_error *err), struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < g->shards.n; i++) {
		struct rd_shard_ref *shard = &g->shards.at[i];
		struct visit v = {.group = g, .file = &g->files.at[shard->file], .shard = shard};
		rd_shard_names_init(&v.names, shard->tables, shard->shard, &g->content->strings);
		rc = each(&v, err);
		rd_shard_names_release(&v.names);
		leave_stacks(&v);
	}
	return rc;
}

int rd_gather_lives_and_addresses(struct rd_group *g, struct rd_error *err)
{
	return visit_all(g, first_visit, err);
}

int rd_gather_facts(struct rd_group *g, struct rd_error *err)
{
	return visit_all(g, second_visit, err);
}

int rd_gather_missing_names(struct rd_group *g, struct rd_error *err)
{
	return visit_all(g, third_visit, err);
}
