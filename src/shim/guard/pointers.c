#include "shim/guard/pointers.h"

#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/rules.h"
#include "shim/guard/strides.h"

static bool interfaces, numbers; /* uses of __array_interface__, and of ints as pointers, are checked */

/* ---- functions of libpython ---- */

void hc_pointers_guard(void)
{
    interfaces = hc_guard_given_denied("__array_interface__");
    numbers = hc_guard.imports.at_run && hc_guard_import_denied("_ctypes");
}

/* numpy reads "typestr" first, and runs no Python code before it has read the other items. */
static int judge_item(PyObject *dict, const char *key)
{
    bool judged = interfaces && strcmp(key, "typestr") == 0 && PyDict_Check(dict);
    return judged ? hc_strides_judge(dict) : 0;
}

/* This is how numpy 1 reads an item. */
PyObject *_PyDict_GetItemStringWithError(PyObject *dict, const char *key)
{
    if (judge_item(dict, key) < 0)
        return NULL;
    hc_autopy *text = PyUnicode_FromString(key);
    return text ? PyDict_GetItemWithError(dict, text) : NULL;
}

#if PY_VERSION_HEX >= 0x030d0000
/* And this is how numpy 2 does, where the interpreter has it. */
int PyDict_GetItemStringRef(PyObject *dict, const char *key, PyObject **result)
{
    *result = NULL;
    if (judge_item(dict, key) < 0)
        return -1;
    hc_autopy *text = PyUnicode_FromString(key);
    return text ? PyDict_GetItemRef(dict, text, result) : -1;
}
#endif

static int judge_number(void)
{
    if (!numbers || !hc_caller_is_guest(NULL))
        return 0;
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "imports",
        .what = "ctypes",
        .hint = hc_hint_for_module("ctypes"),
        .message = "A number as an address in memory is not allowed by this policy",
    };
    return hc_refuse_or_learn(&r, PyExc_PermissionError);
}

void *PyLong_AsVoidPtr(PyObject *number)
{
    if (judge_number() < 0)
        return NULL;
    bool negative = PyLong_Check(number) && _PyLong_Sign(number) < 0;
    long value = negative ? PyLong_AsLong(number) : (long)PyLong_AsUnsignedLong(number);
    return value == -1 && PyErr_Occurred() ? NULL : (void *)value;
}

/* ---- objects of ctypes ---- */

static newfunc plain_data, plain_function;

static PyObject *make_data(PyTypeObject *type, PyObject *args, PyObject *named)
{
    return judge_number() < 0 ? NULL : plain_data(type, args, named);
}

static PyObject *make_function(PyTypeObject *type, PyObject *args, PyObject *named)
{
    return judge_number() < 0 ? NULL : plain_function(type, args, named);
}

/* Replaces tp_new of a type and its subclasses: a type copies the function from its base when it is made. */
static void replace_new(PyTypeObject *type, newfunc plain, newfunc instead)
{
    if (type->tp_new != plain)
        return;
    type->tp_new = instead;
    hc_autopy *below = PyObject_CallMethod((PyObject *)type, "__subclasses__", NULL);
    for (Py_ssize_t i = 0; below && i < PyList_GET_SIZE(below); i++)
        replace_new((PyTypeObject *)PyList_GET_ITEM(below, i), plain, instead);
    PyErr_Clear();
}

void hc_pointers_watch(PyObject *type)
{
    PyTypeObject *one = (PyTypeObject *)type;
    if (!PyType_Check(type) || one->tp_new == make_data || one->tp_new == make_function)
        return;
    if (!strcmp(one->tp_name, "_ctypes.PyCFuncPtr")) {
        plain_function = one->tp_new;
        replace_new(one, plain_function, make_function);
    } else if (!plain_data || plain_data == one->tp_new) {
        plain_data = one->tp_new;
        replace_new(one, plain_data, make_data);
    }
}
