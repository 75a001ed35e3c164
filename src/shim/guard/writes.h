/* writes.h - guarded writes: what the program sets goes through _write_(object), where the policy asks for it
 * (the compiler puts the calls in). */
#ifndef HC_SHIM_GUARD_WRITES_H
#define HC_SHIM_GUARD_WRITES_H

#include "shim/harness/py.h"

/* Add `_write_` if the policy guards writes. -1 with an exception set. */
int hc_writes_guard(PyObject *builtins);

/* Set an attribute, or with a NULL delete it, as the program may. -1 with an exception. */
int hc_write_attribute(PyObject *object, PyObject *name, PyObject *value);

#endif
