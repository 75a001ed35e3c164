#include "shim/guard/modules.h"

#include "shim/guard/attributes.h"
#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/hidden.h"
#include "shim/guard/hints.h"
#include "shim/guard/imports.h"
#include "shim/guard/picklable.h"
#include "shim/guard/pointers.h"
#include "shim/guard/reach.h"
#include "shim/guard/rules.h"

#include <stdlib.h>

/* What a replacement does when the program calls it. */
enum way {
    WAY_NONE,       /* the name is None */
    WAY_REFUSE,     /* raises PermissionError */
    WAY_IGNORE,     /* returns None */
    WAY_CHOOSE,     /* allows only certain values of an argument */
    WAY_IMPORT,     /* checks the module that an argument names */
    WAY_LOAD,       /* checks the module that an import spec names */
    WAY_OBJECT,     /* checks the function or class that an argument names, as in a pickle */
    WAY_ATTRIBUTES, /* checks the attributes that the arguments name */
    WAY_MEMBERS,    /* leaves denied attributes out of a list of members */
    WAY_MODULE,     /* refuses to return a denied module */
    WAY_FORMAT,     /* as WAY_ATTRIBUTES, for every caller */
    WAY_RELOAD,     /* replaces the functions of the reloaded module again */
    WAY_FOREIGN,    /* no replacement: has pointers.c watch a type of ctypes */
    WAY_THREAD      /* refuses unless threads are allowed */
};

/* One row, from the policy (modules.replace) or from the tables below. Texts are borrowed; NULL: not given.
 */
struct row {
    const char *module, *name; /* `name`: dotted, below the module; it may end in * */
    enum way way;
    const char *message;  /* message of the refusal */
    const char *argument; /* name of the argument that is checked */
    const char *instead;  /* WAY_CHOOSE: value in the place of one that is not allowed */
    const cJSON *values;  /* WAY_CHOOSE: allowed values */
    Py_ssize_t at;        /* WAY_IMPORT: index of the argument that names the module */
    PyObject *key;        /* owned: `module` as a str */
    bool done;            /* the module's functions are replaced */
};

static const struct row own_rows[] = {
    {.module = "importlib", .name = "import_module", .way = WAY_IMPORT},
    {.module = "importlib", .name = "__import__", .way = WAY_IMPORT},
    {.module = "pydoc", .name = "locate", .way = WAY_IMPORT, .argument = "path"},
    {.module = "pydoc", .name = "safeimport", .way = WAY_IMPORT, .argument = "path"},
    {.module = "runpy", .name = "run_module", .way = WAY_IMPORT, .argument = "mod_name"},
    {.module = "_frozen_importlib", .name = "_load_module_shim", .way = WAY_IMPORT, .at = 1},
    {.module = "_imp", .name = "create_dynamic", .way = WAY_LOAD},
    {.module = "_imp", .name = "create_builtin", .way = WAY_LOAD},
    {.module = "inspect", .name = "getmembers", .way = WAY_MEMBERS},
    {.module = "inspect", .name = "getmembers_static", .way = WAY_MEMBERS},
    {.module = "inspect", .name = "getattr_static", .way = WAY_ATTRIBUTES},
    {.module = "inspect", .name = "getmodule", .way = WAY_MODULE},
    {.module = "operator", .name = "attrgetter", .way = WAY_ATTRIBUTES},
    {.module = "operator", .name = "methodcaller", .way = WAY_ATTRIBUTES},
    {.module = "_operator", .name = "attrgetter", .way = WAY_ATTRIBUTES},
    {.module = "_operator", .name = "methodcaller", .way = WAY_ATTRIBUTES},
    {.module = "string", .name = "Formatter.get_field", .way = WAY_FORMAT},
    {.module = "yaml.constructor", .name = "FullConstructor.find_python_name", .way = WAY_OBJECT, .at = 1},
    {.module = "yaml.constructor", .name = "FullConstructor.find_python_module", .way = WAY_IMPORT, .at = 1},
    {.module = "importlib", .name = "reload", .way = WAY_RELOAD},
};
/* Rows for policies that allow no threads; early versions of Python 3.11 have no audit event for starting
 * one. */
static const struct row thread_rows[] = {
    {.module = "_thread", .name = "start_new_thread", .way = WAY_THREAD},
    {.module = "_thread", .name = "start_new", .way = WAY_THREAD},
    {.module = "_thread", .name = "start_joinable_thread", .way = WAY_THREAD},
    {.module = "threading", .name = "_start_joinable_thread", .way = WAY_THREAD},
    {.module = "threading", .name = "_start_new_thread", .way = WAY_THREAD},
};
/* Rows for policies that deny ctypes. */
#define NO_CTYPES "{name}() makes pointers of ctypes, which this policy does not allow"
static const struct row foreign_rows[] = {
    {.module = "numpy.core._internal", .name = "_ctypes.data_as", .way = WAY_REFUSE, .message = NO_CTYPES},
    {.module = "numpy.core._internal", .name = "_ctypes.shape_as", .way = WAY_REFUSE, .message = NO_CTYPES},
    {.module = "numpy.core._internal", .name = "_ctypes.strides_as", .way = WAY_REFUSE, .message = NO_CTYPES},
    {.module = "numpy._core._internal", .name = "_ctypes.data_as", .way = WAY_REFUSE, .message = NO_CTYPES},
    {.module = "numpy._core._internal", .name = "_ctypes.shape_as", .way = WAY_REFUSE, .message = NO_CTYPES},
    {.module = "numpy._core._internal",
     .name = "_ctypes.strides_as",
     .way = WAY_REFUSE,
     .message = NO_CTYPES},
    {.module = "_ctypes", .name = "_SimpleCData", .way = WAY_FOREIGN},
    {.module = "_ctypes", .name = "_Pointer", .way = WAY_FOREIGN},
    {.module = "_ctypes", .name = "Array", .way = WAY_FOREIGN},
    {.module = "_ctypes", .name = "Structure", .way = WAY_FOREIGN},
    {.module = "_ctypes", .name = "Union", .way = WAY_FOREIGN},
    {.module = "_ctypes", .name = "CFuncPtr", .way = WAY_FOREIGN},
};
#define FOREIGN_ROWS (sizeof foreign_rows / sizeof *foreign_rows)
#define THREAD_ROWS  (sizeof thread_rows / sizeof *thread_rows)
#define OWN_ROWS     (sizeof own_rows / sizeof *own_rows)

static struct row *rows; /* owned */
static size_t row_count; /* number of `rows` */

/* ---- replacements ---- */

/* The Python object that stands in a function's place. */
struct changed {
    PyObject_HEAD PyObject *original; /* owned */
    PyObject *label;                  /* str, owned: "os.system" */
    const struct row *row;            /* borrowed from `rows` */
};

static const char *label_of(const struct changed *c)
{
    const char *utf8 = PyUnicode_AsUTF8(c->label);
    if (!utf8)
        PyErr_Clear();
    return utf8 ? utf8 : c->row->name;
}

static const char *last_part(const char *label)
{
    const char *dot = strrchr(label, '.');
    return dot ? dot + 1 : label;
}

static PyObject *refuse_call(const struct changed *c)
{
    const char *hint = hc_hint_for_call(label_of(c));
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "modules",
        .what = label_of(c),
        .hint = hint ? hint : hc_hint_for_event(label_of(c)), /* functions that announce themselves by name */
        .message = c->row->message ? c->row->message : "{name} is not allowed by this policy",
        .name = c->row->message ? last_part(label_of(c)) : NULL,
    };
    hc_refuse(&r, PyExc_PermissionError);
    return NULL;
}

/* The text in `values` that equals the value but for upper and lower case, borrowed; NULL: there is none. */
static const char *listed_value(const cJSON *values, PyObject *value)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    const cJSON *item;
    PyErr_Clear();
    cJSON_ArrayForEach(item, values) if (text && cJSON_IsString(item) &&
                                         strcasecmp(text, item->valuestring) == 0) return item->valuestring;
    return NULL;
}

/* The index of a parameter of a Python function among the positional ones; -1 if it is not one of them. */
static Py_ssize_t position_of(PyObject *function, const char *parameter)
{
    if (!PyFunction_Check(function))
        return -1;
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function); /* borrowed */
    hc_autopy *names = PyCode_GetVarnames(code);
    PyErr_Clear();
    for (Py_ssize_t i = 0; names && i < code->co_argcount; i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), parameter) == 0)
            return i;
    return -1;
}

/* The argument that a WAY_CHOOSE row checks, borrowed; NULL if it is not given. `*at`: its index, -1 if it
 * was given by name. */
static PyObject *chosen_argument(const struct changed *c, PyObject *args, PyObject *named, Py_ssize_t *at)
{
    const char *name = c->row->argument;
    *at = name ? position_of(c->original, name) : 0;
    if (*at >= 0 && *at < PyTuple_GET_SIZE(args))
        return PyTuple_GET_ITEM(args, *at);
    *at = -1;
    if (!named)
        return NULL;
    PyObject *key, *value;
    Py_ssize_t i = 0;
    return name ? PyDict_GetItemString(named, name) : PyDict_Next(named, &i, &key, &value) ? value : NULL;
}

/* Calls the function with `text` in the place of the argument that the row checks. */
static PyObject *call_with_text(const struct changed *c, PyObject *args, PyObject *named, Py_ssize_t at,
                                const char *text)
{
    hc_autopy *instead = PyUnicode_FromString(text);
    if (!instead)
        return NULL;
    if (at < 0) {
        hc_autopy *others = PyDict_Copy(named);
        if (!others || PyDict_SetItemString(others, c->row->argument, instead) < 0)
            return NULL;
        return PyObject_Call(c->original, args, others);
    }
    hc_autopy *list = PySequence_List(args);
    hc_autopy *others =
        list && PyList_SetItem(list, at, Py_NewRef(instead)) == 0 ? PyList_AsTuple(list) : NULL;
    return others ? PyObject_Call(c->original, others, named) : NULL;
}

static PyObject *call_chosen(const struct changed *c, PyObject *args, PyObject *named)
{
    Py_ssize_t at;
    PyObject *value = chosen_argument(c, args, named, &at);
    const char *text = value ? listed_value(c->row->values, value) : NULL;
    if (!value || value == Py_None || (text && !c->row->argument))
        return PyObject_Call(c->original, args, named);
    if (!text)
        text = c->row->argument ? c->row->instead : NULL;
    return text ? call_with_text(c, args, named, at, text) : refuse_call(c);
}

/* import_module(name, package=None) of importlib, and other functions that import a module by its dotted
 * name. */
static PyObject *call_import(const struct changed *c, PyObject *args, PyObject *named)
{
    const char *parameter = c->row->argument ? c->row->argument : "name";
    Py_ssize_t at = c->row->at;
    PyObject *name = PyTuple_GET_SIZE(args) > at ? PyTuple_GET_ITEM(args, at) /* borrowed */
                     : named                     ? PyDict_GetItemString(named, parameter)
                                                 : NULL;
    PyObject *package = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) /* borrowed */
                        : named                    ? PyDict_GetItemString(named, "package")
                                                   : NULL;
    const char *dotted = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    char absolute[256];
    if (dotted && dotted[0] == '.' && package && PyUnicode_Check(package)) {
        const char *base = PyUnicode_AsUTF8(package);
        (void)snprintf(absolute, sizeof absolute, "%s%s", base ? base : "", dotted);
        dotted = absolute;
    }
    PyErr_Clear();
    if (dotted && hc_import_judge(dotted) < 0)
        return NULL;
    PyObject *module = hc_reach_given(PyObject_Call(c->original, args, named));
    if (module && hc_modules_update() < 0)
        Py_CLEAR(module);
    return module;
}

/* _imp.create_dynamic(spec, file=None), which the program may call without the import system. */
static PyObject *call_load(const struct changed *c, PyObject *args, PyObject *named)
{
    PyObject *spec = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL; /* borrowed */
    hc_autopy *name = spec ? PyObject_GetAttrString(spec, "name") : NULL;
    hc_autopy *file = name ? PyObject_GetAttrString(spec, "origin") : NULL;
    if (spec && !file)
        return NULL;
    return hc_reach_judge_load(name, file) < 0 ? NULL : PyObject_Call(c->original, args, named);
}

/* inspect.getmembers(): pairs of name and value, without those that getattr() would refuse. */
static PyObject *call_members(const struct changed *c, PyObject *args, PyObject *named)
{
    hc_autopy *all = PyObject_Call(c->original, args, named);
    hc_autopy *rest = all && PyList_Check(all) ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; rest && i < PyList_GET_SIZE(all); i++) {
        PyObject *pair = PyList_GET_ITEM(all, i), *name, *value; /* borrowed */
        if (!PyArg_ParseTuple(pair, "OO", &name, &value))
            return NULL;
        if (!hc_attribute_denied(name) && !hc_reach_denied(value) && PyList_Append(rest, pair) < 0)
            return NULL;
    }
    return hc_py_take(&rest);
}

static int judge_object(const char *dotted)
{
    char module[256] = "builtins", what[256];
    const char *dot = strrchr(dotted, '.');
    if (dot)
        (void)snprintf(module, sizeof module, "%.*s", (int)(dot - dotted), dotted);
    if (hc_picklable(module, dot ? dot + 1 : dotted))
        return 0;
    (void)snprintf(what, sizeof what, "%.240s", dotted);
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "modules",
        .what = what,
        .hint = "Use yaml.safe_load, and build the object of what it returns.",
        .message = "Loading {name} from YAML is not allowed by this policy",
    };
    return hc_refuse_or_learn(&r, PyExc_PermissionError);
}

/* A method that finds a class or a function by its dotted name, such as that of a constructor of YAML. */
static PyObject *call_object(const struct changed *c, PyObject *args, PyObject *named)
{
    PyObject *name =
        PyTuple_GET_SIZE(args) > c->row->at ? PyTuple_GET_ITEM(args, c->row->at) : NULL; /* borrowed */
    const char *dotted = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    return dotted && judge_object(dotted) < 0 ? NULL : PyObject_Call(c->original, args, named);
}

/* Refuses the result of a function if it is a denied module. Steals `found`; NULL stays NULL. */
static PyObject *check_result(PyObject *found)
{
    hc_autopy *held = found;
    if (held && hc_reach_denied(held) && hc_import_refuse(PyModule_GetName(held)) < 0)
        return NULL;
    return hc_reach_given(hc_py_take(&held));
}

/* importlib.reload() undoes the replacements in the module. */
static PyObject *call_reload(const struct changed *c, PyObject *args, PyObject *named)
{
    hc_autopy *module = PyObject_Call(c->original, args, named);
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace); /* a reload that fails may have undone some of them */
    for (size_t i = 0; i < row_count; i++)
        rows[i].done = false;
    int rc = hc_modules_update();
    if (rc == 0)
        PyErr_Restore(type, error, trace);
    return rc < 0 ? NULL : hc_py_take(&module);
}

/* attrgetter("a.b", ...), methodcaller("a", ...): checks every part of every name. */
static PyObject *call_with_attributes(const struct changed *c, PyObject *args, PyObject *named)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *name = PyTuple_GET_ITEM(args, i); /* borrowed */
        hc_autopy *dot = PyUnicode_Check(name) ? PyUnicode_FromString(".") : NULL;
        hc_autopy *parts = dot ? PyUnicode_Split(name, dot, -1) : NULL;
        PyErr_Clear();
        for (Py_ssize_t j = 0; parts && j < PyList_GET_SIZE(parts); j++)
            if (hc_attribute_judge(PyList_GET_ITEM(parts, j)) < 0)
                return NULL;
    }
    return PyObject_Call(c->original, args, named);
}

bool hc_threads_allowed(void)
{
    return hc_guard.audit.threads || hc_asked_through("asyncio/base_events");
}

/* Does a rule bind this caller? The harness needs some of these functions itself, such as to_csv(). But the
 * program can make the harness call functions while it waits for the harness, and at any time those that
 * return modules and attributes. */
static bool is_bound(enum way way)
{
    if (way == WAY_THREAD)
        return !hc_threads_allowed();
    if (way == WAY_LOAD) /* hc_reach_judge_load looks at the caller itself */
        return true;
    if (way == WAY_OBJECT) /* the program can have any library call it */
        return true;
    if (way == WAY_IMPORT)
        return hc_caller_is_one_of(hc_servers) || hc_caller_may_serve_guest(hc_resolvers);
    bool returns_attributes = way == WAY_ATTRIBUTES;
    return returns_attributes || hc_guest_line() ? hc_caller_may_serve_guest(NULL) : hc_caller_is_guest(NULL);
}

static PyObject *call_replacement(PyObject *self, PyObject *args, PyObject *named)
{
    const struct changed *c = (struct changed *)self;
    if (c->row->way == WAY_FORMAT) /* the caller is always string.Formatter */
        return call_with_attributes(c, args, named);
    if (c->row->way == WAY_RELOAD)
        return call_reload(c, args, named);
    if (!is_bound(c->row->way))
        return PyObject_Call(c->original, args, named);
    switch (c->row->way) {
    case WAY_REFUSE:
    case WAY_THREAD:
        return refuse_call(c);
    case WAY_CHOOSE:
        return call_chosen(c, args, named);
    case WAY_IMPORT:
        return call_import(c, args, named);
    case WAY_LOAD:
        return call_load(c, args, named);
    case WAY_OBJECT:
        return call_object(c, args, named);
    case WAY_ATTRIBUTES:
        return check_result(call_with_attributes(c, args, named));
    case WAY_MEMBERS:
        return call_members(c, args, named);
    case WAY_MODULE:
        return check_result(PyObject_Call(c->original, args, named));
    case WAY_FOREIGN:
    case WAY_RELOAD:
    case WAY_FORMAT:
    case WAY_NONE:
    case WAY_IGNORE:
        break;
    }
    return Py_NewRef(Py_None);
}

/* Only attributes that describe the function come from the original; others could lead to the original
 * itself. */
static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    static const char *const told[] = {"__name__", "__qualname__", "__doc__", "__module__"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, told[i]) == 0)
            return PyObject_GetAttr(((struct changed *)self)->original, name);
    return PyObject_GenericGetAttr(self, name);
}

static PyObject *represent(PyObject *self)
{
    return PyUnicode_FromFormat("<function %U>", ((struct changed *)self)->label);
}

/* Binds to an object if the original would. */
static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    bool binds = object && object != Py_None && PyFunction_Check(((struct changed *)self)->original);
    return binds ? PyMethod_New(self, object) : Py_NewRef(self);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct changed *)self)->original);
    return 0;
}

static void dealloc(PyObject *self)
{
    struct changed *c = (struct changed *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(c->original);
    Py_CLEAR(c->label);
    PyObject_GC_Del(self);
}

static PyTypeObject changed_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "function",
    .tp_basicsize = sizeof(struct changed),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = traverse,
    .tp_dealloc = dealloc,
    .tp_call = call_replacement,
    .tp_getattro = get_attribute,
    .tp_repr = represent,
    .tp_descr_get = bind,
};

/* ---- replacing functions ---- */

static PyObject *make_replacement(const struct row *row, const char *name, PyObject *original)
{
    if (row->way == WAY_NONE)
        return Py_NewRef(Py_None);
    struct changed *c = PyObject_GC_New(struct changed, &changed_type);
    if (!c)
        return NULL;
    c->original = Py_NewRef(original);
    c->row = row;
    c->label = PyUnicode_FromFormat("%s.%s", row->module, name);
    PyObject_GC_Track(c);
    if (!c->label)
        Py_CLEAR(c);
    return (PyObject *)c;
}

/* Replaces an attribute of `holder`, whose name is the last part of the dotted name `label`. An attribute
 * that does not exist is skipped. */
static int replace_name(const struct row *row, PyObject *holder, const char *label)
{
    const char *last = last_part(label);
    hc_autopy *name = PyUnicode_FromString(last);
    hc_autopy *original = name ? hc_reach_get_unguarded(holder, name) : NULL;
    if (!original) {
        PyErr_Clear();
        return 0;
    }
    if (row->way == WAY_FOREIGN) {
        hc_pointers_watch(original);
        return 0;
    }
    hc_autopy *instead = Py_IS_TYPE(original, &changed_type) ? NULL : make_replacement(row, label, original);
    if (Py_IS_TYPE(original, &changed_type))
        return 0;
    return instead ? hc_reach_set_unguarded(holder, name, instead) : -1;
}

static int replace_matching(const struct row *row, PyObject *module)
{
    hc_autopy *names = PyModule_Check(module) ? PyDict_Keys(PyModule_GetDict(module)) : PyObject_Dir(module);
    size_t len = strlen(row->name) - 1;
    for (Py_ssize_t i = 0; names && i < PyList_GET_SIZE(names); i++) {
        const char *name = PyUnicode_AsUTF8(PyList_GET_ITEM(names, i));
        PyErr_Clear();
        if (name && strncmp(name, row->name, len) == 0 && replace_name(row, module, name) < 0)
            return -1;
    }
    return names ? 0 : -1;
}

static int apply_row(const struct row *row, PyObject *module)
{
    if (row->name[strlen(row->name) - 1] == '*')
        return replace_matching(row, module);
    hc_autopy *holder = Py_NewRef(module);
    const char *at = row->name;
    for (const char *dot; (dot = strchr(at, '.')); at = dot + 1) {
        hc_autopy *part = PyUnicode_FromStringAndSize(at, dot - at);
        PyObject *inner = part ? hc_reach_get_unguarded(holder, part) : NULL;
        if (!inner) {
            PyErr_Clear();
            return 0;
        }
        Py_SETREF(holder, inner);
    }
    return replace_name(row, holder, row->name);
}

int hc_modules_update(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    for (size_t i = 0; i < row_count; i++) {
        PyObject *module = rows[i].done ? NULL : PyDict_GetItem(modules, rows[i].key); /* borrowed */
        if (!module)
            continue;
        rows[i].done = true;
        hc_autopy *held = Py_NewRef(module);
        if (apply_row(&rows[i], held) < 0)
            return -1;
    }
    return 0;
}

/* ---- reading the rows ---- */

static enum way way_of(const char *word)
{
    static const char *const words[] = {"none", "refuse", "ignore", "choose"};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum way)i;
    return WAY_REFUSE;
}

static void read_rows(void)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, hc_guard.modules.replace)
    {
        struct row row = {
            .module = hc_json_text_or(item, "module", NULL),
            .name = hc_json_text_or(item, "name", NULL),
            .way = way_of(hc_json_text_or(item, "with", NULL)),
            .message = hc_json_text_or(item, "message", NULL),
            .argument = hc_json_text_or(item, "argument", NULL),
            .instead = hc_json_text_or(item, "instead", NULL),
            .values = hc_json_member(item, "values"),
        };
        if (row.module && row.name && *row.name)
            rows[row_count++] = row;
    }
    for (size_t i = 0; i < OWN_ROWS; i++)
        rows[row_count++] = own_rows[i];
    for (size_t i = 0; !hc_guard.audit.threads && i < THREAD_ROWS; i++)
        rows[row_count++] = thread_rows[i];
    for (size_t i = 0; hc_guard_import_denied("_ctypes") && i < FOREIGN_ROWS; i++)
        rows[row_count++] = foreign_rows[i];
}

int hc_modules_guard(void)
{
    size_t most =
        OWN_ROWS + THREAD_ROWS + FOREIGN_ROWS + (size_t)cJSON_GetArraySize(hc_guard.modules.replace);
    rows = calloc(most, sizeof *rows);
    if (!rows) {
        PyErr_NoMemory();
        return -1;
    }
    read_rows();
    for (size_t i = 0; i < row_count; i++) {
        rows[i].key = PyUnicode_InternFromString(rows[i].module);
        if (!rows[i].key)
            return -1;
    }
    return PyType_Ready(&changed_type) < 0 || hc_modules_update() < 0 || hc_hidden_modules() < 0 ? -1 : 0;
}
