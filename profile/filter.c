#include "profile/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static int64_t utc_of(int64_t ns, bool is_utc, int64_t origin)
{
	int64_t utc;

	if (is_utc)
		return ns;
	if (__builtin_add_overflow(origin, ns, &utc))
		return ns < 0 ? INT64_MIN : INT64_MAX;
	return utc;
}

void rd_filter_init(struct rd_filter *f, const struct rd_finish_options *opt, const struct rd_moments *moments)
{
	*f = (struct rd_filter){.kind = -1};
	if (opt == NULL)
		return;
	f->kind = opt->kind;
	f->process = opt->process;
	f->has_from = opt->has_from;
	f->from_utc_ns = utc_of(opt->from_ns, opt->from_is_utc, moments->origin_utc_ns);
	f->has_to = opt->has_to;
	f->to_utc_ns = utc_of(opt->to_ns, opt->to_is_utc, moments->origin_utc_ns);
}

static int64_t since(const struct rd_moments *moments, int64_t utc_ns)
{
	int64_t ns;

	if (__builtin_sub_overflow(utc_ns, moments->origin_utc_ns, &ns))
		return utc_ns < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

void rd_filter_keep(const struct rd_filter *f, const struct rd_moments *moments, struct rd_result_filter *out)
{
	*out = (struct rd_result_filter){
		.kind = (uint32_t)(f->kind + 1),
		.has_from = f->has_from,
		.has_to = f->has_to,
		.from_ns = f->has_from ? since(moments, f->from_utc_ns) : 0,
		.to_ns = f->has_to ? since(moments, f->to_utc_ns) : 0,
	};
	snprintf(out->process, sizeof out->process, "%s", f->process ? f->process : "");
}

bool rd_filter_is_all(const struct rd_filter *f)
{
	return !f->has_from && !f->has_to && f->kind < 0 && f->process == NULL;
}

static bool is_number(const char *text, uint32_t *number)
{
	uint64_t n = 0;

	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || n > UINT32_MAX)
			return false;
		n = n * 10 + (uint64_t)(*c - '0');
	}
	*number = (uint32_t)n;
	return *text && n <= UINT32_MAX;
}

/* A name that is nothing but the extension keeps it. */
static struct rd_span without_exe(struct rd_span name)
{
	size_t n = name.size_bytes;

	if (n > 4 && strncasecmp((const char *)name.at + n - 4, ".exe", 4) == 0)
		name.size_bytes -= 4;
	return name;
}

static bool same_text(struct rd_span a, struct rd_span b)
{
	return a.size_bytes == b.size_bytes &&
	       (a.size_bytes == 0 || strncasecmp((const char *)a.at, (const char *)b.at, a.size_bytes) == 0);
}

bool rd_process_is(const char *wanted, uint32_t pid, uint32_t namespace_pid, struct rd_span name)
{
	uint32_t number;

	if (is_number(wanted, &number) && (number == pid || (number != 0 && number == namespace_pid)))
		return true;
	struct rd_span word = rd_text_span(wanted);
	return same_text(name, word) || same_text(without_exe(name), word) || same_text(name, without_exe(word));
}

static int takes_life(struct rd_filter *f, const struct rd_content *content, uint32_t life)
{
	if (life >= f->lives.n) {
		size_t more = content->lives.n - f->lives.n;
		if (rd_vec_reserve(&f->lives, more) < 0)
			return RD_NOMEM;
		memset(f->lives.at + f->lives.n, 0, more * sizeof *f->lives.at);
		f->lives.n += more;
	}
	struct rd_filter_life *asked = &f->lives.at[life];
	if (asked->verdict == RD_LIFE_NOT_ASKED) {
		const struct rd_life *l = &content->lives.at[life];
		bool in =
			rd_process_is(f->process, l->pid, l->namespace_pid, rd_strings_at(&content->strings, l->name));
		asked->verdict = in ? RD_LIFE_IN : RD_LIFE_OUT;
	}
	asked->left_out += asked->verdict == RD_LIFE_OUT;
	return asked->verdict == RD_LIFE_IN;
}

void rd_filter_ticks(const struct rd_filter *f, const struct rd_clock *clock, uint64_t *from, uint64_t *to)
{
	*from = f->has_from ? rd_ticks_from(clock, f->from_utc_ns) : 0;
	*to = f->has_to ? rd_ticks_from(clock, f->to_utc_ns) : UINT64_MAX;
}

int rd_filter_takes(struct rd_filter *f, const struct rd_content *content, uint32_t life, uint32_t kind)
{
	if (f->kind >= 0 && kind != (uint32_t)f->kind)
		return 0;
	return f->process ? takes_life(f, content, life) : 1;
}

/* ---- when nothing passes */

/* As many as fit into the text of an error. */
#define LIVES_NAMED 4

/* The life with most samples left out after those, by (samples, number), that were named; RD_NONE no more. */
static uint32_t next_life(const struct rd_filter *f, uint32_t before)
{
	uint32_t best = RD_NONE;
	uint64_t bound = before == RD_NONE ? UINT64_MAX : f->lives.at[before].left_out;

	for (uint32_t i = 0; i < f->lives.n; i++) {
		uint64_t n = f->lives.at[i].left_out;
		if (n == 0 || n > bound || (n == bound && before != RD_NONE && i <= before))
			continue;
		if (best == RD_NONE || n > f->lives.at[best].left_out)
			best = i;
	}
	return best;
}

size_t rd_process_text(struct rd_span name, uint32_t pid, uint64_t samples, char *to, size_t size)
{
	const char *s = samples == 1 ? "" : "s";
	int n;

	if (pid == RD_PID_UNOWNED)
		n = snprintf(to, size, "nobody's (%" PRIu64 " sample%s)", samples, s);
	else if (name.size_bytes == 0)
		n = snprintf(to, size, "pid %" PRIu32 " (%" PRIu64 " sample%s)", pid, samples, s);
	else
		n = snprintf(to, size, "%.*s (pid %" PRIu32 ", %" PRIu64 " sample%s)",
			     name.size_bytes < 24 ? (int)name.size_bytes : 24, (const char *)name.at, pid, samples, s);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static size_t put_life(const struct rd_content *content, uint32_t life, uint64_t samples, char *to, size_t size)
{
	const struct rd_life *l = &content->lives.at[life];
	struct rd_span name = rd_base_name(rd_strings_at(&content->strings, l->name));
	return rd_process_text(name, l->pid, samples, to, size);
}

static int no_process(const struct rd_filter *f, const struct rd_content *content, uint32_t first, struct rd_error *err)
{
	char list[150], more[32] = "";
	size_t used = 0, all = 0, named = 0;

	for (uint32_t i = 0; i < f->lives.n; i++)
		all += f->lives.at[i].left_out > 0;
	for (uint32_t life = first; life != RD_NONE && named < LIVES_NAMED; life = next_life(f, life), named++) {
		used += (size_t)snprintf(list + used, sizeof list - used, "%s", named ? ", " : "");
		used += put_life(content, life, f->lives.at[life].left_out, list + used, sizeof list - used);
		if (used + 60 > sizeof list) {
			named++;
			break;
		}
	}
	if (all > named)
		snprintf(more, sizeof more, " and %zu more", all - named);
	return rd_fail(err, RD_NOT_FOUND, "no samples of process '%.40s'; there are %s%s", f->process, list, more);
}

static double seconds(const struct rd_moments *m, int64_t utc_ns)
{
	return (double)(utc_ns - m->origin_utc_ns) / 1e9;
}

int rd_filter_nothing(const struct rd_filter *f, const struct rd_content *content, const struct rd_moments *moments,
		      uint64_t samples, struct rd_error *err)
{
	uint32_t life = next_life(f, RD_NONE);

	if (life != RD_NONE)
		return no_process(f, content, life, err);
	if (f->has_from || f->has_to)
		return rd_fail(err, RD_NOT_FOUND,
			       "no sample passes the filter; the %" PRIu64 " there are lie from %.3f s to %.3f s",
			       samples, seconds(moments, moments->first_utc_ns),
			       seconds(moments, moments->last_utc_ns));
	return rd_fail(err, RD_NOT_FOUND, "no sample passes the filter; there are %" PRIu64 " of other kinds", samples);
}

void rd_filter_release(struct rd_filter *f)
{
	rd_vec_release(&f->lives);
}
