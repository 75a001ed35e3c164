/* start.h - takes an interpreter's process from the fork to the running interpreter, and reports its
 * failures. */
#ifndef HC_SHIM_START_H
#define HC_SHIM_START_H

#include "wire/handover.h"

#include <sys/types.h>

/* Write a line to standard error and end the process. hc_fail_python is for a failure of the harness that
 * came as a Python exception, which it shows; `doing` says what failed. */
_Noreturn void hc_fail_shim(const struct hc_error *err);
_Noreturn void hc_fail_python(const char *doing);

/* Prepares this process, which `parent` has just forked: sets its name, begins a session of its own, and has
 * the kernel kill it when `parent` dies. */
void hc_start_process(pid_t parent, const char *name);

/* Finds the parts of the handover in the memfd `handover_fd`, which is closed. Its content stays mapped for
 * the life of the process: the texts of `out` point into it. */
int hc_start_read(int handover_fd, struct hc_handover *out, struct hc_error *err);

/* Installs the reporting filter and sends its listener to the launcher; called before anything that comes
 * from strangers is read (cell/filter.h). */
int hc_start_report(const struct hc_handover *h, struct hc_error *err);

/* Reads the policy's rules, and starts an interpreter under them. Ends the process if that fails. */
void hc_start(const struct hc_handover_job *job);

#endif
