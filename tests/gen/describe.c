/* A scenario as lines of text. */
#include "tests/gen/names.h"
#include "tests/gen/play.h"

static const char *const kinds[] = {"process", "thread", "module", "method", "image", "mapping",
				    "symbol",  "key",    "sample", "record", "noise", "marker"};
static const char *const ops[] = {"", "load", "unload", "dcstart", "dcend"};

#define HEX(v) ((unsigned long long)(v))

static void put_stack(struct rd_out *out, const struct gen_act *a, const char *what, uint32_t stack)
{
	if (stack == GEN_NONE)
		return;
	const struct gen_stack *s = &a->stacks.at[stack];
	rd_out_printf(out, " %s #%u", what, stack);
	for (uint32_t i = s->first; i < s->first + s->n; i++)
		rd_out_printf(out, " %llx", HEX(a->frames.at[i]));
}

static void put_code(struct rd_out *out, const struct gen_act *a, const struct gen_cue *c)
{
	struct gen_method_name name;
	struct gen_path path;

	if (c->kind == GEN_METHOD) {
		const struct gen_method *m = &a->methods.at[c->index];
		gen_method_name(m->name, &name);
		rd_out_printf(out, " pid %u clr %u module %llx id %llx/%llu [%llx, %llx)%s %s",
			      a->processes.at[m->process].pid, m->clr, HEX(m->module_id), HEX(m->id), HEX(m->rejit),
			      HEX(m->start), HEX(m->start + m->size), m->plain ? " plain" : "", name.name);
	} else if (c->kind == GEN_MODULE) {
		const struct gen_module *m = &a->modules.at[c->index];
		gen_module_path(m->name, &path);
		rd_out_printf(out, " pid %u clr %u id %llx %s", a->processes.at[m->process].pid, m->clr, HEX(m->id),
			      path.shown);
	} else if (c->kind == GEN_IMAGE) {
		const struct gen_image *m = &a->images.at[c->index];
		rd_out_printf(out, " pid %u [%llx, %llx)", a->processes.at[m->process].pid, HEX(m->base),
			      HEX(m->base + m->size));
	} else if (c->kind == GEN_MAPPING) {
		const struct gen_mapping *m = &a->mappings.at[c->index];
		rd_out_printf(out, " pid %u id %llx [%llx, %llx)", a->processes.at[m->process].pid, HEX(m->id),
			      HEX(m->start), HEX(m->end));
	} else if (c->kind == GEN_SYMBOL) {
		const struct gen_symbol *s = &a->symbols.at[c->index];
		rd_out_printf(out, " mapping %llx [%llx, %llx]", HEX(s->mapping_id), HEX(s->start), HEX(s->last));
	}
}

static void put_cue(struct rd_out *out, const struct gen_act *a, const struct gen_cue *c)
{
	rd_out_printf(out, "  %8llu cpu %u %s%s %s", HEX(c->stamp), c->cpu, c->lost ? "LOST " : "", kinds[c->kind],
		      c->kind == GEN_MARKER ? "" : ops[c->op]);
	put_code(out, a, c);
	if (c->kind == GEN_PROCESS) {
		rd_out_printf(out, " pid %u", a->processes.at[c->index].pid);
	} else if (c->kind == GEN_THREAD) {
		const struct gen_thread *t = &a->threads.at[c->index];
		rd_out_printf(out, " tid %u of %u", t->tid, a->processes.at[t->process].pid);
	} else if (c->kind == GEN_SAMPLE) {
		const struct gen_sample *s = &a->samples.at[c->index];
		const struct gen_thread *t = &a->threads.at[s->thread];
		rd_out_printf(out, " tid %u of %u pointer %llx", t->tid, a->processes.at[t->process].pid,
			      HEX(s->pointer));
		put_stack(out, a, "kernel", s->kernel);
		put_stack(out, a, "user", s->user);
	} else if (c->kind == GEN_RECORD) {
		const struct gen_record *r = &a->records.at[c->index];
		rd_out_printf(out, " for %llu tid %u pid %u key %llx", HEX(gen_record_about(a, r)), r->tid, r->pid,
			      r->key == GEN_NONE ? 0 : HEX(a->keys.at[r->key].value));
		put_stack(out, a, r->user ? "user" : "kernel", r->stack);
	} else if (c->kind == GEN_KEY) {
		rd_out_printf(out, " %llx", HEX(a->keys.at[c->index].value));
		put_stack(out, a, "is", a->keys.at[c->index].stack);
	}
	rd_out_text(out, "\n");
}

static void put_act(void *ctx, const struct gen_act *a)
{
	struct rd_out *out = ctx;
	struct gen_cues cues = {0};

	gen_cues_of(&cues, a);
	rd_out_printf(out, "act %u\n", a->number);
	for (size_t i = 0; i < cues.at.n; i++)
		put_cue(out, a, &cues.at.at[i]);
	gen_cues_release(&cues);
}

void gen_play_describe(const struct gen_options *o, struct rd_out *out)
{
	rd_out_printf(out, "seed %llu format %u pointer %u compression %u clock %u cpus %u buffers %u%s\n",
		      HEX(o->seed), o->format, o->pointer_bytes, o->compression, o->clock, o->cpus, o->buffer_bytes,
		      o->sound ? " sound" : "");
	gen_play_acts(o, put_act, out);
}
