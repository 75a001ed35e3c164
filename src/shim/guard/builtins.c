#include "shim/cpython/cpython.h"

#include "shim/guard/builtins.h"

#include "shim/guard/attributes.h"
#include "shim/guard/denial.h"
#include "shim/guard/dynamic.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/imports.h"
#include "shim/guard/rules.h"
#include "shim/guard/writes.h"

/* Names that class statements, imports and the interpreter itself look up. */
static const char *const needed[] = {
    "__build_class__", "__import__",  "__name__",     "__debug__", "__doc__", "object",
    "super",           "classmethod", "staticmethod", "property",  NULL,
};

/* Names by which the program could reach the interpreter's loaders. */
static const char *const internal[] = {"__loader__", "__spec__", NULL};

static bool is_one_of(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

static bool is_allowed(const char *name)
{
    if (is_one_of(internal, name))
        return false;
    if (is_one_of(needed, name))
        return true;
    if (hc_names_has(&hc_guard.builtins.refuse, name))
        return true;
    if (hc_guard.builtins.allow.given && !hc_names_has(&hc_guard.builtins.allow, name))
        return false;
    return !hc_names_has(&hc_guard.builtins.deny, name);
}

static int copy_allowed(PyObject *to)
{
    PyObject *from = PyEval_GetBuiltins(), *name, *value; /* borrowed */
    for (Py_ssize_t at = 0; PyDict_Next(from, &at, &name, &value);) {
        const char *utf8 = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        if (!utf8)
            PyErr_Clear();
        else if (is_allowed(utf8) && PyDict_SetItem(to, name, value) < 0)
            return -1;
    }
    return 0;
}

/* ---- functions that exist, and refuse each call ---- */

static PyObject *refuse_call(PyObject *name, PyObject *args, PyObject *named)
{
    (void)args;
    (void)named;
    const char *utf8 = PyUnicode_AsUTF8(name);
    if (!utf8)
        return NULL;
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "builtins",
        .what = utf8,
        .hint = hc_hint_for_call(utf8),
        .message = hc_guard.builtins.message,
    };
    hc_refuse(&r, PyExc_PermissionError);
    return NULL;
}

static int add_refusing_functions(PyObject *to)
{
    static PyMethodDef call = {"refused", (PyCFunction)(void (*)(void))refuse_call,
                               METH_VARARGS | METH_KEYWORDS, "Not allowed by this policy."};
    for (size_t i = 0; i < hc_guard.builtins.refuse.count; i++) {
        const char *name = hc_guard.builtins.refuse.items[i];
        hc_autopy *text = PyUnicode_InternFromString(name);
        hc_autopy *function = text ? PyCFunction_NewEx(&call, text, NULL) : NULL;
        if (!function || PyDict_SetItem(to, text, function) < 0)
            return -1;
    }
    return 0;
}

/* ---- functions that check their arguments first ---- */

static PyMethodDef imports[] = {
    {"__import__", (PyCFunction)(void (*)(void))hc_guarded_import, METH_VARARGS | METH_KEYWORDS,
     "__import__(name, globals=None, locals=None, fromlist=(), level=0): import a module."},
    {0},
};

int hc_builtins_replace(PyObject *to, PyMethodDef *methods)
{
    for (PyMethodDef *m = methods; m->ml_name; m++) {
        if (!PyDict_GetItemString(to, m->ml_name) || hc_names_has(&hc_guard.builtins.refuse, m->ml_name))
            continue;
        hc_autopy *module = PyUnicode_InternFromString("builtins");
        hc_autopy *function = module ? PyCFunction_NewEx(m, NULL, module) : NULL;
        if (!function || PyDict_SetItemString(to, m->ml_name, function) < 0)
            return -1;
    }
    return 0;
}

static int replace_guarded(PyObject *to, PyObject *space)
{
    return hc_builtins_replace(to, imports) < 0 || hc_attributes_guard(to, space) < 0 ||
                   hc_dynamic_guard(to) < 0 || hc_writes_guard(to) < 0
               ? -1
               : 0;
}

/* ---- print.__self__ ---- */

static PyObject *real_module, *own_module; /* owned: the module builtins, and the program's */

/* __self__ of a built-in function is its module. Libraries get the real one, since they compare it; the
 * program gets its own. */
static PyObject *get_self(PyObject *function, void *unused)
{
    (void)unused;
    PyObject *self = PyCFunction_GET_SELF(function); /* borrowed */
    if (self == real_module && hc_caller_is_guest(NULL))
        self = own_module;
    return Py_NewRef(self ? self : Py_None);
}

static int hide_real_module(PyObject *module)
{
    static PyGetSetDef self = {.name = "__self__", .get = get_self};
    real_module = PyImport_ImportModule("builtins");
    own_module = Py_NewRef(module);
    hc_autopy *descriptor = real_module ? PyDescr_NewGetSet(&PyCFunction_Type, &self) : NULL;
    if (!descriptor || PyDict_SetItemString(hc_type_dict(&PyCFunction_Type), self.name, descriptor) < 0)
        return -1;
    PyType_Modified(&PyCFunction_Type);
    return 0;
}

/* New reference: a module with the names that the policy allows, none of them guarded yet. */
static PyObject *make_unguarded(void)
{
    hc_autopy *module = PyModule_New("builtins");
    PyObject *names = module ? PyModule_GetDict(module) : NULL; /* borrowed */
    if (!names)
        return NULL;
    PyDict_Clear(names);
    return copy_allowed(names) < 0 ? NULL : hc_py_take(&module);
}

static PyObject *prepared;    /* owned: the module made ahead of time; NULL: none */
static uint64_t prepared_tag; /* version tag of the real names at that time; each change gives another tag */

static uint64_t real_names_tag(void)
{
    return hc_dict_tag(PyEval_GetBuiltins());
}

int hc_builtins_prepare(void)
{
    if (!hc_guard.on)
        return 0;
    Py_XSETREF(prepared, make_unguarded());
    prepared_tag = real_names_tag();
    return prepared ? 0 : -1;
}

PyObject *hc_builtins_make(PyObject *space)
{
    const bool ready = prepared && prepared_tag == real_names_tag();
    hc_autopy *module = ready ? hc_py_take(&prepared) : make_unguarded();
    PyObject *names = module ? PyModule_GetDict(module) : NULL; /* borrowed */
    if (!names || add_refusing_functions(names) < 0 || replace_guarded(names, space) < 0 ||
        hide_real_module(module) < 0)
        return NULL;
    return hc_py_take(&module);
}
