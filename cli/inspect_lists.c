/* The lists of inspect's text, cut short: processes, runtimes, keyframes, what is lacking, providers, kinds of events.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/inspect_show.h"
#include "report/people.h"

enum { PROCESSES_MOST = 15, RUNTIMES_MOST = 15, KEYFRAMES_MOST = 12, PROVIDERS_MOST = 20, KINDS_MOST = 40 };

static void put_process(const struct rd_inspection *in, const struct rd_seen_process *p, struct rd_out *o)
{
	const struct rd_processes *all = &in->processes;
	char number[RD_NUMBER_TEXT];

	rd_out_printf(o, "%14s  ", rd_count_text(p->samples, number));
	if (p->pid == 0 && !all->by_thread && p->name == 0 && p->command_line == 0) {
		rd_out_text(o, "of a process that the trace does not name\n");
		return;
	}
	rd_out_printf(o, "pid %-7u ", p->pid);
	rd_out_name(o, rd_processes_text(all, p->name), 40);
	if (p->name && p->command_line)
		rd_out_text(o, ": ");
	rd_out_name(o, rd_processes_text(all, p->command_line), 90);
	if (p->name == 0 && p->command_line == 0)
		rd_out_text(o, p->pid == 0 && all->by_thread ? "idle" : "without a name");
	if (p->namespace_pid && p->namespace_pid != p->pid)
		rd_out_printf(o, " (%u inside its container)", p->namespace_pid);
	rd_out_text(o, "\n");
}

static int put_processes(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;
	size_t n;
	uint32_t *order = rd_sorted_processes(in, &n);
	char number[RD_NUMBER_TEXT];

	if (order == NULL)
		return RD_NOMEM;
	rd_out_printf(o, "%-14s%s, with their samples\n", "processes", rd_count_text(n, number));
	for (size_t i = 0; i < n && i < PROCESSES_MOST; i++)
		put_process(in, rd_records_at(&in->processes.rows.rows, order[i]), o);
	rd_line_more(o, n, PROCESSES_MOST, "");
	if (in->processes.unowned)
		rd_out_printf(o, "%14s  of no process\n", rd_count_text(in->processes.unowned, number));
	rd_free(order);
	return 0;
}

static void put_runtime(const struct rd_seen_runtime *r, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];

	if (r->pid)
		rd_out_printf(o, "%14s  pid %u, instance %u", "", r->pid, r->clr);
	else
		rd_out_printf(o, "%14s  instance %u", "", r->clr);
	if (r->version[0])
		rd_out_printf(o, ", CLR %u.%u.%u.%u", r->version[0], r->version[1], r->version[2], r->version[3]);
	rd_out_printf(o, ": methods %s loaded", rd_count_text(r->methods[RD_OP_LOAD], number));
	rd_out_printf(o, ", %s unloaded", rd_count_text(r->methods[RD_OP_UNLOAD], number));
	rd_out_printf(o, ", %s at a start", rd_count_text(r->methods[RD_OP_DCSTART], number));
	rd_out_printf(o, ", %s at an end; ", rd_count_text(r->methods[RD_OP_DCEND], number));
	rd_out_printf(o, "start rundown %s, ", rd_listed_name(rd_runtime_listed(r, false)));
	rd_out_printf(o, "end rundown %s\n", rd_listed_name(rd_runtime_listed(r, true)));
}

static int put_runtimes(const struct rd_shown *s, struct rd_out *o)
{
	size_t n;
	uint32_t *order = rd_sorted_runtimes(s->in, &n);

	if (order == NULL)
		return RD_NOMEM;
	rd_out_printf(o, "%-14sstart %s, end %s\n", "rundown", rd_inspect_listed(s->in, false),
		      rd_inspect_listed(s->in, true));
	rd_line_label(o, "runtimes");
	rd_out_printf(o, "%zu\n", n);
	for (size_t i = 0; i < n && i < RUNTIMES_MOST; i++)
		put_runtime(rd_records_at(&s->in->rundowns.runtimes.rows, order[i]), o);
	rd_line_more(o, n, RUNTIMES_MOST, "");
	rd_free(order);
	return 0;
}

static void put_keyframes(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;
	const struct rd_clock *clock = &in->index.info.clock;
	char number[RD_NUMBER_TEXT];
	size_t n = rd_keyframes_n(&in->rundowns), middle = 0;
	uint64_t least_ns, most_ns;

	for (size_t i = 0; i < n; i++)
		middle += strcmp(rd_keyframe_name(in, rd_records_at(&in->rundowns.keyframes.rows, (uint32_t)i)),
				 "middle") == 0;
	rd_out_printf(o, "%-14s%zu, of these %zu in the middle", "keyframes", n, middle);
	if (rd_keyframe_spacing(in, &least_ns, &most_ns)) {
		rd_out_printf(o, "; %s", rd_duration_text(least_ns, number));
		rd_out_printf(o, " to %s from one to the next", rd_duration_text(most_ns, number));
	}
	rd_out_text(o, "\n");
	for (size_t i = 0; i < n && i < KEYFRAMES_MOST; i++) {
		const struct rd_keyframe *k = rd_records_at(&in->rundowns.keyframes.rows, (uint32_t)i);
		rd_out_printf(o, "%14s  at %s s, ", "", rd_seconds_text(rd_clock_ns(clock, k->from), number));
		rd_out_printf(o, "%s: ", rd_keyframe_name(in, k));
		rd_line_count(o, k->methods, "method");
		rd_out_text(o, " of ");
		rd_line_count(o, k->runtimes, "runtime");
		rd_out_text(o, ", ");
		rd_line_count(o, k->complete, "end mark");
		rd_out_printf(o, ", in %s\n", rd_duration_text(rd_keyframe_ns(in, k), number));
	}
	rd_line_more(o, n, KEYFRAMES_MOST, "");
}

static void put_lacks(const struct rd_shown *s, struct rd_out *o)
{
	struct rd_lack lacks[RD_LACKS_MOST];
	size_t n = rd_inspect_lacks(s->in, lacks);

	for (size_t i = 0; i < n; i++) {
		rd_line_label(o, i ? "" : "lacks");
		rd_out_printf(o, "%s (%s%s%s): %s\n", lacks[i].what, lacks[i].provider, lacks[i].keywords ? ", " : "",
			      lacks[i].keywords ? lacks[i].keywords : "", lacks[i].so);
	}
}

/* ---- events */

static int put_providers(const struct rd_shown *s, struct rd_out *o, struct rd_error *err)
{
	rd_provider_vec all = {0};
	char number[RD_NUMBER_TEXT];
	int code = rd_inspect_providers(s->in, &all, err);

	rd_out_printf(o, "%-14s%zu, with their events\n", "providers", all.n);
	for (size_t i = 0; i < all.n && i < PROVIDERS_MOST && code == 0; i++) {
		rd_out_printf(o, "%14s  ", rd_count_text(all.at[i].events, number));
		rd_out_name(o, rd_provider_name(&all.at[i]), 80);
		rd_out_printf(o, ": %s, ", rd_size_text(all.at[i].bytes, number, sizeof number));
		rd_line_count(o, all.at[i].kinds, "kind");
		rd_out_text(o, "\n");
	}
	rd_line_more(o, all.n, PROVIDERS_MOST, "");
	rd_vec_release(&all);
	return code;
}

static int put_events(const struct rd_shown *s, struct rd_out *o)
{
	const struct rd_inspection *in = s->in;
	char number[RD_NUMBER_TEXT];
	size_t n;
	uint32_t *order = rd_sorted_kinds(in, false, &n);

	if (order == NULL)
		return RD_NOMEM;
	rd_out_printf(o, "%-14s%s of ", "events", rd_count_text(in->events, number));
	rd_out_printf(o, "%s kinds, ", rd_count_text(n, number));
	rd_out_printf(o, "%s of payloads\n", rd_size_text(in->bytes, number, sizeof number));
	for (size_t i = 0; i < n && i < KINDS_MOST; i++) {
		const struct rd_kind *kind = &in->seen.rows.at[order[i]];
		struct rd_kind_words words;
		rd_kind_tell(&in->seen, kind, &words);
		rd_out_printf(o, "%14s  ", rd_count_text(kind->events, number));
		rd_out_name(o, kind->key_text, 0);
		if (words.name.size_bytes)
			rd_out_text(o, "  ");
		rd_out_name(o, words.name, 80);
		rd_out_text(o, "\n");
	}
	rd_line_more(o, n, KINDS_MOST, "; `rundown events` tells all");
	rd_free(order);
	return 0;
}

int rd_inspect_text_people(const struct rd_shown *s, struct rd_out *o)
{
	if (put_processes(s, o) != 0 || put_runtimes(s, o) != 0)
		return RD_NOMEM;
	put_keyframes(s, o);
	put_lacks(s, o);
	return 0;
}

int rd_inspect_text_events(const struct rd_shown *s, struct rd_out *o, struct rd_error *err)
{
	int code = put_providers(s, o, err);
	if (code == 0 && put_events(s, o) != 0)
		code = rd_fail_nomem(err);
	return code;
}
