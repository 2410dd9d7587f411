/*
 * accept - the last descriptors of a process are never a peer's. Inside net/ only.
 *
 * libzmq takes connections in a thread of its own. Over ipc it aborts the
 * process when there is no descriptor for one; over tcp it tries again at
 * once, for as long as there is none. So net/accept.c is the accept4 of each
 * program that listens: a connection that gets one of the last descriptors is
 * closed there and then, and its peer comes again later.
 */
#ifndef RD_NET_ACCEPT_H
#define RD_NET_ACCEPT_H

/* What is kept for the work: files of keys, pages, a child's pipes. */
#define RD_ACCEPT_SPARE 16

/* From now on; the limit of descriptors must not shrink afterwards. */
void rd_accept_guard(void);
/* How many were shut out since it was asked last. */
unsigned rd_accept_shut_out(void);

#endif
