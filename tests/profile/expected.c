#include "tests/profile/expected.h"

#include "tests/profile/random_scene.h"
#include "tests/profile/sentences.h"
#include "tests/support.h"

static const struct scene *trace;

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
	const struct scene_item *first = kernel->record;

	if (s->pid != RD_NO_PID)
		return s->pid;
	if (s->thread == 0)
		return 0;
	const struct scene_item *thread = thread_record(s->thread, s->time);
	if (thread)
		return thread->thread.pid;
	if (first == NULL || (user->record && comes_before(user->record, first)))
		first = user->record;
	return first ? first->record.pid : RD_PID_UNOWNED;
}

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

void expect_scene(struct expected *e, const struct scene *s, const struct rd_finish_options *opt)
{
	*e = (struct expected){0};
	trace = s;
	sentences_about(s);
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
