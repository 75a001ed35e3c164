/* builtins.h - the built-in names that the program has. */
#ifndef HC_SHIM_GUARD_BUILTINS_H
#define HC_SHIM_GUARD_BUILTINS_H

#include "shim/harness/py.h"

/* A module with the built-in names that the policy leaves, guarded where it says so; its dict is to be the
 * program's `__builtins__`. Libraries keep the real one. `space`: the program's names (lent, must stay). New
 * reference; NULL with an exception set. */
PyObject *hc_builtins_make(PyObject *space);

/* Do what of that does not change anything else: for copies of this process, to each of which it is worth a
 * hundred pages, as every name and what it stands for has one more user. If the real names change after it,
 * it was for nothing. -1 with an exception set. */
int hc_builtins_prepare(void);

/* Put functions in the place of the ones of their names, where those are there and not refused. -1 with an
 * exception set. `methods` ends with a NULL name and must stay. */
int hc_builtins_put(PyObject *to, PyMethodDef *methods);

#endif
