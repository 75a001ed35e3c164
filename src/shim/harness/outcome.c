#include "shim/harness/outcome.h"

#include "shim/harness/advice.h"
#include "shim/harness/frozen.h"

#include "base/fd.h"

#include <string.h>

/* The recursion limit is at least this once the program has ended: the interpreter's default. */
#define LEAST_RECURSION 1000

/* Most classes that are told of an exception. */
#define MOST_CLASSES 16

static PyObject *plain_excepthook; /* owned: sys.excepthook before the guest ran */

void hc_outcome_prepare(void)
{
    plain_excepthook = Py_XNewRef(PySys_GetObject("excepthook"));
}

PyObject *hc_type_name(PyObject *object)
{
    PyObject *name = PyType_GetQualName(Py_TYPE(object));
    if (!name || !PyUnicode_Check(name)) {
        Py_XDECREF(name);
        PyErr_Clear();
        name = PyUnicode_FromString(Py_TYPE(object)->tp_name);
    }
    PyErr_Clear();
    return name;
}

/* "module.Name" of a class of Python code, "Name" if that names no module or "builtins"; what a class in C
 * calls itself, which for built-in ones has no module. New reference; NULL with an exception set. */
static PyObject *full_name(PyTypeObject *type)
{
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
        return PyUnicode_FromString(type->tp_name);
    hc_autopy *name = PyType_GetQualName(type);
    PyObject *module = PyDict_GetItemString(type->tp_dict, "__module__"); /* borrowed */
    if (!name || !PyUnicode_Check(name) || !module || !PyUnicode_Check(module) ||
        PyUnicode_CompareWithASCIIString(module, "builtins") == 0)
        return hc_py_take(&name);
    return PyUnicode_FromFormat("%U.%U", module, name);
}

static bool is_built_in(PyTypeObject *type)
{
    return !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && !strchr(type->tp_name, '.');
}

PyObject *hc_class_names(PyObject *error)
{
    PyObject *classes = Py_TYPE(error)->tp_mro; /* borrowed */
    if (is_built_in(Py_TYPE(error)) || !classes)
        return NULL;
    hc_autopy *names = PyList_New(0);
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(classes) && i < MOST_CLASSES; i++) {
        PyTypeObject *type = (PyTypeObject *)PyTuple_GET_ITEM(classes, i); /* borrowed */
        hc_autopy *name = full_name(type);
        if (!name || !PyUnicode_Check(name) || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        else if (is_built_in(type))
            break;
    }
    PyErr_Clear();
    return hc_py_take(&names);
}

PyObject *hc_safe_str(PyObject *object)
{
    PyObject *text = PyObject_Str(object);
    if (!text) {
        PyErr_Clear();
        hc_autopy *type = hc_type_name(object);
        text = type ? PyUnicode_FromFormat("<unprintable %U object>", type) : NULL;
    }
    PyErr_Clear();
    return text;
}

/* Writes to the guest's sys.stderr, which the guest may have replaced; if that fails, to descriptor 2. */
static void print_to_stderr(PyObject *text)
{
    PyObject *file = PySys_GetObject("stderr"); /* borrowed */
    hc_autopy *held = Py_XNewRef(file);
    if (held && held != Py_None && PyFile_WriteObject(text, held, Py_PRINT_RAW) == 0)
        return;
    PyErr_Clear();
    hc_autopy *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    struct hc_error err;
    if (bytes)
        (void)hc_write_all(2, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes), &err);
    PyErr_Clear();
}

/* Calls the program's own sys.excepthook, if it has set one. false: the exception was not shown. */
static bool shown_by_guest(PyObject *error)
{
    PyObject *hook = PySys_GetObject("excepthook"); /* borrowed */
    if (!hook || hook == Py_None || hook == plain_excepthook)
        return false;
    hc_autopy *held = Py_NewRef(hook);
    hc_autopy *trace = PyException_GetTraceback(error);
    hc_autopy *done =
        PyObject_CallFunctionObjArgs(held, (PyObject *)Py_TYPE(error), error, trace ? trace : Py_None, NULL);
    PyErr_Clear();
    return done != NULL;
}

/* Fills the traceback and the place in `out`. New reference: the text to show; NULL: no memory. */
static PyObject *describe(PyObject *error, const struct hc_program *program, struct hc_outcome *out)
{
    PyObject *whole, *shown; /* borrowed from `described` */
    hc_autopy *last = PyUnicode_FromFormat("%U: %U\n", out->error_type, out->error_message);
    hc_autopy *described =
        last ? hc_frozen_call("traceback", "describe", "(OOsO)", error, last, program->filename,
                              program->whole_traceback ? Py_False : Py_True)
             : NULL;
    if (described &&
        PyArg_ParseTuple(described, "UUiii", &whole, &shown, &out->line, &out->column, &out->end_column)) {
        out->error_trace = Py_NewRef(whole);
        return Py_NewRef(shown);
    }
    PyErr_Clear();
    out->error_trace = Py_XNewRef(last);
    return hc_py_take(&last);
}

/* Prints the hint after the traceback, unless the traceback ends with it already, as refusals do. */
static void print_hint(PyObject *shown, PyObject *hint)
{
    hc_autopy *line = hint ? PyUnicode_FromFormat("%s%U\n", HC_HINT_NOTE, hint) : NULL;
    if (line && PyUnicode_Tailmatch(shown, line, 0, PY_SSIZE_T_MAX, 1) == 0)
        print_to_stderr(line);
}

static void keep_error(PyObject *error, const struct hc_program *program, struct hc_outcome *out)
{
    out->status = HC_EXIT_GUEST;
    out->error_type = hc_type_name(error);
    out->error_classes = hc_class_names(error);
    out->error_message = hc_safe_str(error);
    if (!out->error_type || !out->error_message)
        return;
    hc_autopy *shown = describe(error, program, out);
    bool ours = shown && !shown_by_guest(error);
    if (ours)
        print_to_stderr(shown);
    out->error_hint = hc_advice_for(error); /* last, as it may take all the time that the job has left */
    if (ours)
        print_hint(shown, out->error_hint);
    PyErr_Clear();
}

/* The exit status for SystemExit, by the interpreter's own rules. */
static int exit_status(PyObject *error)
{
    hc_autopy *code = PyObject_GetAttrString(error, "code");
    PyErr_Clear();
    if (!code)
        return HC_EXIT_GUEST;
    if (code == Py_None)
        return 0;
    if (PyLong_Check(code)) {
        int overflow;
        long long n = PyLong_AsLongLongAndOverflow(code, &overflow);
        return overflow ? 255 : (int)(n & 0xff);
    }
    hc_autopy *text = hc_safe_str(code);
    hc_autopy *line = text ? PyUnicode_FromFormat("%U\n", text) : NULL;
    if (line)
        print_to_stderr(line);
    return HC_EXIT_GUEST;
}

/* Fills `out` from the current exception, and clears it. */
static void keep_exception(const struct hc_program *program, struct hc_outcome *out)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace)
        (void)PyException_SetTraceback(error, trace);
    if (PyErr_GivenExceptionMatches(error, PyExc_SystemExit) && !program->exit_fails)
        out->status = exit_status(error);
    else
        keep_error(error, program, out);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

/* Does the program make tasks without an await at its top level? Then it needs a running event loop, unless
 * it starts one itself. */
static bool makes_tasks(const struct hc_program *program)
{
    static const char *const makers[] = {"create_task", "ensure_future", "get_running_loop"};
    static const char *const starters[] = {"asyncio.run", "run_until_complete", "run_forever", "Runner"};
    const char *text = program->finish_tasks ? PyUnicode_AsUTF8(program->text) : NULL;
    PyErr_Clear();
    bool makes = false, starts = false;
    for (size_t i = 0; text && i < sizeof makers / sizeof *makers; i++)
        makes |= strstr(text, makers[i]) != NULL;
    for (size_t i = 0; text && i < sizeof starters / sizeof *starters; i++)
        starts |= strstr(text, starters[i]) != NULL;
    return makes && !starts;
}

/* New reference to the value, None without a last expression; NULL with an exception set. */
static PyObject *evaluate(const struct hc_program *program, PyObject *space)
{
    if (program->awaits || makes_tasks(program)) {
        hc_autopy *parts = program->last ? Py_BuildValue("(OO)", program->body, program->last)
                                         : Py_BuildValue("(O)", program->body);
        PyObject *value = parts ? hc_frozen_call("await", "run", "(OOO)", parts, space,
                                                 program->finish_tasks ? Py_True : Py_False)
                                : NULL;
        if (value && !program->last)
            Py_SETREF(value, Py_NewRef(Py_None));
        return value;
    }
    hc_autopy *none = PyEval_EvalCode(program->body, space, space);
    if (!none || !program->last)
        return hc_py_take(&none);
    return PyEval_EvalCode(program->last, space, space);
}

/* Resets what the guest may have set and would affect the harness's own code. */
static void drop_guest_settings(void)
{
    PyEval_SetTrace(NULL, NULL);
    PyEval_SetProfile(NULL, NULL);
    if (Py_GetRecursionLimit() < LEAST_RECURSION)
        Py_SetRecursionLimit(LEAST_RECURSION);
}

static bool says(const cJSON *rules, const char *key, const char *value)
{
    return strcmp(hc_rules_text(rules, "code", key, ""), value) == 0;
}

void hc_program_take_rules(struct hc_program *program, const cJSON *rules)
{
    program->whole_traceback = says(rules, "traceback", "full");
    program->exit_fails = says(rules, "exit", "error");
    program->finish_tasks = hc_rules_bool(rules, "code", "finish_tasks", false);
}

void hc_program_run(const struct hc_program *program, PyObject *space, struct hc_outcome *out)
{
    *out = (struct hc_outcome){0};
    PyObject *value = evaluate(program, space);
    drop_guest_settings();
    if (!value)
        keep_exception(program, out);
    else if (value == Py_None)
        Py_DECREF(value);
    else
        out->value = value;
}
