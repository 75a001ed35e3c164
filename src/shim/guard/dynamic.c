/* CPython's parser and tree, as in source.c. */
#define Py_BUILD_CORE
#include "shim/guard/dynamic.h"

#include <internal/pycore_ast.h>
#include <internal/pycore_parser.h>

#include "shim/guard/builtins.h"
#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/guard.h"
#include "shim/guard/origin.h"
#include "shim/guard/reach.h"

static PyObject *own_builtins;                            /* borrowed: the program's globals keep it */
static PyObject *plain_exec, *plain_eval, *plain_compile; /* owned: the real functions */

/* ---- checks ---- */

/* Raises the first refusal. Imports are left to the guarded __import__, whose exception programs expect. */
static int refuse_found(const struct hc_findings *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct hc_finding *f = &found->items[i];
        if (f->warning || strcmp(f->rule, "imports") == 0)
            continue;
        struct hc_refusal r = {.layer = HC_DENIAL_RUNTIME,
                               .rule = f->rule,
                               .what = hc_guard.learn ? f->what : f->message,
                               .hint = f->hint,
                               .message = "{name}"};
        if (hc_refuse_or_learn(&r, PyExc_PermissionError) < 0)
            return -1;
    }
    return 0;
}

/* Turns any tree into a module, which the check takes. NULL with an exception set: no memory. */
static mod_ty as_module(mod_ty tree, PyArena *arena)
{
    asdl_stmt_seq *body = NULL;
    if (tree->kind == Interactive_kind) {
        body = tree->v.Interactive.body;
    } else if (tree->kind == Expression_kind) {
        expr_ty e = tree->v.Expression.body;
        stmt_ty only = _PyAST_Expr(e, e->lineno, e->col_offset, e->end_lineno, e->end_col_offset, arena);
        body = only ? _Py_asdl_stmt_seq_new(1, arena) : NULL;
        if (!body)
            return NULL;
        asdl_seq_SET(body, 0, only);
    }
    return tree->kind == Module_kind ? tree : _PyAST_Module(body, NULL, arena);
}

/* Who has a source compiled. */
enum maker {
    BY_PROGRAM,
    BY_LIBRARY, /* a library, perhaps of a text that the program gave it */
};

/* Denied names that a library's texts have for its own purposes. NULL: none. */
static const char *const *own_names_of_caller(void)
{
    static const struct {
        const char *module, *names[5];
    } own[] = {
        {"dataclasses", {"__class__", "__qualname__", "__setattr__", "__delattr__"}},
        {"scipy/_lib/_bunch", {"__class__", "__dict__", "__name__"}},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (hc_caller_is_module(own[i].module))
            return own[i].names;
    return NULL;
}

static int judge_tree(mod_ty tree, PyArena *arena, const char *text, enum maker by)
{
    struct hc_findings found = {0};
    mod_ty module = as_module(tree, arena);
    if (by == BY_LIBRARY)
        hc_guard_spare(hc_library_is_loaded() ? HC_SPARE_ALL : HC_SPARE_SINGLE, own_names_of_caller());
    int rc = module ? hc_guard_check(module, text, &found) : -1;
    hc_guard_spare(HC_SPARE_NONE, NULL);
    if (rc == 0)
        rc = refuse_found(&found);
    hc_findings_finish(&found);
    return rc;
}

/* `text` is UTF-8; with `raw` it names its encoding itself, by the rules for Python sources. Text that cannot
 * be parsed here is not run either, as the interpreter might read it otherwise. */
static int judge_text(const char *text, bool raw, int start, enum maker by)
{
    PyArena *arena = _PyArena_New();
    hc_autopy *file = PyUnicode_FromString("<string>");
    PyCompilerFlags flags = {
        .cf_flags = (raw ? 0 : PyCF_IGNORE_COOKIE | PyCF_SOURCE_IS_UTF8) | PyCF_ALLOW_TOP_LEVEL_AWAIT,
        .cf_feature_version = PY_MINOR_VERSION,
    };
    mod_ty tree = arena && file ? _PyParser_ASTFromString(text, file, start, &flags, arena) : NULL;
    int rc = tree ? judge_tree(tree, arena, raw ? "" : text, by) : -1;
    if (arena)
        _PyArena_Free(arena);
    return rc;
}

/* Checks a tree of Python objects (module ast), and returns a copy of what was checked, as the program's
 * objects could have other attributes when they are read again. New reference; NULL with an exception set. */
static PyObject *judge_object(PyObject *object, int mode, enum maker by)
{
    PyArena *arena = _PyArena_New();
    mod_ty tree = arena ? PyAST_obj2mod(object, arena, mode) : NULL;
    PyObject *copy = tree && judge_tree(tree, arena, "", by) == 0 ? PyAST_mod2obj(tree) : NULL;
    if (arena)
        _PyArena_Free(arena);
    return copy;
}

/* Guarded writes exist in the program's own text only, so that no code can be made at run time. */
static PyObject *refuse_unguarded(void)
{
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "writes",
        .what = "code made at run time",
        .message = "Code that is made at run time is not allowed by this policy",
        .hint = "Write the code into the program itself, also that of a module which is not the tree's.",
    };
    hc_refuse(&r, PyExc_PermissionError);
    return NULL;
}

static PyObject *judge_any(PyObject *source, int start, enum maker by)
{
    if (PyCode_Check(source)) /* it was checked when it was compiled */
        return Py_NewRef(source);
    if (PyAST_Check(source) > 0)
        return judge_object(source, start == Py_eval_input ? 1 : start == Py_single_input ? 2 : 0, by);
    bool is_str = PyUnicode_Check(source);
    if (!is_str && !PyObject_CheckBuffer(source))
        return Py_NewRef(source); /* not a source: the call itself raises the exception */
    hc_autopy *fixed = is_str ? Py_NewRef(source) : PyBytes_FromObject(source);
    const char *text = !fixed ? NULL : is_str ? PyUnicode_AsUTF8(fixed) : PyBytes_AS_STRING(fixed);
    if (!text)
        return NULL;
    if (start == Py_eval_input)
        text += strspn(text, " \t");
    return judge_text(text, !is_str, start, by) < 0 ? NULL : hc_py_take(&fixed);
}

/* Checks `source`, and returns the object to use in its place. New reference; NULL with an exception set. */
static PyObject *judge_source(PyObject *source, int start, enum maker by)
{
    if (by == BY_PROGRAM && hc_guard.code.guarded_writes && !PyCode_Check(source))
        return refuse_unguarded();
    return judge_any(source, start, by);
}

int hc_dynamic_judge(PyObject *source, int start)
{
    hc_autopy *judged = judge_source(source, start, BY_PROGRAM);
    if (judged)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_SyntaxError))
        return -1;
    PyErr_Clear(); /* compiling it raises the exception again */
    return 0;
}

/* ---- the program's exec, eval, compile ---- */

/* Calls `function` with the checked object as its argument `at`. */
static PyObject *call_judged(PyObject *function, PyObject *judged, Py_ssize_t at, PyObject *const *args,
                             Py_ssize_t count, PyObject *names)
{
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject **changed = PyMem_New(PyObject *, (size_t)all);
    if (!changed)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < all; i++)
        changed[i] = i == at ? judged : args[i];
    PyObject *result = PyObject_Vectorcall(function, changed, (size_t)count, names);
    PyMem_Free(changed);
    return result;
}

/* Checks the source that is the first argument of exec() or eval(), and calls `plain` with it. */
static PyObject *run_judged(PyObject *plain, int start, enum maker by, PyObject *const *args,
                            Py_ssize_t count, PyObject *names)
{
    if (!count)
        return PyObject_Vectorcall(plain, args, (size_t)count, names);
    hc_autopy *judged = judge_source(args[0], start, by);
    return judged ? call_judged(plain, judged, 0, args, count, names) : NULL;
}

static PyObject *guarded_exec(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run_judged(plain_exec, Py_file_input, BY_PROGRAM, args, count, names);
}

static PyObject *guarded_eval(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return run_judged(plain_eval, Py_eval_input, BY_PROGRAM, args, count, names);
}

/* The index in `args` of an argument that is given by position or name; -1 if it is not given. */
static Py_ssize_t argument_index(Py_ssize_t count, PyObject *names, Py_ssize_t at, const char *name)
{
    if (at < count)
        return at;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0)
            return count + i;
    return -1;
}

static bool is_mode(PyObject *mode, const char *name)
{
    return mode && PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, name) == 0;
}

/* Has the real compile() raise the exception for a text that the check could not parse, so that it names the
 * right file. If compile() can parse it, because of flags that change the language, the code is dropped and
 * the check's exception raised. */
static PyObject *compile_unparsed(PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    hc_autopy *code = PyObject_Vectorcall(plain_compile, args, (size_t)count, names);
    if (code) {
        PyErr_Restore(type, error, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return NULL;
}

/* Settles whose file name the new code may have (origin.h). Steals `code`, which may be NULL. */
static PyObject *as_compiled(PyObject *code, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t source = argument_index(count, names, 0, "source"),
               file = argument_index(count, names, 1, "filename");
    return hc_origin_compiled(code, source < 0 ? NULL : args[source], file < 0 ? NULL : args[file]);
}

/* Does the import system compile a file of the tree? */
static bool is_of_tree(PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t source = argument_index(count, names, 0, "source"),
               file = argument_index(count, names, 1, "filename");
    return source >= 0 && file >= 0 && hc_origin_is_read(args[source], args[file]);
}

static PyObject *compile_judged(enum maker by, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t at = argument_index(count, names, 0, "source"),
               mode_at = argument_index(count, names, 2, "mode");
    PyObject *mode = mode_at < 0 ? NULL : args[mode_at]; /* borrowed */
    if (at < 0 || is_mode(mode, "func_type"))            /* "func_type" makes no code */
        return PyObject_Vectorcall(plain_compile, args, (size_t)count, names);
    int start = is_mode(mode, "eval")     ? Py_eval_input
                : is_mode(mode, "single") ? Py_single_input
                                          : Py_file_input;
    hc_autopy *judged = judge_source(args[at], start, by);
    if (!judged)
        return PyErr_ExceptionMatches(PyExc_SyntaxError) ? compile_unparsed(args, count, names) : NULL;
    return as_compiled(call_judged(plain_compile, judged, at, args, count, names), args, count, names);
}

static PyObject *guarded_compile(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    return compile_judged(BY_PROGRAM, args, count, names);
}

/* ---- code that libraries make of texts ---- */

/* Does a library make code of a text? The text may be the program's: it is checked as if the program had
 * called eval() itself. */
static bool is_text_of_library(PyObject *const *args, Py_ssize_t count)
{
    return count && !PyCode_Check(args[0]) && hc_caller_is_library();
}

/* Does this call of compile() only parse, as ast.parse() does? */
static bool only_parses(PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t at = argument_index(count, names, 3, "flags");
    long flags = at >= 0 && PyLong_Check(args[at]) ? PyLong_AsLong(args[at]) : 0;
    PyErr_Clear();
    return flags > 0 && (flags & PyCF_ONLY_AST);
}

/* ---- modules that the program wrote ---- */

/* The program can find the real functions in modules (codecs.builtins): it then calls its own ones instead.
 */
static PyObject *call_for_caller(const char *name, PyObject *plain, PyObject *const *args, Py_ssize_t count,
                                 PyObject *names)
{
    if (!hc_caller_is_guest(NULL))
        return PyObject_Vectorcall(plain, args, (size_t)count, names);
    PyObject *own = PyDict_GetItemString(own_builtins, name); /* borrowed */
    return own ? PyObject_Vectorcall(own, args, (size_t)count, names)
               : PyErr_Format(PyExc_NameError, "name '%s' is not defined", name);
}

/* An expression that a library evaluates and that is in no file of the tree, such as a model's formula, comes
 * from the program: it gets the program's built-in names, unless the library gives it others. */
static int give_own_builtins(PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || !PyDict_Check(args[1]) || PyDict_GetItemString(args[1], "__builtins__"))
        return 0;
    bool of_nobody =
        !PyCode_Check(args[0]) || hc_party_of_file(((PyCodeObject *)args[0])->co_filename) == HC_PARTY_NONE;
    return of_nobody ? PyDict_SetItemString(args[1], "__builtins__", own_builtins) : 0;
}

static PyObject *eval_for_all(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    if (give_own_builtins(args, count) < 0)
        return NULL;
    if (is_text_of_library(args, count))
        return run_judged(plain_eval, Py_eval_input, BY_LIBRARY, args, count, names);
    return call_for_caller("eval", plain_eval, args, count, names);
}

static PyObject *compile_for_all(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    if (hc_caller_is_library() && !only_parses(args, count, names) && !is_of_tree(args, count, names))
        return compile_judged(BY_LIBRARY, args, count, names);
    PyObject *code = call_for_caller("compile", plain_compile, args, count, names);
    return as_compiled(code, args, count, names);
}

/* Is this the code of a module that is not a library's? */
static bool is_own_module(PyObject *code)
{
    return hc_party_of_file(((PyCodeObject *)code)->co_filename) == HC_PARTY_GUEST ||
           (hc_origin_refuted(code) && hc_caller_is_module("importlib._bootstrap"));
}

/* The import system runs every module by exec(code, names). A module whose file is not in the tree gets the
 * program's built-in names. */
static PyObject *exec_for_all(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    if (count >= 2 && PyCode_Check(args[0]) && PyDict_Check(args[1]) &&
        hc_reach_judge_load(PyDict_GetItemString(args[1], "__name__"), /* borrowed */
                            ((PyCodeObject *)args[0])->co_filename) < 0)
        return NULL;
    if (count >= 2 && PyCode_Check(args[0]) && PyDict_Check(args[1]) && is_own_module(args[0]) &&
        !PyDict_GetItemString(args[1], "__builtins__") &&
        PyDict_SetItemString(args[1], "__builtins__", own_builtins) < 0)
        return NULL;
    if (count >= 1 && PyCode_Check(args[0]) && is_own_module(args[0]))
        hc_guard_compiled(args[0]);
    if (is_text_of_library(args, count))
        return run_judged(plain_exec, Py_file_input, BY_LIBRARY, args, count, names);
    return call_for_caller("exec", plain_exec, args, count, names);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

int hc_dynamic_guard(PyObject *builtins)
{
    static PyMethodDef guarded[] = {
        {"exec", FAST(guarded_exec), METH_FASTCALL | METH_KEYWORDS,
         "exec(source, globals=None, locals=None, /)"},
        {"eval", FAST(guarded_eval), METH_FASTCALL | METH_KEYWORDS,
         "eval(source, globals=None, locals=None, /)"},
        {"compile", FAST(guarded_compile), METH_FASTCALL | METH_KEYWORDS,
         "compile(source, filename, mode, ...)"},
        {0},
    };
    static PyMethodDef for_all[] = {
        {"exec", FAST(exec_for_all), METH_FASTCALL | METH_KEYWORDS,
         "exec(source, globals=None, locals=None, /)"},
        {"eval", FAST(eval_for_all), METH_FASTCALL | METH_KEYWORDS,
         "eval(source, globals=None, locals=None, /)"},
        {"compile", FAST(compile_for_all), METH_FASTCALL | METH_KEYWORDS,
         "compile(source, filename, mode, ...)"},
        {0},
    };
    PyObject *real = PyEval_GetBuiltins(); /* borrowed */
    plain_exec = Py_XNewRef(PyDict_GetItemString(real, "exec"));
    plain_eval = Py_XNewRef(PyDict_GetItemString(real, "eval"));
    plain_compile = Py_XNewRef(PyDict_GetItemString(real, "compile"));
    own_builtins = builtins;
    if (!plain_exec || !plain_eval || !plain_compile) {
        PyErr_SetString(PyExc_SystemError, "built-in functions are missing");
        return -1;
    }
    hc_autopy *module = PyUnicode_InternFromString("builtins");
    for (PyMethodDef *m = for_all; module && m->ml_name; m++) {
        hc_autopy *function = PyCFunction_NewEx(m, NULL, module);
        if (!function || PyDict_SetItemString(real, m->ml_name, function) < 0)
            return -1;
    }
    return module ? hc_builtins_replace(builtins, guarded) : -1;
}
