/* attributes.h - getattr() and its kin: what the check of the program's text cannot see. */
#ifndef HC_SHIM_GUARD_ATTRIBUTES_H
#define HC_SHIM_GUARD_ATTRIBUTES_H

#include "shim/harness/py.h"

/* Guard those of the built-in names that the policy has a rule for. `space`: the program's names (lent, must
 * stay). -1 with an exception set. */
int hc_attributes_guard(PyObject *builtins, PyObject *space);

/* May the program not use an attribute of this name? Keeps an exception that is set. */
bool hc_attribute_denied(PyObject *name);

/* 0 if the program may use the attribute, else -1 with AttributeError set. What is no str is not judged. */
int hc_attribute_judge(PyObject *name);

#endif
