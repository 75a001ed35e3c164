#include "shim/harness/ending.h"

#include "shim/harness/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define MOST_FILES 4096 /* most descriptors that are looked at; beyond it, one is taken to be open */

/* Set by any thread of this process. */
static volatile bool wrote_files;  /* one has opened a file for writing */
static volatile bool wrote_others; /* one has made such a file of a descriptor that is a pipe's, say */
static rlim_t most_files;          /* the limit of descriptors before the program could lower it */

/* Note that a file for writing was opened. `of`: its path, or the descriptor of which it was made. */
static void note_writer(PyObject *of)
{
    struct stat st;
    wrote_files = true;
    if (PyLong_CheckExact(of) && (fstat((int)PyLong_AsLong(of), &st) < 0 || !S_ISREG(st.st_mode)))
        wrote_others = true;
}

static int on_audit(const char *event, PyObject *args, void *unused)
{
    (void)unused;
    if (strcmp(event, "open") != 0 || PyTuple_GET_SIZE(args) < 3)
        return 0;
    PyObject *flags = PyTuple_GET_ITEM(args, 2); /* borrowed */
    if (PyLong_CheckExact(flags) && (PyLong_AsLong(flags) & (O_WRONLY | O_RDWR)))
        note_writer(PyTuple_GET_ITEM(args, 0));
    if (PyLong_CheckExact(flags) && (PyLong_AsLong(flags) & O_CREAT))
        hc_files_on_open(PyTuple_GET_ITEM(args, 0));
    PyErr_Clear();
    return 0;
}

int hc_ending_prepare(void)
{
    struct rlimit most;
    most_files = getrlimit(RLIMIT_NOFILE, &most) < 0 ? RLIM_INFINITY : most.rlim_cur;
    return PySys_AddAuditHook(on_audit, NULL);
}

/* Call module.function() if that module was ever imported. An exception is shown, as the interpreter does. */
static void call_if_imported(const char *module, const char *function)
{
    PyObject *modules = PyImport_GetModuleDict();            /* borrowed */
    PyObject *found = PyDict_GetItemString(modules, module); /* borrowed */
    if (!found)
        return;
    hc_autopy *held = Py_NewRef(found);
    hc_autopy *done = PyObject_CallMethod(held, function, NULL);
    if (!done)
        PyErr_WriteUnraisable(held);
}

/* Names with one leading underscore go first, as when the interpreter clears a module. Setting to None keeps
 * the dict's shape while __del__ methods look into it. */
static void clear_names(PyObject *space, PyObject *keys, bool private_ones)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i); /* borrowed */
        if (!PyUnicode_CheckExact(key) || PyUnicode_GET_LENGTH(key) == 0)
            continue;
        bool underscore = PyUnicode_READ_CHAR(key, 0) == '_';
        bool dunder = underscore && PyUnicode_GET_LENGTH(key) > 1 && PyUnicode_READ_CHAR(key, 1) == '_';
        if (private_ones ? !underscore || dunder : PyUnicode_CompareWithASCIIString(key, "__builtins__") == 0)
            continue;
        if (PyDict_SetItem(space, key, Py_None) < 0)
            PyErr_Clear();
    }
}

/* Has the program a class with __del__, which may write a file at the end of an object that is in a cycle? */
static bool has_finalizers(PyObject *space)
{
    PyObject *name, *value; /* borrowed */
    Py_ssize_t at = 0;
    while (PyDict_Next(space, &at, &name, &value))
        if (PyType_Check(value) && PyType_HasFeature((PyTypeObject *)value, Py_TPFLAGS_HEAPTYPE) &&
            PyType_GetSlot((PyTypeObject *)value, Py_tp_finalize))
            return true;
    return false;
}

static bool other_threads(void)
{
    PyThreadState *first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    return PyThreadState_Next(first) != NULL;
}

static bool is_writer(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || ((flags & O_ACCMODE) != O_RDONLY && (fstat(fd, &st) < 0 || S_ISREG(st.st_mode)));
}

/* Is a file still open for writing? poll tells which descriptors are open, and fails if the program has
 * lowered the limit, above which some may be. A program may have closed the first three, and used their
 * numbers. */
static bool has_open_writer(void)
{
    struct pollfd fds[MOST_FILES];
    if (most_files > MOST_FILES)
        return true;
    for (rlim_t i = 0; i < most_files; i++)
        fds[i] = (struct pollfd){.fd = (int)i};
    if (poll(fds, most_files, 0) < 0)
        return true;
    for (rlim_t i = 0; i < most_files; i++)
        if (!(fds[i].revents & POLLNVAL) && is_writer(fds[i].fd))
            return true;
    return false;
}

static void flush_stream(const char *name)
{
    PyObject *file = PySys_GetObject(name); /* borrowed */
    hc_autopy *held = Py_XNewRef(file);
    hc_autopy *done = held && held != Py_None ? PyObject_CallMethod(held, "flush", NULL) : NULL;
    (void)done;
    PyErr_Clear();
}

void hc_flush_streams(void)
{
    flush_stream("stdout");
    flush_stream("stderr");
    (void)fflush(NULL); /* writes out what extension modules printed */
}

void hc_ending_run(PyObject *space)
{
    call_if_imported("threading", "_shutdown");
    call_if_imported("atexit", "_run_exitfuncs");
    const bool finalizes = has_finalizers(space);
    /* Daemon threads still use the globals: without these they would print exceptions. */
    if (!other_threads()) {
        hc_autopy *keys = PyDict_Keys(space);
        if (keys) {
            clear_names(space, keys, true);
            clear_names(space, keys, false);
        }
        PyErr_Clear();
    }
    /* An open file may be part of a cycle. Collecting takes milliseconds where there is a figure. */
    if (wrote_files && (finalizes || wrote_others || has_open_writer()))
        (void)PyGC_Collect();
    hc_flush_streams();
}
