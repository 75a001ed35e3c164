/* sandbox.h - around the front, which parses what strangers send, beside that it has no rights: it can make
 * no file and write to none that is not open, and can call nothing that it does not need. */
#ifndef HC_DAEMON_PROCESS_SANDBOX_H
#define HC_DAEMON_PROCESS_SANDBOX_H

#include "base/error.h"

/* For the rest of this process's life. To be called last, with everything open. Without Landlock in the
 * kernel the filter alone goes up; without seccomp it fails. */
int hc_sandbox_enter(struct hc_error *err);

#endif
