#include "shim/guard/writes.h"

#include "shim/guard/denial.h"
#include "shim/guard/rules.h"
#include "shim/harness/frozen.h"

/* The result of _write_(object). */
struct guarded {
    PyObject_HEAD PyObject *object; /* the object that the program writes to; owned */
};

static PyObject *object_of(PyObject *self)
{
    return ((struct guarded *)self)->object;
}

static int refuse_write(const char *what, const char *message, const char *hint)
{
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME, .rule = "writes", .what = what, .message = message, .hint = hint};
    hc_refuse(&r, PyExc_PermissionError);
    return -1;
}

/* ---- types that the program may change ---- */

/* "module.name" of a type, "name" of a built-in one. New reference; NULL, without an exception, if it has
 * none. */
static PyObject *full_name(PyTypeObject *type)
{
    hc_autopy *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    hc_autopy *name = PyType_GetQualName(type);
    PyErr_Clear();
    if (!name || !module || !PyUnicode_Check(module))
        return NULL;
    if (PyUnicode_CompareWithASCIIString(module, "builtins") == 0)
        return hc_py_take(&name);
    return PyUnicode_FromFormat("%U.%U", module, name);
}

/* Does the policy list the type? Policies write "pandas.DataFrame", as programs do, whichever module of
 * pandas defines the class. */
static bool is_listed(const char *full)
{
    if (hc_names_has(&hc_guard.code.write_types, full))
        return true;
    const char *first = strchr(full, '.'), *last = strrchr(full, '.');
    char brief[256];
    return first && first != last &&
           snprintf(brief, sizeof brief, "%.*s%s", (int)(first - full), full, last) < (int)sizeof brief &&
           hc_names_has(&hc_guard.code.write_types, brief);
}

/* Is it a class of the program, or one that the policy lists? */
static bool is_writable(PyTypeObject *type)
{
    hc_autopy *full = full_name(type);
    const char *name = full ? PyUnicode_AsUTF8(full) : NULL;
    PyErr_Clear();
    return name && (strncmp(name, "__main__.", 9) == 0 || is_listed(name));
}

/* guest_owned.py: made(object). Owned; loaded before the program runs, whose guard forbids that. */
static PyObject *judge_made;

/* 1: the object is data that the program made; 0: it is not; -1 with an exception set, which may be that of a
 * deadline. */
static int is_made(PyObject *object)
{
    hc_autopy *made = judge_made ? PyObject_CallOneArg(judge_made, object) : Py_NewRef(Py_False);
    return made ? made == Py_True : -1;
}

/* What to do instead of changing an object of the type in place; static. */
static const char *hint_for(const char *type)
{
    static const struct {
        const char *type, *hint;
    } hints[] = {
        {"_Environ",
         "Use os.environ.update(NAME=\"value\"): the rules on environment variables go by their names."},
        {"DataFrame", "Make a new frame instead, such as with df.assign() or df.drop()."},
        {"Series", "Make a new series instead, such as with series.where()."},
        {"numpy.ndarray", "Make a new array instead, such as with np.where() or x.copy()."},
        {"module", "Keep values under names of your own."},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].type, type) == 0)
            return hints[i].hint;
    return "Make a new object instead, and change that.";
}

/* Is one of the classes that an object, or a class itself, is of writable? */
static bool has_writable_type(PyObject *object)
{
    PyTypeObject *type = PyType_Check(object) ? (PyTypeObject *)object : Py_TYPE(object);
    PyObject *bases = type->tp_mro; /* borrowed */
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++)
        if (is_writable((PyTypeObject *)PyTuple_GET_ITEM(bases, i)))
            return true;
    return false;
}

/* The frame or series that is changed through its .loc, .iloc, .at or .iat; another object itself. New
 * reference. */
static PyObject *indexed(PyObject *object)
{
    static const char *const indexers[] = {"_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer"};
    hc_autopy *full = full_name(Py_TYPE(object));
    PyErr_Clear();
    for (size_t i = 0; full && i < sizeof indexers / sizeof *indexers; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "pandas.core.indexing.%s", indexers[i]);
        PyObject *of =
            PyUnicode_CompareWithASCIIString(full, name) == 0 ? PyObject_GetAttrString(object, "obj") : NULL;
        PyErr_Clear();
        if (of)
            return of;
    }
    return Py_NewRef(object);
}

static int judge_type(PyObject *object)
{
    if (!hc_guard.code.write_types.given)
        return 0;
    hc_autopy *changed = indexed(object);
    if (has_writable_type(changed))
        return 0;
    int made = is_made(changed);
    if (made != 0)
        return made < 0 ? -1 : 0;
    const char *type =
        (PyType_Check(changed) ? (PyTypeObject *)changed : Py_TYPE(changed))->tp_name; /* of `changed` */
    return refuse_write(type, "Objects of type {name} may not be changed in place under this policy",
                        hint_for(type));
}

/* ---- writes ---- */

int hc_write_attribute(PyObject *object, PyObject *name, PyObject *value)
{
    if (!hc_guard.code.guarded_writes)
        return PyObject_SetAttr(object, name, value);
    const char *utf8 = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!utf8) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "attribute name must be string");
        return -1;
    }
    if (value && PyCallable_Check(value))
        return refuse_write(utf8, "Attribute '{name}' may not be set to something callable under this policy",
                            "Keep functions and classes under names of their own.");
    return judge_type(object) < 0 ? -1 : PyObject_SetAttr(object, name, value);
}

static int set_item(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *object = object_of(self);
    if (PyDict_Check(object) && PyDict_GetItemString(object, "__builtins__"))
        return refuse_write("__builtins__", "A namespace with '{name}' may not be changed under this policy",
                            "Use a dict of your own.");
    if (judge_type(object) < 0)
        return -1;
    return value ? PyObject_SetItem(object, key, value) : PyObject_DelItem(object, key);
}

static int set_attribute(PyObject *self, PyObject *name, PyObject *value)
{
    return hc_write_attribute(object_of(self), name, value);
}

/* An in-place operator reads the attribute first. */
static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(object_of(self), name);
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    return PyObject_GetItem(object_of(self), key);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(object_of(self));
    return 0;
}

static void dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((struct guarded *)self)->object);
    PyObject_GC_Del(self);
}

static PyMappingMethods items = {.mp_subscript = get_item, .mp_ass_subscript = set_item};

static PyTypeObject guarded_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "guarded_write",
    .tp_basicsize = sizeof(struct guarded),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = traverse,
    .tp_dealloc = dealloc,
    .tp_getattro = get_attribute,
    .tp_setattro = set_attribute,
    .tp_as_mapping = &items,
};

static PyObject *guard_write(PyObject *self, PyObject *object)
{
    (void)self;
    if (Py_IS_TYPE(object, &guarded_type))
        return Py_NewRef(object);
    struct guarded *g = PyObject_GC_New(struct guarded, &guarded_type);
    if (!g)
        return NULL;
    g->object = Py_NewRef(object);
    PyObject_GC_Track(g);
    return (PyObject *)g;
}

int hc_writes_guard(PyObject *builtins)
{
    static PyMethodDef method = {"_write_", guard_write, METH_O,
                                 "_write_(object): what is set goes through it."};
    if (!hc_guard.code.guarded_writes)
        return 0;
    if (!judge_made)
        judge_made = hc_frozen_function("owned", "made");
    if (!judge_made)
        return -1;
    hc_autopy *function = PyType_Ready(&guarded_type) < 0 ? NULL : PyCFunction_NewEx(&method, NULL, NULL);
    return function ? PyDict_SetItemString(builtins, "_write_", function) : -1;
}
