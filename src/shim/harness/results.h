/* results.h - collects the results of a program that has ended: figures, the variables asked for, the value.
 */
#ifndef HC_SHIM_HARNESS_RESULTS_H
#define HC_SHIM_HARNESS_RESULTS_H

#include "shim/harness/report.h"

#include "wire/handover.h"

/* Writes the results into files below /output and into `report`. `space` is the dict of __main__, borrowed.
 * An error becomes a warning in the report, and does not end the process. */
void hc_results_gather(const struct hc_handover_job *job, PyObject *space, const struct hc_outcome *outcome,
                       struct hc_report *report);

#endif
