#include "tests/gen/truth.h"

#include <string.h>

void gen_truth_init(struct gen_truth *t)
{
	*t = (struct gen_truth){.complete = true};
	rd_records_init(&t->named, sizeof(struct gen_named), offsetof(struct gen_named, method));
	rd_records_init(&t->lives, sizeof(struct gen_life_row), offsetof(struct gen_life_row, samples));
	rd_records_init(&t->rows, sizeof(struct gen_truth_row), offsetof(struct gen_truth_row, exclusive));
}

void gen_truth_release(struct gen_truth *t)
{
	rd_strings_release(&t->texts);
	rd_vec_release(&t->methods);
	rd_records_release(&t->named);
	rd_records_release(&t->lives);
	rd_records_release(&t->rows);
	rd_strings_release(&t->keys);
	rd_vec_release(&t->events);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

uint64_t gen_hash_identity(uint32_t clr, struct rd_span module, struct rd_span ns, struct rd_span name,
			   struct rd_span signature)
{
	struct rd_span parts[] = {module, ns, name, signature};
	uint64_t h = mix(1, clr);

	for (int i = 0; i < 4; i++)
		h = mix(h, rd_hash(parts[i].at, parts[i].size_bytes));
	return h;
}

uint64_t gen_hash_frame(uint64_t stack, uint64_t identity, uint32_t tier)
{
	return mix(mix(stack, identity), tier);
}

uint64_t gen_hash_sample(uint64_t stack, uint32_t pid, uint64_t thread, uint32_t kind)
{
	return mix(mix(mix(stack, pid), thread), kind);
}

static struct rd_span append_part(struct rd_bytes *text, const char *part)
{
	size_t n = strlen(part);
	struct rd_span at = {(const uint8_t *)(uintptr_t)text->n, n}; /* a place: text may move until it is whole */

	if (rd_bytes_append(text, part, n + 1) != 0)
		gen_out_of_memory();
	return at;
}

static struct rd_span part_of(struct rd_span text, struct rd_span place)
{
	return (struct rd_span){text.at + (uintptr_t)place.at, place.size_bytes};
}

uint32_t gen_truth_method(struct gen_truth *t, uint32_t clr, const char *module, const char *ns, const char *name,
			  const char *signature, bool unresolved)
{
	struct rd_bytes text = {0};
	struct gen_identity m = {.clr = clr, .unresolved = unresolved};

	m.module = append_part(&text, module);
	m.ns = append_part(&text, ns);
	m.name = append_part(&text, name);
	m.signature = append_part(&text, signature);
	if (rd_bytes_append(&text, &clr, sizeof clr) != 0)
		gen_out_of_memory();
	uint32_t id = rd_strings_id(&t->texts, text.at, text.n);
	rd_bytes_release(&text);
	if (id == RD_NONE)
		gen_out_of_memory();
	if (id < t->methods.n)
		return id;
	struct rd_span kept = rd_strings_at(&t->texts, id);
	m.module = part_of(kept, m.module);
	m.ns = part_of(kept, m.ns);
	m.name = part_of(kept, m.name);
	m.signature = part_of(kept, m.signature);
	m.hash = gen_hash_identity(clr, m.module, m.ns, m.name, m.signature);
	GEN_ADD(&t->methods, m);
	return id;
}

uint32_t gen_truth_life(struct gen_truth *t, uint32_t pid, bool started, uint64_t begin)
{
	struct gen_life_row key = {.pid = pid, .started = started, .begin = started ? begin : 0};
	uint32_t id = rd_records_id(&t->lives, &key, NULL);

	if (id == RD_NONE)
		gen_out_of_memory();
	return id;
}

uint32_t gen_truth_key(struct gen_truth *t, const char *key)
{
	uint32_t id = rd_strings_id(&t->keys, key, strlen(key));

	if (id == RD_NONE)
		gen_out_of_memory();
	if (id == t->events.n)
		GEN_ADD(&t->events, 0);
	return id;
}

/* ---- as JSON */

static void put_methods(const struct gen_truth *t, struct rd_json *j)
{
	rd_json_array(j, "methods");
	for (uint32_t i = 0; i < t->rows.n; i++) {
		const struct gen_truth_row *row = rd_records_at(&t->rows, i);
		const struct gen_life_row *life = rd_records_at(&t->lives, row->life);
		const struct gen_identity *m = &t->methods.at[row->method];
		rd_json_object(j, NULL);
		rd_json_i64(j, "pid", (int32_t)life->pid);
		rd_json_u64(j, "clr", m->clr);
		rd_json_span(j, "module", m->module);
		rd_json_span(j, "namespace", m->ns);
		rd_json_span(j, "name", m->name);
		rd_json_span(j, "signature", m->signature);
		rd_json_u64(j, "exclusive", row->exclusive);
		rd_json_u64(j, "inclusive", row->inclusive);
		rd_json_u64(j, "exclusive_weight", row->exclusive_weight);
		rd_json_u64(j, "inclusive_weight", row->inclusive_weight);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static void put_lives(const struct gen_truth *t, struct rd_json *j)
{
	rd_json_array(j, "processes");
	for (uint32_t i = 0; i < t->lives.n; i++) {
		const struct gen_life_row *life = rd_records_at(&t->lives, i);
		if (life->samples == 0)
			continue;
		rd_json_object(j, NULL);
		rd_json_i64(j, "pid", (int32_t)life->pid);
		rd_json_u64(j, "samples", life->samples);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static void put_events(const struct gen_truth *t, struct rd_json *j)
{
	rd_json_object(j, "counts");
	for (uint32_t i = 0; i < t->events.n; i++)
		rd_json_u64_at(j, rd_strings_at(&t->keys, i), t->events.at[i]);
	rd_json_object_end(j);
}

void gen_truth_json(const struct gen_truth *t, const struct gen_options *o, struct rd_out *out)
{
	static const char *const kinds[] = {"cpu", "managed", "external"};
	struct rd_json j;

	rd_json_init(&j, out, true);
	rd_json_object(&j, NULL);
	rd_json_text(&j, "format", o->format == GEN_ETL ? "etl" : "nettrace");
	rd_json_bool(&j, "complete", t->complete);
	if (t->complete)
		rd_json_null(&j, "cut_at");
	rd_json_u64(&j, "bytes", t->file_bytes);
	rd_json_u64(&j, "lost", t->lost_events);
	rd_json_u64(&j, "samples", t->samples);
	rd_json_u64(&j, "weight", t->weight);
	rd_json_object(&j, "types");
	for (int i = 0; i < 3; i++)
		if (t->kinds[i])
			rd_json_u64(&j, kinds[i], t->kinds[i]);
	rd_json_object_end(&j);
	rd_json_u64(&j, "frames", t->frames);
	rd_json_u64(&j, "unresolved_frames", t->unresolved_frames);
	rd_json_u64(&j, "ambiguous_frames", t->ambiguous_frames);
	rd_json_u64(&j, "samples_without_stack", t->samples_without_stack);
	rd_json_u64(&j, "stacks_unused", t->stacks_unused);
	rd_json_u64(&j, "broken_stacks", t->broken_stacks);
	rd_json_u64(&j, "unowned_samples", t->unowned_samples);
	put_events(t, &j);
	put_lives(t, &j);
	put_methods(t, &j);
	rd_json_object_end(&j);
	rd_out_text(out, "\n");
}
