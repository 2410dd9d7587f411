#include "tests/profile/random_scene.h"

#include "tests/random.h"

#define ONE_OF(...) pick_one((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)
static uint64_t pick_one(const uint64_t *of, size_t n)
{
	return of[pick((uint32_t)n)];
}

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

const struct symbol symbols[] = {
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

void some_scene(struct scene *s)
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
