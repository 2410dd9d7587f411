#include "tests/gen/play.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/random.h"

#define OUTPUT_BYTES ((size_t)4 << 20)
#define DIRECT_BYTES ((size_t)60000)
#define NOISE_BYTES  ((size_t)256 << 10)

void gen_output_flush(struct gen_output *out)
{
	struct rd_error err;

	if (out->fd < 0 || out->bytes.n == 0)
		return;
	if (out->sys_errno == 0 && rd_write_all(out->fd, out->bytes.at, out->bytes.n, &err) != RD_OK)
		out->sys_errno = err.sys_errno ? err.sys_errno : EIO;
	out->bytes.n = 0;
}

void gen_output_bytes(struct gen_output *out, const void *at, size_t n)
{
	/* Whole buffers need not be copied once more. */
	if (out->fd >= 0 && n >= DIRECT_BYTES) {
		gen_output_flush(out);
		struct rd_bytes keep = out->bytes;
		out->bytes = (struct rd_bytes){.at = (uint8_t *)(uintptr_t)at, .n = n};
		gen_output_flush(out);
		out->bytes = keep;
		out->total += n;
		return;
	}
	if (rd_bytes_append(&out->bytes, at, n) != 0)
		gen_out_of_memory();
	out->total += n;
	if (out->fd >= 0 && out->bytes.n >= OUTPUT_BYTES)
		gen_output_flush(out);
}

void gen_output_patch(struct gen_output *out, uint64_t offset, const void *at, size_t n)
{
	gen_output_flush(out);
	if (out->fd < 0)
		memcpy(out->bytes.at + offset, at, n);
	else if (out->sys_errno == 0 && pwrite(out->fd, at, n, (off_t)offset) != (ssize_t)n)
		out->sys_errno = errno ? errno : EIO;
}

const uint8_t *gen_noise_bytes(uint32_t n)
{
	static uint8_t noise[NOISE_BYTES + GEN_PUT_BYTES];
	static size_t at;

	/* Text of a kind: packers find something, and not everything. */
	if (noise[0] == 0)
		for (uint64_t i = 0, state = 1; i < sizeof noise; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			noise[i] = i > 64 && state >> 62 ? noise[i - 1 - (state >> 40) % 60]
							 : (uint8_t)('A' + (state >> 58));
		}
	at = (at + n) % NOISE_BYTES;
	return noise + at;
}

uint64_t gen_start_ticks(const struct gen_options *o)
{
	return o->format == GEN_ETL && o->clock == 2 ? GEN_START_UTC_FILETIME : 1000000;
}

uint64_t gen_frequency_hz(const struct gen_options *o)
{
	if (o->format != GEN_ETL)
		return 1000000000;
	return o->clock == 1 ? 3579545 : o->clock == 2 ? 10000000 : UINT64_C(2500000000);
}

struct play {
	const struct gen_options *o;
	const struct gen_format_writer *format;
	struct gen_writer writer;
	struct gen_cast cast;
	struct gen_cues first, last; /* of the cast; last as if very late */
	size_t things;
};

static const struct gen_format_writer *writer_of(uint32_t format)
{
	return format == GEN_ETL         ? &gen_write_etl
	       : format == GEN_NETTRACE6 ? &gen_write_nettrace6
					 : &gen_write_nettrace;
}

static void write_cues(struct play *p, const struct gen_act *a, const struct gen_cues *cues)
{
	p->writer.act = a;
	if (p->format->act)
		p->format->act(&p->writer);
	for (size_t i = 0; i < cues->at.n; i++)
		p->format->cue(&p->writer, &cues->at.at[i]);
}

#define LATE (UINT64_C(1) << 61)

static void begin(struct play *p)
{
	gen_make_cast(&p->cast, p->o);
	gen_drop(&p->cast.first, p->o, &p->things);
	gen_drop(&p->cast.last, p->o, &p->things);
	p->cast.first.base = gen_start_ticks(p->o) + GEN_SLOT_TICKS;
	gen_cues_of(&p->first, &p->cast.first);
	p->cast.last.base = LATE;
	gen_cues_of(&p->last, &p->cast.last);
}

static void make_act(struct play *p, struct gen_act *a, uint32_t number)
{
	random_begin(p->o->seed * 1000003 + number);
	gen_make_act(a, number, &p->cast, p->o);
	gen_drop(a, p->o, &p->things);
	a->base = p->cast.first.base + (p->cast.first.taken.n + (uint64_t)(number - 1) * p->o->slots) * GEN_SLOT_TICKS;
}

static bool goes_on(const struct play *p, uint32_t acts)
{
	return p->o->acts ? acts < p->o->acts : p->writer.out->total < p->o->size_bytes;
}

static void release(struct play *p)
{
	gen_cast_release(&p->cast);
	gen_cues_release(&p->first);
	gen_cues_release(&p->last);
}

/*
 * Truths are counted beside the writing, in a thread: it takes as long. What one of the two fills of the truth the
 * other does not touch: writers events, losses and bytes.
 */
struct counter {
	const struct play *play;
	struct gen_truth *truth;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct played {
		struct gen_act act;
		struct gen_cues cues;
	} * next; /* handed over; NULL none */
	bool over;
};

static void count_act(struct counter *c, struct played *p)
{
	const struct play *play = c->play;
	struct gen_told told[3] = {
		{&play->cast.first, &play->first}, {&p->act, &p->cues}, {&play->cast.last, &play->last}};

	gen_truth_add(c->truth, play->o, told, play->o->sound);
	gen_act_release(&p->act);
	gen_cues_release(&p->cues);
	free(p);
}

/* The next act to count; NULL at the end. */
static struct played *take_act(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->next == NULL && !c->over)
		pthread_cond_wait(&c->changed, &c->lock);
	struct played *p = c->next;
	c->next = NULL;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return p;
}

static void *count_all(void *ctx)
{
	struct counter *c = ctx;
	struct played *p;

	while ((p = take_act(c)) != NULL)
		count_act(c, p);
	return NULL;
}

/* p NULL: it was the last. */
static void hand_over(struct counter *c, struct played *p)
{
	pthread_mutex_lock(&c->lock);
	while (c->next)
		pthread_cond_wait(&c->changed, &c->lock);
	c->next = p;
	c->over = p == NULL;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static uint32_t play_acts(struct play *p, struct gen_truth *truth)
{
	struct counter c = {.play = p, .truth = truth};
	uint32_t acts = 0;

	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.changed, NULL);
	if (pthread_create(&c.thread, NULL, count_all, &c) != 0)
		gen_out_of_memory();
	while (goes_on(p, acts)) {
		struct played *now = calloc(1, sizeof *now);
		if (now == NULL)
			gen_out_of_memory();
		make_act(p, &now->act, ++acts);
		gen_cues_of(&now->cues, &now->act);
		write_cues(p, &now->act, &now->cues);
		p->writer.act = &p->cast.first;
		hand_over(&c, now);
	}
	hand_over(&c, NULL);
	pthread_join(c.thread, NULL);
	pthread_mutex_destroy(&c.lock);
	pthread_cond_destroy(&c.changed);
	return acts;
}

void gen_play(const struct gen_options *o, struct gen_output *out, struct gen_truth *truth)
{
	struct play p = {.o = o, .format = writer_of(o->format), .writer = {.o = o, .truth = truth, .out = out}};
	struct gen_cues cues = {0};

	gen_truth_init(truth);
	begin(&p);
	p.writer.act = &p.cast.first;
	p.format->begin(&p.writer);
	write_cues(&p, &p.cast.first, &p.first);
	uint64_t acts = play_acts(&p, truth);
	p.cast.last.base = p.cast.first.base + (p.cast.first.taken.n + acts * o->slots) * GEN_SLOT_TICKS;
	gen_cues_of(&cues, &p.cast.last);
	write_cues(&p, &p.cast.last, &cues);
	p.format->end(&p.writer);
	gen_output_flush(out);
	truth->file_bytes = out->total;
	gen_cues_release(&cues);
	gen_texts_release(&p.writer.texts);
	release(&p);
}

/* All acts, in the order of making. */
static size_t tell_acts(const struct gen_options *o, void (*tell)(void *ctx, const struct gen_act *a), void *ctx)
{
	struct play p = {.o = o};

	begin(&p);
	if (tell)
		tell(ctx, &p.cast.first);
	for (uint32_t number = 1; number <= o->acts; number++) {
		struct gen_act a;
		make_act(&p, &a, number);
		if (tell)
			tell(ctx, &a);
		gen_act_release(&a);
	}
	if (tell)
		tell(ctx, &p.cast.last);
	release(&p);
	return p.things;
}

void gen_play_acts(const struct gen_options *o, void (*tell)(void *ctx, const struct gen_act *a), void *ctx)
{
	(void)tell_acts(o, tell, ctx);
}

size_t gen_play_things(const struct gen_options *o)
{
	return tell_acts(o, NULL, NULL);
}
