#include "cli/inspect_words.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "broker/plan.h"
#include "cli/run_words.h"

const char *rd_clock_name(uint32_t kind)
{
	return kind == RD_CLOCK_QPC      ? "qpc"
	       : kind == RD_CLOCK_SYSTEM ? "system"
	       : kind == RD_CLOCK_CYCLES ? "cycles"
					 : "unknown";
}

const char *rd_version_text(const struct rd_trace_info *info, char *buf, size_t size)
{
	if (info->format == RD_FORMAT_ETL || info->version_minor)
		snprintf(buf, size, "%u.%u", info->version_major, info->version_minor);
	else
		snprintf(buf, size, "%u", info->version_major);
	return buf;
}

uint64_t rd_inspect_duration_ns(const struct rd_inspection *in)
{
	int64_t ns = rd_clock_ns(&in->index.info.clock, in->last_ticks);
	return ns > 0 ? (uint64_t)ns : 0;
}

int64_t rd_inspect_end_utc_ns(const struct rd_inspection *in)
{
	int64_t end;
	bool over =
		__builtin_add_overflow(in->index.info.clock.start_utc_ns, (int64_t)rd_inspect_duration_ns(in), &end);
	return over ? INT64_MAX : end;
}

uint64_t rd_inspect_expected_ns(const struct rd_inspection *in)
{
	uint64_t ns;

	if (in->rate.interval_100ns == 0)
		return in->index.info.sampling_ns;
	return __builtin_mul_overflow(in->rate.interval_100ns, 100, &ns) ? UINT64_MAX : ns;
}

uint64_t rd_keyframe_ns(const struct rd_inspection *in, const struct rd_keyframe *k)
{
	int64_t from = rd_clock_ns(&in->index.info.clock, k->from), to = rd_clock_ns(&in->index.info.clock, k->to);
	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

bool rd_keyframe_spacing(const struct rd_inspection *in, uint64_t *least_ns, uint64_t *most_ns)
{
	size_t n = rd_keyframes_n(&in->rundowns);
	int64_t before = 0;

	*least_ns = UINT64_MAX;
	*most_ns = 0;
	for (size_t i = 0; i < n; i++) {
		const struct rd_keyframe *k = rd_records_at(&in->rundowns.keyframes.rows, (uint32_t)i);
		int64_t at = rd_clock_ns(&in->index.info.clock, k->from);
		/* They stand in the file's order, and the clock of a damaged file goes anywhere. */
		uint64_t apart = at > before ? (uint64_t)at - (uint64_t)before : (uint64_t)before - (uint64_t)at;
		if (i > 0 && apart < *least_ns)
			*least_ns = apart;
		if (i > 0 && apart > *most_ns)
			*most_ns = apart;
		before = at;
	}
	return n > 1;
}

const char *rd_recorder_name(const struct rd_trace_info *info)
{
	if (info->format == RD_FORMAT_ETL)
		return "ETW";
	return info->format == RD_FORMAT_NETTRACE && info->version_major >= 6 ? "record-trace" : "EventPipe";
}

const char *rd_mode_text(uint32_t mode, char *buf, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{0x1, "sequential"},        {0x2, "circular"},        {0x4, "append"},       {0x8, "newfile"},
		{0x20, "preallocated"},     {0x100, "realtime"},      {0x400, "buffering"},  {0x800, "private"},
		{0x10000, "relogged"},      {0x800000, "persistent"}, {0x2000000, "system"}, {0x4000000, "compressed"},
		{0x8000000, "independent"}, {0x10000000, "unmixed"},
	};
	size_t used = 0;

	*buf = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (mode & names[i].bit && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "", names[i].name);
	return buf;
}

/* As many workers as run would start for this trace by itself. */
static uint32_t workers_of(const struct rd_trace_info *info)
{
	struct rd_input_file file = {.path = (char *)".nettrace", .size_bytes = info->size_bytes};
	struct rd_run_words words = {0};

	words.inputs.files.at = &file;
	words.inputs.files.n = 1;
	return rd_run_workers(&words);
}

int rd_inspect_shards(const struct rd_inspection *in, const struct rd_inspect_plan *plan, struct rd_shards *out,
		      struct rd_error *err)
{
	uint32_t workers = plan->workers ? (uint32_t)plan->workers : workers_of(&in->index.info);
	struct rd_plan_options options = {plan->shard_bytes, (uint32_t)plan->shards, workers};
	struct rd_plan p = {0};
	int code = rd_plan_make(&in->index, &options, &p, err);

	if (code < 0)
		return code;
	*out = (struct rd_shards){.n = p.shards.n, .workers = workers, .least_bytes = UINT64_MAX};
	for (size_t i = 0; i < p.shards.n; i++) {
		uint64_t bytes = p.shards.at[i].bytes;
		out->least_bytes = bytes < out->least_bytes ? bytes : out->least_bytes;
		out->most_bytes = bytes > out->most_bytes ? bytes : out->most_bytes;
	}
	if (p.shards.n == 0)
		out->least_bytes = 0;
	rd_plan_release(&p);
	return 0;
}

/* ---- rundowns */

const char *rd_inspect_listed(const struct rd_inspection *in, bool end)
{
	bool seen[4] = {false};
	unsigned n = 0, last = RD_LISTED_NONE;

	for (size_t i = 0; i < in->rundowns.runtimes.rows.n; i++) {
		const struct rd_seen_runtime *r = rd_records_at(&in->rundowns.runtimes.rows, (uint32_t)i);
		if (rd_runtime_known(r))
			seen[rd_runtime_listed(r, end)] = true;
	}
	for (unsigned i = 0; i < 4; i++) {
		n += seen[i];
		last = seen[i] ? i : last;
	}
	return n > 1 ? "partial" : rd_listed_name((enum rd_listed)last);
}

const char *rd_keyframe_name(const struct rd_inspection *in, const struct rd_keyframe *k)
{
	/* Within two seconds of an edge it belongs to that edge. */
	int64_t near = 2 * (int64_t)in->index.info.clock.frequency_hz;
	bool first = (int64_t)(k->from - in->index.info.clock.start_ticks) <= near;
	bool last = (int64_t)(in->last_ticks - k->to) <= near;

	if (first && last)
		return k->starts && k->ends ? "start and end" : k->starts ? "start" : "end";
	return first ? "start" : last ? "end" : "middle";
}

/* ---- what is lacking */

struct lacks {
	struct rd_lack *at;
	size_t n;
};

static void lack(struct lacks *l, bool lacking, const char *what, const char *provider, const char *keywords,
		 const char *so)
{
	if (lacking && l->n < RD_LACKS_MOST)
		l->at[l->n++] = (struct rd_lack){what, provider, keywords, so};
}

struct clr_sums {
	uint64_t lives, listed, modules, maps;
};

static struct clr_sums sum_clr(const struct rd_inspection *in)
{
	struct clr_sums sums = {0};

	for (size_t i = 0; i < in->rundowns.runtimes.rows.n; i++) {
		const struct rd_seen_runtime *r = rd_records_at(&in->rundowns.runtimes.rows, (uint32_t)i);
		sums.lives += r->methods[RD_OP_LOAD] + r->methods[RD_OP_UNLOAD];
		sums.listed += r->methods[RD_OP_DCSTART] + r->methods[RD_OP_DCEND];
		for (size_t k = 0; k < RD_OPS; k++)
			sums.modules += r->modules[k];
	}
	for (size_t i = 0; i < in->seen.rows.n; i++) {
		const struct rd_event_type *type = in->seen.rows.at[i].key.type;
		if (type && strstr(type->name, "ILToNativeMap"))
			sums.maps += in->seen.rows.at[i].events;
	}
	return sums;
}

size_t rd_inspect_lacks(const struct rd_inspection *in, struct rd_lack at[RD_LACKS_MOST])
{
	bool etl = in->index.info.format == RD_FORMAT_ETL, six = in->index.info.version_major >= 6 && !etl;
	bool thread_time = in->kinds[RD_SAMPLE_MANAGED] || in->kinds[RD_SAMPLE_EXTERNAL];
	bool clr = thread_time || in->by_kind[RD_EVENT_METHOD] || in->by_kind[RD_EVENT_MODULE] ||
		   in->by_kind[RD_EVENT_MARKER];
	struct clr_sums sums = sum_clr(in);
	struct lacks l = {.at = at};

	lack(&l, in->samples == 0, "samples",
	     etl   ? "Windows Kernel"
	     : six ? "Universal.Events"
		   : "Microsoft-DotNETCore-SampleProfiler",
	     etl ? "PROFILE" : NULL, "there is nothing to count");
	lack(&l, etl && in->samples && in->by_kind[RD_EVENT_STACK] == 0, "stacks", "Windows Kernel",
	     "stack walking of PROFILE", "only the innermost frame is known");
	lack(&l, etl && in->samples && in->by_kind[RD_EVENT_THREAD] == 0, "threads", "Windows Kernel", "THREAD",
	     "samples have no process");
	lack(&l, etl && in->samples && in->by_kind[RD_EVENT_IMAGE] == 0, "images", "Windows Kernel", "LOADER",
	     "native frames have no module");
	lack(&l, clr && sums.lives == 0, "method loads", "Microsoft-Windows-DotNETRuntime", "JIT 0x10, NGen 0x20",
	     "nothing says when methods were compiled and unloaded");
	lack(&l, clr && sums.listed == 0, "a rundown of methods", "Microsoft-Windows-DotNETRuntimeRundown",
	     "JIT 0x10, NGen 0x20, start 0x40 or end 0x100", "methods from before the trace have no names");
	lack(&l, clr && sums.modules == 0, "modules", "Microsoft-Windows-DotNETRuntime and its rundown", "Loader 0x8",
	     "methods have no module");
	lack(&l, clr && sums.maps == 0, "IL maps", "Microsoft-Windows-DotNETRuntime and its rundown",
	     "JittedMethodILToNativeMap 0x20000", "there are no source lines");
	return l.n;
}
