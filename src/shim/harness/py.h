/* py.h - local variables that release their Python reference at the end of their scope. */
#ifndef HC_SHIM_HARNESS_PY_H
#define HC_SHIM_HARNESS_PY_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <stdbool.h>

/* A local variable that owns a reference or is NULL, for functions that end while the interpreter lives. */
#define hc_autopy __attribute__((cleanup(hc_py_drop))) PyObject

static inline void hc_py_drop(PyObject **o)
{
    Py_CLEAR(*o);
}

/* Moves the reference out of `*o`, which becomes NULL. */
static inline PyObject *hc_py_take(PyObject **o)
{
    PyObject *taken = *o;
    *o = NULL;
    return taken;
}

#endif
