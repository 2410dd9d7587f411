#include "cli/seen/processes.h"

#include <string.h>

#include "base/text.h"

void rd_processes_init(struct rd_processes *p, bool by_thread)
{
	memset(p, 0, sizeof *p);
	p->by_thread = by_thread;
	rd_undo_init(&p->rows, sizeof(struct rd_seen_process), 2 * sizeof(uint32_t),
		     offsetof(struct rd_seen_process, mark));
	rd_undo_init(&p->pids, sizeof(struct rd_seen_pid), sizeof(uint32_t), offsetof(struct rd_seen_pid, mark));
	rd_undo_init(&p->threads, sizeof(struct rd_seen_thread), sizeof(uint32_t),
		     offsetof(struct rd_seen_thread, mark));
}

void rd_processes_release(struct rd_processes *p)
{
	rd_undo_release(&p->rows);
	rd_undo_release(&p->pids);
	rd_undo_release(&p->threads);
	rd_strings_release(&p->strings);
}

/* *to the string + 1, if the name says anything. */
static int keep(struct rd_processes *p, struct rd_name name, uint32_t *to)
{
	struct rd_bytes text = {0};
	uint32_t id = RD_NONE;

	if (name.text.size_bytes == 0)
		return 0;
	int code = name.utf16 ? rd_utf16_append(&text, name.text.at, name.text.size_bytes)
			      : rd_bytes_append(&text, name.text.at, name.text.size_bytes);
	if (code == 0)
		id = rd_strings_id(&p->strings, text.at, text.n);
	rd_bytes_release(&text);
	if (id == RD_NONE)
		return RD_NOMEM;
	*to = id + 1;
	return 0;
}

/* The present process of this pid; next: one after it. */
static struct rd_seen_process *process(struct rd_processes *p, uint32_t pid, bool next)
{
	struct rd_seen_pid *row = rd_undo_change(&p->pids, &pid);

	if (row == NULL)
		return NULL;
	row->nth += next;
	uint32_t key[2] = {pid, row->nth};
	struct rd_seen_process *found = rd_undo_change(&p->rows, key);
	if (found)
		found->known = true;
	return found;
}

/* A start after an end, or of another name, is a new process. */
static bool begins_anew(struct rd_processes *p, uint32_t pid, enum rd_op op, uint32_t name)
{
	uint32_t at = rd_records_find(&p->pids.rows, &pid);

	if (at == RD_NONE)
		return false;
	const struct rd_seen_pid *row = rd_records_at(&p->pids.rows, at);
	uint32_t key[2] = {pid, row->nth};
	at = rd_records_find(&p->rows.rows, key);
	if (at == RD_NONE)
		return false;
	const struct rd_seen_process *now = rd_records_at(&p->rows.rows, at);
	return now->known &&
	       ((op == RD_OP_LOAD && (now->has_start || now->has_end)) || (name && now->name && now->name != name));
}

static int take_process(struct rd_processes *p, const struct rd_event *ev, const struct rd_process_record *r,
			enum rd_op op)
{
	uint32_t name = 0, command_line = 0;

	if (keep(p, r->name, &name) != 0 || keep(p, r->command_line, &command_line) != 0)
		return RD_NOMEM;
	struct rd_seen_process *row = process(p, r->pid, begins_anew(p, r->pid, op, name));
	if (row == NULL)
		return RD_NOMEM;
	if (name)
		row->name = name;
	if (command_line)
		row->command_line = command_line;
	if (r->parent_pid)
		row->parent = r->parent_pid;
	if (r->namespace_pid)
		row->namespace_pid = r->namespace_pid;
	if (op == RD_OP_LOAD) {
		row->has_start = true;
		row->start = ev->time;
	} else if (op == RD_OP_UNLOAD) {
		row->has_end = true;
		row->end = ev->time;
	}
	return 0;
}

static int take_runtime(struct rd_processes *p, const struct rd_event *ev, const struct rd_runtime_record *r)
{
	uint32_t line = 0, system = 0, architecture = 0;

	if (keep(p, r->command_line, &line) != 0 || keep(p, r->system, &system) != 0 ||
	    keep(p, r->architecture, &architecture) != 0)
		return RD_NOMEM;
	struct rd_seen_process *row = process(p, ev->pid, false);
	if (row == NULL)
		return RD_NOMEM;
	if (row->command_line == 0)
		row->command_line = line;
	if (system)
		row->system = system;
	if (architecture)
		row->architecture = architecture;
	return 0;
}

static int add_samples(struct rd_processes *p, uint32_t pid, uint64_t n)
{
	if (pid == RD_NO_PID) {
		p->unowned += n;
		return 0;
	}
	struct rd_seen_process *row = process(p, pid, false);
	if (row == NULL)
		return RD_NOMEM;
	row->samples += n;
	return 0;
}

static int take_sample(struct rd_processes *p, const struct rd_event *ev, const struct rd_sample_record *r)
{
	if (!p->by_thread || ev->pid != RD_NO_PID)
		return add_samples(p, ev->pid, 1);
	if (r->thread == 0)
		return add_samples(p, 0, 1);
	uint32_t id = (uint32_t)r->thread;
	struct rd_seen_thread *thread = rd_undo_change(&p->threads, &id);
	if (thread == NULL)
		return RD_NOMEM;
	if (thread->owned)
		return add_samples(p, thread->pid, 1);
	thread->waiting++;
	return 0;
}

static int take_thread(struct rd_processes *p, const struct rd_thread_record *r)
{
	uint32_t id = (uint32_t)r->thread;
	struct rd_seen_thread *thread = rd_undo_change(&p->threads, &id);

	if (thread == NULL)
		return RD_NOMEM;
	uint64_t waiting = thread->waiting;
	thread->waiting = 0;
	thread->owned = true;
	thread->pid = r->pid;
	return waiting ? add_samples(p, r->pid, waiting) : 0;
}

static int take_stack(struct rd_processes *p, const struct rd_stack_record *r)
{
	uint32_t id = (uint32_t)r->thread;
	struct rd_seen_thread *thread = rd_undo_change(&p->threads, &id);

	if (thread == NULL)
		return RD_NOMEM;
	if (!thread->stacked)
		thread->stack_pid = r->pid;
	thread->stacked = true;
	return 0;
}

int rd_processes_take(struct rd_processes *p, const struct rd_event *ev, const struct rd_record *r)
{
	switch (r->kind) {
	case RD_EVENT_PROCESS:
		return take_process(p, ev, &r->process, (enum rd_op)r->op);
	case RD_EVENT_RUNTIME:
		return ev->pid == RD_NO_PID ? 0 : take_runtime(p, ev, &r->runtime);
	case RD_EVENT_SAMPLE:
		return take_sample(p, ev, &r->sample);
	case RD_EVENT_THREAD:
		return take_thread(p, &r->thread);
	case RD_EVENT_STACK:
		return p->by_thread && r->stack.thread ? take_stack(p, &r->stack) : 0;
	default:
		return 0;
	}
}

void rd_processes_end(struct rd_processes *p, bool undo)
{
	rd_undo_end(&p->rows, undo);
	rd_undo_end(&p->pids, undo);
	rd_undo_end(&p->threads, undo);
	if (undo)
		p->unowned = p->unowned_before;
	p->unowned_before = p->unowned;
}

int rd_processes_finish(struct rd_processes *p)
{
	int code = 0;

	for (size_t i = 0; i < p->threads.rows.n && code == 0; i++) {
		const struct rd_seen_thread *t = rd_records_at(&p->threads.rows, (uint32_t)i);
		if (t->waiting)
			code = add_samples(p, t->stacked ? t->stack_pid : RD_NO_PID, t->waiting);
	}
	rd_processes_end(p, false);
	return code;
}
