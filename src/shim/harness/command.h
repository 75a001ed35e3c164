/* command.h - a job that is a command: a program of the tree, which a process of its own executes. */
#ifndef HC_SHIM_HARNESS_COMMAND_H
#define HC_SHIM_HARNESS_COMMAND_H

#include "shim/harness/outcome.h"

/* Runs the command, whose arguments are a list of strings in JSON, in this directory of the cell ("": the
 * interpreter's), and fills `out`, whose status becomes what
 * a shell would make of the command's end: its exit status, 128 and the number of the signal that ended it,
 * 126 if it may not be executed or its directory cannot be entered, 127 if the tree does not have it. A child
 * that cannot be started says so on standard error. When the job's time is over, or its memory nearly used up
 * (deadline.h), SIGTERM goes to the command's process group, and `out` has the exception that a program would
 * have got. */
void hc_command_run(const char *arguments, const char *workdir, struct hc_outcome *out);

/* Makes this process, a child, the command: it leads a process group of its own, and has no descriptors but
 * the standard ones. If that fails it says so on standard error, and exits with a shell's status. */
_Noreturn void hc_command_become(const char *arguments, const char *workdir);

#endif
