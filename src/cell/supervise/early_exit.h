/* early_exit.h - private to the supervisor: a program's end is known before its memory has been given back.
 *
 * To take down the memory of an interpreter with large libraries takes longer than many programs run. Nobody
 * has to wait for that: a listener of seccomp tells when the last task that was ever under its filter has
 * entered do_exit (since Linux 6.11: seccomp_filter_release; earlier it tells later, and nothing is gained).
 * From then on none of them runs any code of its own, nor is in a system call, and what it wrote is written.
 */
#ifndef HC_CELL_SUPERVISE_EARLY_EXIT_H
#define HC_CELL_SUPERVISE_EARLY_EXIT_H

#include "cell/supervise/loop.h"

/* With the program's report, of a cell that is not our child: note what its process has used, which waits for
 * that, and let it end. */
void hc_early_exit_reported(struct hc_loop *l);

/* The listener has nobody left. True: the program is over, and has ended well and by itself (s->exit);
 * nothing of it is to be looked at any more but channels and counters; the cell still dies. False: wait for
 * its death. */
bool hc_early_exit(struct hc_loop *l);

#endif
