/* guest.h - the life of a cell's second process: the interpreter. */
#ifndef HC_SHIM_GUEST_H
#define HC_SHIM_GUEST_H

#include "wire/handover.h"

#include <sys/types.h>

/* From the handover to the report. `parent` is pid 1 as it was before the fork. Never returns. */
_Noreturn void hc_guest_run(pid_t parent);

/* With the interpreter and the reporting filter there: from the job's data to the report. The status that
 * the process ends with; what keeps the program from being run ends it here. *told: the launcher has been
 * told how it went. */
int hc_guest_job(const struct hc_handover *handover, bool *told);

#endif
