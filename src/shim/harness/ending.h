/* ending.h - ends a Python program as the interpreter would, but without tearing the interpreter down, which
 * takes longer than most programs run. */
#ifndef HC_SHIM_HARNESS_ENDING_H
#define HC_SHIM_HARNESS_ENDING_H

#include "shim/harness/py.h"

/* Begins to watch for files that are opened for writing; called before the guest runs. -1 with an exception
 * set. */
int hc_ending_prepare(void);

/* Flushes standard output and error, Python's and C's. Errors are dropped. */
void hc_flush_streams(void);

/* Waits for threads, runs atexit functions, clears the program's globals (so that files which it left open
 * are written out and its __del__ methods run), flushes. `space` is the dict of __main__, borrowed. */
void hc_ending_run(PyObject *space);

#endif
