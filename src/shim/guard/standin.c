#include "shim/guard/standin.h"

#include "shim/guard/imports.h"
#include "shim/guard/rules.h"

#include <string.h>

#define EXPECTED_MAX 64 /* imports that a process remembers: the last ones of its programs */
#define LINES_MAX    20 /* most lines of one import statement */

static struct {
    int line;
    char dotted[128];
} expected[EXPECTED_MAX];
static size_t expected_count; /* imports so far, including those that later ones have replaced */

struct standin {
    PyObject ob_base;
    PyObject *name;   /* str, owned: "subprocess", "subprocess.run" */
    bool from_import; /* a "from" import takes names out of it */
};

void hc_standins_expect(const struct hc_findings *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct hc_finding *f = &found->items[i];
        if (!f->warning || strcmp(f->rule, "imports") != 0)
            continue;
        size_t at = expected_count++ % EXPECTED_MAX;
        expected[at].line = f->at.line;
        memcpy(expected[at].dotted, f->what, sizeof expected[at].dotted);
    }
}

bool hc_standin_expected(const char *dotted, int line)
{
    for (size_t i = 0; i < expected_count && i < EXPECTED_MAX; i++)
        if (line <= expected[i].line && expected[i].line - line < LINES_MAX &&
            strcmp(expected[i].dotted, dotted) == 0)
            return true;
    return false;
}

static PyTypeObject standin_type;

/* Makes a stand-in. Steals `name`. */
static PyObject *make(PyObject *name, bool from_import)
{
    struct standin *s =
        name && PyType_Ready(&standin_type) == 0 ? PyObject_New(struct standin, &standin_type) : NULL;
    if (!s) {
        Py_XDECREF(name);
        return NULL;
    }
    s->name = name;
    s->from_import = from_import;
    return (PyObject *)s;
}

PyObject *hc_standin_make(const char *dotted, bool from_import)
{
    return make(PyUnicode_FromString(dotted), from_import);
}

/* Always raises the policy's exception: where the guard only learns, there are no stand-ins. */
static PyObject *refuse_use(PyObject *self)
{
    const char *name = PyUnicode_AsUTF8(((struct standin *)self)->name);
    if (name && hc_import_refuse(name) == 0)
        PyErr_SetString(PyExc_ImportError, "a module that this policy refuses");
    return NULL;
}

static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    struct standin *s = (struct standin *)self;
    return s->from_import ? make(PyUnicode_FromFormat("%U.%U", s->name, name), false) : refuse_use(self);
}

static int set_attribute(PyObject *self, PyObject *name, PyObject *value)
{
    (void)name;
    (void)value;
    (void)refuse_use(self);
    return -1;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *named)
{
    (void)args;
    (void)named;
    return refuse_use(self);
}

static PyObject *get_item(PyObject *self, PyObject *key)
{
    (void)key;
    return refuse_use(self);
}

static PyObject *represent(PyObject *self)
{
    return PyUnicode_FromFormat("<%U, which this policy refuses>", ((struct standin *)self)->name);
}

static void dealloc(PyObject *self)
{
    Py_CLEAR(((struct standin *)self)->name);
    PyObject_Free(self);
}

static PyMappingMethods mapping = {.mp_subscript = get_item};

static PyTypeObject standin_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "refused",
    .tp_basicsize = sizeof(struct standin),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = dealloc,
    .tp_call = call,
    .tp_getattro = get_attribute,
    .tp_setattro = set_attribute,
    .tp_iter = refuse_use,
    .tp_repr = represent,
    .tp_as_mapping = &mapping,
};
