/* dynamic.h - checks code that is made while the program runs: by exec(), eval(), compile(), and from modules
 * that the program wrote. Such code is treated like the program: its tree is checked, and it runs with the
 * program's built-in names. */
#ifndef HC_SHIM_GUARD_DYNAMIC_H
#define HC_SHIM_GUARD_DYNAMIC_H

#include "shim/harness/py.h"

/* Replaces the three functions in `builtins`, the dict of the program's built-in names, which is borrowed for
 * the life of the process. -1 with an exception set. */
int hc_dynamic_guard(PyObject *builtins);

/* Checks the source (str or bytes) of a module that the program wrote; `start`: Py_file_input and the like.
 * -1 with an exception set: a rule refuses it. Source that cannot be parsed is not refused, as compiling it
 * raises the right exception. */
int hc_dynamic_judge(PyObject *source, int start);

#endif
