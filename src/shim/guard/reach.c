#include "shim/guard/reach.h"

#include "shim/guard/frames.h"
#include "shim/guard/hidden.h"
#include "shim/guard/hints.h"
#include "shim/guard/imports.h"
#include "shim/guard/rules.h"

const char *const hc_resolvers[] = {"pkgutil",   "pydoc",      "operator", "importlib/",
                                    "unittest/", "contextlib", "runpy",    NULL};
/* Loaders may be called without the import system. */
static const char *const loaders[] = {
    "importlib._bootstrap", "importlib._bootstrap_external", "importlib/", "pkgutil", "runpy", NULL};

static getattrofunc plain;                     /* what looks attributes of modules up without the guard */
static PyObject *real_builtins, *own_builtins; /* owned, for good */
static _Thread_local bool probing;

/* ---- which modules ---- */

/* A policy that lists what may be imported leaves out most of the standard library, and of what libraries
 * have loaded for themselves most does no more than compute: np.math is used by many. What is refused is
 * what there is something to say about: files, processes, network, internals. */
static bool unlisted(const char *dotted)
{
    return hc_guard.imports.allow.given && hc_hint_for_module(dotted) &&
           hc_guard_import_refusal(dotted, true);
}

static bool may_not_import(PyObject *name)
{
    const char *dotted = PyUnicode_AsUTF8(name);
    if (!dotted)
        PyErr_Clear();
    return dotted && hc_guard.imports.at_run && (hc_guard_import_denied(dotted) || unlisted(dotted));
}

/* What was found of the names of modules that were asked for last. The names are kept, as another one might
 * come to stand where one was; the modules are not, as the program may wait for the end of one. */
#define SLOTS 256
static struct {
    PyObject *name; /* owned */
    bool denied;
} known[SLOTS];

static bool is_name_denied(PyObject *name)
{
    size_t at = ((uintptr_t)name >> 4 ^ (uintptr_t)name >> 12) % SLOTS;
    if (known[at].name == name)
        return known[at].denied;
    bool denied = may_not_import(name);
    if (PyUnicode_CheckExact(name)) {
        Py_XSETREF(known[at].name, Py_NewRef(name));
        known[at].denied = denied;
    }
    return denied;
}

static bool is_denied(PyObject *value)
{
    if (!PyModule_Check(value))
        return false;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    hc_autopy *name = PyModule_GetNameObject(value);
    bool denied = name && is_name_denied(name);
    PyErr_Clear(); /* the program made it, and it has no name */
    PyErr_Restore(type, error, trace);
    return denied;
}

bool hc_reach_denied(PyObject *value)
{
    return !hc_guard.learn && is_denied(value);
}

/* ---- what the program gets ---- */

/* Code that has run often keeps where in a module's dict it found a name, and does not ask the module again;
 * but not in a dict that has had other keys than texts. */
static int unlearn(PyObject *module)
{
    PyObject *names = PyModule_GetDict(module); /* borrowed */
    if (!names)                                 /* one that was never finished */
        return 0;
    return PyDict_SetItem(names, Py_None, Py_None) < 0 ? -1 : PyDict_DelItem(names, Py_None);
}

/* "from module import *" takes what there is; an empty module of that name harms nobody who did not ask for
 * it. */
static PyObject *empty(PyObject *module)
{
    hc_autopy *name = PyModule_GetNameObject(module);
    return name ? PyModule_NewObject(name) : NULL;
}

/* Consumes `value`. */
static PyObject *refuse(PyObject *value)
{
    hc_autopy *held = value;
    if (hc_caller_imports_all() && !hc_guard.learn)
        return empty(held);
    if (probing && !hc_guard.learn) {
        PyErr_SetString(PyExc_AttributeError, "module is not there under this policy");
        return NULL;
    }
    const char *name = PyModule_GetName(held);
    PyErr_Clear();
    return hc_import_refuse(name ? name : "a module") < 0 ? NULL : hc_py_take(&held);
}

/* What a function that looks names up has in its own text is for itself. */
static bool is_for_guest(void)
{
    return hc_caller_is_guest(NULL) || (!hc_caller_names_attribute() && hc_caller_is_guest(hc_resolvers));
}

/* Consumes `value`, which is a module. */
static PyObject *give_module(PyObject *from, PyObject *value)
{
    bool denied = is_denied(value);
    if ((!denied && value != real_builtins) || !is_for_guest())
        return value;
    if (unlearn(from) < 0) {
        Py_DECREF(value);
        return NULL;
    }
    return denied ? refuse(value) : hc_reach_given(value);
}

PyObject *hc_reach_given(PyObject *module)
{
    if (!module || module != real_builtins)
        return module;
    Py_DECREF(module);
    return Py_NewRef(own_builtins);
}

/* The dict itself if it has no module in it that is denied, so that changes still reach it; else a copy
 * without those. Consumes `names`. */
static PyObject *without_denied(PyObject *names)
{
    hc_autopy *held = names, *rest = NULL;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(held, &at, &key, &value);) {
        if (!hc_reach_denied(value))
            continue;
        rest = rest ? rest : PyDict_Copy(held);
        if (!rest || PyDict_DelItem(rest, key) < 0)
            return NULL;
    }
    return rest ? hc_py_take(&rest) : hc_py_take(&held);
}

/* Consumes `value`, which is a dict. */
static PyObject *give_dict(PyObject *from, PyObject *value)
{
    bool loaded = value == PyImport_GetModuleDict(), names = value == PyModule_GetDict(from);
    if ((!loaded && !names) || !hc_caller_is_guest(NULL))
        return value;
    if (names)
        return without_denied(value);
    Py_DECREF(value);
    return unlearn(from) < 0 ? NULL : hc_hidden_view();
}

static PyObject *get_attribute(PyObject *module, PyObject *name)
{
    PyObject *value = plain(module, name);
    if (value && PyModule_Check(value))
        return give_module(module, value);
    return value && PyDict_CheckExact(value) ? give_dict(module, value) : value;
}

PyObject *hc_reach_probe(PyObject *object, PyObject *name)
{
    bool before = probing;
    probing = true;
    PyObject *value = PyObject_GetAttr(object, name);
    probing = before;
    return value;
}

PyObject *hc_reach_past(PyObject *object, PyObject *name)
{
    return plain && PyModule_CheckExact(object) ? plain(object, name) : PyObject_GetAttr(object, name);
}

/* ---- loaders ---- */

/* "/usr/lib/python3.11/http/client.py" is "http.client". */
static bool module_of_file(const char *file, char *out, size_t size)
{
    static const char *const roots[] = {"/dist-packages/", "/site-packages/", "/lib-dynload/", "/python3."};
    const char *at = NULL;
    for (size_t i = 0; !at && i < sizeof roots / sizeof *roots; i++)
        at = strstr(file, roots[i]) ? strstr(file, roots[i]) + strlen(roots[i]) : NULL;
    if (!at)
        return false;
    if (at[-1] == '.') /* the rest of the version */
        at = strchr(at, '/') ? strchr(at, '/') + 1 : at;
    (void)snprintf(out, size, "%.*s", (int)strcspn(at, "."), at);
    for (char *slash = out; (slash = strchr(slash, '/'));)
        *slash = '.';
    char *end = strstr(out, ".__init__");
    if (end)
        *end = '\0';
    return true;
}

static const char *text_of(PyObject *object)
{
    const char *text = object && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    if (!text)
        PyErr_Clear();
    return text;
}

int hc_reach_judge_load(PyObject *name, PyObject *file)
{
    const char *dotted = text_of(name), *path = text_of(file);
    char module[256];
    if (!hc_guard.imports.at_run || !hc_caller_is_guest(loaders))
        return 0;
    if (dotted && hc_guard_import_denied(dotted))
        return hc_import_refuse(dotted);
    if (path && module_of_file(path, module, sizeof module) && hc_guard_import_denied(module))
        return hc_import_refuse(module);
    return 0;
}

/* A type takes the function from its base when it is made. */
static int watch(PyTypeObject *type)
{
    hc_autopy *below = PyObject_CallMethod((PyObject *)type, "__subclasses__", NULL);
    type->tp_getattro = get_attribute;
    PyType_Modified(type);
    for (Py_ssize_t i = 0; below && i < PyList_GET_SIZE(below); i++) {
        PyTypeObject *one = (PyTypeObject *)PyList_GET_ITEM(below, i); /* borrowed */
        if (one->tp_getattro == plain && watch(one) < 0)
            return -1;
    }
    return below ? 0 : -1;
}

int hc_reach_guard(PyObject *builtins)
{
    real_builtins = PyImport_ImportModule("builtins");
    own_builtins = Py_NewRef(builtins);
    if (!real_builtins)
        return -1;
    plain = PyModule_Type.tp_getattro;
    return watch(&PyModule_Type);
}
