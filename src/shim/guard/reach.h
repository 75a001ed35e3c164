/* reach.h - modules that the program reaches through others: json.codecs.sys is an import of sys.
 *
 * Every module is full of those that it imported for itself. What the program loads from a module is judged
 * like an import where it is itself a module; what libraries load is not. And nothing is loaded for the
 * program from a module that is kept from it, however it came by that. */
#ifndef HC_SHIM_GUARD_REACH_H
#define HC_SHIM_GUARD_REACH_H

#include "shim/harness/py.h"

/* Modules of the standard library that look names up for whoever calls them, as hc_caller_is_guest takes
 * them: pkgutil.resolve_name("socket") is an import of socket. */
extern const char *const hc_resolvers[];

/* `builtins`: what the program has for the module of that name (lent, must stay). -1 with an exception set.
 */
int hc_reach_guard(PyObject *builtins);

/* Is it a module that is kept from the program? Keeps an exception that is set. */
bool hc_reach_denied(PyObject *value);

/* 0 if the program may have this attribute of the object, as far as that is a module; else -1 with the
 * policy's exception set. */
int hc_reach_judge(PyObject *object, PyObject *name);

/* An attribute as hasattr() asks for it: what the program may not have is not there, and no refusal is noted.
 * New reference; NULL with an exception set. */
PyObject *hc_reach_probe(PyObject *object, PyObject *name);

/* An attribute for the guard's own use. New reference; NULL with an exception set. */
PyObject *hc_reach_past(PyObject *object, PyObject *name);
int hc_reach_set_past(PyObject *object, PyObject *name, PyObject *value);

/* What the program gets for a module that was looked up for it: its own for the real builtins. Consumes
 * `module`, which may be NULL. */
PyObject *hc_reach_given(PyObject *module);

/* 0 if the program may have this module's code run for it, under whatever name; else -1 with the policy's
 * exception set. `name`: the module's (may be NULL), `file`: where its code comes from (may be NULL). */
int hc_reach_judge_load(PyObject *name, PyObject *file);

#endif
