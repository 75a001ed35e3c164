/* Python 3.11 begins each interpreter with interning the texts of all modules that are compiled into it, and
 * so writes to every page that they lie in. A cell imports few of them: here a module's texts are interned
 * when the module is imported. Other versions have no such step, or one of its own. */
#include "shim/cpython/cpython.h"

#if PY_VERSION_HEX < 0x030c0000
#include <internal/pycore_import.h>

#include <string.h>

/* The modules that can wait, by their names in the functions of libpython that return their code. */
#define MODULES(row)                                                                                         \
    row(_collections_abc) row(_sitebuiltins) row(genericpath) row(importlib_machinery) row(importlib_util)   \
        row(ntpath) row(os) row(posixpath) row(runpy) row(site) row(stat)

/* The functions of libpython, which declares them in its own sources only. New reference.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*) */
#define DECLARE(name) PyObject *_Py_get_##name##_toplevel(void);
MODULES(DECLARE)
int _Py_Deepfreeze_Init(void);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*) */

/* Interns the texts of the code and of all code in it. */
static int intern_code(PyCodeObject *code)
{
    if (_PyStaticCode_InternStrings(code) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *one = PyTuple_GET_ITEM(code->co_consts, i); /* borrowed */
        if (PyCode_Check(one) && intern_code((PyCodeObject *)one) < 0)
            return -1;
    }
    return 0;
}

static PyObject *interned(PyObject *(*get)(void), bool *done)
{
    PyObject *code = get();
    if (!code || *done)
        return code;
    *done = true;
    if (intern_code((PyCodeObject *)code) == 0)
        return code;
    Py_DECREF(code);
    return NULL;
}

#define DEFINE(name)                                                                                         \
    static PyObject *get_##name(void)                                                                        \
    {                                                                                                        \
        static bool done;                                                                                    \
        return interned(_Py_get_##name##_toplevel, &done);                                                   \
    }
MODULES(DEFINE)

#define MOST 32 /* most modules in a table of libpython */

/* Copies the table to `to`, with our functions where a module can wait; interns the texts of the others. */
static int take_table(const struct _frozen *from, struct _frozen to[MOST])
{
#define PAIR(name) {_Py_get_##name##_toplevel, get_##name},
    static const struct {
        PyObject *(*theirs)(void), *(*ours)(void);
    } lazy[] = {MODULES(PAIR)};
    for (size_t n = 0; n < MOST; n++, from++, to++) {
        *to = *from;
        if (!from->name)
            return 0;
        size_t i = 0;
        while (i < Py_ARRAY_LENGTH(lazy) && lazy[i].theirs != from->get_code)
            i++;
        if (i < Py_ARRAY_LENGTH(lazy)) {
            to->get_code = lazy[i].ours;
            continue;
        }
        bool done = !from->get_code;
        PyObject *code = done ? NULL : interned(from->get_code, &done);
        if (from->get_code && !code)
            return -1;
        Py_XDECREF(code);
    }
    return -1;
}

/* In the place of libpython's own, which the Makefile makes weak. */
int _Py_Deepfreeze_Init(void)
{
    static struct _frozen bootstrap[MOST], library[MOST], tests[MOST];
    if (take_table(_PyImport_FrozenBootstrap, bootstrap) < 0 ||
        take_table(_PyImport_FrozenStdlib, library) < 0 || take_table(_PyImport_FrozenTest, tests) < 0)
        return -1;
    _PyImport_FrozenStdlib = library;
    return 0;
}
#endif
