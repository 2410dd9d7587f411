#include "worker/worker.h"

#include <inttypes.h>
#include <string.h>

#include "net/metrics.h"
#include "net/task.h"

void rd_worker_metrics(const struct rd_worker *w, struct rd_out *out)
{
	rd_metric_gauge(out, "rundown_broker_connected", "1: the broker has answered.", w->welcome);
	rd_metric_gauge(out, "rundown_busy", "1: a task is in hand.", w->phase != RD_WORKER_IDLE);
	rd_metric_counter(out, "rundown_tasks_total", "Parsers that were started, one a task.", w->children);
	rd_metric_counter(out, "rundown_tasks_failed_total", "Tasks that failed here.", w->totals.failed);
	rd_metric_gauge(out, "rundown_unacknowledged_chunks", "Chunks that the merger has not acknowledged.",
			w->phase == RD_WORKER_IDLE ? 0 : w->sent - w->acked);
	rd_metric(out, "rundown_parser_cpu_seconds_total", "counter", "Processor time of the parsers.");
	rd_metric_double(out, "rundown_parser_cpu_seconds_total", NULL, (double)w->totals.cpu_ns / 1e9);
	rd_metric_gauge(out, "rundown_parser_peak_bytes", "Resident memory of the largest parser so far.",
			w->totals.peak_bytes);
}

void rd_worker_page(const struct rd_worker *w, uint64_t now_ns, struct rd_out *out)
{
	rd_html_begin(out, "rundown worker");
	rd_out_printf(out, "<p>%s; %" PRIu64 " tasks so far, %" PRIu64 " failed\n",
		      w->welcome ? "the broker is there" : "no broker answers", w->children, w->totals.failed);
	if (w->phase != RD_WORKER_IDLE) {
		rd_out_printf(out, "<p>job=%s task=%" PRIu64 " %s attempt=%" PRIu32 ", heard %" PRIu64 " s ago: ",
			      w->task.job, w->task.number, rd_work_text(w->task.work, w->task.trace, w->task.shard).at,
			      w->task.attempt, now_ns > w->heard_at_ns ? (now_ns - w->heard_at_ns) / 1000000000u : 0);
		rd_html_text(out, w->task.path);
		rd_out_text(out, "\n");
	}
	rd_html_end(out);
}
