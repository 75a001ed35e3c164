/* reduces.h - methods are pickled as getattr and its arguments, whose getattr pickle compares with the real
 * one. */
#ifndef HC_SHIM_GUARD_REDUCES_H
#define HC_SHIM_GUARD_REDUCES_H

#include "shim/harness/py.h"

/* Methods name the real getattr, where they are the program's too. `names`: its built-in names (lent). -1
 * with an exception set. */
int hc_reduces_guard(PyObject *names);

#endif
