/* warmup.h - a job without a job: the harness's own work, done once before it counts. */
#ifndef HC_SHIM_WARMUP_H
#define HC_SHIM_WARMUP_H

#include <cjson/cJSON.h>

/* Judge, compile and run a program of ours, and look at what it left, as is done for a job of this policy
 * (the document of the zygote's handover). Leaves nothing but memory that has been written to, and Python's
 * knowledge of where it found what. */
void hc_warmup(const cJSON *policy);

#endif
