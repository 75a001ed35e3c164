/* notify.h - messages to the service manager: sd_notify(3), one datagram each, without its library. */
#ifndef HC_DAEMON_PROCESS_NOTIFY_H
#define HC_DAEMON_PROCESS_NOTIFY_H

#include <stdint.h>

/* Send `state`: "READY=1", "STOPPING=1", "WATCHDOG=1", ... Does nothing where no manager listens. */
void hc_notify(const char *state);
void hc_notify_reloading(void); /* sends "RELOADING=1" with the time, as Type=notify-reload wants it */

/* Milliseconds between two "WATCHDOG=1" that the manager expects: half of its patience. 0: it expects none.
 */
int64_t hc_notify_watchdog(void);

#endif
