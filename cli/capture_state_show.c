#include "cli/capture_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "trace/event.h"

#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

const char *rd_capture_name(const struct rd_capture_guid *guid)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_EVENT};

	memcpy(key.guid, guid->bytes, sizeof key.guid);
	return rd_catalogue_provider(&key);
}

const char *rd_capture_remark(const struct rd_capture_guid *guid, char *buf, unsigned size)
{
	const char *name = rd_capture_name(guid);
	char text[37];

	rd_guid_text(guid->bytes, text);
	if (name == NULL)
		snprintf(buf, size, "%s is no provider that rundown knows", text);
	else if (strcmp(name, RUNDOWN) == 0)
		snprintf(buf, size, "%s does not answer; the runtime itself does, Microsoft-Windows-DotNETRuntime",
			 name);
	else
		return NULL;
	return buf;
}

/* ---- bytes */

/* Where the line ends that begins at byte `at`: after the head, and after each GUID. */
static size_t line_end(size_t at, size_t n)
{
	size_t end = at + (at < RD_CAPTURE_HEAD_BYTES ? RD_CAPTURE_HEAD_BYTES : RD_CAPTURE_GUID_BYTES);

	return end < n ? end : n;
}

void rd_capture_put_hex(struct rd_out *o, struct rd_span bytes)
{
	for (size_t at = 0, end; at < bytes.size_bytes; at = end) {
		end = line_end(at, bytes.size_bytes);
		for (size_t i = at; i < end; i++)
			rd_out_printf(o, "%s%02x", i > at ? " " : "", bytes.at[i]);
		rd_out_text(o, "\n");
	}
}

void rd_capture_put_c(struct rd_out *o, struct rd_span bytes)
{
	rd_out_text(o, "/* For TraceSetInformation with TracePeriodicCaptureStateListInfo (16). */\n");
	if (bytes.size_bytes == 0) {
		rd_out_text(o, "static const unsigned char *const capture_state = 0;\n"
			       "static const unsigned long capture_state_size = 0;\n");
		return;
	}
	rd_out_printf(o, "static const unsigned char capture_state[%zu] = {\n", bytes.size_bytes);
	for (size_t at = 0, end; at < bytes.size_bytes; at = end) {
		end = line_end(at, bytes.size_bytes);
		rd_out_text(o, "\t");
		for (size_t i = at; i < end; i++)
			rd_out_printf(o, "%s0x%02x,", i > at ? " " : "", bytes.at[i]);
		rd_out_text(o, "\n");
	}
	rd_out_text(o, "};\nstatic const unsigned long capture_state_size = sizeof capture_state;\n");
}

/* ---- what they say */

void rd_capture_put_text(struct rd_out *o, const struct rd_capture_state *s)
{
	char text[37];

	if (!s->on) {
		rd_out_text(o, "off\n");
		return;
	}
	rd_out_printf(o, "every %" PRIu32 " s, %zu provider%s\n", s->every_s, s->providers.n,
		      s->providers.n == 1 ? "" : "s");
	for (size_t i = 0; i < s->providers.n; i++) {
		const char *name = rd_capture_name(&s->providers.at[i]);
		rd_guid_text(s->providers.at[i].bytes, text);
		rd_out_printf(o, "  %s%s%s\n", text, name ? "  " : "", name ? name : "");
	}
}

static void put_said(struct rd_json *j, const struct rd_capture_state *s)
{
	char text[37];

	rd_json_bool(j, "on", s->on);
	if (s->on)
		rd_json_u64(j, "every_s", s->every_s);
	else
		rd_json_null(j, "every_s");
	rd_json_array(j, "providers");
	for (size_t i = 0; i < s->providers.n; i++) {
		const char *name = rd_capture_name(&s->providers.at[i]);
		rd_guid_text(s->providers.at[i].bytes, text);
		rd_json_object(j, NULL);
		rd_json_text(j, "guid", text);
		if (name)
			rd_json_text(j, "name", name);
		else
			rd_json_null(j, "name");
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

void rd_capture_put_json(struct rd_out *o, const struct rd_capture_state *s)
{
	struct rd_json j;

	rd_json_init(&j, o, true);
	rd_json_object(&j, NULL);
	put_said(&j, s);
	rd_json_object_end(&j);
}

/* ---- what is wrong */

void rd_capture_put_check_text(struct rd_out *o, const struct rd_capture_state *s)
{
	char remark[160];

	rd_out_text(o, s->faults.n == 0 ? "good: " : "bad: ");
	rd_capture_put_text(o, s);
	for (size_t i = 0; i < s->faults.n; i++)
		rd_out_printf(o, "fault at byte %" PRIu64 ": %s\n", s->faults.at[i].offset, s->faults.at[i].text);
	for (size_t i = 0; i < s->providers.n; i++)
		if (rd_capture_remark(&s->providers.at[i], remark, sizeof remark))
			rd_out_printf(o, "note: %s\n", remark);
}

void rd_capture_put_check_json(struct rd_out *o, const struct rd_capture_state *s)
{
	struct rd_json j;
	char remark[160];

	rd_json_init(&j, o, true);
	rd_json_object(&j, NULL);
	rd_json_bool(&j, "good", s->faults.n == 0);
	put_said(&j, s);
	rd_json_array(&j, "faults");
	for (size_t i = 0; i < s->faults.n; i++) {
		rd_json_object(&j, NULL);
		rd_json_offset(&j, "offset", s->faults.at[i].offset);
		rd_json_text(&j, "text", s->faults.at[i].text);
		rd_json_object_end(&j);
	}
	rd_json_array_end(&j);
	rd_json_array(&j, "notes");
	for (size_t i = 0; i < s->providers.n; i++)
		if (rd_capture_remark(&s->providers.at[i], remark, sizeof remark))
			rd_json_text(&j, NULL, remark);
	rd_json_array_end(&j);
	rd_json_object_end(&j);
}
