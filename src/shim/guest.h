/* guest.h - runs a cell's second process, the interpreter. */
#ifndef HC_SHIM_GUEST_H
#define HC_SHIM_GUEST_H

#include "wire/handover.h"

#include <sys/types.h>

/* Reads the handover, runs the job and sends the report; never returns. `parent` is the pid of pid 1, taken
 * before the fork. */
_Noreturn void hc_guest_run(pid_t parent);

/* Runs one job, from its data to its report, when the interpreter is started and the reporting filter is on.
 * Returns the exit status for this process; ends the process if the program cannot be run. `*told`: the
 * report was sent to the launcher. */
int hc_guest_job(const struct hc_handover *handover, bool *told);

#endif
