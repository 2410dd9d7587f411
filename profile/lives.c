#include "profile/lives.h"

#include "profile/moments.h"

/* The lives of one pid, in the order of time. */
struct pid_lives {
	uint32_t pid;      /* the key */
	uint32_t first, n; /* in content->lives */
};

void rd_lives_init(struct rd_lives *l, struct rd_content *content, const struct rd_clock *clock)
{
	*l = (struct rd_lives){.content = content, .clock = clock};
	rd_records_init(&l->pids, sizeof(struct pid_lives), sizeof(uint32_t));
}

int rd_lives_add_process(struct rd_lives *l, uint32_t pid, struct rd_when when, struct rd_life_names names,
			 struct rd_error *err)
{
	struct rd_life_names *at = l->names.n < RD_NONE ? rd_vec_add(&l->names) : NULL;

	if (at == NULL)
		return rd_fail_nomem(err);
	*at = names;
	when.id = (uint32_t)(l->names.n - 1);
	return rd_timeline_add(&l->facts, pid, when, err);
}

int rd_lives_add_thread(struct rd_lives *l, uint64_t thread, uint32_t pid, struct rd_when when, struct rd_error *err)
{
	when.id = pid;
	return rd_timeline_add(&l->threads, thread, when, err);
}

static struct rd_life *new_life(struct rd_lives *l, uint32_t pid)
{
	struct rd_life *life = l->content->lives.n < RD_NONE ? rd_vec_add(&l->content->lives) : NULL;

	if (life)
		*life = (struct rd_life){.file = UINT16_MAX, .pid = pid, .start_utc_ns = INT64_MIN};
	return life;
}

static struct rd_life *begin_life(struct rd_lives *l, const struct rd_timeline_fact *fact)
{
	struct rd_life *life = new_life(l, (uint32_t)fact->key);

	if (life == NULL)
		return NULL;
	life->recorded = true;
	life->begin = fact->when.time;
	life->started = fact->when.op == RD_OP_LOAD;
	if (life->started)
		life->start_utc_ns = rd_utc_ns(l->clock, life->begin);
	return life;
}

/* All lives of the pid whose facts begin at *i, which moves behind them. */
static int make_lives(struct rd_lives *l, size_t *i)
{
	uint64_t pid = l->facts.facts.at[*i].key;
	struct pid_lives key = {.pid = (uint32_t)pid, .first = (uint32_t)l->content->lives.n};
	bool open = false;

	for (; *i < l->facts.facts.n && l->facts.facts.at[*i].key == pid; ++*i) {
		const struct rd_timeline_fact *fact = &l->facts.facts.at[*i];
		if ((!open || fact->when.op == RD_OP_LOAD) && begin_life(l, fact) == NULL)
			return RD_NOMEM;
		struct rd_life *life = &l->content->lives.at[l->content->lives.n - 1];
		struct rd_life_names names = l->names.at[fact->when.id];
		life->file = fact->when.file < life->file ? fact->when.file : life->file;
		life->name = life->name ? life->name : names.name;
		life->command_line = life->command_line ? life->command_line : names.command_line;
		life->namespace_pid = life->namespace_pid ? life->namespace_pid : names.namespace_pid;
		open = fact->when.op != RD_OP_UNLOAD;
	}
	uint32_t id = rd_records_id(&l->pids, &key.pid, NULL);
	if (id == RD_NONE)
		return RD_NOMEM;
	key.n = (uint32_t)l->content->lives.n - key.first;
	*(struct pid_lives *)rd_records_at(&l->pids, id) = key;
	return 0;
}

int rd_lives_seal(struct rd_lives *l, struct rd_error *err)
{
	rd_timeline_seal(&l->facts);
	for (size_t i = 0; i < l->facts.facts.n;)
		if (make_lives(l, &i) < 0)
			return rd_fail_nomem(err);
	return 0;
}

void rd_lives_seal_threads(struct rd_lives *l)
{
	rd_timeline_seal(&l->threads);
}

/* A pid that no process record names: one life, always there. */
static uint32_t implicit_life(struct rd_lives *l, uint32_t pid)
{
	uint32_t first = (uint32_t)l->content->lives.n;
	uint32_t id = rd_records_id(&l->pids, &pid, NULL);

	if (id == RD_NONE || new_life(l, pid) == NULL)
		return RD_NONE;
	*(struct pid_lives *)rd_records_at(&l->pids, id) = (struct pid_lives){pid, first, 1};
	return first;
}

uint32_t rd_lives_at(struct rd_lives *l, uint32_t pid, uint64_t time)
{
	/* Facts and samples of one process come in long runs. */
	uint32_t id = l->recent;
	if (id >= l->pids.n || ((const struct pid_lives *)rd_records_at(&l->pids, id))->pid != pid)
		id = rd_records_find(&l->pids, &pid);
	if (id == RD_NONE)
		return implicit_life(l, pid);
	l->recent = id;
	const struct pid_lives *p = rd_records_at(&l->pids, id);
	uint32_t low = 0, high = p->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (l->content->lives.at[p->first + middle].begin <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return p->first + (low ? low - 1 : 0);
}

uint32_t rd_lives_of(struct rd_lives *l, uint32_t pid, uint64_t time, uint16_t file)
{
	uint32_t id = rd_lives_at(l, pid, time);
	struct rd_life *life = id == RD_NONE ? NULL : &l->content->lives.at[id];

	if (life && !life->recorded && file < life->file)
		life->file = file;
	return id;
}

uint32_t rd_lives_owner(const struct rd_lives *l, uint64_t thread, uint64_t time)
{
	if (thread == 0)
		return 0;
	const struct rd_when *when = rd_timeline_at(&l->threads, thread, time);
	return when ? when->id : RD_PID_UNOWNED;
}

void rd_lives_release(struct rd_lives *l)
{
	rd_timeline_release(&l->facts);
	rd_vec_release(&l->names);
	rd_records_release(&l->pids);
	rd_timeline_release(&l->threads);
}
