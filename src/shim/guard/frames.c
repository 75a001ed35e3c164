/* This file walks the interpreter's own frame structs: the public interface makes a Python object of each
 * frame, which would cost more than all the rest of the guard. */
#include "shim/cpython/cpython.h"

#include "policy/policy.h"
#include "shim/guard/frames.h"
#include "shim/guard/rules.h"

#define TREE       "/usr/lib/" /* files of libraries are below it */
#define FROZEN     "<frozen "  /* begins the file name of a module that is in the interpreter */
#define HARNESS    "<hotcell>" /* file name of the harness's Python */
#define MAX_CALLER 10          /* most frames that are shown */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The UTF-8 of a str, borrowed; NULL if it has none, as with lone surrogates. No library's file has such a
 * name. */
static const char *text_of(PyObject *str)
{
    if (PyUnicode_IS_COMPACT_ASCII(str))
        return PyUnicode_DATA(str);
    const char *utf8 = PyUnicode_AsUTF8(str);
    if (!utf8)
        PyErr_Clear();
    return utf8;
}

/* Does a file name that begins in the tree lead out of it? */
static bool leads_out(const char *name)
{
    return strstr(name, "/../") != NULL;
}

static bool is_program(const char *name)
{
    return strcmp(name, hc_guard.filename) == 0 || (hc_guard.session && begins(name, "<cell "));
}

enum hc_party hc_party_of_file(PyObject *filename)
{
    const char *name = filename && PyUnicode_Check(filename) ? text_of(filename) : NULL;
    if (!name)
        return HC_PARTY_NONE;
    if ((begins(name, TREE) && !leads_out(name)) || begins(name, FROZEN))
        return HC_PARTY_LIBRARY;
    if (strcmp(name, HARNESS) == 0)
        return HC_PARTY_HARNESS;
    return is_program(name) || name[0] == '/' ? HC_PARTY_GUEST : HC_PARTY_NONE;
}

/* The innermost frame from `f` on that has begun to run. */
static const hc_frame *skip_incomplete(const hc_frame *f)
{
    while (f && _PyFrame_IsIncomplete((hc_frame *)(uintptr_t)f))
        f = f->previous;
    return f;
}

static const hc_frame *innermost(void)
{
    return skip_incomplete(hc_frame_top(PyThreadState_Get()));
}

static const hc_frame *caller_of(const hc_frame *f)
{
    return skip_incomplete(f->previous);
}

/* The path of a library's file below its directory of modules: "gzip.py", "jinja2/filters.py". NULL: the file
 * is no library's. */
static const char *path_of_module(const char *file)
{
    static const char *const sites[] = {"dist-packages/", "site-packages/"};
    bool of_layer = begins(file, HC_LAYERS_PLACE "/");
    const char *rest = of_layer                       ? file + strlen(HC_LAYERS_PLACE "/")
                       : begins(file, TREE "python3") ? file + strlen(TREE)
                                                      : NULL;
    rest = rest ? strchr(rest, '/') : NULL;
    for (size_t i = 0; rest && i < sizeof sites / sizeof *sites; i++)
        if (begins(rest + 1, sites[i]))
            return rest + 1 + strlen(sites[i]);
    return rest ? rest + 1 : NULL;
}

/* "/usr/lib/python3.11/gzip.py" and "<frozen gzip>" are "gzip"; all below ".../ctypes/" is "ctypes/". */
static bool is_module(const hc_frame *f, const char *module)
{
    const char *file = text_of(hc_frame_code(f)->co_filename);
    size_t len = strlen(module);
    if (!file)
        return false;
    if (begins(file, FROZEN))
        return strncmp(file + strlen(FROZEN), module, len) == 0 && file[strlen(FROZEN) + len] == '>';
    const char *path = path_of_module(file);
    return path && begins(path, module) && (module[len - 1] == '/' || strcmp(path + len, ".py") == 0);
}

static bool is_one_of(const hc_frame *f, const char *const *modules)
{
    for (; modules && *modules; modules++)
        if (is_module(f, *modules))
            return true;
    return false;
}

/* Is the frame a module's top level? While it is loaded, a module acts for itself and not for its importer.
 */
static bool is_loading(const hc_frame *f)
{
    return PyUnicode_CompareWithASCIIString(hc_frame_code(f)->co_name, "<module>") == 0;
}

bool hc_caller_is_module(const char *module)
{
    const hc_frame *f = innermost();
    return f && is_module(f, module);
}

bool hc_called_by_guest(void)
{
    const hc_frame *f = innermost();
    f = f ? caller_of(f) : NULL;
    enum hc_party party = f ? hc_party_of_file(hc_frame_code(f)->co_filename) : HC_PARTY_HARNESS;
    return party == HC_PARTY_GUEST || party == HC_PARTY_NONE;
}

bool hc_caller_is_one_of(const char *const *modules)
{
    const hc_frame *f = innermost();
    return f && is_one_of(f, modules);
}

bool hc_caller_is_library(void)
{
    const hc_frame *f = innermost();
    return f && hc_party_of_file(hc_frame_code(f)->co_filename) == HC_PARTY_LIBRARY;
}

bool hc_library_is_loaded(void)
{
    for (const hc_frame *f = innermost(); f; f = caller_of(f)) {
        if (hc_party_of_file(hc_frame_code(f)->co_filename) != HC_PARTY_LIBRARY)
            return false;
        if (is_loading(f))
            return true;
    }
    return false;
}

static bool has_constant(PyObject *constants, PyObject *text)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++) {
        PyObject *one = PyTuple_GET_ITEM(constants, i); /* borrowed */
        if (PyUnicode_CheckExact(one) ? PyUnicode_Compare(one, text) == 0
                                      : PyTuple_CheckExact(one) && has_constant(one, text))
            return true;
    }
    return false;
}

bool hc_caller_has_constant(PyObject *text)
{
    const hc_frame *f = innermost();
    return f && has_constant(hc_frame_code(f)->co_consts, text);
}

/* An instruction as it was compiled, without the changes that the interpreter makes at run time. */
struct instruction {
    int op, arg; /* -1: there is no frame */
};

static struct instruction current_instruction(void)
{
    const hc_frame *f = innermost();
    hc_autopy *code = f ? PyCode_GetCode(hc_frame_code(f)) : NULL;
    Py_ssize_t at = code ? hc_frame_at(f) * (Py_ssize_t)sizeof(_Py_CODEUNIT) : -1;
    if (at < 0)
        return (struct instruction){-1, -1};
    const unsigned char *all = (const unsigned char *)PyBytes_AS_STRING(code);
    struct instruction now = {all[at], all[at + 1]};
    for (int shift = 8; shift < 24 && at >= 2 && all[at - 2] == EXTENDED_ARG; shift += 8) {
        at -= 2;
        now.arg |= all[at + 1] << shift;
    }
    return now;
}

bool hc_caller_names_attribute(void)
{
    struct instruction now = current_instruction();
    return hc_op_attribute(now.op, now.arg) >= 0;
}

bool hc_caller_names(PyObject *attribute)
{
    struct instruction now = current_instruction();
    int name = hc_op_attribute(now.op, now.arg);
    if (name < 0)
        return false;
    PyObject *names = hc_frame_code(innermost())->co_names; /* borrowed */
    return name < PyTuple_GET_SIZE(names) && PyUnicode_Compare(PyTuple_GET_ITEM(names, name), attribute) == 0;
}

bool hc_caller_imports_all(void)
{
    struct instruction now = current_instruction();
    return hc_op_imports_all(now.op, now.arg);
}

/* Does the frame run `function` of the frozen module `module`? `function` may be the beginning of its
 * qualified name. */
static bool is_function(const hc_frame *f, const char *module, const char *function)
{
    const char *name = f && is_module(f, module) ? text_of(hc_frame_code(f)->co_qualname) : NULL;
    return name && begins(name, function);
}

/* Is it a text that an extension module runs while it is initialised? Modules of Cython, such as those of
 * pandas, register their types with the module "inspect" so. Only the loader of extensions counts: others run
 * code that a program may have written. */
static bool is_of_extension(const hc_frame *f)
{
    if (hc_party_of_file(hc_frame_code(f)->co_filename) != HC_PARTY_NONE || !is_loading(f))
        return false;
    f = caller_of(f);
    return is_function(f, "importlib._bootstrap", "_call_with_frames_removed") &&
           is_function(caller_of(f), "importlib._bootstrap_external", "ExtensionFileLoader.");
}

static bool is_for_guest(const char *const *through, bool harness_too)
{
    const hc_frame *f = innermost();
    if (!f || is_of_extension(f))
        return false;
    for (; f; f = caller_of(f)) {
        enum hc_party party = hc_party_of_file(hc_frame_code(f)->co_filename);
        if (party == HC_PARTY_HARNESS && !harness_too)
            return false;
        if (party != HC_PARTY_LIBRARY)
            return true;
        if (!is_one_of(f, through) || is_loading(f))
            return false;
    }
    return true;
}

bool hc_caller_is_guest(const char *const *through)
{
    return is_for_guest(through, false);
}

bool hc_caller_may_serve_guest(const char *const *through)
{
    return is_for_guest(through, true);
}

PyObject *hc_caller_first_local(const char *file_end, const char *function)
{
    const hc_frame *f = innermost();
    if (!f || PyUnicode_CompareWithASCIIString(hc_frame_code(f)->co_name, function) != 0 ||
        hc_frame_code(f)->co_argcount < 1 ||
        hc_party_of_file(hc_frame_code(f)->co_filename) != HC_PARTY_LIBRARY)
        return NULL;
    const char *file = text_of(hc_frame_code(f)->co_filename);
    size_t len = file ? strlen(file) : 0, end = strlen(file_end);
    return len >= end && strcmp(file + len - end, file_end) == 0 ? f->localsplus[0] : NULL;
}

bool hc_asked_through(const char *module)
{
    for (const hc_frame *f = innermost(); f; f = caller_of(f)) {
        if (hc_party_of_file(hc_frame_code(f)->co_filename) == HC_PARTY_GUEST)
            return false;
        if (is_module(f, module))
            return true;
    }
    return false;
}

static int line_of(const hc_frame *f)
{
    int line = PyCode_Addr2Line(hc_frame_code(f), hc_frame_at(f) * (int)sizeof(_Py_CODEUNIT));
    return line > 0 ? line : 0;
}

int hc_guest_line(void)
{
    for (const hc_frame *f = innermost(); f; f = caller_of(f))
        if (hc_party_of_file(hc_frame_code(f)->co_filename) == HC_PARTY_GUEST)
            return line_of(f);
    return 0;
}

void hc_callers_write(struct hc_buf *out)
{
    int shown = 0;
    for (const hc_frame *f = innermost(); f && shown < MAX_CALLER; f = caller_of(f), shown++) {
        const char *name = text_of(hc_frame_code(f)->co_name), *file = text_of(hc_frame_code(f)->co_filename);
        (void)hc_buf_fmt(out, "%s%.80s (%.120s:%d)", shown ? " < " : "", name ? name : "?", file ? file : "?",
                         line_of(f));
    }
}
