#include "shim/guard/hidden.h"

#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/rules.h"

/* The import system's own dict: it does not look at what sys.modules is bound to. Owned, for good. */
static PyObject *real;

/* Is the key withheld from whoever asks? */
static bool is_hidden(PyObject *key)
{
    const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
    if (!name)
        PyErr_Clear();
    return name && hc_names_has_module(&hc_guard.modules.scrub, name) && hc_caller_is_guest(NULL);
}

/* New reference: the dict that whoever asks may see. */
static PyObject *seen(void)
{
    if (!hc_caller_is_guest(NULL))
        return Py_NewRef(real);
    hc_autopy *rest = PyDict_Copy(real);
    hc_autopy *keys = rest ? PyDict_Keys(rest) : NULL;
    for (Py_ssize_t i = 0; keys && i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i); /* borrowed */
        if (is_hidden(key) && PyDict_DelItem(rest, key) < 0)
            return NULL;
    }
    return keys ? hc_py_take(&rest) : NULL;
}

static void refuse(PyObject *key)
{
    const char *name = PyUnicode_AsUTF8(key);
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "modules",
        .what = name ? name : "?",
        .hint = hc_hint_for_module(name ? name : ""),
        .message = "Module '{name}' is not shown by this policy",
    };
    hc_refuse(&r, PyExc_KeyError);
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    (void)self;
    if (!is_hidden(key))
        return PyObject_GetItem(real, key);
    refuse(key);
    return NULL;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value)
{
    (void)self;
    if (!is_hidden(key))
        return value ? PyObject_SetItem(real, key, value) : PyObject_DelItem(real, key);
    refuse(key);
    return -1;
}

static int contains(PyObject *self, PyObject *key)
{
    (void)self;
    return is_hidden(key) ? 0 : PyDict_Contains(real, key);
}

static Py_ssize_t length(PyObject *self)
{
    (void)self;
    hc_autopy *names = seen();
    return names ? PyDict_GET_SIZE(names) : -1;
}

static PyObject *iterate(PyObject *self)
{
    (void)self;
    hc_autopy *names = seen();
    return names ? PyObject_GetIter(names) : NULL;
}

static PyObject *represent(PyObject *self)
{
    (void)self;
    hc_autopy *names = seen();
    return names ? PyObject_Repr(names) : NULL;
}

/* A dict's method of one key: of the real dict, or of an empty one for a key that is hidden. */
static PyObject *by_key(const char *method, PyObject *args)
{
    bool hidden = PyTuple_GET_SIZE(args) && is_hidden(PyTuple_GET_ITEM(args, 0));
    hc_autopy *target = hidden ? PyDict_New() : Py_NewRef(real);
    hc_autopy *function = target ? PyObject_GetAttrString(target, method) : NULL;
    return function ? PyObject_Call(function, args, NULL) : NULL;
}

static PyObject *of_seen(const char *method)
{
    hc_autopy *names = seen();
    return names ? PyObject_CallMethod(names, method, NULL) : NULL;
}

#define BY_KEY(name)                                                                                         \
    static PyObject *modules_##name(PyObject *self, PyObject *args)                                          \
    {                                                                                                        \
        (void)self;                                                                                          \
        return by_key(#name, args);                                                                          \
    }
#define OF_SEEN(name)                                                                                        \
    static PyObject *modules_##name(PyObject *self, PyObject *unused)                                        \
    {                                                                                                        \
        (void)self;                                                                                          \
        (void)unused;                                                                                        \
        return of_seen(#name);                                                                               \
    }
BY_KEY(get)
BY_KEY(pop)
BY_KEY(setdefault)
OF_SEEN(keys)
OF_SEEN(values)
OF_SEEN(items)
OF_SEEN(copy)

static PyMethodDef methods[] = {
    {"get", modules_get, METH_VARARGS, NULL},
    {"pop", modules_pop, METH_VARARGS, NULL},
    {"setdefault", modules_setdefault, METH_VARARGS, NULL},
    {"keys", modules_keys, METH_NOARGS, NULL},
    {"values", modules_values, METH_NOARGS, NULL},
    {"items", modules_items, METH_NOARGS, NULL},
    {"copy", modules_copy, METH_NOARGS, NULL},
    {0},
};
static PyMappingMethods mapping = {length, get_item, set_item};
static PySequenceMethods sequence = {.sq_contains = contains};

/* A dict by its type, for isinstance(); what it holds as one is nothing. */
static PyTypeObject view = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dict",
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &PyDict_Type,
    .tp_as_mapping = &mapping,
    .tp_as_sequence = &sequence,
    .tp_iter = iterate,
    .tp_repr = represent,
    .tp_methods = methods,
};

int hc_hidden_modules(void)
{
    if (!hc_guard.modules.scrub.count)
        return 0;
    real = Py_NewRef(PyImport_GetModuleDict());
    hc_autopy *shown = PyType_Ready(&view) < 0 ? NULL : PyObject_CallNoArgs((PyObject *)&view);
    return shown ? PySys_SetObject("modules", shown) : -1;
}
