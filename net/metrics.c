#include "net/metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/version.h"

/* ---- the process */

static uint64_t resident_bytes(void)
{
	char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	int64_t n = rd_pread_some(fd, text, sizeof text - 1, 0, NULL);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	/* Pages of all, then those that are resident. */
	const char *second = strchr(text, ' ');
	return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (folder == NULL)
		return 0;
	for (const struct dirent *e; (e = readdir(folder)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(folder);
	/* Not the one that looked. */
	return n - 1;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

void rd_metrics_process(struct rd_out *out, const char *role)
{
	struct rusage used = {0};

	getrusage(RUSAGE_SELF, &used);
	rd_metric(out, "rundown_info", "gauge", "Which program this is.");
	rd_out_printf(out, "rundown_info{role=\"%s\",version=\"%s\"} 1\n", role, RD_VERSION);
	rd_metric_gauge(out, "process_resident_memory_bytes", "Memory that is resident.", resident_bytes());
	rd_metric_gauge(out, "rundown_resident_peak_bytes", "The most that ever was.", (uint64_t)used.ru_maxrss * 1024);
	rd_metric(out, "process_cpu_seconds_total", "counter", "Processor time, of user and system.");
	rd_metric_double(out, "process_cpu_seconds_total", NULL, seconds(&used.ru_utime) + seconds(&used.ru_stime));
	rd_metric_gauge(out, "process_open_fds", "Open descriptors.", open_descriptors());
}

/* ---- HTML */

void rd_html_text(struct rd_out *out, const char *text)
{
	static const char *const named[] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);

	while (p < end) {
		size_t n = rd_printable(p, end);
		if (*p < sizeof named / sizeof *named && named[*p]) {
			rd_out_text(out, named[*p]);
			n = 1;
		} else if (n > 0) {
			rd_out_bytes(out, p, n);
		} else {
			char escaped[RD_ESCAPE_TEXT];
			n = rd_escape(p, end, escaped);
			rd_out_text(out, escaped);
		}
		p += n;
	}
}

void rd_html_begin(struct rd_out *out, const char *title)
{
	rd_out_text(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			 "<meta http-equiv=\"refresh\" content=\"5\">"
			 "<meta name=\"viewport\" content=\"width=device-width\"><title>");
	rd_html_text(out, title);
	rd_out_text(out, "</title><style>body{font:14px/1.4 sans-serif;margin:1.5em}"
			 "table{border-collapse:collapse;margin:0 0 1.5em}"
			 "th,td{padding:.2em .8em .2em 0;text-align:left;border-bottom:1px solid #ccc;"
			 "vertical-align:top;overflow-wrap:anywhere}"
			 "td.n,th.n{text-align:right;white-space:nowrap}</style></head><body>\n<h1>");
	rd_html_text(out, title);
	rd_out_text(out, "</h1>\n");
}

void rd_html_end(struct rd_out *out)
{
	rd_out_text(out, "<p><a href=\"/metrics\">metrics</a></p></body></html>\n");
}
