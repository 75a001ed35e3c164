/* The parser's and compiler's entry points below are CPython's own and not part of its public interface: the
 * reason to link it in statically, and the first place to look at when the embedded version changes. */
#define Py_BUILD_CORE
#include "shim/source.h"

#include <internal/pycore_ast.h>
#include <internal/pycore_compile.h>
#include <internal/pycore_parser.h>

#include "shim/guard/guard.h"
#include "shim/guard/standin.h"
#include "shim/harness/frozen.h"
#include "shim/harness/reject.h"

#define REPAIRS_MAX 40 /* most repairs of one program; each changes one place */

/* Hints for the writer of a program (often a model) whose syntax is wrong in a well-known way. */
static const struct {
    const char *in_line;    /* the line begins with this text; NULL: any line */
    const char *in_message; /* the parser's message contains this text; NULL: any message */
    const char *hint;       /* how to mend the program */
} hints[] = {
    {"```", NULL, "Leave out the Markdown fence around the program."},
    {NULL, "'print'", "This is Python 3: print is a function."},
    {NULL, "invalid character", "Use plain quotes, hyphens and operators instead of typographic ones."},
    {NULL, "non-printable character", "Replace the invisible character by a plain blank or delete it."},
    {NULL, "inconsistent use of tabs", "Indent with blanks only."},
    {"%", "invalid syntax", "Lines that begin with % or ! are notebook commands; here is only Python."},
    {"!", "invalid syntax", "Lines that begin with % or ! are notebook commands; here is only Python."},
};

static const char *hint_for(const char *line, const char *message)
{
    while (line && (*line == ' ' || *line == '\t'))
        line++;
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        const char *start = hints[i].in_line;
        if (start && (!line || strncmp(line, start, strlen(start)) != 0))
            continue;
        if (hints[i].in_message && !strstr(message, hints[i].in_message))
            continue;
        return hints[i].hint;
    }
    return NULL;
}

/* Line `number` of the program, with its newline. New reference; NULL (no exception) if there is none. */
static PyObject *line_of(const char *text, int number)
{
    for (int line = 1; text && line < number; line++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || !*text)
        return NULL;
    const char *end = strchr(text, '\n');
    Py_ssize_t len = end ? end - text + 1 : (Py_ssize_t)strlen(text);
    PyObject *line = PyUnicode_DecodeUTF8(text, len, "replace");
    PyErr_Clear();
    return line;
}

static int int_attribute(PyObject *object, const char *name)
{
    hc_autopy *value = PyObject_GetAttrString(object, name);
    int n = value && PyLong_Check(value) ? (int)PyLong_AsLong(value) : 0;
    PyErr_Clear();
    return n > 0 ? n : 0;
}

/* Adds the source line to an error of the compiler. Unlike the parser's errors it has none, and the
 * interpreter would look for the line in a file of the program's name. */
static void add_line_text(PyObject *error, const char *text, int number)
{
    hc_autopy *have = PyObject_GetAttrString(error, "text");
    hc_autopy *line = have == Py_None ? line_of(text, number) : NULL;
    if (line)
        (void)PyObject_SetAttrString(error, "text", line);
    PyErr_Clear();
}

/* Does the first line that begins a Markdown fence come behind this line? */
static bool is_before_fence(const char *text, int line)
{
    const char *fence = strstr(text, "\n```");
    for (; fence && line > 1; line--) {
        text = strchr(text, '\n');
        if (!text || text >= fence)
            return false;
        text++;
    }
    return fence;
}

static void reject_syntax_error(struct hc_rejection *why, PyObject *error, const char *text)
{
    why->line = int_attribute(error, "lineno");
    why->column = int_attribute(error, "offset");
    add_line_text(error, text, why->line);
    why->message = PyObject_GetAttrString(error, "msg");
    hc_autopy *line = PyObject_GetAttrString(error, "text");
    const char *line_text = line && PyUnicode_Check(line) ? PyUnicode_AsUTF8(line) : NULL;
    const char *message = why->message && PyUnicode_Check(why->message) ? PyUnicode_AsUTF8(why->message) : "";
    why->hint = hint_for(line_text, message ? message : "");
    if (!why->hint && is_before_fence(text, why->line))
        why->hint = "Leave out the text and the Markdown fence around the program.";
    PyErr_Clear();
}

/* Turns the current exception into `why`, shows it on stderr and clears it. Always returns -1. */
static int reject_exception(struct hc_rejection *why, const char *text)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    *why = (struct hc_rejection){.rule = "syntax"};
    if (PyErr_GivenExceptionMatches(error, PyExc_SyntaxError)) {
        reject_syntax_error(why, error, text);
    } else if (PyErr_GivenExceptionMatches(error, PyExc_RecursionError) ||
               PyErr_GivenExceptionMatches(error, PyExc_MemoryError)) {
        why->message = PyUnicode_FromString("the program is nested too deeply for the parser");
        why->hint = "Break long chains of operators and nested brackets into steps.";
    } else {
        why->message = PyObject_Str(error);
    }
    PyErr_Clear();
    PyErr_Display(type, error, trace);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return -1;
}

/* The parser's own tree, as C structs in an arena. Python objects of it (PyCF_ONLY_AST) would need some
 * hundred AST types first, which takes 1.2 ms: too long for a small program. */
struct parsed {
    PyArena *arena;        /* owned */
    mod_ty module;         /* in the arena */
    PyObject *file;        /* the program's file name, str; owned */
    PyCompilerFlags flags; /* collects "from __future__", so that it applies to the last expression too */
};

static void parsed_finish(struct parsed *p)
{
    Py_CLEAR(p->file);
    if (p->arena)
        _PyArena_Free(p->arena);
    p->arena = NULL;
}

static int parse(struct parsed *p, const char *utf8)
{
    p->arena = _PyArena_New();
    p->file = PyUnicode_FromString(hc_guard.filename);
    if (!p->arena || !p->file)
        return -1;
    /* A coding cookie means nothing: the launcher made sure that the program is UTF-8. */
    p->flags = (PyCompilerFlags){
        .cf_flags = PyCF_IGNORE_COOKIE | PyCF_SOURCE_IS_UTF8 | PyCF_ALLOW_TOP_LEVEL_AWAIT,
        .cf_feature_version = PY_MINOR_VERSION,
    };
    p->module = _PyParser_ASTFromString(utf8, p->file, Py_file_input, &p->flags, p->arena);
    return p->module ? 0 : -1;
}

/* Removes the last statement from the module if it is an expression, and returns the expression; else NULL.
 */
static expr_ty take_last(mod_ty module)
{
    asdl_stmt_seq *body = module->v.Module.body;
    Py_ssize_t count = asdl_seq_LEN(body);
    stmt_ty last = count ? asdl_seq_GET(body, count - 1) : NULL;
    if (!last || last->kind != Expr_kind)
        return NULL;
    body->size = count - 1;
    return last->v.Expr.value;
}

static int compile_parts(struct hc_program *out, struct parsed *p)
{
    expr_ty last = take_last(p->module);
    out->body = (PyObject *)_PyAST_Compile(p->module, p->file, &p->flags, -1, p->arena);
    if (!out->body)
        return -1;
    out->awaits = (((PyCodeObject *)out->body)->co_flags & CO_COROUTINE) != 0;
    if (!last)
        return 0;
    mod_ty expression = _PyAST_Expression(last, p->arena);
    out->last = expression ? (PyObject *)_PyAST_Compile(expression, p->file, &p->flags, -1, p->arena) : NULL;
    if (!out->last)
        return -1;
    out->awaits |= (((PyCodeObject *)out->last)->co_flags & CO_COROUTINE) != 0;
    return 0;
}

/* Repairs `text` where the parser stopped (guest_tidy.py), and adds a warning that says how. The current
 * exception is cleared if that was possible, else it is kept. New reference: the repaired text; NULL: it is
 * not possible. */
static PyObject *tidy(PyObject *text, struct hc_findings *found)
{
    PyObject *type, *error, *trace;
    PyObject *better, *message; /* borrowed from `done` */
    struct hc_finding one = {.rule = "tidy", .warning = true};
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    bool syntax = hc_guard.code.tidy && PyErr_GivenExceptionMatches(error, PyExc_SyntaxError);
    hc_autopy *why = syntax ? PyObject_GetAttrString(error, "msg") : NULL;
    hc_autopy *done = why ? hc_frozen_call("tidy", "tidy", "(OiiO)", text, int_attribute(error, "lineno"),
                                           int_attribute(error, "offset"), why)
                          : NULL;
    const char *said = NULL;
    if (done && done != Py_None && PyArg_ParseTuple(done, "UiU", &better, &one.at.line, &message))
        said = PyUnicode_AsUTF8(message);
    if (said)
        (void)snprintf(one.message, sizeof one.message, "%s", said);
    if (!said || hc_findings_add(found, &one) < 0) {
        PyErr_Restore(type, error, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return Py_NewRef(better);
}

/* Parses the program, which is repaired if it does not parse and the policy lets it be: out->text is then the
 * repaired text. */
static int parse_tidily(struct parsed *p, struct hc_program *out, struct hc_findings *found)
{
    for (int repairs = 0;; repairs++) {
        const char *utf8 = PyUnicode_AsUTF8(out->text);
        if (!utf8 || parse(p, utf8) == 0)
            return utf8 ? 0 : -1;
        PyObject *better = repairs < REPAIRS_MAX ? tidy(out->text, found) : NULL;
        if (!better)
            return -1;
        Py_SETREF(out->text, better);
        parsed_finish(p);
    }
}

/* Adds the current exception to `found`, and shows it on stderr as the interpreter does. Returns -1. */
static int reject_as_finding(struct hc_findings *found, const char *utf8)
{
    struct hc_rejection why;
    struct hc_finding one;
    (void)reject_exception(&why, utf8);
    if (why.hint)
        (void)dprintf(STDERR_FILENO, "hint: %s\n", why.hint);
    hc_rejection_finding(&why, &one);
    Py_CLEAR(why.message);
    if (hc_findings_add(found, &one) < 0)
        Py_FatalError("no memory to say why the program was refused");
    hc_findings_close(found, NULL);
    return -1;
}

int hc_program_compile(struct hc_program *out, const char *utf8, struct hc_findings *found)
{
    *out = (struct hc_program){.filename = hc_guard.filename, .text = PyUnicode_FromString(utf8)};
    struct parsed p = {.arena = NULL};
    int rc = out->text ? hc_guard_check_size(utf8, found) : -1;
    /* A program that is too long is not parsed. */
    bool refused = rc == 0 && hc_findings_refuse(found);
    if (rc == 0 && !refused) {
        rc = parse_tidily(&p, out, found);
        utf8 = out->text ? PyUnicode_AsUTF8(out->text) : utf8;
        rc = rc == 0 && hc_guard_check(p.module, utf8, found) == 0 ? 0 : -1;
        refused = hc_findings_refuse(found) && !hc_guard.learn;
    }
    if (rc == 0 && !refused)
        rc = hc_guard_transform(p.module, p.arena) == 0 && compile_parts(out, &p) == 0 ? 0 : -1;
    if (rc < 0)
        rc = reject_as_finding(found, utf8);
    else if (refused)
        hc_findings_show(found, hc_guard.filename, utf8);
    if (rc == 0 && !refused)
        hc_standins_expect(found);
    hc_guard_compiled(out->body);
    hc_guard_compiled(out->last);
    parsed_finish(&p);
    return refused ? -1 : rc;
}
