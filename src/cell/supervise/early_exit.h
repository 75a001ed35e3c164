/* early_exit.h - private to the supervisor: notice a program's end before the kernel has freed its memory.
 *
 * Freeing the memory of an interpreter with large libraries takes longer than many programs run. A client
 * need not wait for that: a seccomp listener reports when the last task that was ever under its filter has
 * entered do_exit (since Linux 6.11: seccomp_filter_release; earlier kernels report later, and no time is
 * saved). From then on no task of the program runs code of its own or is in a system call, and everything
 * that it wrote is written. */
#ifndef HC_CELL_SUPERVISE_EARLY_EXIT_H
#define HC_CELL_SUPERVISE_EARLY_EXIT_H

#include "cell/supervise/loop.h"

/* To be called when the program's report has come, for a cell that is not our child: note how much memory
 * its process has used, and then let the process exit, which waits for this. */
void hc_early_exit_reported(struct hc_loop *l);

/* To be called when no process is left under the listener's filter. True: the program has ended well and by
 * itself, and s->exit is filled; the caller reads only channels and counters from here on, while the cell
 * still dies. False: wait for the cell's death. */
bool hc_early_exit(struct hc_loop *l);

#endif
