#include "shim/cpython/cpython.h"

#include "shim/guard/strides.h"

#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

#define CHAIN_MAX    64        /* most arrays in a chain of bases; numpy keeps it short */
#define LARGEST_ITEM (1 << 20) /* most bytes or characters of one item whose type names its size */

/* A range of memory: addresses from `low` on, below `high`. */
struct extent {
    int64_t low, high;
};

/* numpy.ndarray, borrowed; NULL if numpy is not loaded. */
static PyTypeObject *ndarray(void)
{
    static PyObject *type; /* owned; never freed */
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

/* An attribute of an array by numpy's own descriptor, whatever a class of the program defines. New reference;
 * NULL with an exception set. */
static PyObject *array_attribute(PyObject *array, const char *name)
{
    PyObject *descriptor = PyDict_GetItemString(hc_type_dict(ndarray()), name); /* borrowed */
    if (!descriptor || !Py_TYPE(descriptor)->tp_descr_get)
        return PyErr_Format(PyExc_AttributeError, "arrays have no %s", name);
    return Py_TYPE(descriptor)->tp_descr_get(descriptor, array, (PyObject *)ndarray());
}

/* Converts an int. -1: an exception is set. */
static int to_int64(PyObject *object, int64_t *out)
{
    *out = object ? PyLong_AsLongLong(object) : -1;
    return PyErr_Occurred() ? -1 : 0;
}

/* Converts an int. -1: the object is of a Python class, which could give another number each time. */
static int to_int64_if_builtin(PyObject *object, int64_t *out)
{
    if (!object || PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
        return -1;
    return to_int64(object, out);
}

static int address_of(PyObject *interface, int64_t *out)
{
    PyObject *data = PyDict_GetItemString(interface, "data"); /* borrowed */
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2)
        return -1;
    return to_int64_if_builtin(PyTuple_GET_ITEM(data, 0), out);
}

/* Widens the range by one dimension. `*dense`: bytes of the dimensions so far. 1: the dimension is empty; -1,
 * with or without an exception: it is not valid. */
static int widen(struct extent *e, PyObject *count, PyObject *stride, int64_t *dense)
{
    int64_t n, step = *dense, span;
    if (to_int64_if_builtin(count, &n) < 0 || n < 0 || (stride && to_int64_if_builtin(stride, &step) < 0))
        return -1;
    if (n == 0)
        return 1;
    if (__builtin_mul_overflow(n - 1, step, &span) || __builtin_mul_overflow(*dense, n, dense))
        return -1;
    return span < 0 ? -__builtin_add_overflow(e->low, span, &e->low)
                    : -__builtin_add_overflow(e->high, span, &e->high);
}

/* The range of the elements at `address` by the dict's shape and strides; `item`: bytes of an element. 1:
 * there are no elements; -1: the dict is not valid. */
static int extent_of(PyObject *interface, int64_t address, int64_t item, struct extent *e)
{
    PyObject *shape = PyDict_GetItemString(interface, "shape"); /* borrowed, as the next */
    PyObject *strides = PyDict_GetItemString(interface, "strides");
    bool dense = !strides || strides == Py_None;
    if (!shape || !PyTuple_CheckExact(shape) || (!dense && !PyTuple_CheckExact(strides)))
        return -1;
    if (!dense && PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(shape))
        return -1;
    *e = (struct extent){address, address};
    int64_t size = item;
    if (__builtin_add_overflow(e->high, item, &e->high))
        return -1;
    for (Py_ssize_t i = PyTuple_GET_SIZE(shape) - 1; i >= 0; i--) {
        int rc = widen(e, PyTuple_GET_ITEM(shape, i), dense ? NULL : PyTuple_GET_ITEM(strides, i), &size);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- arrays that as_strided() makes ---- */

/* The array at the end of the chain of bases of `view`, which owns the memory. New reference; NULL if there
 * is none. */
static PyObject *root_of(PyObject *view)
{
    hc_autopy *at = Py_NewRef(view), *found = NULL;
    for (int i = 0; at && at != Py_None && i < CHAIN_MAX; i++) {
        PyObject *next = is_array(at) ? array_attribute(at, "base") : PyObject_GetAttrString(at, "base");
        if (is_array(at))
            Py_XSETREF(found, Py_NewRef(at));
        Py_XSETREF(at, next);
    }
    PyErr_Clear(); /* bytes and other owners of memory have no base */
    return hc_py_take(&found);
}

static int memory_of(PyObject *array, struct extent *e)
{
    hc_autopy *interface = array_attribute(array, "__array_interface__");
    hc_autopy *size = interface ? array_attribute(array, "itemsize") : NULL;
    int64_t address, item;
    if (!size || address_of(interface, &address) < 0 || to_int64(size, &item) < 0)
        return -1;
    return extent_of(interface, address, item, e);
}

static bool is_same(PyObject *one, PyObject *other, const char *key)
{
    PyObject *left = PyDict_GetItemString(one, key), *right = PyDict_GetItemString(other, key); /* borrowed */
    return left && right && PyObject_RichCompareBool(left, right, Py_EQ) == 1;
}

/* Does the dict describe elements of the array's type, all within the memory of the array's root? */
static bool is_within(PyObject *array, PyObject *interface)
{
    hc_autopy *real = array_attribute(array, "__array_interface__");
    hc_autopy *size = real ? array_attribute(array, "itemsize") : NULL;
    hc_autopy *root = size ? root_of(array) : NULL;
    int64_t address, item;
    struct extent of, whole;
    if (!root || !is_same(real, interface, "typestr") || !is_same(real, interface, "descr") ||
        to_int64(size, &item) < 0 || address_of(interface, &address) < 0)
        return false;
    int rc = extent_of(interface, address, item, &of);
    if (rc != 0)
        return rc > 0;
    return memory_of(root, &whole) == 0 && of.low >= whole.low && of.high <= whole.high;
}

/* ---- dicts that hold a bytes object, as those of images do ---- */

/* Bytes of an element: 8 for "<f8", 8 for "<U2" (two characters). -1: unknown. */
static int64_t size_of_type(const char *typestr)
{
    if (!*typestr || !typestr[1] || !isdigit((unsigned char)typestr[2]))
        return -1;
    char kind = typestr[1], *end;
    long count = strtol(typestr + 2, &end, 10);
    if (*end || count > LARGEST_ITEM)
        return -1;
    return strchr("biufcS", kind) ? count : kind == 'U' ? 4 * (int64_t)count : -1;
}

static bool is_held(PyObject *interface)
{
    PyObject *data = PyDict_GetItemString(interface, "data"); /* borrowed, as the next */
    PyObject *type = PyDict_GetItemString(interface, "typestr");
    if (!data || !type || !PyBytes_CheckExact(data) || !PyUnicode_CheckExact(type) ||
        PyDict_GetItemString(interface, "offset"))
        return false;
    const char *text = PyUnicode_AsUTF8(type);
    int64_t item = text ? size_of_type(text) : -1;
    struct extent of;
    int rc = item < 0 ? -1 : extent_of(interface, 0, item, &of);
    return rc > 0 || (rc == 0 && of.low == 0 && of.high <= PyBytes_GET_SIZE(data));
}

/* ---- the check ---- */

static bool has_plain_keys(PyObject *interface)
{
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(interface, &at, &key, &value);)
        /* an object of the program's own class could change the dict when it is compared */
        if (!PyUnicode_CheckExact(key))
            return false;
    return true;
}

/* The array that as_strided was called with, borrowed; NULL: it did not ask. numpy 2 has the function in a
 * file of its own. */
static PyObject *strided_array(void)
{
    PyObject *array = hc_caller_first_local("/numpy/lib/stride_tricks.py", "as_strided");
    return array ? array : hc_caller_first_local("/numpy/lib/_stride_tricks_impl.py", "as_strided");
}

int hc_strides_judge(PyObject *interface)
{
    PyObject *array = strided_array(); /* borrowed */
    bool strided = array && is_array(array);
    if (has_plain_keys(interface) && (strided ? is_within(array, interface) : is_held(interface)))
        return 0;
    PyErr_Clear();
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = strided ? "modules" : "attributes",
        .what = strided ? "numpy.lib.stride_tricks.as_strided" : "__array_interface__",
        .hint = strided ? hc_hint_for_call("as_strided") : hc_hint_for_attribute("__array_interface__"),
        .message = strided ? "{name} beyond the array's own memory is not allowed by this policy"
                           : "{name} of memory that is not the object's own is not allowed by this policy",
    };
    return hc_refuse_or_learn(&r, PyExc_PermissionError);
}
