#include "net/wire_error.h"

#include "net/message.h"

void rd_wire_error(Rd__Error *out, const struct rd_error *err, bool retry)
{
	rd__error__init(out);
	out->code = err->code;
	out->text = rd_field(err->text);
	out->file = rd_field(err->file);
	out->offset = err->offset;
	out->context = rd_field(err->context);
	out->retry = retry;
}

void rd_wire_error_take(struct rd_error *err, const Rd__Error *in)
{
	rd_error_clear(err);
	err->code = RD_INTERNAL;
	if (in == NULL)
		return;
	if (in->code < 0 && in->code >= RD_INTERNAL)
		err->code = in->code;
	err->offset = in->offset;
	rd_field_text(&in->text, err->text, sizeof err->text);
	rd_field_text(&in->file, err->file, sizeof err->file);
	rd_field_text(&in->context, err->context, sizeof err->context);
}

bool rd_wire_error_retry(int code)
{
	switch (code) {
	case RD_NOMEM:
	case RD_IO:
	case RD_LIMIT:
	case RD_PROTOCOL:
	case RD_INTERNAL:
		return true;
	default:
		return false;
	}
}
