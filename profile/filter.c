#include "profile/filter.h"

#include <string.h>
#include <strings.h>

enum { NOT_ASKED, IN, OUT };

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

static bool same_name(struct rd_span name, const char *wanted, const char *extension)
{
	size_t n = strlen(wanted), extra = strlen(extension);

	return name.size_bytes == n + extra && strncasecmp((const char *)name.at, wanted, n) == 0 &&
	       strncasecmp((const char *)name.at + n, extension, extra) == 0;
}

bool rd_process_is(const char *wanted, uint32_t pid, uint32_t namespace_pid, struct rd_span name)
{
	uint32_t number;

	if (is_number(wanted, &number) && (number == pid || (number != 0 && number == namespace_pid)))
		return true;
	return same_name(name, wanted, "") || same_name(name, wanted, ".exe");
}

static int takes_life(struct rd_filter *f, const struct rd_content *content, uint32_t life)
{
	if (life >= f->lives.n) {
		size_t more = content->lives.n - f->lives.n;
		if (rd_vec_reserve(&f->lives, more) < 0)
			return RD_NOMEM;
		memset(f->lives.at + f->lives.n, NOT_ASKED, more);
		f->lives.n += more;
	}
	if (f->lives.at[life] == NOT_ASKED) {
		const struct rd_life *l = &content->lives.at[life];
		bool in =
			rd_process_is(f->process, l->pid, l->namespace_pid, rd_strings_at(&content->strings, l->name));
		f->lives.at[life] = in ? IN : OUT;
	}
	return f->lives.at[life] == IN;
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

void rd_filter_release(struct rd_filter *f)
{
	rd_vec_release(&f->lives);
}
