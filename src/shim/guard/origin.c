#include "shim/cpython/cpython.h"

#include "shim/guard/origin.h"

#include "shim/guard/frames.h"
#include "shim/guard/reach.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_AS  "<made as " /* begins the file name of code that was renamed */
#define PYC_HEAD 16          /* bytes of a .pyc file before the code */

/* ---- the files of the tree that the import system reads ---- */

/* Contents and path of the last file that the import system read. No other code has a reference to these
 * objects. Owned; NULL: none. */
static PyObject *read_bytes, *read_path;
/* The code object in that file. Owned. */
static PyObject *read_code;

/* A file object with the methods that importlib's get_data() calls, and no others, so that the program cannot
 * change its contents. */
struct tree_file {
    PyObject_HEAD PyObject *path; /* owned */
    int fd;                       /* owned */
};

static PyObject *file_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *file_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    hc_close_fd(&((struct tree_file *)self)->fd);
    Py_RETURN_NONE;
}

static PyObject *raise_file_error(const struct tree_file *file, int why)
{
    errno = why;
    return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, file->path);
}

/* read(): the whole file. */
static PyObject *file_read(PyObject *self, PyObject *unused)
{
    struct tree_file *file = (struct tree_file *)self;
    struct stat st;
    (void)unused;
    if (fstat(file->fd, &st) < 0)
        return raise_file_error(file, errno);
    if (!S_ISREG(st.st_mode))
        return raise_file_error(file, EISDIR);
    hc_autopy *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)st.st_size);
    if (!bytes)
        return NULL;
    char *data = PyBytes_AS_STRING(bytes);
    for (off_t at = 0; at < st.st_size;) {
        ssize_t n = TEMP_FAILURE_RETRY(read(file->fd, data + at, (size_t)(st.st_size - at)));
        if (n <= 0)
            return raise_file_error(file, n < 0 ? errno : EIO);
        at += n;
    }
    Py_XSETREF(read_bytes, Py_NewRef(bytes));
    Py_XSETREF(read_path, Py_NewRef(file->path));
    return hc_py_take(&bytes);
}

static void file_dealloc(PyObject *self)
{
    struct tree_file *file = (struct tree_file *)self;
    hc_close_fd(&file->fd);
    Py_CLEAR(file->path);
    PyObject_Free(self);
}

static PyMethodDef file_methods[] = {
    {"__enter__", file_enter, METH_NOARGS, NULL},
    {"__exit__", file_exit, METH_VARARGS, NULL},
    {"read", file_read, METH_NOARGS, NULL},
    {0},
};

static PyTypeObject file_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tree_file",
    .tp_basicsize = sizeof(struct tree_file),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = file_dealloc,
    .tp_methods = file_methods,
};

static PyObject *open_of_tree(PyObject *path)
{
    const char *name = PyUnicode_AsUTF8(path);
    if (!name || PySys_Audit("open", "Osi", path, "rb", O_RDONLY | O_CLOEXEC) < 0 ||
        PyType_Ready(&file_type) < 0)
        return NULL;
    struct tree_file *file = PyObject_New(struct tree_file, &file_type);
    if (!file)
        return NULL;
    file->path = Py_NewRef(path);
    file->fd = open(name, O_RDONLY | O_CLOEXEC);
    hc_autopy *held = (PyObject *)file;
    return file->fd < 0 ? raise_file_error(file, errno) : hc_py_take(&held);
}

/* io.open_code(): opens a tree_file when the import system reads the tree, else an ordinary file. */
static PyObject *on_open_code(PyObject *path, void *unused)
{
    (void)unused;
    if (hc_party_of_file(path) == HC_PARTY_LIBRARY && hc_caller_is_module("importlib._bootstrap_external"))
        return open_of_tree(path);
    hc_autopy *io = PyImport_ImportModule("_io");
    hc_autopy *name = io ? PyUnicode_FromString("open") : NULL;
    hc_autopy *open_file = name ? hc_reach_get_unguarded(io, name) : NULL;
    return open_file ? PyObject_CallFunction(open_file, "Os", path, "rb") : NULL;
}

int hc_origin_prepare(void)
{
    return PyFile_SetOpenCodeHook(on_open_code, NULL);
}

/* Is `source` memoryview(data)[16:] of the last file, as importlib passes it? */
static bool is_read_pyc(PyObject *source)
{
    if (!read_bytes || !PyMemoryView_Check(source))
        return false;
    const Py_buffer *view = PyMemoryView_GET_BUFFER(source);
    Py_ssize_t size = PyBytes_GET_SIZE(read_bytes);
    const char *path = PyUnicode_AsUTF8(read_path);
    size_t len = path ? strlen(path) : 0;
    return view->obj == read_bytes && size > PYC_HEAD && view->len == size - PYC_HEAD &&
           view->buf == PyBytes_AS_STRING(read_bytes) + PYC_HEAD && len > 4 &&
           strcmp(path + len - 4, ".pyc") == 0;
}

/* ---- code under false names ---- */

bool hc_origin_refuted(PyObject *code)
{
    PyObject *name = PyCode_Check(code) ? ((PyCodeObject *)code)->co_filename : NULL; /* borrowed */
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    if (!text)
        PyErr_Clear();
    return text && strncmp(text, MADE_AS, strlen(MADE_AS)) == 0;
}

static bool is_privileged(PyObject *filename)
{
    enum hc_party party = hc_party_of_file(filename);
    return party == HC_PARTY_LIBRARY || party == HC_PARTY_HARNESS;
}

/* Renames one code object, which is new and has no other owner. */
static int rename_one(PyCodeObject *code)
{
    if (!is_privileged(code->co_filename))
        return 0;
    PyObject *name = PyUnicode_FromFormat(MADE_AS "%U>", code->co_filename);
    if (!name)
        return -1;
    Py_SETREF(code->co_filename, name);
    return 0;
}

static int rename_all(PyObject *object);

static int rename_items(PyObject *tuple)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (rename_all(PyTuple_GET_ITEM(tuple, i)) < 0)
            return -1;
    return 0;
}

/* Renames a code object and those within it, or those in a container that marshal has made. */
static int rename_all(PyObject *object)
{
    int rc = 0;
    if (Py_EnterRecursiveCall(" while looking at code"))
        return -1;
    if (PyCode_Check(object))
        rc = rename_one((PyCodeObject *)object) < 0 ? -1 : rename_items(((PyCodeObject *)object)->co_consts);
    else if (PyTuple_CheckExact(object))
        rc = rename_items(object);
    else if (PyList_CheckExact(object) || PyDict_CheckExact(object) || PyAnySet_CheckExact(object)) {
        hc_autopy *items = PyDict_CheckExact(object) ? PyDict_Items(object) : Py_NewRef(object);
        hc_autopy *tuple = items ? PySequence_Tuple(items) : NULL;
        rc = tuple ? rename_items(tuple) : -1;
    }
    Py_LeaveRecursiveCall();
    return rc;
}

/* Renames all code in `made`. Steals it; NULL stays NULL. */
static PyObject *renamed(PyObject *made)
{
    hc_autopy *held = made;
    return held && rename_all(held) == 0 ? hc_py_take(&held) : NULL;
}

bool hc_origin_is_read(PyObject *source, PyObject *filename)
{
    return read_bytes && source == read_bytes && filename && PyUnicode_Check(filename) &&
           PyUnicode_Compare(filename, read_path) == 0;
}

PyObject *hc_origin_compiled(PyObject *code, PyObject *source, PyObject *filename)
{
    return hc_origin_is_read(source, filename) ? code : renamed(code);
}

/* ---- functions that make code ---- */

static PyObject *plain_load, *plain_loads, *plain_fix, *plain_frozen, *plain_replace; /* owned */
static newfunc plain_new;

static PyObject *marshal_load(PyObject *self, PyObject *file)
{
    (void)self;
    return renamed(PyObject_CallOneArg(plain_load, file));
}

static PyObject *marshal_loads(PyObject *self, PyObject *source)
{
    (void)self;
    PyObject *made = PyObject_CallOneArg(plain_loads, source);
    if (!made || !is_read_pyc(source))
        return renamed(made);
    Py_XSETREF(read_code, Py_NewRef(made));
    Py_CLEAR(read_bytes);
    Py_CLEAR(read_path);
    return made;
}

/* _fix_co_filename(code, path): sets the file name of code that was compiled under another path. */
static PyObject *fix_filename(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count == 2 && args[0] != read_code && is_privileged(args[1]))
        Py_RETURN_NONE;
    return PyObject_Vectorcall(plain_fix, args, (size_t)count, NULL);
}

/* get_frozen_object(name, data=None): with data it does what marshal.loads() does. */
static PyObject *frozen_object(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    PyObject *made = PyObject_Vectorcall(plain_frozen, args, (size_t)count, NULL);
    return count < 2 || args[1] == Py_None ? made : renamed(made);
}

/* Renames the new object alone: the code objects within it existed before. */
static PyObject *renamed_alone(PyObject *made)
{
    hc_autopy *held = made;
    return held && (!PyCode_Check(held) || rename_one((PyCodeObject *)held) == 0) ? hc_py_take(&held) : NULL;
}

static PyObject *code_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    return renamed_alone(plain_new(type, args, named));
}

static PyObject *code_replace(PyObject *self, PyObject *args, PyObject *named)
{
    hc_autopy *bound = PyObject_CallMethod(plain_replace, "__get__", "O", self);
    return bound ? renamed_alone(PyObject_Call(bound, args, named)) : NULL;
}

/* Replaces the module's function that has the name of `method`; `*plain` keeps the original. */
static int replace_function(const char *module_name, PyMethodDef *method, PyObject **plain)
{
    hc_autopy *module = PyImport_ImportModule(module_name);
    *plain = module ? PyObject_GetAttrString(module, method->ml_name) : NULL;
    hc_autopy *name = PyUnicode_InternFromString(module_name);
    hc_autopy *function = *plain && name ? PyCFunction_NewEx(method, NULL, name) : NULL;
    return function ? PyObject_SetAttrString(module, method->ml_name, function) : -1;
}

/* Puts code_replace() in the place of the method of code objects that has the name of `method`. */
static int replace_method(PyMethodDef *method)
{
    hc_autopy *descriptor = PyDescr_NewMethod(&PyCode_Type, method);
    return descriptor ? PyDict_SetItemString(hc_type_dict(&PyCode_Type), method->ml_name, descriptor) : -1;
}

static int guard_type(void)
{
    static PyMethodDef replace = {
        "replace", (PyCFunction)(void (*)(void))code_replace, METH_VARARGS | METH_KEYWORDS,
        "Return a copy of the code object with new values for the specified fields."};
    /* copy.replace() calls this method; code objects have it since Python 3.13. */
    static PyMethodDef copy_replace = {"__replace__", (PyCFunction)(void (*)(void))code_replace,
                                       METH_VARARGS | METH_KEYWORDS, "The same as replace()."};
    PyObject *own = hc_type_dict(&PyCode_Type); /* borrowed */
    plain_new = PyCode_Type.tp_new;
    plain_replace = Py_XNewRef(PyDict_GetItemString(own, replace.ml_name));
    if (!plain_replace || replace_method(&replace) < 0 ||
        (PyDict_GetItemString(own, copy_replace.ml_name) && replace_method(&copy_replace) < 0))
        return -1;
    PyCode_Type.tp_new = code_new;
    PyType_Modified(&PyCode_Type);
    return 0;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

int hc_origin_guard(void)
{
    static PyMethodDef load = {"load", marshal_load, METH_O, "load(file, /)"};
    static PyMethodDef loads = {"loads", marshal_loads, METH_O, "loads(bytes, /)"};
    static PyMethodDef fix = {"_fix_co_filename", FAST(fix_filename), METH_FASTCALL, NULL};
    static PyMethodDef frozen = {"get_frozen_object", FAST(frozen_object), METH_FASTCALL, NULL};
    return replace_function("marshal", &load, &plain_load) < 0 ||
                   replace_function("marshal", &loads, &plain_loads) < 0 ||
                   replace_function("_imp", &fix, &plain_fix) < 0 ||
                   replace_function("_imp", &frozen, &plain_frozen) < 0 || guard_type() < 0
               ? -1
               : 0;
}
