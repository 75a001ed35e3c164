/* imports.h - what the program may import while it runs. */
#ifndef HC_SHIM_GUARD_IMPORTS_H
#define HC_SHIM_GUARD_IMPORTS_H

#include "shim/harness/py.h"

/* Stands for the module builtins where the program imports it. -1 with an exception set. */
int hc_imports_prepare(PyObject *builtins);

/* 0 if the program may import this module, else -1 with the policy's exception set. */
int hc_import_judge(const char *dotted);

/* Refuse it, as the import of it is refused. -1 with the policy's exception set; 0 where the guard only
 * learns. */
int hc_import_refuse(const char *dotted);

/* Is an import by the program under way on this thread, and judged already? */
bool hc_import_judged(void);

/* The built-in function of that name, as METH_VARARGS | METH_KEYWORDS. */
PyObject *hc_guarded_import(PyObject *self, PyObject *args, PyObject *named);

#endif
