/* CPython's parser and tree, as in source.c. */
#define Py_BUILD_CORE
#include "shim/guard/dynamic.h"

#include <internal/pycore_ast.h>
#include <internal/pycore_parser.h>

#include "shim/guard/builtins.h"
#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/guard.h"

static PyObject *own_builtins;                            /* borrowed: the program's names keep it */
static PyObject *plain_exec, *plain_eval, *plain_compile; /* owned */

/* ---- judging ---- */

/* Imports are left to the guarded __import__, whose exception programs are ready for. */
static int refuse_found(const struct hc_findings *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct hc_finding *f = &found->items[i];
        if (f->warning || strcmp(f->rule, "imports") == 0)
            continue;
        struct hc_refusal r = {.layer = HC_DENIAL_RUNTIME,
                               .rule = f->rule,
                               .what = f->message,
                               .hint = f->hint,
                               .message = "{name}"};
        hc_refuse(&r, PyExc_PermissionError);
        return -1;
    }
    return 0;
}

/* The check looks at modules. NULL, with an exception set, without memory. */
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

static int judge_tree(mod_ty tree, PyArena *arena, const char *text)
{
    struct hc_findings found = {0};
    mod_ty module = as_module(tree, arena);
    int rc = module ? hc_guard_check(module, text, &found) : -1;
    if (rc == 0)
        rc = refuse_found(&found);
    hc_findings_finish(&found);
    return rc;
}

static int judge_text(const char *text, int start)
{
    PyArena *arena = _PyArena_New();
    hc_autopy *file = PyUnicode_FromString("<string>");
    PyCompilerFlags flags = {
        .cf_flags = PyCF_IGNORE_COOKIE | PyCF_SOURCE_IS_UTF8 | PyCF_ALLOW_TOP_LEVEL_AWAIT,
        .cf_feature_version = PY_MINOR_VERSION,
    };
    mod_ty tree = arena && file ? _PyParser_ASTFromString(text, file, start, &flags, arena) : NULL;
    if (!tree)
        PyErr_Clear();
    int rc = tree ? judge_tree(tree, arena, text) : 0;
    if (arena)
        _PyArena_Free(arena);
    return rc;
}

/* A tree as Python objects (module ast). */
static int judge_object(PyObject *object, int mode)
{
    PyArena *arena = _PyArena_New();
    mod_ty tree = arena ? PyAST_obj2mod(object, arena, mode) : NULL;
    if (!tree)
        PyErr_Clear();
    int rc = tree ? judge_tree(tree, arena, "") : 0;
    if (arena)
        _PyArena_Free(arena);
    return rc;
}

/* The compiler puts the guard of writes into the program's text alone. */
static int refuse_unguarded(void)
{
    struct hc_refusal r = {
        .layer = HC_DENIAL_RUNTIME,
        .rule = "writes",
        .what = "code made at run time",
        .message = "Code that is made at run time is not allowed by this policy",
    };
    hc_refuse(&r, PyExc_PermissionError);
    return -1;
}

int hc_dynamic_judge(PyObject *source, int start)
{
    const char *text = NULL;
    if (PyCode_Check(source))
        return 0; /* it was judged when it was compiled */
    if (hc_guard.code.guarded_writes)
        return refuse_unguarded();
    if (PyUnicode_Check(source))
        text = PyUnicode_AsUTF8(source);
    else if (PyBytes_Check(source))
        text = PyBytes_AS_STRING(source);
    else if (PyAST_Check(source) > 0)
        return judge_object(source, start == Py_eval_input ? 1 : start == Py_single_input ? 2 : 0);
    PyErr_Clear();
    if (!text)
        return 0;
    if (start == Py_eval_input)
        text += strspn(text, " \t");
    return judge_text(text, start);
}

/* ---- the program's exec, eval, compile ---- */

static PyObject *guarded_exec(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    if (count && hc_dynamic_judge(args[0], Py_file_input) < 0)
        return NULL;
    return PyObject_Vectorcall(plain_exec, args, (size_t)count, names);
}

static PyObject *guarded_eval(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    if (count && hc_dynamic_judge(args[0], Py_eval_input) < 0)
        return NULL;
    return PyObject_Vectorcall(plain_eval, args, (size_t)count, names);
}

/* The value of an argument given by position or name; borrowed, NULL if it is not given. */
static PyObject *argument(PyObject *const *args, Py_ssize_t count, PyObject *names, Py_ssize_t at,
                          const char *name)
{
    if (at < count)
        return args[at];
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0)
            return args[count + i];
    return NULL;
}

static int start_of(PyObject *mode)
{
    if (mode && PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "eval") == 0)
        return Py_eval_input;
    return mode && PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "single") == 0
               ? Py_single_input
               : Py_file_input;
}

static PyObject *guarded_compile(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    PyObject *source = argument(args, count, names, 0, "source");
    int start = start_of(argument(args, count, names, 2, "mode"));
    if (source && hc_dynamic_judge(source, start) < 0)
        return NULL;
    return PyObject_Vectorcall(plain_compile, args, (size_t)count, names);
}

/* ---- modules that the program wrote ---- */

/* The import system runs every module through exec(code, names): one whose file is not the tree's gets the
 * program's built-in names. */
static PyObject *exec_module(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    if (count >= 2 && PyCode_Check(args[0]) && PyDict_Check(args[1]) &&
        hc_party_of_file(((PyCodeObject *)args[0])->co_filename) == HC_PARTY_GUEST &&
        !PyDict_GetItemString(args[1], "__builtins__") &&
        PyDict_SetItemString(args[1], "__builtins__", own_builtins) < 0)
        return NULL;
    return PyObject_Vectorcall(plain_exec, args, (size_t)count, names);
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
    static PyMethodDef for_all = {"exec", FAST(exec_module), METH_FASTCALL | METH_KEYWORDS,
                                  "exec(source, globals=None, locals=None, /)"};
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
    hc_autopy *exec = module ? PyCFunction_NewEx(&for_all, NULL, module) : NULL;
    if (!exec || PyDict_SetItemString(real, "exec", exec) < 0)
        return -1;
    return hc_builtins_put(builtins, guarded);
}
