#include "shim/guard/audit.h"

#include "shim/guard/attributes.h"
#include "shim/guard/denial.h"
#include "shim/guard/dynamic.h"
#include "shim/guard/events.h"
#include "shim/guard/frames.h"
#include "shim/guard/hints.h"
#include "shim/guard/imports.h"
#include "shim/guard/modules.h"
#include "shim/guard/picklable.h"
#include "shim/guard/reach.h"
#include "shim/guard/rules.h"
#include "shim/guard/zones.h"
#include "shim/harness/paths.h"

#include <fcntl.h>
#include <limits.h>

static bool watching; /* events are checked */

/* ---- refusals ---- */

/* One audit event. */
struct event {
    const char *name; /* name of the event */
    PyObject *args;   /* arguments of the event, a tuple; borrowed */
};

/* Prints the arguments of an event. Only str, bytes and int are shown, as another repr would run the
 * program's code. */
static void write_args(struct hc_buf *out, PyObject *args)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i); /* borrowed */
        bool plain = PyUnicode_CheckExact(arg) || PyLong_CheckExact(arg) || PyBytes_CheckExact(arg);
        hc_autopy *shown = plain ? PyObject_Repr(arg) : NULL;
        const char *utf8 = shown ? PyUnicode_AsUTF8(shown) : NULL;
        PyErr_Clear();
        (void)hc_buf_fmt(out, "%s%.100s", i ? ", " : "", utf8 ? utf8 : "...");
    }
}

static const char *with_chain(struct hc_buf *out, const char *message, const struct event *e)
{
    if (!hc_guard.audit.chain)
        return message;
    (void)hc_buf_fmt(out, "%s [%s(", message, e->name);
    write_args(out, e->args);
    (void)hc_buf_str(out, "): ");
    hc_callers_write(out);
    (void)hc_buf_str(out, "]");
    return out->failed ? message : out->data;
}

/* The class of the exception for a refused database: a subclass of sqlite3.OperationalError, which programs
 * expect, and of PermissionError. Borrowed; PermissionError itself if the class cannot be made. */
static PyObject *database_error(void)
{
    static PyObject *combined; /* owned; never freed */
    hc_autopy *name = combined ? NULL : PyUnicode_FromString("_sqlite3");
    hc_autopy *module = name ? PyImport_GetModule(name) : NULL;
    hc_autopy *operational_error = module ? PyObject_GetAttrString(module, "OperationalError") : NULL;
    if (operational_error)
        combined = PyObject_CallFunction((PyObject *)&PyType_Type, "s(OO){ss}", "OperationalError",
                                         operational_error, PyExc_PermissionError, "__module__", "sqlite3");
    PyErr_Clear();
    return combined ? combined : PyExc_PermissionError;
}

static PyObject *exception_of(const struct event *e)
{
    return hc_event_kind(e->name) == HC_EVENT_DATABASE ? database_error() : PyExc_PermissionError;
}

static int refuse_as(const struct event *e, const char *rule, const char *what, const char *hint,
                     const char *message)
{
    hc_autobuf text = {.max = 3072};
    char filled[2048];
    hc_guard_message(filled, sizeof filled, message, what);
    struct hc_refusal r = {
        .layer = HC_DENIAL_AUDIT,
        .rule = rule,
        .what = hc_guard.learn && strcmp(rule, "audit") == 0 ? e->name : what,
        .hint = hint,
        .message = with_chain(&text, filled, e),
    };
    return hc_refuse_or_learn(&r, exception_of(e));
}

static int refuse_event(const struct event *e)
{
    return refuse_as(e, "audit", e->name, hc_hint_for_event(e->name), "{name} is not allowed by this policy");
}

static int refuse_unless(bool allowed, const struct event *e)
{
    return allowed ? 0 : refuse_event(e);
}

/* ---- files ---- */

/* Modules that open files on behalf of their callers. */
static const char *const opening_modules[] = {
    "io",           "_pyio",   "codecs",    "pathlib",  "pathlib/",  "gzip",     "bz2",       "lzma",
    "_compression", "zipfile", "zipfile/",  "tarfile",  "shutil",    "os",       "tempfile",  "csv",
    "dbm/",         "shelve",  "fileinput", "tokenize", "linecache", "sqlite3/", "zipimport", NULL,
};

static PyObject *argument(const struct event *e, Py_ssize_t at)
{
    return at < PyTuple_GET_SIZE(e->args) ? PyTuple_GET_ITEM(e->args, at) : NULL;
}

static int int_argument(const struct event *e, Py_ssize_t at)
{
    PyObject *value = argument(e, at);
    int n = value && PyLong_Check(value) ? (int)PyLong_AsLong(value) : -1;
    PyErr_Clear();
    return n;
}

/* A path as bytes. New reference; NULL, without an exception, for a descriptor and for an object that is no
 * path, which the call itself will refuse. */
static PyObject *path_bytes(PyObject *path)
{
    if (!path || path == Py_None || PyLong_Check(path))
        return NULL;
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        PyErr_Clear();
    return bytes;
}

static int refuse_file(const struct event *e, const char *path, bool writing)
{
    const char *message = writing ? hc_guard.files.write_message : hc_guard.files.read_message;
    if (hc_guard.files.risky_message && hc_zones_have(&hc_guard.files.risky, path))
        message = hc_guard.files.risky_message;
    /* "hotcell policy learn" proposes different rules for reading and for writing. */
    const char *rule = !hc_guard.learn ? "files" : writing ? "files.write" : "files.read";
    return refuse_as(e, rule, path, hc_hint_for_file(path, writing), message);
}

/* The path of `name` in the directory `dir`, for a proposal of "hotcell policy learn"; `name` if it is
 * unknown. */
static const char *name_below(int dir, const char *name, char out[static PATH_MAX])
{
    char at[PATH_MAX];
    if (hc_path_of_dir(dir, at) < 0)
        return name;
    return snprintf(out, PATH_MAX, "%s/%s", at, name) < PATH_MAX ? out : name;
}

/* May the file be written? `dir` is the descriptor of the directory that a relative path starts from; -1 for
 * the working directory. `follow`: a link at the end of the path is followed. */
static int judge_write(const struct event *e, PyObject *path, int dir, bool follow)
{
    hc_autopy *bytes = path_bytes(path);
    if (!bytes || !hc_guard.files.write.given)
        return 0;
    const char *name = PyBytes_AS_STRING(bytes);
    char resolved[PATH_MAX];
    if (dir >= 0 && name[0] != '/') {
        bool plain = !strstr(name, ".."); /* only a link leads out of the directory: the kernel checks it */
        if (plain && hc_zones_have_dir(&hc_guard.files.write, dir))
            return 0;
        return refuse_file(e, hc_guard.learn ? name_below(dir, name, resolved) : name, true);
    }
    if (hc_path_by_text(name, resolved) == 0 && hc_zones_have(&hc_guard.files.write, resolved))
        return 0;
    if (hc_path_resolve(name, follow, resolved) < 0) {
        /* The file's directory does not exist, so that a library's call fails by itself. The program's call
         * is checked nevertheless, so that the program learns that it may not write there either. */
        if (!hc_caller_is_guest(opening_modules))
            return 0;
        hc_path_guess(name, resolved);
    }
    return hc_zones_have(&hc_guard.files.write, resolved) ? 0 : refuse_file(e, resolved, true);
}

/* Files that all code may read. The time zones are among them because C code, which has no frame, opens them.
 */
static const struct hc_names harmless = {
    .items = (const char *[]){"/dev/null", "/dev/random", "/dev/urandom", "/dev/zero", "/usr/share/zoneinfo"},
    .count = 5,
};

/* May a library read this file? It may also look for files that do not exist. */
static bool library_may_read(const char *path)
{
    return !hc_guard.files.library.given || hc_zones_have(&hc_guard.files.library, path) ||
           strncmp(path, "/usr/lib/python3", 16) == 0 || access(path, F_OK) < 0;
}

static int judge_read(const struct event *e, PyObject *path)
{
    if (!hc_guard.files.read.given && !hc_guard.files.library.given)
        return 0;
    bool guest = hc_caller_may_serve_guest(opening_modules);
    if (guest && !hc_guard.files.read.given)
        return 0;
    hc_autopy *bytes = path_bytes(path);
    char resolved[PATH_MAX];
    if (!bytes)
        return 0;
    if (hc_path_resolve(PyBytes_AS_STRING(bytes), true, resolved) < 0) {
        if (!guest)
            return 0;
        hc_path_guess(PyBytes_AS_STRING(bytes), resolved);
    }
    if (hc_zones_have(&hc_guard.files.read, resolved) || hc_zones_have(&hc_guard.files.write, resolved) ||
        hc_zones_have(&harmless, resolved))
        return 0;
    return !guest && library_may_read(resolved) ? 0 : refuse_file(e, resolved, false);
}

/* chdir(path or descriptor) */
static int judge_chdir(const struct event *e)
{
    int dir = int_argument(e, 0);
    if (hc_guard.audit.chdir || !hc_guard.files.write.given)
        return 0;
    if (dir < 0)
        return judge_write(e, argument(e, 0), -1, true);
    return hc_zones_have_dir(&hc_guard.files.write, dir) ? 0 : refuse_file(e, "that directory", true);
}

/* open(path, mode, flags): os.open() passes no mode, and C code that calls fopen() passes no flags. */
static int judge_open(const struct event *e)
{
    PyObject *mode = argument(e, 1);
    const char *text = mode && PyUnicode_Check(mode) ? PyUnicode_AsUTF8(mode) : NULL;
    PyErr_Clear();
    int flags = int_argument(e, 2);
    bool writes = text && text[strcspn(text, "wax+")];
    if (flags > 0 && (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)))
        writes = true;
    return writes ? judge_write(e, argument(e, 0), -1, true) : judge_read(e, argument(e, 0));
}

/* SQLite opens a file for writing if it may write to it; a file that is read-only for the cell is only read.
 */
static int judge_database(const struct event *e)
{
    hc_autopy *bytes = path_bytes(argument(e, 0));
    const char *name = bytes ? PyBytes_AS_STRING(bytes) : "";
    if (!*name || strcmp(name, ":memory:") == 0)
        return 0;
    if (strncmp(name, "file:", 5) == 0) {
        size_t len = strcspn(name + 5, "?#");
        hc_autopy *path = PyBytes_FromStringAndSize(name + 5, (Py_ssize_t)len);
        if (!path || len == 0 || strncmp(name + 5, ":memory:", 8) == 0)
            return path ? 0 : -1;
        const char *plain = PyBytes_AS_STRING(path);
        return access(plain, W_OK) < 0 && access(plain, R_OK) == 0 ? judge_read(e, path)
                                                                   : judge_write(e, path, -1, true);
    }
    return access(name, W_OK) < 0 && access(name, R_OK) == 0 ? judge_read(e, bytes)
                                                             : judge_write(e, bytes, -1, true);
}

static int judge_both(const struct event *e)
{
    return judge_write(e, argument(e, 0), int_argument(e, 2), false) < 0
               ? -1
               : judge_write(e, argument(e, 1), int_argument(e, 3), false);
}

/* symlink(target, link, dir_fd) */
static int judge_link(const struct event *e)
{
    if (judge_write(e, argument(e, 1), int_argument(e, 2), false) < 0)
        return -1;
    hc_autopy *target = path_bytes(argument(e, 0));
    hc_autopy *link = path_bytes(argument(e, 1));
    if (!target || !link || PyBytes_AS_STRING(target)[0] == '/')
        return judge_write(e, target, -1, true);
    const char *slash = strrchr(PyBytes_AS_STRING(link), '/');
    Py_ssize_t len = slash ? slash - PyBytes_AS_STRING(link) + 1 : 0;
    PyObject *seen = PyBytes_FromStringAndSize(PyBytes_AS_STRING(link), len);
    PyBytes_Concat(&seen, target);
    hc_autopy *held = seen;
    return held ? judge_write(e, held, -1, true) : -1;
}

/* ---- other events ---- */

/* An event that the policy's field `field` allows or forbids; where the guard only learns, the need for the
 * field is noted. */
static int judge_field(const struct event *e, const char *field, bool given)
{
    return hc_guard.learn ? refuse_as(e, field, e->name, NULL, "") : refuse_unless(given, e);
}

/* Unix sockets are always allowed: event loops wake themselves by socket pairs, which lead nowhere. */
static int judge_socket(const struct event *e)
{
    if (hc_guard.learn && int_argument(e, 1) != 1)
        return judge_field(e, "network", true);
    return refuse_unless(hc_guard.network || int_argument(e, 1) == 1 /* AF_UNIX */, e);
}

static const char *text_argument(const struct event *e, Py_ssize_t at)
{
    PyObject *value = argument(e, at); /* borrowed */
    const char *text = NULL;
    if (value && PyUnicode_Check(value))
        text = PyUnicode_AsUTF8(value);
    else if (value && PyBytes_Check(value))
        text = PyBytes_AS_STRING(value);
    PyErr_Clear();
    return text;
}

/* import(module, file or None, ...): with a file, an extension is about to be loaded. */
static int judge_import(const struct event *e)
{
    const char *name = text_argument(e, 0), *file = text_argument(e, 1);
    if (file && strncmp(file, "/usr/lib/", 9) != 0)
        return refuse_event(e);
    if (!name || file || hc_import_judged() || !hc_caller_is_guest(NULL))
        return 0;
    return hc_import_judge(name);
}

/* compile(source, filename): checks the source of a module that the program wrote. Text that the program
 * itself passes to compile() was checked before. */
static int judge_compile(const struct event *e)
{
    PyObject *source = argument(e, 0), *file = argument(e, 1); /* borrowed */
    enum hc_party party = file ? hc_party_of_file(file) : HC_PARTY_NONE;
    if (party == HC_PARTY_NONE)
        return 0;
    bool guest = hc_caller_is_guest(NULL);
    if (party == HC_PARTY_LIBRARY || party == HC_PARTY_HARNESS)
        return refuse_unless(!guest, e);
    /* Without any frame the program itself is compiled, which the check sees as a whole. */
    bool of_module = source && (PyUnicode_Check(source) ? hc_asked_through("importlib._bootstrap")
                                                        : PyObject_CheckBuffer(source));
    return !guest && PyEval_GetFrame() && of_module ? hc_dynamic_judge(source, Py_file_input) : 0;
}

static int judge_attribute(const struct event *e)
{
    PyObject *name = argument(e, 1); /* borrowed */
    const char *text = text_argument(e, 1);
    if (!text || !hc_guard_attribute_denied(text) || !hc_caller_is_guest(NULL))
        return 0;
    return hc_attribute_judge(name);
}

static int judge_pickle(const struct event *e)
{
    const char *module = text_argument(e, 0), *name = text_argument(e, 1);
    if (!module || !name || hc_picklable(module, name))
        return 0;
    char what[256];
    (void)snprintf(what, sizeof what, "%.120s.%.120s", module, name);
    return refuse_as(e, "audit", what, hc_hint_for_event(e->name),
                     "Unpickling {name} is not allowed by this policy");
}

/* putenv(name, value), unsetenv(name) */
static int judge_env(const struct event *e)
{
    const char *name = text_argument(e, 0);
    if (!name || !hc_names_has_match(&hc_guard.audit.env, name))
        return 0;
    return refuse_as(e, "audit", name, hc_hint_for_event(e->name),
                     "Changing the environment variable {name} is not allowed by this policy");
}

/* hotcell.call(caller, callee) */
static int judge_call(const struct event *e)
{
    const char *callee = text_argument(e, 1);
    return refuse_as(e, "audit", callee ? callee : e->name, hc_hint_for_event(e->name),
                     "Calling the native function {name} is not allowed by this policy");
}

static int judge_thread(const struct event *e)
{
    return refuse_unless(hc_threads_allowed(), e);
}

/* threading.settrace_all_threads() traces the caller's own thread as well. At the start of a new thread,
 * which only threading's frames are in, its function for that thread is set as before. */
static int judge_trace(const struct event *e)
{
    static const char *const threads[] = {"threading", NULL};
    bool guest =
        hc_caller_may_serve_guest(NULL) || (hc_guest_line() > 0 && hc_caller_may_serve_guest(threads));
    return refuse_unless(!guest, e);
}

static const char *const foreign[] = {"ctypes/", NULL};

static int judge_event(enum hc_event_kind kind, const struct event *e)
{
    Py_ssize_t last = PyTuple_GET_SIZE(e->args) - 1;
    switch (kind) {
    case HC_EVENT_FREE:
        return 0;
    case HC_EVENT_REFUSED:
        return refuse_event(e);
    case HC_EVENT_GUEST:
        return refuse_unless(!hc_caller_may_serve_guest(NULL), e);
    case HC_EVENT_TRACE:
        return judge_trace(e);
    case HC_EVENT_FOREIGN:
        return refuse_unless(!hc_caller_may_serve_guest(foreign), e);
    case HC_EVENT_NETWORK:
        return judge_field(e, "network", hc_guard.network);
    case HC_EVENT_PROCESS:
        return judge_field(e, "processes", hc_guard.processes);
    case HC_EVENT_WRITES:
        return judge_write(e, argument(e, 0), -1, true);
    case HC_EVENT_WRITES_AT:
        return judge_write(e, argument(e, 0), int_argument(e, last), true);
    case HC_EVENT_NAMES:
        return judge_write(e, argument(e, 0), int_argument(e, last), false);
    case HC_EVENT_TO:
        return judge_write(e, argument(e, 1), -1, true);
    case HC_EVENT_BOTH:
        return judge_both(e);
    case HC_EVENT_LINK:
        return judge_link(e);
    case HC_EVENT_OPEN:
        return judge_open(e);
    case HC_EVENT_CHDIR:
        return judge_chdir(e);
    case HC_EVENT_DATABASE:
        return judge_database(e);
    case HC_EVENT_SOCKET:
        return judge_socket(e);
    case HC_EVENT_IMPORT:
        return judge_import(e);
    case HC_EVENT_COMPILE:
        return judge_compile(e);
    case HC_EVENT_CODE:
        return refuse_unless(!hc_caller_is_guest(NULL), e);
    case HC_EVENT_LOAD_CODE: /* jinja2 does it for a program that has a cache of templates */
        return refuse_unless(!hc_caller_is_guest(NULL) && !hc_caller_is_one_of(hc_servers), e);
    case HC_EVENT_ATTRIBUTE:
        return judge_attribute(e);
    case HC_EVENT_PICKLE:
        return judge_pickle(e);
    case HC_EVENT_ENV:
        return judge_env(e);
    case HC_EVENT_CALL:
        return judge_call(e);
    case HC_EVENT_THREAD:
        return judge_thread(e);
    }
    return 0;
}

static int on_event(const char *name, PyObject *args, void *unused)
{
    (void)unused;
    if (!watching || !PyTuple_Check(args))
        return 0;
    const struct event e = {name, args};
    if (hc_guard.audit.deny.count && hc_names_has_match(&hc_guard.audit.deny, name))
        return refuse_event(&e);
    enum hc_event_kind kind = hc_event_kind(name);
    if (kind == HC_EVENT_LINK)
        hc_path_expect_links();
    if (kind == HC_EVENT_FREE ||
        (hc_guard.audit.allow.count && hc_names_has_match(&hc_guard.audit.allow, name)))
        return 0;
    return judge_event(kind, &e);
}

int hc_audit_prepare(void)
{
    hc_events_prepare();
    return PySys_AddAuditHook(on_event, NULL);
}

void hc_audit_watch(void)
{
    if (hc_guard.links || hc_guard.processes) /* another process may make links without an event here */
        hc_path_expect_links();
    watching = true;
}
