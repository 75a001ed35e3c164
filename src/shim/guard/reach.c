#include "shim/cpython/cpython.h"

#include "shim/guard/reach.h"

#include <internal/pycore_moduleobject.h>

#include "policy/policy.h"
#include "shim/guard/frames.h"
#include "shim/guard/hidden.h"
#include "shim/guard/hints.h"
#include "shim/guard/imports.h"
#include "shim/guard/rules.h"

/* Libraries that do what a text of their caller says: templates, expressions, documents. */
const char *const hc_servers[] = {
    "jinja2/",        "markupsafe/", "yaml/", "sympy/", "mpmath/", "tqdm/", "pandas/core/computation/",
    "logging/config", NULL};
const char *const hc_resolvers[] = {"pkgutil",    "pydoc", "operator", "importlib/", "unittest/",
                                    "contextlib", "runpy", "string",   "logging/",   NULL};
/* Modules that look into a module which their caller passes. inspect is only here, as it also goes through
 * all modules for its own purposes. */
static const char *const inspecting_modules[] = {"pkgutil",   "pydoc",      "operator", "importlib/",
                                                 "unittest/", "contextlib", "runpy",    "string",
                                                 "logging/",  "inspect",    NULL};
/* Modules with loaders, which the program may call without the import system. */
static const char *const loaders[] = {
    "importlib._bootstrap", "importlib._bootstrap_external", "importlib/", "pkgutil", "runpy", NULL};

static getattrofunc plain;                     /* gets attributes of modules without the guard */
static setattrofunc plain_set;                 /* sets attributes of modules without the guard */
static PyObject *real_builtins, *own_builtins; /* owned: the module builtins, and the program's */
static _Thread_local bool probing;             /* hasattr() asks (hc_reach_probe) */

/* ---- which modules are denied ---- */

/* Is the module left out of the policy's list of imports, and worth a refusal? Such a list leaves out most of
 * the standard library, and most modules that libraries have loaded for themselves only compute: many
 * programs use np.math. Refused are those that have a hint: files, processes, network, internals. */
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

/* A cache of decisions by the address of a module's name. The names are owned, as another object could
 * otherwise get the same address; the modules are not, as the program may wait for the end of one. */
#define SLOTS 256  /* entries of the cache, a power of two */
#define ASKED 2048 /* decisions by module that are kept: usually more than modules are loaded */
static struct {
    PyObject *name; /* owned */
    bool denied;    /* the module of this name is denied to the program */
} decisions[SLOTS];

static bool is_name_denied(PyObject *name)
{
    size_t at = ((uintptr_t)name >> 4 ^ (uintptr_t)name >> 12) % SLOTS;
    if (decisions[at].name == name)
        return decisions[at].denied;
    bool denied = may_not_import(name);
    if (PyUnicode_CheckExact(name)) {
        Py_XSETREF(decisions[at].name, Py_NewRef(name));
        decisions[at].denied = denied;
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
    PyErr_Clear(); /* a module that the program made may have no name */
    PyErr_Restore(type, error, trace);
    return denied;
}

/* Is the module denied? A cache for loads of attributes, which are often from the same module: its key is the
 * version tag of the module's dict, which changes with each change and is never used for another dict. */
static bool is_denied_cached(PyObject *module)
{
    static uint64_t asked[ASKED]; /* the tag, shifted, and in the lowest bit the decision */
    PyObject *names =
        ((PyModuleObject *)module)->md_dict; /* borrowed; NULL for one that was never finished */
    if (!names)
        return false;
    uint64_t state = ((PyDictObject *)names)->ma_version_tag, *slot = &asked[state % ASKED];
    if (*slot >> 1 != state)
        *slot = state << 1 | is_denied(module);
    return *slot & 1;
}

bool hc_reach_denied(PyObject *value)
{
    return !hc_guard.learn && is_denied(value);
}

/* ---- what the program gets ---- */

/* Keeps the interpreter from caching places in a module's dict, by which it would load an attribute without
 * the guard: it does not do so for a dict that has had a key other than a str. */
static int disable_caching(PyObject *module)
{
    PyObject *names = PyModule_GetDict(module); /* borrowed */
    if (!names)                                 /* a module that was never initialised */
        return 0;
    return PyDict_SetItem(names, Py_None, Py_None) < 0 ? -1 : PyDict_DelItem(names, Py_None);
}

/* New reference: an empty module of the same name, for "from module import *", which takes all names and does
 * not ask for this one. */
static PyObject *empty_module(PyObject *module)
{
    hc_autopy *name = PyModule_GetNameObject(module);
    return name ? PyModule_NewObject(name) : NULL;
}

/* Refuses a denied module in the caller's way. Consumes `value`; a new reference, or NULL with an exception
 * set. */
static PyObject *refuse_module(PyObject *value)
{
    hc_autopy *held = value;
    if (hc_caller_imports_all() && !hc_guard.learn)
        return empty_module(held);
    if (probing && !hc_guard.learn) {
        PyErr_SetString(PyExc_AttributeError, "module is not there under this policy");
        return NULL;
    }
    const char *name = PyModule_GetName(held);
    PyErr_Clear();
    return hc_import_refuse(name ? name : "a module") < 0 ? NULL : hc_py_take(&held);
}

/* Does a library look up for its caller? While it is loaded, it does so for itself. */
static bool is_server(void)
{
    return hc_caller_is_one_of(hc_servers) && !hc_library_is_loaded();
}

/* Does the program ask, itself or by a function that looks names up? Attributes that such a function names in
 * its own text are for itself. */
static bool is_for_guest(void)
{
    if (hc_caller_is_guest(NULL))
        return true;
    return !hc_caller_names_attribute() && (is_server() || hc_caller_is_guest(hc_resolvers));
}

/* The module that the caller gets for the attribute of `from`. Consumes `value`, which is a module. */
static PyObject *give_module(PyObject *from, PyObject *value)
{
    bool denied = is_denied(value);
    if ((!denied && value != real_builtins) || !is_for_guest())
        return value;
    if (disable_caching(from) < 0) {
        Py_DECREF(value);
        return NULL;
    }
    return denied ? refuse_module(value) : hc_reach_given(value);
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

/* The dict that the caller gets for the attribute of `from`. Consumes `value`, which is a dict. */
static PyObject *give_dict(PyObject *from, PyObject *value)
{
    bool loaded = value == PyImport_GetModuleDict(), names = value == PyModule_GetDict(from);
    if ((!loaded && !names) || !hc_caller_is_guest(NULL))
        return value;
    if (names)
        return without_denied(value);
    Py_DECREF(value);
    return disable_caching(from) < 0 ? NULL : hc_hidden_view();
}

/* ---- attributes of a denied module ---- */

static bool is_one_of(PyObject *name, const char *const *list)
{
    for (; *list; list++)
        if (PyUnicode_CompareWithASCIIString(name, *list) == 0)
            return true;
    return false;
}

/* Attributes that describe the module; and those that C code loads from the import system while the program
 * imports. */
static bool is_harmless(PyObject *module, PyObject *name)
{
    static const char *const telling[] = {"__class__", "__name__", "__doc__",     "__file__",
                                          "__path__",  "__spec__", "__package__", NULL};
    static const char *const importing[] = {"_find_and_load", "_handle_fromlist", "_lock_unlock_module",
                                            "_module_repr", NULL};
    if (!PyUnicode_Check(name) || is_one_of(name, telling))
        return true;
    const char *dotted = PyModule_GetName(module);
    PyErr_Clear();
    bool imports =
        dotted && (strcmp(dotted, "_frozen_importlib") == 0 || strcmp(dotted, "importlib._bootstrap") == 0);
    return imports && is_one_of(name, importing) && !hc_caller_names(name);
}

/* Does the program load the attribute, itself or by a function that looks names up for it? mock.patch(), for
 * one, looks into __dict__. */
static bool is_asked_for_guest(PyObject *name)
{
    if (hc_caller_is_guest(NULL))
        return true;
    bool by_text = hc_caller_names(name) && PyUnicode_CompareWithASCIIString(name, "__dict__") != 0;
    return !by_text && (is_server() || hc_caller_is_guest(inspecting_modules));
}

/* Refuses an attribute of a denied module. `by_text`: the program's text names it. C code, which may go
 * through all modules as pickle does, gets AttributeError without a record. -1 with an exception set; 0 where
 * the guard only learns. */
static int refuse_inside(PyObject *module, bool by_text)
{
    const char *dotted = PyModule_GetName(module);
    PyErr_Clear();
    if (hc_guard.learn || (by_text && !probing)) {
        if (by_text && disable_caching(module) < 0)
            return -1;
        return by_text ? hc_import_refuse(dotted ? dotted : "a module") : 0;
    }
    PyErr_Format(PyExc_AttributeError, "what is in '%s' is not there under this policy",
                 dotted ? dotted : "?");
    return -1;
}

/* Checks the load of an attribute of a denied module. A policy that lists modules leaves out many that C code
 * uses on behalf of the program: unless the module is denied by name, only loads by the program's text are
 * refused. */
static int judge_inside(PyObject *module, PyObject *name)
{
    if (!is_denied_cached(module) || is_harmless(module, name) || !is_asked_for_guest(name))
        return 0;
    bool by_text = hc_caller_is_guest(NULL) && hc_caller_names(name);
    const char *dotted = PyModule_GetName(module);
    PyErr_Clear();
    return by_text || (dotted && hc_guard_import_denied(dotted)) ? refuse_inside(module, by_text) : 0;
}

int hc_reach_judge(PyObject *object, PyObject *name)
{
    if (!PyModule_Check(object) || !PyUnicode_Check(name) || !is_denied_cached(object) ||
        is_harmless(object, name))
        return 0;
    return refuse_inside(object, true);
}

static int judge_setting(PyObject *module)
{
    if (!is_denied_cached(module) || !hc_caller_is_guest(inspecting_modules))
        return 0;
    return refuse_inside(module, true);
}

/* tp_setattro: the program cannot rename a denied module. */
static int set_attribute(PyObject *module, PyObject *name, PyObject *value)
{
    return judge_setting(module) < 0 ? -1 : plain_set(module, name, value);
}

/* module.__dict__, also as inspect and types.ModuleType.__dict__ get it. */
static PyObject *get_names(PyObject *module, void *unused)
{
    (void)unused;
    if (is_denied_cached(module)) {
        hc_autopy *name = PyUnicode_FromString("__dict__");
        if (!name || judge_inside(module, name) < 0)
            return NULL;
    }
    PyObject *names = ((PyModuleObject *)module)->md_dict;
    return Py_NewRef(names ? names : Py_None);
}

static PyObject *get_attribute(PyObject *module, PyObject *name)
{
    if (is_denied_cached(module) && judge_inside(module, name) < 0)
        return NULL;
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

PyObject *hc_reach_get_unguarded(PyObject *object, PyObject *name)
{
    return plain && PyModule_CheckExact(object) ? plain(object, name) : PyObject_GetAttr(object, name);
}

int hc_reach_set_unguarded(PyObject *object, PyObject *name, PyObject *value)
{
    return plain_set && PyModule_CheckExact(object) ? plain_set(object, name, value)
                                                    : PyObject_SetAttr(object, name, value);
}

/* ---- loaders ---- */

/* "/usr/lib/python3.11/http/client.py" is "http.client". */
static bool module_of_file(const char *file, char *out, size_t size)
{
    static const char *const roots[] = {"/dist-packages/", "/site-packages/", "/lib-dynload/", "/python3.",
                                        (HC_LAYERS_PLACE "/")};
    const char *at = NULL;
    for (size_t i = 0; !at && i < sizeof roots / sizeof *roots; i++)
        at = strstr(file, roots[i]) ? strstr(file, roots[i]) + strlen(roots[i]) : NULL;
    if (!at)
        return false;
    if (at[-1] == '.') /* the rest of the version */
        at = strchr(at, '/') ? strchr(at, '/') + 1 : at;
    if (strncmp(file, HC_LAYERS_PLACE "/", sizeof HC_LAYERS_PLACE) == 0) /* the layer's name comes first */
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

/* Replaces the functions of a type and its subclasses: a type copies them from its base when it is made. */
static int replace_functions(PyTypeObject *type)
{
    hc_autopy *below = PyObject_CallMethod((PyObject *)type, "__subclasses__", NULL);
    type->tp_getattro = get_attribute;
    if (type->tp_setattro == plain_set)
        type->tp_setattro = set_attribute;
    PyType_Modified(type);
    for (Py_ssize_t i = 0; below && i < PyList_GET_SIZE(below); i++) {
        PyTypeObject *one = (PyTypeObject *)PyList_GET_ITEM(below, i); /* borrowed */
        if (one->tp_getattro == plain && replace_functions(one) < 0)
            return -1;
    }
    return below ? 0 : -1;
}

static int replace_dict_getter(void)
{
    static PyGetSetDef names = {.name = "__dict__", .get = get_names};
    hc_autopy *descriptor = PyDescr_NewGetSet(&PyModule_Type, &names);
    return descriptor ? PyDict_SetItemString(hc_type_dict(&PyModule_Type), names.name, descriptor) : -1;
}

int hc_reach_guard(PyObject *builtins)
{
    real_builtins = PyImport_ImportModule("builtins");
    own_builtins = Py_NewRef(builtins);
    if (!real_builtins)
        return -1;
    plain = PyModule_Type.tp_getattro;
    plain_set = PyModule_Type.tp_setattro;
    return replace_dict_getter() < 0 ? -1 : replace_functions(&PyModule_Type);
}
