#include "profile/content.h"

#include <string.h>

#include "base/text.h"

int rd_content_init(struct rd_content *c, struct rd_error *err)
{
	*c = (struct rd_content){0};
	rd_records_init(&c->methods, sizeof(struct rd_method_key), sizeof(struct rd_method_key));
	rd_records_init(&c->frames, sizeof(struct rd_frame_key), sizeof(struct rd_frame_key));
	rd_records_init(&c->calls, sizeof(struct rd_result_call), sizeof(struct rd_result_call));
	rd_records_init(&c->rows, sizeof(struct rd_result_row), offsetof(struct rd_result_row, count));
	return rd_strings_id(&c->strings, "", 0) == 0 ? 0 : rd_fail_nomem(err);
}

uint32_t rd_content_frame(struct rd_content *c, const struct rd_method_key *method, uint32_t tier, uint32_t flags)
{
	uint32_t id = rd_records_id(&c->methods, method, NULL);

	if (id == RD_NONE)
		return RD_NONE;
	return rd_records_id(&c->frames, &(struct rd_frame_key){id, tier, flags}, NULL);
}

uint32_t rd_content_call(struct rd_content *c, uint32_t caller, uint32_t frame)
{
	struct rd_result_call key = {caller, frame};
	uint32_t *recent = &c->recent_calls[(caller * 0x9e3779b1u ^ frame * 0x85ebca77u) >> 23];
	const struct rd_result_call *call = *recent < c->calls.n ? rd_records_at(&c->calls, *recent) : NULL;

	if (call == NULL || call->caller != caller || call->frame != frame) {
		uint32_t id = rd_records_id(&c->calls, &key, NULL);
		if (id >= RD_NONE - 1)
			return RD_NONE;
		*recent = id;
	}
	return *recent + 1;
}

uint32_t rd_content_unnamed(struct rd_content *c, uint32_t life, uint32_t clr, uint32_t module, uint32_t tier)
{
	struct rd_method_key method = {.life = life, .clr = clr, .module = module};

	method.name = rd_strings_id(&c->strings, "?", 1);
	return method.name == RD_NONE ? RD_NONE : rd_content_frame(c, &method, tier, RD_FRAME_UNRESOLVED);
}

/* The program's path: up to the first blank, or between quotes. */
static struct rd_span program_of(struct rd_span command_line)
{
	bool quoted = command_line.size_bytes > 0 && command_line.at[0] == '"';

	command_line.at += quoted;
	command_line.size_bytes -= quoted;
	const uint8_t *end =
		command_line.size_bytes ? memchr(command_line.at, quoted ? '"' : ' ', command_line.size_bytes) : NULL;
	if (end)
		command_line.size_bytes = (size_t)(end - command_line.at);
	return command_line;
}

int rd_content_name_life(struct rd_content *c, uint32_t life, uint32_t command_line)
{
	struct rd_life *l = &c->lives.at[life];

	if (l->command_line == 0)
		l->command_line = command_line;
	if (l->name == 0) {
		struct rd_span name = rd_base_name(program_of(rd_strings_at(&c->strings, command_line)));
		uint32_t id = rd_strings_id(&c->strings, name.at, name.size_bytes);
		if (id == RD_NONE)
			return RD_NOMEM;
		l->name = id;
	}
	return 0;
}

void rd_content_release(struct rd_content *c)
{
	rd_vec_release(&c->lives);
	rd_strings_release(&c->strings);
	rd_records_release(&c->methods);
	rd_records_release(&c->frames);
	rd_records_release(&c->calls);
	rd_records_release(&c->rows);
}
