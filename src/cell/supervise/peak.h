/* peak.h - without a cgroup: how much memory a cell has had at least, by the peaks that the kernel keeps for
 * its processes. They show memory that came and went between two samples. */
#ifndef HC_CELL_SUPERVISE_PEAK_H
#define HC_CELL_SUPERVISE_PEAK_H

#include "cell/supervise/supervise.h"

/* The kernel's peaks (VmHWM in /proc/PID/status, ru_maxrss of getrusage) include pages of files, which are no
 * memory of the cell: of each peak, only what is above all pages of files that a process may have counts.
 *
 * Bytes of memory that one process of this run has had at least, by the samples; by the report of pid 1 that
 * the interpreter has ended, which knows of ended processes, too. 0: nothing is proven. */
int64_t hc_peak_of_samples(const struct hc_supervisor *s);
int64_t hc_peak_of_end(const struct hc_supervisor *s);

#endif
