/* results.h - what a program leaves behind when it has ended: figures, chosen variables, the value. */
#ifndef HC_SHIM_HARNESS_RESULTS_H
#define HC_SHIM_HARNESS_RESULTS_H

#include "shim/harness/report.h"

#include <cjson/cJSON.h>

/* Write down what there is: into files below /output, and into the report. `job` is the handover's document,
 * `space` the dict of __main__. Nothing that goes wrong here ends the process: it becomes a warning. */
void hc_results_gather(const cJSON *job, PyObject *space, const struct hc_outcome *outcome,
                       struct hc_report *report);

#endif
