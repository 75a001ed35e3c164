/* source.h - compiles the guest's program: a body, and its last expression, which gives the value. */
#ifndef HC_SHIM_SOURCE_H
#define HC_SHIM_SOURCE_H

#include "shim/harness/finding.h"
#include "shim/harness/outcome.h"

/* Parses the program, has the guard check it, and compiles it; runs nothing of it. The caller releases the
 * references in `out`. -1: `found` has a refusal, which was shown on stderr in the interpreter's form for a
 * syntax error. */
int hc_program_compile(struct hc_program *out, const char *utf8, struct hc_findings *found);

#endif
