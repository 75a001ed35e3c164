/* reach.h - checks modules that the program reaches through others: json.codecs.sys is an import of sys.
 *
 * Every module has attributes that are modules which it imported for itself. When the program loads such an
 * attribute, it is checked like an import; a library's load is not checked. And the program cannot load any
 * attribute of a denied module, however it came by the module. */
#ifndef HC_SHIM_GUARD_REACH_H
#define HC_SHIM_GUARD_REACH_H

#include "shim/harness/py.h"

/* Libraries outside of the standard library that do what a text of their caller says: a template, an
 * expression, a document names attributes and modules as the program does. For hc_caller_is_one_of. */
extern const char *const hc_servers[];

/* Modules of the standard library that look names up for their callers, for hc_caller_is_guest:
 * pkgutil.resolve_name("socket") is an import of socket. */
extern const char *const hc_resolvers[];

/* Installs the checks. `builtins`: the program's module builtins, of which a reference is kept. -1 with an
 * exception set. */
int hc_reach_guard(PyObject *builtins);

/* Is the object a module that is denied to the program? Keeps an exception that is set. */
bool hc_reach_denied(PyObject *value);

/* 0 if the program may load the attribute `name` of `object`, or `object` is no denied module; else -1 with
 * the policy's exception set. */
int hc_reach_judge(PyObject *object, PyObject *name);

/* Loads an attribute for hasattr(): an attribute that is denied to the program raises AttributeError, and no
 * refusal is recorded. New reference; NULL with an exception set. */
PyObject *hc_reach_probe(PyObject *object, PyObject *name);

/* Get and set an attribute for the guard itself, without the checks. New reference; NULL, or -1, with an
 * exception set. */
PyObject *hc_reach_get_unguarded(PyObject *object, PyObject *name);
int hc_reach_set_unguarded(PyObject *object, PyObject *name, PyObject *value);

/* The module that the program gets for `module`: the program's own builtins for the real one, else `module`
 * itself. Steals the reference `module`, which may be NULL. New reference; NULL for NULL. */
PyObject *hc_reach_given(PyObject *module);

/* 0 if a loader may run this module's code for its caller; else -1 with the policy's exception set. `name`:
 * the module's name, `file`: the file of its code; each may be NULL. */
int hc_reach_judge_load(PyObject *name, PyObject *file);

#endif
