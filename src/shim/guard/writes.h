/* writes.h - guarded writes: the program sets and deletes attributes and items through _write_(object), if
 * the policy says so (transform.c puts the calls into the program). */
#ifndef HC_SHIM_GUARD_WRITES_H
#define HC_SHIM_GUARD_WRITES_H

#include "shim/harness/py.h"

/* Adds `_write_` to the dict `builtins` if the policy guards writes. -1 with an exception set. */
int hc_writes_guard(PyObject *builtins);

/* Sets an attribute, or deletes it if `value` is NULL, by the program's rules. -1 with an exception set. */
int hc_write_attribute(PyObject *object, PyObject *name, PyObject *value);

#endif
