/*
 * notify - the words that a service manager waits for: ready, alive, stopping.
 *
 * systemd's protocol is a datagram to the socket that $NOTIFY_SOCKET names;
 * without that nothing is sent. Alive is said by the loop that does the work,
 * so a loop that hangs is found and the service started again.
 */
#ifndef RD_BASE_NOTIFY_H
#define RD_BASE_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "STATUS=…". A manager that does not hear is no failure of ours. */
void rd_notify(const char *words);

struct rd_watchdog {
	uint64_t every_ns; /* half of the manager's patience; 0: nobody waits */
	uint64_t due_ns;
};

/* By $WATCHDOG_USEC and $WATCHDOG_PID. */
void rd_watchdog_init(struct rd_watchdog *w);
/* The loop has come round: say so when it is due. When that is next; UINT64_MAX: never. */
uint64_t rd_watchdog_turn(struct rd_watchdog *w, uint64_t now_ns);

#endif
