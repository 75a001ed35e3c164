#include "shim/harness/files.h"

#include "shim/harness/frozen.h"
#include "shim/harness/paths.h"
#include "shim/harness/wire.h"

#include "base/buf.h"
#include "base/fd.h"
#include "json/json.h"
#include "manifest/figure.h"
#include "wire/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT "/output" /* the cell's directory for results */

static const char *figures; /* name of the directory for figures below /output, borrowed */
static pid_t announcer;     /* the process that announces figures; 0: no process does */

/* ---- places ---- */

static const char *const writable[] = {OUTPUT, "/tmp", NULL};
static const char *const readable[] = {OUTPUT, "/tmp", "/input", "/usr/share/hotcell", NULL};

/* Resolves `path` with all its links into `out`, and returns `out`. NULL with an exception set if the result
 * is not below one of `places`. */
static const char *resolve_in(PyObject *path, const char *const *places, char out[static PATH_MAX])
{
    const char *name = PyUnicode_AsUTF8(path);
    if (!name)
        return NULL;
    if (hc_path_resolve(name, true, out) < 0)
        hc_path_guess(name, out);
    for (; *places; places++)
        if (hc_path_is_in(out, *places))
            return out;
    errno = EACCES;
    return (void)PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path), NULL;
}

static PyObject *none_or_error(int rc, PyObject *path)
{
    return rc < 0 ? PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path) : Py_NewRef(Py_None);
}

/* ---- functions ---- */

/* create_file(path, new=False) -> descriptor. With `new` an existing file is an error. */
static PyObject *create_file(PyObject *self, PyObject *args)
{
    PyObject *path; /* borrowed */
    int fresh = 0;
    char at[PATH_MAX];
    (void)self;
    if (!PyArg_ParseTuple(args, "U|p", &path, &fresh) || !resolve_in(path, writable, at))
        return NULL;
    int fd = open(at, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_EXCL : O_TRUNC), 0666);
    return fd < 0 ? none_or_error(fd, path) : PyLong_FromLong(fd);
}

/* Writes under a temporary name, and renames the file when it is whole. -1 with an exception set. */
static int write_and_rename(const char *at, const void *data, size_t len, PyObject *path)
{
    char temp[PATH_MAX];
    struct hc_error err;
    if (snprintf(temp, sizeof temp, "%s.part", at) >= (int)sizeof temp) {
        errno = ENAMETOOLONG;
        return (void)none_or_error(-1, path), -1;
    }
    hc_autofd fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    int rc = fd < 0 ? -1 : hc_write_all(fd, data, len, &err);
    if (rc == 0)
        rc = rename(temp, at);
    else if (fd >= 0)
        errno = err.sys;
    int why = errno;
    if (rc < 0 && fd >= 0)
        (void)unlink(temp);
    errno = why;
    return rc < 0 ? ((void)none_or_error(rc, path), -1) : 0;
}

/* put_file(path, bytes): replaces the file atomically. */
static PyObject *put_file(PyObject *self, PyObject *args)
{
    PyObject *path, *data; /* borrowed */
    char at[PATH_MAX];
    (void)self;
    if (!PyArg_ParseTuple(args, "US", &path, &data) || !resolve_in(path, writable, at))
        return NULL;
    int rc = write_and_rename(at, PyBytes_AS_STRING(data), (size_t)PyBytes_GET_SIZE(data), path);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static int make_directories(char *path, mode_t mode)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int rc = mkdir(path, 0777);
        *slash = '/';
        if (rc < 0 && errno != EEXIST)
            return -1;
    }
    return mkdir(path, mode) < 0 && errno != EEXIST ? -1 : 0;
}

/* make_folder(path, mode=0o777): makes a directory and its parents; one that exists is left as it is. */
static PyObject *make_folder(PyObject *self, PyObject *args)
{
    PyObject *path; /* borrowed */
    int mode = 0777;
    char at[PATH_MAX];
    (void)self;
    if (!PyArg_ParseTuple(args, "U|i", &path, &mode) || !resolve_in(path, writable, at))
        return NULL;
    return none_or_error(make_directories(at, (mode_t)mode), path);
}

static PyObject *remove_file(PyObject *self, PyObject *path)
{
    char at[PATH_MAX];
    (void)self;
    return resolve_in(path, writable, at) ? none_or_error(unlink(at), path) : NULL;
}

/* remove_folder(path): removes an empty directory. */
static PyObject *remove_folder(PyObject *self, PyObject *path)
{
    char at[PATH_MAX];
    (void)self;
    return resolve_in(path, writable, at) ? none_or_error(rmdir(at), path) : NULL;
}

/* read_file(path) -> bytes */
static PyObject *read_file(PyObject *self, PyObject *path)
{
    char at[PATH_MAX];
    struct hc_error err;
    hc_autobuf data = {0};
    (void)self;
    if (!resolve_in(path, readable, at))
        return NULL;
    hc_autofd fd = open(at, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return none_or_error(fd, path);
    if (hc_read_all(fd, &data, PY_SSIZE_T_MAX, &err) < 0)
        return PyErr_Format(PyExc_OSError, "%s", err.text);
    return PyBytes_FromStringAndSize(data.data, (Py_ssize_t)data.len);
}

/* part(name, function) -> a function of another frozen part. */
static PyObject *part(PyObject *self, PyObject *args)
{
    const char *name, *function;
    (void)self;
    return PyArg_ParseTuple(args, "ss", &name, &function) ? hc_frozen_function(name, function) : NULL;
}

/* ---- figures ---- */

/* The part "figures/NAME" of a resolved path; NULL if the path is not in the directory for figures. */
static const char *figure_name(const char *resolved)
{
    size_t len = strlen(figures);
    const char *rest = strncmp(resolved, OUTPUT "/", 8) == 0 ? resolved + 8 : NULL;
    bool there = rest && strncmp(rest, figures, len) == 0 && rest[len] == '/';
    return there && hc_figure_is_path(rest) ? rest : NULL;
}

static void send_figure(const char *figure, const char *sha256)
{
    hc_autobuf text = {.max = HC_FRAME_CHUNK};
    struct hc_error err;
    hc_figure_tell(figure, sha256, &text);
    if (!text.failed && hc_wire_send(HC_FD_CONTROL, HC_FRAME_FIGURE, text.data, text.len, &err) < 0)
        announcer = 0; /* the launcher is gone */
}

/* figure_path(path) -> "figures/NAME", or None for a path that is no figure's. */
static PyObject *figure_path(PyObject *self, PyObject *path)
{
    char at[PATH_MAX];
    (void)self;
    const char *name = PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
    const char *figure = name && hc_path_resolve(name, true, at) == 0 ? figure_name(at) : NULL;
    PyErr_Clear();
    return figure ? PyUnicode_DecodeFSDefault(figure) : Py_NewRef(Py_None);
}

/* tell_figure(path, sha256): announces a figure that is complete; `path` is of figure_path(). */
static PyObject *tell_figure(PyObject *self, PyObject *args)
{
    const char *figure, *sha256;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss", &figure, &sha256))
        return NULL;
    if (announcer == getpid())
        send_figure(figure, sha256);
    return Py_NewRef(Py_None);
}

void hc_files_announce(bool on)
{
    announcer = on ? getpid() : 0;
}

/* ---- the directory for figures ---- */

/* Is `name` a file in the directory for figures? A relative path is, if the working directory is still
 * /output. */
static bool is_figure_path(const char *name)
{
    char at[PATH_MAX];
    const char *rest = strncmp(name, OUTPUT "/", 8) == 0 ? name + 8 : name;
    if (strncmp(rest, "./", 2) == 0)
        rest += 2;
    size_t len = strlen(figures);
    if (strncmp(rest, figures, len) != 0 || rest[len] != '/' || !rest[len + 1] || strchr(rest + len + 1, '/'))
        return false;
    return name[0] == '/' || (getcwd(at, sizeof at) && strcmp(at, OUTPUT) == 0);
}

void hc_files_on_open(PyObject *path)
{
    const char *name = PyUnicode_Check(path) ? PyUnicode_AsUTF8(path)
                       : PyBytes_Check(path) ? PyBytes_AS_STRING(path)
                                             : NULL;
    PyErr_Clear();
    if (!name || !figures || !is_figure_path(name))
        return;
    char at[NAME_MAX + sizeof OUTPUT + 1];
    (void)snprintf(at, sizeof at, OUTPUT "/%s", figures);
    (void)mkdir(at, 0777); /* if it fails, the program's open() fails too, with the reason */
}

int hc_files_bind(const char *directory)
{
    static PyMethodDef functions[] = {
        {"create_file", create_file, METH_VARARGS, NULL},
        {"make_folder", make_folder, METH_VARARGS, NULL},
        {"remove_file", remove_file, METH_O, NULL},
        {"remove_folder", remove_folder, METH_O, NULL},
        {"read_file", read_file, METH_O, NULL},
        {"figure_path", figure_path, METH_O, NULL},
        {"tell_figure", tell_figure, METH_VARARGS, NULL},
        {"put_file", put_file, METH_VARARGS, NULL},
        {"part", part, METH_VARARGS, NULL},
        {0},
    };
    figures = directory;
    return hc_frozen_add(functions);
}
