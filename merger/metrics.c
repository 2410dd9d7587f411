#include "merger/merger.h"

#include <inttypes.h>

#include "net/metrics.h"

static uint64_t spooled_bytes(const struct rd_merger *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->incoming.n; i++)
		sum += m->incoming.at[i].state == RD_INCOMING_OPEN ? m->incoming.at[i].spool.bytes : 0;
	return sum;
}

void rd_merger_metrics(const struct rd_merger *m, struct rd_out *out)
{
	rd_metric_gauge(out, "rundown_broker_connected", "1: the broker has answered.", m->welcome);
	rd_metric_gauge(out, "rundown_incoming_attempts", "Attempts whose chunks are here, uncommitted.",
			m->incoming.n);
	rd_metric_gauge(out, "rundown_spooled_bytes", "Their bytes.", spooled_bytes(m));
	rd_metric_counter(out, "rundown_partials_merged_total", "Partials that were committed.", m->totals.merged);
	rd_metric_counter(out, "rundown_partials_duplicate_total", "Commits of shards that were merged before.",
			  m->totals.duplicates);
	rd_metric_counter(out, "rundown_partials_refused_total", "Attempts that were refused.", m->totals.refused);
	rd_metric_counter(out, "rundown_merged_bytes_total", "Bytes of the partials.", m->totals.merged_bytes);
	rd_metric(out, "rundown_merge_commit_seconds", "summary", "Commits of partials, and their time.");
	rd_metric_double(out, "rundown_merge_commit_seconds_sum", NULL, (double)m->totals.commit_ns / 1e9);
	rd_metric_u64(out, "rundown_merge_commit_seconds_count", NULL, m->totals.merged);
	rd_metric_gauge(out, "rundown_finishing_jobs", "Jobs that are to be finished.", m->finishing.n);
	rd_metric_counter(out, "rundown_jobs_finished_total", "Jobs whose result was delivered.", m->totals.finished);
	rd_metric_counter(out, "rundown_finishes_failed_total", "Finishes that failed.", m->totals.finishes_failed);
	rd_metric_gauge(out, "rundown_disk_full", "1: nothing is heard until the store finds room.",
			m->retry_at_ns != 0);
}

void rd_merger_page(const struct rd_merger *m, struct rd_out *out)
{
	rd_html_begin(out, "rundown merger");
	rd_out_printf(out, "<p>%s; %" PRIu64 " partials merged, %" PRIu64 " jobs finished%s\n",
		      m->welcome ? "the broker is there" : "no broker answers", m->totals.merged, m->totals.finished,
		      m->retry_at_ns ? "; the disk is full" : "");
	rd_out_text(out, "<h2>Jobs to be finished</h2><table><tr><th>job<th class=n>done\n");
	for (size_t i = 0; i < m->finishing.n; i++) {
		const struct rd_finishing *f = m->finishing.at[i];
		rd_out_text(out, "<tr><td>");
		rd_html_text(out, f->job);
		rd_out_printf(out, "<td class=n>%d %%\n",
			      f->total ? (int)((double)f->done * 100 / (double)f->total) : 0);
	}
	rd_out_text(out, "</table>\n");
	rd_html_end(out);
}
