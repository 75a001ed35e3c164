/* source.h - the guest's program from text to code: a body, and its last expression, which is the value. */
#ifndef HC_SHIM_SOURCE_H
#define HC_SHIM_SOURCE_H

#include "shim/harness/finding.h"
#include "shim/harness/outcome.h"

/* Parse, have the guard judge, compile. Runs nothing of the program. 0, or -1 if `found` has a refusal, after
 * it was shown on stderr: as the interpreter does for syntax, and so, too, for what the guard refuses. */
int hc_program_compile(struct hc_program *out, const char *utf8, struct hc_findings *found);

#endif
