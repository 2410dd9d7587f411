#include "report/label.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/people.h"

struct rd_span rd_signature_arguments(struct rd_span signature)
{
	const uint8_t *open = signature.size_bytes ? memchr(signature.at, '(', signature.size_bytes) : NULL;

	if (open == NULL)
		return (struct rd_span){NULL, 0};
	return (struct rd_span){open, signature.size_bytes - (size_t)(open - signature.at)};
}

static void put(struct rd_bytes *b, struct rd_span text)
{
	if (text.size_bytes)
		rd_bytes_append(b, text.at, text.size_bytes);
}

/* brief: "(…)" stands for arguments, where there are any. */
static void put_in_module(struct rd_bytes *b, const struct rd_view_method *m, bool tiers, bool brief)
{
	struct rd_span arguments = rd_signature_arguments(m->signature);
	char tier[32], text[40];

	put(b, m->ns);
	if (m->ns.size_bytes && m->name.size_bytes)
		rd_bytes_append(b, ".", 1);
	put(b, m->name);
	if (brief && arguments.size_bytes > 2)
		rd_bytes_append(b, "(\xe2\x80\xa6)", 5);
	else
		put(b, arguments);
	if (tiers && m->what == RD_VIEW_METHOD)
		rd_bytes_append(b, text, (size_t)snprintf(text, sizeof text, " [%s]", rd_tier_name(m->tier, tier)));
}

static void put_module(struct rd_bytes *b, const struct rd_view_method *m)
{
	put(b, m->module);
	if (m->module.size_bytes && (m->ns.size_bytes || m->name.size_bytes))
		rd_bytes_append(b, "!", 1);
}

void rd_label_in_module(struct rd_bytes *b, const struct rd_view_method *m, bool tiers)
{
	put_in_module(b, m, tiers, false);
}

void rd_label(struct rd_bytes *b, const struct rd_view_method *m, bool tiers)
{
	put_module(b, m);
	put_in_module(b, m, tiers, false);
}

void rd_label_within(struct rd_bytes *b, const struct rd_view_method *m, bool tiers, bool module, size_t columns)
{
	size_t begin = b->n;

	for (int brief = 0; brief < 2; brief++) {
		b->n = begin;
		if (module)
			put_module(b, m);
		put_in_module(b, m, tiers, brief);
		if (columns == 0 || b->failed ||
		    rd_name_columns((struct rd_span){b->at + begin, b->n - begin}) <= columns)
			return;
	}
}

int64_t rd_pid_number(uint32_t pid)
{
	return pid == RD_PID_UNOWNED ? -1 : (int64_t)pid;
}

void rd_label_process(struct rd_bytes *b, const struct rd_result *r, uint32_t process)
{
	const struct rd_result_process *p = &r->processes.at[process];
	struct rd_span name = rd_base_name(rd_strings_at(&r->strings, p->name));
	char pid[24];

	if (p->pid == RD_PID_UNOWNED) {
		rd_bytes_append(b, "no owner", 8);
		return;
	}
	put(b, name);
	rd_bytes_append(b, pid, (size_t)snprintf(pid, sizeof pid, name.size_bytes ? " (%u)" : "%u", p->pid));
}

int rd_compare_spans(struct rd_span a, struct rd_span b)
{
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;

	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}
