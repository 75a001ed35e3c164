#include "shim/guard/attributes.h"

#include "shim/guard/builtins.h"
#include "shim/guard/denial.h"
#include "shim/guard/formats.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/reach.h"
#include "shim/guard/rules.h"
#include "shim/guard/writes.h"

static PyObject *own_space; /* the program's globals, borrowed: __main__ keeps them */

/* The UTF-8 of a name, borrowed; NULL, without an exception, for a name that no rule can have. */
static const char *text_of(PyObject *name)
{
    const char *utf8 = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!utf8)
        PyErr_Clear();
    return utf8;
}

bool hc_attribute_denied(PyObject *name)
{
    const char *utf8 = text_of(name);
    return utf8 && hc_guard_attribute_denied(utf8);
}

static bool is_hidden(PyObject *name)
{
    const char *prefix = hc_guard.builtins.hide_prefix, *utf8 = prefix ? text_of(name) : NULL;
    return utf8 && strncmp(utf8, prefix, strlen(prefix)) == 0;
}

static int refuse_attribute(const char *name, PyObject *exception)
{
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "attributes",
        .what = name,
        .hint = hc_hint_for_attribute(name),
        .message = hc_guard.attributes.message,
    };
    return hc_refuse_or_learn(&r, exception);
}

int hc_attribute_judge(PyObject *name)
{
    return hc_attribute_denied(name) ? refuse_attribute(text_of(name), PyExc_AttributeError) : 0;
}

static PyObject *raise_argument_count(const char *function, const char *expected, Py_ssize_t got)
{
    return PyErr_Format(PyExc_TypeError, "%s expected %s arguments, got %zd", function, expected, got);
}

static int check_name(const char *function, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "%s(): attribute name must be string", function);
        return -1;
    }
    return 0;
}

/* A denied attribute is refused even if the call has a default: returning the default would have the program
 * go on as if the object had no such attribute. */
static PyObject *guarded_getattr(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count < 2 || count > 3)
        return raise_argument_count("getattr", "2 or 3", count);
    if (check_name("getattr", args[1]) < 0 || hc_attribute_judge(args[1]) < 0 ||
        hc_reach_judge(args[0], args[1]) < 0)
        return NULL;
    PyObject *value = PyObject_GetAttr(args[0], args[1]);
    if (value || count == 2 || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return Py_NewRef(args[2]);
}

static PyObject *guarded_hasattr(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count != 2)
        return raise_argument_count("hasattr", "2", count);
    if (check_name("hasattr", args[1]) < 0)
        return NULL;
    if (hc_attribute_denied(args[1]))
        return Py_NewRef(Py_False);
    hc_autopy *value = hc_reach_probe(args[0], args[1]);
    if (!value && !PyErr_ExceptionMatches(PyExc_AttributeError))
        return NULL;
    PyErr_Clear();
    return PyBool_FromLong(value != NULL);
}

static int judge_new_attribute(PyObject *name)
{
    const char *utf8 = text_of(name);
    return utf8 && hc_guard_given_denied(utf8) ? refuse_attribute(utf8, PyExc_AttributeError)
                                               : hc_attribute_judge(name);
}

static PyObject *guarded_setattr(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count != 3)
        return raise_argument_count("setattr", "3", count);
    if (judge_new_attribute(args[1]) < 0 || hc_write_attribute(args[0], args[1], args[2]) < 0)
        return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *guarded_delattr(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count != 2)
        return raise_argument_count("delattr", "2", count);
    if (hc_attribute_judge(args[1]) < 0 || hc_write_attribute(args[0], args[1], NULL) < 0)
        return NULL;
    return Py_NewRef(Py_None);
}

/* ---- the real functions, which libraries call ---- */

static PyObject *plain_getattr, *plain_setattr, *plain_delattr; /* owned */

/* Is the name denied, but not for being private? */
static bool is_listed(const char *name)
{
    hc_guard_spare(HC_SPARE_ALL, NULL);
    bool denied = hc_guard_given_denied(name) || hc_guard_attribute_denied(name);
    hc_guard_spare(HC_SPARE_NONE, NULL);
    return denied;
}

/* Does a library look up for its caller (hc_servers) a name that is denied to the program? The names in the
 * library's own code are for itself, and so are private ones that it puts together, as sympy does in
 * "_print_" + name; but not in a template. Who called the library does not matter: the program can pass its
 * functions to any other. */
static bool serves_denied_name(PyObject *name)
{
    static const char *const templates[] = {"jinja2/", "markupsafe/", NULL};
    const char *utf8 = text_of(name);
    if (!utf8 || (!hc_guard_given_denied(utf8) && !hc_guard_attribute_denied(utf8)))
        return false;
    return hc_caller_is_one_of(is_listed(utf8) ? hc_servers : templates) && !hc_caller_has_constant(name) &&
           !hc_library_is_loaded(); /* pandas goes through all names of a module then */
}

/* Calls the real function for a library; for code without a file, which a library made of a text of the
 * program, the program's function `guarded`. A library that serves the program gets PermissionError: jinja2
 * takes AttributeError as a value that is not defined. */
static PyObject *call_for_caller(PyObject *plain,
                                 PyObject *(*guarded)(PyObject *, PyObject *const *, Py_ssize_t),
                                 PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || !PyUnicode_Check(args[1]))
        return PyObject_Vectorcall(plain, args, (size_t)count, NULL);
    if (hc_caller_is_guest(NULL))
        return guarded(NULL, args, count);
    if (serves_denied_name(args[1]) && refuse_attribute(text_of(args[1]), PyExc_PermissionError) < 0)
        return NULL;
    return PyObject_Vectorcall(plain, args, (size_t)count, NULL);
}

static PyObject *getattr_for_all(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    return call_for_caller(plain_getattr, guarded_getattr, args, count);
}

static PyObject *setattr_for_all(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    return call_for_caller(plain_setattr, guarded_setattr, args, count);
}

static PyObject *delattr_for_all(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    return call_for_caller(plain_delattr, guarded_delattr, args, count);
}

/* ---- functions that list names ---- */

/* The mapping itself if the program may see all of it, so that the program can still change it; else a dict
 * of the names that it may see. Consumes `names`; new reference. */
static PyObject *without_denied(PyObject *names)
{
    hc_autopy *held = names;
    hc_autopy *rest = held ? PyDict_New() : NULL;
    if (!rest || PyDict_Update(rest, held) < 0)
        return NULL;
    hc_autopy *keys = PyDict_Keys(rest);
    Py_ssize_t before = PyDict_GET_SIZE(rest);
    for (Py_ssize_t i = 0; keys && i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i); /* borrowed */
        bool out = hc_attribute_denied(key) || is_hidden(key) || hc_reach_denied(PyDict_GetItem(rest, key));
        if (out && PyDict_DelItem(rest, key) < 0)
            return NULL;
    }
    if (!keys)
        return NULL;
    return PyDict_GET_SIZE(rest) == before ? hc_py_take(&held) : hc_py_take(&rest);
}

/* New reference: the names of the calling scope. */
static PyObject *caller_names(void)
{
    return Py_XNewRef(hc_guard.builtins.own_namespace ? own_space : PyEval_GetLocals());
}

static PyObject *guarded_vars(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count > 1)
        return raise_argument_count("vars", "at most 1", count);
    if (count == 0)
        return without_denied(caller_names());
    PyObject *names = PyObject_GetAttrString(args[0], "__dict__");
    if (!names && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_SetString(PyExc_TypeError, "vars() argument must have __dict__ attribute");
    if (!names || !PyMapping_Check(names))
        return names;
    return without_denied(names);
}

/* The list without names that the policy hides. New reference; consumes `names`. */
static PyObject *without_hidden(PyObject *names)
{
    hc_autopy *held = names;
    hc_autopy *rest = held ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; rest && i < PyList_GET_SIZE(held); i++) {
        PyObject *name = PyList_GET_ITEM(held, i); /* borrowed */
        if (!is_hidden(name) && PyList_Append(rest, name) < 0)
            return NULL;
    }
    return hc_py_take(&rest);
}

static PyObject *guarded_dir(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count > 1)
        return raise_argument_count("dir", "at most 1", count);
    if (count == 1)
        return without_hidden(PyObject_Dir(args[0]));
    hc_autopy *names = caller_names();
    PyObject *keys = names ? PyMapping_Keys(names) : NULL;
    if (keys && PyList_Sort(keys) < 0)
        Py_CLEAR(keys);
    return without_hidden(keys);
}

static PyObject *own_names(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_NewRef(own_space);
}

/* METH_FASTCALL functions have a type of their own. */
#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* Puts `method` in the place of the interpreter's real function; `*plain` keeps the original. */
static int replace_real(PyMethodDef *method, PyObject **plain)
{
    PyObject *real = PyEval_GetBuiltins(); /* borrowed */
    *plain = Py_XNewRef(PyDict_GetItemString(real, method->ml_name));
    hc_autopy *module = *plain ? PyUnicode_InternFromString("builtins") : NULL;
    hc_autopy *function = module ? PyCFunction_NewEx(method, NULL, module) : NULL;
    return function ? PyDict_SetItemString(real, method->ml_name, function) : -1;
}

static int guard_real_functions(void)
{
    static PyMethodDef get = {"getattr", FAST(getattr_for_all), METH_FASTCALL,
                              "getattr(object, name[, default]) -> value"};
    static PyMethodDef set = {"setattr", FAST(setattr_for_all), METH_FASTCALL,
                              "setattr(object, name, value)"};
    static PyMethodDef del = {"delattr", FAST(delattr_for_all), METH_FASTCALL, "delattr(object, name)"};
    bool failed = replace_real(&get, &plain_getattr) < 0 || replace_real(&set, &plain_setattr) < 0 ||
                  replace_real(&del, &plain_delattr) < 0;
    return failed ? -1 : 0;
}

int hc_attributes_guard(PyObject *builtins, PyObject *space)
{
    static PyMethodDef access[] = {
        {"getattr", FAST(guarded_getattr), METH_FASTCALL, "getattr(object, name[, default]) -> value"},
        {"hasattr", FAST(guarded_hasattr), METH_FASTCALL, "hasattr(object, name) -> bool"},
        {"setattr", FAST(guarded_setattr), METH_FASTCALL, "setattr(object, name, value)"},
        {"delattr", FAST(guarded_delattr), METH_FASTCALL, "delattr(object, name)"},
        {0},
    };
    static PyMethodDef lists[] = {
        {"vars", FAST(guarded_vars), METH_FASTCALL, "vars([object]) -> dictionary"},
        {"dir", FAST(guarded_dir), METH_FASTCALL, "dir([object]) -> list of names"},
        {0},
    };
    static PyMethodDef own[] = {
        {"globals", own_names, METH_NOARGS, "globals(): the program's names."},
        {"locals", own_names, METH_NOARGS, "locals(): the program's names."},
        {0},
    };
    own_space = space;
    bool any = hc_guard.attributes.deny.count || hc_guard.attributes.suffixes.count ||
               hc_guard.attributes.private_ones;
    bool shown = any || hc_guard.builtins.hide_prefix || hc_guard.builtins.own_namespace;
    if (any &&
        (hc_builtins_replace(builtins, access) < 0 || guard_real_functions() < 0 || hc_formats_guard() < 0))
        return -1;
    if (shown && hc_builtins_replace(builtins, lists) < 0)
        return -1;
    return hc_guard.builtins.own_namespace ? hc_builtins_replace(builtins, own) : 0;
}
