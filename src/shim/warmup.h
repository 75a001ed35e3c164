/* warmup.h - runs a small program of the harness in a zygote, so that its copies need not do this work. */
#ifndef HC_SHIM_WARMUP_H
#define HC_SHIM_WARMUP_H

#include "wire/handover.h"

/* Checks, compiles and runs the program and collects its results, as for a job of `policy` (that of the
 * zygote's handover, borrowed). The effect is memory that has been written to, and Python's caches. */
void hc_warmup(const struct hc_handover_job *policy);

#endif
