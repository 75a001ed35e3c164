#include "shim/harness/frozen.h"

#include <marshal.h>
#include <stdarg.h>

/* One file of the harness's Python, as freeze.py writes it into harness.inc. */
struct frozen_part {
    const char *name;          /* name of the file, without "guest_" and ".py" */
    const unsigned char *code; /* the marshalled code object */
    size_t size;               /* bytes of `code` */
};

#include "harness.inc"

#define PARTS (sizeof frozen_parts / sizeof frozen_parts[0])

static PyObject *builtins;          /* owned: the copy of the builtins that all parts use */
static PyObject *namespaces[PARTS]; /* owned: the globals of each part; NULL until its first call */

void hc_frozen_register(void)
{
    PyImport_FrozenModules = startup_modules;
}

int hc_frozen_init(void)
{
    builtins = PyDict_Copy(PyEval_GetBuiltins()); /* borrowed argument, new result */
    return builtins ? 0 : -1;
}

int hc_frozen_add(PyMethodDef *functions)
{
    for (PyMethodDef *f = functions; f->ml_name; f++) {
        hc_autopy *function = PyCFunction_NewEx(f, NULL, NULL);
        if (!function || PyDict_SetItemString(builtins, f->ml_name, function) < 0)
            return -1;
    }
    return 0;
}

/* Runs a part's top level. New reference to its namespace; NULL with an exception set. */
static PyObject *run_part(const struct frozen_part *part)
{
    hc_autopy *code = PyMarshal_ReadObjectFromString((const char *)part->code, (Py_ssize_t)part->size);
    hc_autopy *space = Py_BuildValue("{s:O,s:s}", "__builtins__", builtins, "__name__", "hotcell");
    if (!code || !space)
        return NULL;
    hc_autopy *none = PyEval_EvalCode(code, space, space);
    return none ? hc_py_take(&space) : NULL;
}

/* The globals of the part `name`, borrowed from `namespaces`. NULL with an exception set. */
static PyObject *namespace_of(const char *name)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(frozen_parts[i].name, name) != 0)
            continue;
        if (!namespaces[i])
            namespaces[i] = run_part(&frozen_parts[i]);
        return namespaces[i];
    }
    PyErr_Format(PyExc_SystemError, "no frozen part '%s'", name);
    return NULL;
}

PyObject *hc_frozen_function(const char *part, const char *function)
{
    PyObject *space = namespace_of(part); /* borrowed */
    if (!space)
        return NULL;
    PyObject *found = PyDict_GetItemString(space, function); /* borrowed */
    if (!found)
        return PyErr_Format(PyExc_SystemError, "no function '%s' in frozen part '%s'", function, part);
    return Py_NewRef(found);
}

PyObject *hc_frozen_call(const char *part, const char *function, const char *format, ...)
{
    hc_autopy *callable = hc_frozen_function(part, function);
    if (!callable)
        return NULL;
    va_list ap;
    va_start(ap, format);
    hc_autopy *args = Py_VaBuildValue(format, ap);
    va_end(ap);
    return args ? PyObject_Call(callable, args, NULL) : NULL;
}
