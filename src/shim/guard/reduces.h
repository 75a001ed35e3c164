/* reduces.h - makes methods picklable although the program has its own getattr: a method is pickled as a call
 * of getattr, and pickle refuses a getattr that is not the real one. */
#ifndef HC_SHIM_GUARD_REDUCES_H
#define HC_SHIM_GUARD_REDUCES_H

#include "shim/harness/py.h"

/* Has methods be pickled with the real getattr. `names`: the dict of the program's built-in names, borrowed.
 * -1 with an exception set. */
int hc_reduces_guard(PyObject *names);

#endif
