/* builtins.h - makes the program's own module of built-in names. */
#ifndef HC_SHIM_GUARD_BUILTINS_H
#define HC_SHIM_GUARD_BUILTINS_H

#include "shim/harness/py.h"

/* Makes a module with the built-in names that the policy allows, some of them guarded; its dict is to be the
 * program's `__builtins__`. Libraries keep the real module. `space`: the program's globals, borrowed for the
 * life of the process. New reference; NULL with an exception set. */
PyObject *hc_builtins_make(PyObject *space);

/* Makes a part of that module ahead of time, in a zygote. It saves each copy of the process about a hundred
 * pages, which it would write to in order to count references to every name and value. If the real names
 * change afterwards, the part is not used. -1 with an exception set. */
int hc_builtins_prepare(void);

/* Replaces in the dict `to` the functions that have the names of `methods`, except those that are missing
 * there or that the policy refuses. `methods` ends with a NULL name, and is borrowed for the life of the
 * process. -1 with an exception set. */
int hc_builtins_replace(PyObject *to, PyMethodDef *methods);

#endif
