#include "profile/content.h"

#include <string.h>

#include "base/text.h"

int rd_content_init(struct rd_content *c, struct rd_error *err)
{
	*c = (struct rd_content){0};
	rd_records_init(&c->methods, sizeof(struct rd_method_key), sizeof(struct rd_method_key));
	rd_records_init(&c->frames, sizeof(struct rd_frame_key), sizeof(struct rd_frame_key));
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

static bool same_call(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_content *c = ctx;
	const struct rd_result_call *a = &c->calls.at[index].call, *b = key;

	return a->caller == b->caller && a->frame == b->frame;
}

/* A new call's number, RD_NONE when out of memory. */
static uint32_t add_call(struct rd_content *c, const struct rd_result_call *call)
{
	struct rd_content_call *at = c->calls.n < RD_NONE - 1 ? rd_vec_add(&c->calls) : NULL;

	if (at == NULL)
		return RD_NONE;
	*at = (struct rd_content_call){.call = *call};
	return (uint32_t)c->calls.n;
}

uint32_t rd_content_call(struct rd_content *c, uint32_t caller, uint32_t frame)
{
	struct rd_result_call key = {caller, frame};
	uint32_t first = caller ? c->calls.at[caller - 1].first : 0;

	if (first && c->calls.at[first - 1].call.frame == frame)
		return first;
	if (caller && first == 0) {
		uint32_t number = add_call(c, &key);
		if (number != RD_NONE)
			c->calls.at[caller - 1].first = number;
		return number;
	}
	uint64_t hash = rd_hash_u64((uint64_t)caller << 32 | frame);
	uint32_t id = rd_table_find(&c->calls_table, hash, same_call, c, &key);
	if (id != RD_NONE)
		return id + 1;
	uint32_t number = add_call(c, &key);
	if (number != RD_NONE && rd_table_put(&c->calls_table, hash, number - 1) < 0)
		return RD_NONE;
	return number;
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
	rd_vec_release(&c->calls);
	rd_table_release(&c->calls_table);
	rd_records_release(&c->rows);
}
