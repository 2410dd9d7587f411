#include "cli/seen/sessions.h"

#include "base/text.h"
#include "trace/event.h"

void rd_sessions_release(struct rd_sessions *s)
{
	rd_vec_release(&s->at);
	rd_strings_release(&s->strings);
}

static int keep(struct rd_sessions *s, struct rd_name name, uint32_t *to)
{
	struct rd_bytes text = {0};
	int code = rd_utf16_append(&text, name.text.at, name.text.size_bytes);

	*to = code == 0 ? rd_strings_id(&s->strings, text.at, text.n) : RD_NONE;
	rd_bytes_release(&text);
	return *to == RD_NONE ? RD_NOMEM : 0;
}

static int take_session(struct rd_sessions *s, const struct rd_session_record *r)
{
	struct rd_seen_session session = {.said = *r};

	if (s->n++ >= RD_SESSIONS_MOST)
		return 0;
	session.said.name = session.said.file = (struct rd_name){0};
	if (keep(s, r->name, &session.name) != 0 || keep(s, r->file, &session.file) != 0)
		return RD_NOMEM;
	struct rd_seen_session *added = rd_vec_add(&s->at);
	if (added == NULL)
		return RD_NOMEM;
	*added = session;
	return 0;
}

static int keep_once(struct rd_sessions *s, struct rd_name name, uint32_t *to)
{
	uint32_t id = 0;

	if (name.text.size_bytes == 0 || *to)
		return 0;
	if (keep(s, name, &id) != 0)
		return RD_NOMEM;
	*to = id + 1;
	return 0;
}

int rd_sessions_take(struct rd_sessions *s, const struct rd_record *r)
{
	if (r->kind == RD_EVENT_SESSION)
		return take_session(s, &r->session);
	if (r->kind != RD_EVENT_MACHINE)
		return 0;
	if (r->machine.cpu_mhz)
		s->cpu_mhz = r->machine.cpu_mhz;
	if (r->machine.cpus)
		s->cpus = r->machine.cpus;
	if (r->machine.memory_bytes)
		s->memory_bytes = r->machine.memory_bytes;
	return keep_once(s, r->machine.host, &s->host) != 0 ? RD_NOMEM : keep_once(s, r->machine.build, &s->build);
}
