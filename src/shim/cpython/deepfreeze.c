/* Python 3.11 begins each interpreter with interning the texts of all modules that are compiled into it, and
 * so writes to every page that they lie in. A cell imports few of them: here a module's texts are interned
 * when the module is imported. Other versions have no such step, or one of its own. */
#include "shim/cpython/cpython.h"

#if PY_VERSION_HEX < 0x030c0000
#include <internal/pycore_import.h>

/* The modules that can wait, by their names in the functions of libpython that return their code. */
#define MODULES(row)                                                                                         \
    row(_collections_abc) row(_sitebuiltins) row(genericpath) row(importlib_machinery) row(importlib_util)   \
        row(ntpath) row(os) row(posixpath) row(runpy) row(site) row(stat)

/* The functions of libpython, which declares them in its own sources only. New reference. */
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): libpython's names
#define DECLARE(name) PyObject *_Py_get_##name##_toplevel(void);
MODULES(DECLARE)
int _Py_Deepfreeze_Init(void);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

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

typedef PyObject *code_getter(void); /* returns the code of one module; new reference */

/* The code that `get` returns, with its texts interned. `done`: it was asked for before. */
static PyObject *interned(code_getter *get, bool *done)
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

#define PAIR(name) {_Py_get_##name##_toplevel, get_##name},
static const struct {
    code_getter *theirs, *ours;
} lazy[] = {MODULES(PAIR)};

/* Our function in the place of libpython's; NULL: the module cannot wait. */
static code_getter *find_lazy(code_getter *theirs)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(lazy); i++)
        if (lazy[i].theirs == theirs)
            return lazy[i].ours;
    return NULL;
}

/* Interns the texts of a table's modules that cannot wait. */
static int intern_table(const struct _frozen *table)
{
    for (const struct _frozen *one = table; one->name; one++) {
        if (!one->get_code || find_lazy(one->get_code))
            continue;
        PyObject *code = one->get_code();
        int rc = code ? intern_code((PyCodeObject *)code) : -1;
        Py_XDECREF(code);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* The standard library's table, with our functions. NULL: it has more modules than are known. */
static const struct _frozen *take_library(void)
{
    static struct _frozen ours[32];
    const struct _frozen *theirs = _PyImport_FrozenStdlib;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(ours); i++) {
        ours[i] = theirs[i];
        if (!theirs[i].name)
            return ours;
        if (find_lazy(theirs[i].get_code))
            ours[i].get_code = find_lazy(theirs[i].get_code);
    }
    return NULL;
}

/* In the place of libpython's own, which the Makefile makes weak. */
int _Py_Deepfreeze_Init(void)
{
    if (intern_table(_PyImport_FrozenBootstrap) < 0 || intern_table(_PyImport_FrozenStdlib) < 0 ||
        intern_table(_PyImport_FrozenTest) < 0)
        return -1;
    _PyImport_FrozenStdlib = take_library();
    return _PyImport_FrozenStdlib ? 0 : -1;
}
#endif
