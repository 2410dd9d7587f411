/*
 * journal - the broker's records on disk: one table of LMDB.
 *
 * A change is one transaction in LMDB's synchronous mode: when rd_journal_keep
 * has returned 0 it is on disk. A value begins with XXH3-64 of its key and of
 * the rest, because LMDB believes its pages.
 * One process owns the folder (base/place.h). Open after the last fork.
 * Threads: one.
 */
#ifndef RD_BROKER_JOURNAL_H
#define RD_BROKER_JOURNAL_H

#include "base/out.h"
#include "broker/broker.h"

struct rd_journal;

/*
 * Make the folder or open what is in it. RD_EXISTS: another broker has it;
 * RD_UNSUPPORTED: a shared file system; RD_CORRUPT, RD_IO.
 */
int rd_journal_open(const char *folder, struct rd_journal **out, struct rd_error *err);
void rd_journal_close(struct rd_journal *j);

/* Tell a new broker all that is there. RD_CORRUPT names the record. */
int rd_journal_recall(struct rd_journal *j, struct rd_broker *b, struct rd_error *err);

/*
 * An rd_broker_keep_fn; ctx is the journal. A full disk is RD_IO with ENOSPC or
 * EDQUOT in sys_errno: nothing is changed, try again. After any other failure
 * the process must end, as what is on disk is not known.
 */
int rd_journal_keep(void *journal, const struct rd_change *changes, size_t n, struct rd_error *err);
/* Whether a failure of keep can be waited out. */
bool rd_journal_disk_full(const struct rd_error *err);

/* What its commits took, as numbers (net/metrics.h). */
void rd_journal_metrics(const struct rd_journal *j, struct rd_out *out);

#endif
