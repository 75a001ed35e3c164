#include "shim/guard/imports.h"

#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/modules.h"
#include "shim/guard/rules.h"
#include "shim/guard/standin.h"

#define MAX_NAME 256 /* bytes of a module's name, with the NUL */

static PyObject *own_builtins;  /* owned: the program's module builtins */
static _Thread_local int depth; /* nested imports by the program that were allowed */

bool hc_import_judged(void)
{
    return depth > 0;
}

int hc_imports_prepare(PyObject *builtins)
{
    own_builtins = Py_NewRef(builtins);
    return 0;
}

static int refuse_import(const char *dotted, const char *message)
{
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "imports",
        .what = dotted,
        .hint = hc_hint_for_module(dotted),
        .message = message,
    };
    return hc_refuse_or_learn(&r,
                              hc_guard.imports.permission_error ? PyExc_PermissionError : PyExc_ImportError);
}

static bool is_loaded(const char *dotted)
{
    hc_autopy *name = PyUnicode_FromString(dotted);
    hc_autopy *module = name ? PyImport_GetModule(name) : NULL;
    PyErr_Clear();
    return module != NULL;
}

int hc_import_judge(const char *dotted)
{
    if (!hc_guard.imports.at_run)
        return 0;
    const char *message = hc_guard_import_refusal(dotted, true);
    if (message)
        return refuse_import(dotted, message);
    if (hc_guard.imports.loaded_only && !is_loaded(dotted))
        return refuse_import(dotted, hc_guard.imports.loaded_message);
    return 0;
}

int hc_import_refuse(const char *dotted)
{
    const char *message = hc_guard_import_refusal(dotted, true);
    return refuse_import(dotted, message ? message : hc_guard.imports.message);
}

static bool may_import(const char *dotted)
{
    return !hc_guard.imports.at_run ||
           (!hc_guard_import_refusal(dotted, true) && (!hc_guard.imports.loaded_only || is_loaded(dotted)));
}

/* "from package import name": checks each name that is a denied module like an import of that module. */
static int judge_names(const char *package, PyObject *names)
{
    hc_autopy *list = PySequence_Fast(names, "fromlist must be a sequence of names");
    if (!list)
        return -1;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i); /* borrowed */
        const char *name = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : NULL;
        char dotted[MAX_NAME];
        if (!name) {
            PyErr_Clear(); /* the import itself raises the exception */
            continue;
        }
        if (snprintf(dotted, sizeof dotted, "%s.%s", package, name) >= (int)sizeof dotted)
            continue; /* longer than any name in a policy */
        if (hc_guard_import_denied(dotted) && hc_import_judge(dotted) < 0)
            return -1;
    }
    return 0;
}

/* Computes the absolute name of a relative import as the interpreter does. -1 with an exception set. */
static int resolve_relative(const char *name, int level, PyObject *globals, char out[MAX_NAME])
{
    PyObject *package = /* borrowed */
        globals && PyDict_Check(globals) ? PyDict_GetItemString(globals, "__package__") : NULL;
    const char *base = package && PyUnicode_Check(package) ? PyUnicode_AsUTF8(package) : NULL;
    if (!base || !*base || strlen(base) >= MAX_NAME) {
        PyErr_SetString(PyExc_ImportError, "attempted relative import with no known parent package");
        return -1;
    }
    size_t len = strlen(base);
    for (int up = 1; up < level && len; up++)
        while (len && base[--len] != '.')
            ;
    (void)snprintf(out, MAX_NAME, "%.*s%s%s", (int)len, base, *name ? "." : "", name);
    return 0;
}

/* Does C code ask for the import? C code that the program calls, such as strptime(), imports modules by the
 * program's __import__, and passes an empty list where import statements pass a tuple or None. Such an import
 * is allowed unless the module is denied by name. But the program could make such a call too: so None is
 * returned instead of a module that the program may not import, as C code does not use the result
 * (PyImport_Import). */
static bool is_for_c(PyObject *names, int level)
{
    return level == 0 && names && PyList_CheckExact(names) && PyList_GET_SIZE(names) == 0;
}

static int judge_import(const char *name, int level, PyObject *globals, PyObject *names)
{
    if (is_for_c(names, level) && !hc_guard_import_denied(name))
        return 0;
    char absolute[MAX_NAME];
    if (level > 0) {
        if (resolve_relative(name, level, globals, absolute) < 0)
            return -1;
        name = absolute;
    }
    if (hc_import_judge(name) < 0)
        return -1;
    return names && names != Py_None ? judge_names(name, names) : 0;
}

PyObject *hc_guarded_import(PyObject *self, PyObject *args, PyObject *named)
{
    (void)self;
    static char *keywords[] = {"name", "globals", "locals", "fromlist", "level", NULL};
    PyObject *name, *globals = NULL, *locals = NULL, *names = NULL; /* borrowed */
    int level = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "U|OOOi:__import__", keywords, &name, &globals, &locals,
                                     &names, &level))
        return NULL;
    const char *utf8 = PyUnicode_AsUTF8(name);
    if (utf8 && level == 0 && hc_standin_expected(utf8, hc_guest_line()) &&
        hc_guard_import_refusal(utf8, true))
        return hc_standin_make(utf8, names && names != Py_None);
    if (!utf8 || judge_import(utf8, level, globals, names) < 0)
        return NULL;
    if (strcmp(utf8, "builtins") == 0)
        return Py_NewRef(own_builtins);
    depth++;
    PyObject *module = PyImport_ImportModuleLevelObject(name, globals, locals, names, level);
    depth--;
    if (module && is_for_c(names, level) && !may_import(utf8))
        Py_SETREF(module, Py_NewRef(Py_None));
    if (module && hc_modules_update() < 0)
        Py_CLEAR(module);
    return module;
}
