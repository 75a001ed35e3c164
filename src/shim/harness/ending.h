/* ending.h - what a Python process does between its last line and its end, without tearing the interpreter
 * down (which takes longer than most programs run). */
#ifndef HC_SHIM_HARNESS_ENDING_H
#define HC_SHIM_HARNESS_ENDING_H

#include "shim/harness/py.h"

/* Watch for files that are opened for writing: before the guest runs. -1 with an exception set. */
int hc_ending_prepare(void);

/* Flush standard output and error, Python's and C's. */
void hc_flush_streams(void);

/* Wait for threads, run atexit functions, let go of the program's globals (so that files which it left open
 * are written out and its __del__ methods run), flush. `space` is the dict of __main__. */
void hc_ending_run(PyObject *space);

#endif
