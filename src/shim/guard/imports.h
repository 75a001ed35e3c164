/* imports.h - checks the program's imports while it runs. */
#ifndef HC_SHIM_GUARD_IMPORTS_H
#define HC_SHIM_GUARD_IMPORTS_H

#include "shim/harness/py.h"

/* Sets the module that the program gets when it imports builtins. Always returns 0. */
int hc_imports_prepare(PyObject *builtins);

/* 0 if the program may import this module, else -1 with the policy's exception set. */
int hc_import_judge(const char *dotted);

/* Refuses access to a module in the same way as its import. -1 with the policy's exception set; 0 where the
 * guard only learns. */
int hc_import_refuse(const char *dotted);

/* Is this thread in an import by the program that was checked and allowed? */
bool hc_import_judged(void);

/* The program's __import__(), METH_VARARGS | METH_KEYWORDS. */
PyObject *hc_guarded_import(PyObject *self, PyObject *args, PyObject *named);

#endif
