#include "shim/guard/hidden.h"

#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/imports.h"
#include "shim/guard/reach.h"
#include "shim/guard/rules.h"

/* The import system's own dict of modules, which it uses whatever sys.modules is bound to. Owned. */
static PyObject *real;

/* Does the key name a loaded module that the program may not import? */
static bool is_denied(PyObject *key)
{
    PyObject *module = PyDict_GetItem(real, key); /* borrowed */
    return module && hc_reach_denied(module);
}

/* Does the policy hide this name, and does the program ask? */
static bool is_scrubbed(PyObject *key)
{
    const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
    if (!name)
        PyErr_Clear();
    return name && hc_names_has_module(&hc_guard.modules.scrub, name) && hc_caller_is_guest(NULL);
}

/* Is the key hidden from the caller? */
static bool is_hidden(PyObject *key)
{
    return is_scrubbed(key) || (is_denied(key) && hc_caller_is_guest(NULL));
}

/* The program gets its own module builtins for the real one. Consumes `module`, which may be NULL. */
static PyObject *module_for_caller(PyObject *module)
{
    return hc_caller_is_guest(NULL) ? hc_reach_given(module) : module;
}

/* New reference: the modules that the caller may see, as a dict. */
static PyObject *visible_modules(void)
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

static void refuse_key(PyObject *key)
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
        return module_for_caller(PyObject_GetItem(real, key));
    refuse_key(key);
    return NULL;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value)
{
    (void)self;
    if (value ? !is_scrubbed(key) : !is_hidden(key)) /* the program may add modules of its own */
        return value ? PyObject_SetItem(real, key, value) : PyObject_DelItem(real, key);
    refuse_key(key);
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
    hc_autopy *names = visible_modules();
    return names ? PyDict_GET_SIZE(names) : -1;
}

static PyObject *iterate(PyObject *self)
{
    (void)self;
    hc_autopy *names = visible_modules();
    return names ? PyObject_GetIter(names) : NULL;
}

static PyObject *view_repr(PyObject *self)
{
    (void)self;
    hc_autopy *names = visible_modules();
    return names ? PyObject_Repr(names) : NULL;
}

/* Calls a dict's method that takes a key: on the real dict, or for a hidden key on an empty one. */
static PyObject *call_by_key(const char *method, PyObject *args)
{
    bool hidden = PyTuple_GET_SIZE(args) && is_hidden(PyTuple_GET_ITEM(args, 0));
    hc_autopy *target = hidden ? PyDict_New() : Py_NewRef(real);
    hc_autopy *function = target ? PyObject_GetAttrString(target, method) : NULL;
    return function ? module_for_caller(PyObject_Call(function, args, NULL)) : NULL;
}

static PyObject *call_on_visible(const char *method)
{
    hc_autopy *names = visible_modules();
    return names ? PyObject_CallMethod(names, method, NULL) : NULL;
}

#define BY_KEY(name)                                                                                         \
    static PyObject *modules_##name(PyObject *self, PyObject *args)                                          \
    {                                                                                                        \
        (void)self;                                                                                          \
        return call_by_key(#name, args);                                                                     \
    }
#define ON_VISIBLE(name)                                                                                     \
    static PyObject *modules_##name(PyObject *self, PyObject *unused)                                        \
    {                                                                                                        \
        (void)self;                                                                                          \
        (void)unused;                                                                                        \
        return call_on_visible(#name);                                                                       \
    }
BY_KEY(get)
BY_KEY(pop)
BY_KEY(setdefault)
ON_VISIBLE(keys)
ON_VISIBLE(values)
ON_VISIBLE(items)
ON_VISIBLE(copy)

/* update() sets one key after the other, as the view's own contents as a dict are empty. */
static PyObject *modules_update(PyObject *self, PyObject *args, PyObject *named)
{
    hc_autopy *type = Py_NewRef((PyObject *)&PyDict_Type);
    hc_autopy *news = PyObject_Call(type, args, named);
    PyObject *key, *value;
    for (Py_ssize_t at = 0; news && PyDict_Next(news, &at, &key, &value);)
        if (PyObject_SetItem(self, key, value) < 0)
            return NULL;
    return news ? Py_NewRef(Py_None) : NULL;
}

static PyObject *modules_clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    hc_autopy *names = visible_modules();
    hc_autopy *keys = names ? PyDict_Keys(names) : NULL;
    for (Py_ssize_t i = 0; keys && i < PyList_GET_SIZE(keys); i++)
        if (PyObject_DelItem(self, PyList_GET_ITEM(keys, i)) < 0)
            return NULL;
    return keys ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef methods[] = {
    {"update", (PyCFunction)(void (*)(void))modules_update, METH_VARARGS | METH_KEYWORDS, NULL},
    {"clear", modules_clear, METH_NOARGS, NULL},
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

/* The type of the view. It is a subclass of dict, for isinstance(); the dict itself stays empty. */
static PyTypeObject view = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dict",
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_base = &PyDict_Type,
    .tp_as_mapping = &mapping,
    .tp_as_sequence = &sequence,
    .tp_iter = iterate,
    .tp_repr = view_repr,
    .tp_methods = methods,
};

PyObject *hc_hidden_view(void)
{
    static PyObject *only; /* owned; never freed */
    if (!only) {
        real = Py_NewRef(PyImport_GetModuleDict());
        only = PyType_Ready(&view) < 0 ? NULL : PyObject_CallNoArgs((PyObject *)&view);
    }
    return Py_XNewRef(only);
}

int hc_hidden_modules(void)
{
    if (!hc_guard.modules.scrub.count)
        return 0;
    hc_autopy *shown = hc_hidden_view();
    return shown ? PySys_SetObject("modules", shown) : -1;
}
