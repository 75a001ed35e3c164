/* notify.h - what the service manager is told: sd_notify(3), one datagram each, without its library. */
#ifndef HC_DAEMON_PROCESS_NOTIFY_H
#define HC_DAEMON_PROCESS_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", ... Nothing happens where no manager listens. */
void hc_notify(const char *state);
void hc_notify_reloading(void); /* with the time, as Type=notify-reload wants it */

/* How often the manager wants to hear "WATCHDOG=1", in milliseconds: half of its patience. 0: never. */
int64_t hc_notify_watchdog(void);

#endif
