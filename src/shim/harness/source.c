#include "shim/harness/source.h"

#include "shim/guard/guard.h"

/* What to say to the writer of a program (often a model) whose syntax is wrong in a well-known way. */
static const struct {
    const char *in_line, *in_message;
    const char *hint;
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

/* Errors that the compiler finds, not the parser, come without their line, which would be looked up in a file
 * of the program's name. */
static void complete_line(PyObject *error, const char *text, int number)
{
    hc_autopy *have = PyObject_GetAttrString(error, "text");
    hc_autopy *line = have == Py_None ? line_of(text, number) : NULL;
    if (line)
        (void)PyObject_SetAttrString(error, "text", line);
    PyErr_Clear();
}

static void reject_syntax_error(struct hc_rejection *why, PyObject *error, const char *text)
{
    why->line = int_attribute(error, "lineno");
    why->column = int_attribute(error, "offset");
    complete_line(error, text, why->line);
    why->message = PyObject_GetAttrString(error, "msg");
    hc_autopy *line = PyObject_GetAttrString(error, "text");
    const char *line_text = line && PyUnicode_Check(line) ? PyUnicode_AsUTF8(line) : NULL;
    const char *message = why->message && PyUnicode_Check(why->message) ? PyUnicode_AsUTF8(why->message) : "";
    why->hint = hint_for(line_text, message ? message : "");
    PyErr_Clear();
}

/* Consumes the current exception. */
static int reject(struct hc_rejection *why, const char *text)
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

/* Take a last expression statement off `tree` and return it as an ast.Expression (new reference), or None. */
static PyObject *split_last(PyObject *tree)
{
    hc_autopy *ast = PyImport_ImportModule("_ast"); /* built in, not the Python module ast */
    hc_autopy *statement_class = ast ? PyObject_GetAttrString(ast, "Expr") : NULL;
    hc_autopy *body = PyObject_GetAttrString(tree, "body");
    if (!statement_class || !body)
        return NULL;
    Py_ssize_t count = PyList_Size(body);
    if (count <= 0)
        return count < 0 ? NULL : Py_NewRef(Py_None);
    PyObject *last = PyList_GET_ITEM(body, count - 1); /* borrowed */
    if (!Py_IS_TYPE(last, (PyTypeObject *)statement_class))
        return Py_NewRef(Py_None);
    hc_autopy *expression = PyObject_GetAttrString(last, "value");
    if (!expression || PyList_SetSlice(body, count - 1, count, NULL) < 0)
        return NULL;
    return PyObject_CallMethod(ast, "Expression", "O", expression);
}

/* compile(tree, "<cell>", mode, flags, dont_inherit=True). New reference. */
static PyObject *compile_tree(PyObject *tree, const char *mode, int flags)
{
    PyObject *compile = PyDict_GetItemString(PyEval_GetBuiltins(), "compile"); /* borrowed */
    return PyObject_CallFunction(compile, "OssiO", tree, HC_CELL_FILE, mode, flags, Py_True);
}

static int compile_parts(struct hc_program *out, PyObject *tree)
{
    hc_autopy *last = split_last(tree);
    out->body = last ? compile_tree(tree, "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT) : NULL;
    if (!out->body)
        return -1;
    int flags = ((PyCodeObject *)out->body)->co_flags;
    out->awaits = flags & CO_COROUTINE;
    if (last == Py_None)
        return 0;
    /* The body's "from __future__" lines hold for the last expression too. */
    out->last = compile_tree(last, "eval", PyCF_ALLOW_TOP_LEVEL_AWAIT | (flags & PyCF_MASK));
    if (!out->last)
        return -1;
    out->awaits |= (((PyCodeObject *)out->last)->co_flags & CO_COROUTINE) != 0;
    return 0;
}

int hc_program_compile(struct hc_program *out, const char *utf8, struct hc_rejection *why)
{
    if (strncmp(utf8, "\xef\xbb\xbf", 3) == 0)
        utf8 += 3; /* a byte order mark, as some editors write it */
    *out = (struct hc_program){.text = PyUnicode_FromString(utf8)};
    /* A coding cookie means nothing: the launcher made sure that the program is UTF-8. */
    PyCompilerFlags flags = {
        .cf_flags = PyCF_ONLY_AST | PyCF_IGNORE_COOKIE | PyCF_SOURCE_IS_UTF8 | PyCF_ALLOW_TOP_LEVEL_AWAIT,
        .cf_feature_version = PY_MINOR_VERSION,
    };
    hc_autopy *file = PyUnicode_FromString(HC_CELL_FILE);
    hc_autopy *tree =
        file && out->text ? Py_CompileStringObject(utf8, file, Py_file_input, &flags, -1) : NULL;
    if (!tree)
        return reject(why, utf8);
    if (hc_guard_check(tree, why) < 0)
        return -1;
    return compile_parts(out, tree) < 0 ? reject(why, utf8) : 0;
}
