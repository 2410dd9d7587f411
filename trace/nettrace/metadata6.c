/*
 * size of the header u16 (without itself), header, then rows:
 *
 *   size u16 (of what follows it), metadata id varuint32, provider, event id varuint32, name,
 *   field list, options (size u16, then kind u8 and its value, …), more of later versions
 */
#include "trace/nettrace/metadata6.h"

enum option {
	OPCODE = 1,
	KEYWORD = 3,
	MESSAGE = 4,
	DESCRIPTION = 5,
	KEY_VALUE = 6,
	PROVIDER_GUID = 7,
	LEVEL = 8,
	VERSION = 9,
};

static struct rd_span take_string(struct rd_cursor *c)
{
	uint32_t size_bytes = rd_varu32(c);
	const uint8_t *at = rd_take(c, size_bytes);
	return (struct rd_span){at, at != NULL ? size_bytes : 0};
}

/* An unknown option hides those behind it. */
static void read_options(struct rd_cursor *c, struct rd_nettrace_metadata *out)
{
	while (rd_left(c) > 0) {
		switch ((enum option)rd_u8(c)) {
		case OPCODE:
		case LEVEL:
			rd_skip(c, 1);
			break;
		case VERSION:
			out->version = rd_u8(c);
			break;
		case KEYWORD:
			rd_skip(c, 8);
			break;
		case PROVIDER_GUID:
			rd_skip(c, 16);
			break;
		case KEY_VALUE:
			(void)take_string(c);
			(void)take_string(c);
			break;
		case MESSAGE:
		case DESCRIPTION:
			(void)take_string(c);
			break;
		default:
			return;
		}
	}
}

void rd_nettrace_metadata6_begin(struct rd_cursor *c)
{
	rd_skip(c, rd_u16(c));
}

bool rd_nettrace_metadata6_next(struct rd_cursor *c, struct rd_nettrace_metadata *out)
{
	struct rd_cursor row = rd_sub(c, rd_u16(c));
	*out = (struct rd_nettrace_metadata){.utf8 = true};
	out->record = (struct rd_span){row.begin, rd_left(&row)};
	out->id = rd_varu32(&row);
	out->provider = take_string(&row);
	out->event_id = rd_varu32(&row);
	out->name = take_string(&row);
	const uint8_t *fields = row.at;
	(void)rd_fields_parse(&row, NULL);
	out->fields = (struct rd_span){fields, (size_t)(row.at - fields)};
	struct rd_cursor options = rd_left(&row) > 0 ? rd_sub(&row, rd_u16(&row)) : row;
	read_options(&options, out);
	return !c->failed && !row.failed && !options.failed && out->id != 0 && out->id < RD_NETTRACE_METADATA_IDS;
}
