/* attributes.h - applies the rules for attributes to getattr(), setattr(), vars() and the like: the check of
 * the program's text cannot see which names they get. */
#ifndef HC_SHIM_GUARD_ATTRIBUTES_H
#define HC_SHIM_GUARD_ATTRIBUTES_H

#include "shim/harness/py.h"

/* Replaces those of these functions in `builtins`, a dict, that the policy has a rule for. `space`: the
 * program's globals, borrowed for the life of the process. -1 with an exception set. */
int hc_attributes_guard(PyObject *builtins, PyObject *space);

/* Does a rule deny attributes of this name to the program? Keeps an exception that is set. */
bool hc_attribute_denied(PyObject *name);

/* 0 if the program may use attributes of this name, or `name` is not a str; else -1 with AttributeError set.
 */
int hc_attribute_judge(PyObject *name);

#endif
