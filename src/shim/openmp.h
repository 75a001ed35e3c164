/* openmp.h - makes libgomp, whose threads do not survive fork(2), ready for a fork. */
#ifndef HC_SHIM_OPENMP_H
#define HC_SHIM_OPENMP_H

/* Ends the threads that libgomp keeps for the next parallel region of this thread. A fork would not have
 * them, and would wait for them for ever; the next region makes new ones. */
void hc_openmp_pause(void);

#endif
