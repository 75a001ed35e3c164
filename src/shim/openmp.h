/* openmp.h - a library that does not survive fork(2). */
#ifndef HC_SHIM_OPENMP_H
#define HC_SHIM_OPENMP_H

/* End the threads that libgomp keeps for this one's next parallel region: in a copy of the process they would
 * be missing, and waited for until the end of time. The next region makes new ones. */
void hc_openmp_pause(void);

#endif
