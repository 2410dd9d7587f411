#include "cli/submission.h"

#include <sys/random.h>

int rd_submission_fill(struct rd_submission *s, const struct rd_run_words *w, size_t first, size_t n,
		       const char *scratch, struct rd_error *err)
{
	*s = (struct rd_submission){.envelope = rd_envelope(RD__KIND__SUBMIT),
				    .submit = RD__SUBMIT__INIT,
				    .filter = RD__FILTER__INIT,
				    .paths = rd_realloc(NULL, n * sizeof *s->paths)};
	s->optional = rd_realloc(NULL, n * sizeof *s->optional);
	if (s->paths == NULL || s->optional == NULL)
		return rd_fail_nomem(err);
	if (getrandom(s->token, sizeof s->token, 0) != sizeof s->token)
		return rd_fail_errno(err, "no random numbers");
	for (size_t i = 0; i < n; i++) {
		s->paths[i] = rd_field(w->inputs.files.at[first + i].path);
		s->optional[i] = w->inputs.files.at[first + i].optional;
	}
	s->submit.n_path = s->submit.n_optional = n;
	s->submit.optional = s->optional;
	s->submit.path = s->paths;
	s->submit.output = rd_field(w->result);
	s->submit.scratch = rd_field(scratch);
	s->submit.replace = w->force;
	s->submit.join = w->join;
	s->submit.apart = w->apart;
	s->submit.shard_bytes = w->shard_bytes;
	s->submit.shards = (uint32_t)w->shards;
	s->submit.preliminary = true;
	s->submit.filter = &s->filter;
	s->filter.process = rd_field(w->process);
	s->filter.has_from = w->from.given;
	s->filter.from_is_utc = w->from.is_utc;
	s->filter.from_ns = w->from.ns;
	s->filter.has_to = w->to.given;
	s->filter.to_is_utc = w->to.is_utc;
	s->filter.to_ns = w->to.ns;
	s->filter.kind = w->kind + 1;
	s->envelope.submit = &s->submit;
	s->envelope.token = (ProtobufCBinaryData){sizeof s->token, s->token};
	return 0;
}

void rd_submission_release(struct rd_submission *s)
{
	rd_free(s->paths);
	rd_free(s->optional);
	s->paths = NULL;
	s->optional = NULL;
}
