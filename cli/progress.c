#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/out.h"
#include "base/text.h"

const char *const rd_progress_words[] = {"auto", "bar", "plain", "json", "none", NULL};

#define SECOND_NS     UINT64_C(1000000000)
#define BAR_EVERY_NS  (SECOND_NS / 20)
#define LINE_EVERY_NS SECOND_NS
#define LINE_BYTES    512

void rd_progress_init(struct rd_progress *p, enum rd_progress_form form, const char *name, const char *job, int fd)
{
	*p = (struct rd_progress){.form = form, .name = name, .job = job, .fd = fd};
	if (form == RD_PROGRESS_AUTO)
		p->form = isatty(fd) ? RD_PROGRESS_BAR : RD_PROGRESS_NONE;
}

/* Bytes a second since the first byte; 0 not known. */
static double rate(const struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns)
{
	if (p->began_ns == 0 || now_ns <= p->began_ns || s->bytes_done <= p->began_bytes)
		return 0;
	return (double)(s->bytes_done - p->began_bytes) / ((double)(now_ns - p->began_ns) / 1e9);
}

/* Whole seconds; UINT64_MAX not known. */
static uint64_t seconds_left(const struct rd_progress_state *s, double bytes_a_second)
{
	if (bytes_a_second < 1 || s->bytes_total == 0)
		return UINT64_MAX;
	double left = (double)(s->bytes_total - s->bytes_done) / bytes_a_second + 0.5;
	return left < 1e9 ? (uint64_t)left : UINT64_MAX;
}

static void time_text(uint64_t seconds, char *buf, size_t size)
{
	if (seconds == UINT64_MAX)
		snprintf(buf, size, "?");
	else if (seconds < 60)
		snprintf(buf, size, "%" PRIu64 " s", seconds);
	else if (seconds < 3600)
		snprintf(buf, size, "%" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
	else
		snprintf(buf, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600, seconds / 60 % 60,
			 seconds % 60);
}

static unsigned percent(uint64_t done, uint64_t total)
{
	return total ? (unsigned)((double)done * 100 / (double)total) : 0;
}

static bool is(const struct rd_progress_state *s, const char *state)
{
	return strcmp(s->state, state) == 0;
}

/* "100 %, 158 MB, 310 MB/s"; how fast is not known of what was over when it was first heard of. */
static void words_of_done(const struct rd_progress_state *s, double bytes_a_second, char *buf, size_t size)
{
	char total[32], each[32];

	snprintf(buf, size, "100 %%%s%s%s%s%s", s->bytes_total ? ", " : "",
		 s->bytes_total ? rd_size_text(s->bytes_total, total, sizeof total) : "",
		 bytes_a_second >= 1 ? ", " : "",
		 bytes_a_second >= 1 ? rd_size_text((uint64_t)bytes_a_second, each, sizeof each) : "",
		 bytes_a_second >= 1 ? "/s" : "");
}

/* "45 %, 71 MB of 158 MB, 310 MB/s, 2 s left"; the words of a line and of a bar's end. */
static void words(const struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns, char *buf,
		  size_t size)
{
	char done[32], total[32], each[32], left[32];
	double r = rate(p, s, now_ns);

	if (is(s, "done")) {
		words_of_done(s, r, buf, size);
	} else if (is(s, "failed") || is(s, "cancelled")) {
		snprintf(buf, size, "%s", s->state);
	} else if (is(s, "finishing") && s->finish_total > 0) {
		snprintf(buf, size, "reconciling, %u %%", percent(s->finish_done, s->finish_total));
	} else if (is(s, "finishing")) {
		snprintf(buf, size, "reconciling");
	} else if (s->bytes_total == 0) {
		snprintf(buf, size, "reading the index");
	} else {
		time_text(seconds_left(s, r), left, sizeof left);
		snprintf(buf, size, "%u %%, %s of %s, %s/s, %s left", percent(s->bytes_done, s->bytes_total),
			 rd_size_text(s->bytes_done, done, sizeof done),
			 rd_size_text(s->bytes_total, total, sizeof total),
			 rd_size_text((uint64_t)r, each, sizeof each), left);
	}
}

static unsigned columns_of(int fd)
{
	struct winsize w;
	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void write_text(struct rd_progress *p, const char *text)
{
	/* Progress that nobody can read any more is no failure of the job. */
	(void)rd_write_all(p->fd, text, strlen(text), NULL);
}

static void draw_bar(struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns)
{
	char text[LINE_BYTES], line[LINE_BYTES + 128];
	unsigned columns = columns_of(p->fd), width = 24;

	words(p, s, now_ns, text, sizeof text);
	if (s->bytes_total == 0 || columns < width + 4 + strlen(text)) {
		snprintf(line, sizeof line, "\r\033[K%.*s", (int)(columns > 1 ? columns - 1 : 1), text);
	} else {
		unsigned full = (unsigned)((double)s->bytes_done * width / (double)s->bytes_total);
		full = full > width ? width : full;
		snprintf(line, sizeof line, "\r\033[K[%.*s%*s] %s", (int)full, "########################",
			 (int)(width - full), "", text);
	}
	write_text(p, line);
	p->drawn = true;
}

/* Whether there was anything new to tell. */
static bool write_plain(struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns)
{
	char text[LINE_BYTES], line[LINE_BYTES + 128];

	words(p, s, now_ns, text, sizeof text);
	if (strncmp(p->shown_line, text, sizeof p->shown_line - 1) == 0)
		return false;
	snprintf(p->shown_line, sizeof p->shown_line, "%.*s", (int)sizeof p->shown_line - 1, text);
	snprintf(line, sizeof line, "%s: %s%s%s\n", p->name, p->job ? p->job : "", p->job ? ": " : "", text);
	write_text(p, line);
	return true;
}

static void write_json(struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns)
{
	double r = rate(p, s, now_ns);
	uint64_t left = seconds_left(s, r);
	struct rd_json j;
	struct rd_out o;

	rd_out_init(&o, p->fd);
	rd_json_init(&j, &o, false);
	rd_json_object(&j, NULL);
	if (p->job)
		rd_json_text(&j, "job", p->job);
	rd_json_text(&j, "state", s->state);
	rd_json_u64(&j, "bytes_done", s->bytes_done);
	rd_json_u64(&j, "bytes_total", s->bytes_total);
	rd_json_u64(&j, "shards_done", s->shards_done);
	rd_json_u64(&j, "shards_total", s->shards_total);
	rd_json_u64(&j, "bytes_per_s", (uint64_t)r);
	if (left == UINT64_MAX)
		rd_json_null(&j, "eta_s");
	else
		rd_json_u64(&j, "eta_s", left);
	rd_json_object_end(&j);
	(void)rd_out_close(&o, NULL);
}

/* A new state is always told, and the rest at a pace. */
static bool due(const struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns)
{
	uint64_t every_ns = p->form == RD_PROGRESS_BAR ? BAR_EVERY_NS : LINE_EVERY_NS;

	return strcmp(p->shown_state, s->state) != 0 || p->shown_ns == 0 || now_ns - p->shown_ns >= every_ns;
}

void rd_progress_show(struct rd_progress *p, const struct rd_progress_state *s, uint64_t now_ns)
{
	if (p->began_ns == 0 && s->bytes_total > 0) {
		p->began_ns = now_ns;
		p->began_bytes = s->bytes_done;
	}
	if (p->form == RD_PROGRESS_NONE || !due(p, s, now_ns))
		return;
	if (p->form == RD_PROGRESS_BAR)
		draw_bar(p, s, now_ns);
	else if (p->form == RD_PROGRESS_PLAIN && !write_plain(p, s, now_ns))
		return;
	else if (p->form == RD_PROGRESS_JSON)
		write_json(p, s, now_ns);
	p->shown_ns = now_ns;
	snprintf(p->shown_state, sizeof p->shown_state, "%s", s->state);
}

void rd_progress_end(struct rd_progress *p)
{
	if (p->drawn)
		write_text(p, "\r\033[K");
	p->drawn = false;
}
