#include "shim/guard/strides.h"

#include "shim/guard/denial.h"
#include "shim/guard/hints.h"

#include <stdint.h>

#define CHAIN_MAX 64 /* arrays of arrays; numpy keeps it short */

/* Bytes of memory: from `low` on, below `high`. */
struct extent {
    int64_t low, high;
};

/* Borrowed; NULL without numpy. */
static PyTypeObject *ndarray(void)
{
    static PyObject *type; /* owned, for good */
    hc_autopy *name = type ? NULL : PyUnicode_FromString("numpy");
    hc_autopy *numpy = name ? PyImport_GetModule(name) : NULL;
    if (numpy)
        type = PyObject_GetAttrString(numpy, "ndarray");
    return (PyTypeObject *)type;
}

static bool is_array(PyObject *object)
{
    return ndarray() && PyObject_TypeCheck(object, ndarray());
}

/* As numpy itself knows it, whatever the program's own class says. New reference; NULL with an exception. */
static PyObject *known(PyObject *array, const char *name)
{
    PyObject *descriptor = PyDict_GetItemString(ndarray()->tp_dict, name); /* borrowed */
    if (!descriptor || !Py_TYPE(descriptor)->tp_descr_get)
        return PyErr_Format(PyExc_AttributeError, "arrays have no %s", name);
    return Py_TYPE(descriptor)->tp_descr_get(descriptor, array, (PyObject *)ndarray());
}

/* -1 with an exception set, as all of these. */
static int number(PyObject *object, int64_t *out)
{
    *out = object ? PyLong_AsLongLong(object) : -1;
    return PyErr_Occurred() ? -1 : 0;
}

static int address_of(PyObject *array, int64_t *out)
{
    hc_autopy *interface = known(array, "__array_interface__");
    PyObject *data = interface ? PyDict_GetItemString(interface, "data") : NULL; /* borrowed */
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "an array without memory");
        return -1;
    }
    return number(PyTuple_GET_ITEM(data, 0), out);
}

/* One dimension more: 1 if there is nothing in it, -1 with or without an exception if it cannot be. */
static int widen(struct extent *e, PyObject *count, PyObject *stride)
{
    int64_t n, step, span;
    if (number(count, &n) < 0 || number(stride, &step) < 0)
        return -1;
    if (n == 0)
        return 1;
    if (__builtin_mul_overflow(n - 1, step, &span))
        return -1;
    return span < 0 ? -__builtin_add_overflow(e->low, span, &e->low)
                    : -__builtin_add_overflow(e->high, span, &e->high);
}

/* 1 if it has no elements. */
static int extent_of(PyObject *array, struct extent *e)
{
    hc_autopy *shape = known(array, "shape");
    hc_autopy *strides = shape ? known(array, "strides") : NULL;
    hc_autopy *item = strides ? known(array, "itemsize") : NULL;
    int64_t size;
    if (!item || address_of(array, &e->low) < 0 || number(item, &size) < 0)
        return -1;
    e->high = e->low + size;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
        int rc = widen(e, PyTuple_GET_ITEM(shape, i), PyTuple_GET_ITEM(strides, i));
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* The array at the end of the chain of those that `view` is made of: its memory is its own. New reference;
 * NULL, perhaps with an exception, if there is none. */
static PyObject *root_of(PyObject *view)
{
    hc_autopy *at = Py_NewRef(view), *found = NULL;
    for (int i = 0; at && at != Py_None && i < CHAIN_MAX; i++) {
        PyObject *next = is_array(at) ? known(at, "base") : PyObject_GetAttrString(at, "base");
        if (is_array(at))
            Py_XSETREF(found, Py_NewRef(at));
        Py_XSETREF(at, next);
    }
    PyErr_Clear(); /* bytes, and others that lend memory, have no base */
    return hc_py_take(&found);
}

static bool is_inside(PyObject *view)
{
    struct extent of, within;
    int rc = is_array(view) ? extent_of(view, &of) : -1;
    if (rc != 0)
        return rc > 0;
    hc_autopy *root = root_of(view);
    return root && root != view && extent_of(root, &within) == 0 && of.low >= within.low &&
           of.high <= within.high;
}

int hc_strides_judge(PyObject *view)
{
    if (is_inside(view))
        return 0;
    PyErr_Clear();
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "modules",
        .what = "numpy.lib.stride_tricks.as_strided",
        .hint = hc_hint_for_call("as_strided"),
        .message = "{name} beyond the array's own memory is not allowed by this policy",
    };
    return hc_refuse_or_learn(&r, PyExc_PermissionError);
}
