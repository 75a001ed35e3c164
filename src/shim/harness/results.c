#include "shim/harness/results.h"

#include "policy/rules.h"
#include "shim/harness/deadline.h"
#include "shim/harness/frozen.h"
#include "shim/harness/pyjson.h"

#include <math.h>
#define OUTPUT "/output" /* the cell's directory for results */

#define PLAIN_DEPTH 16 /* levels of lists and dicts in which plain JSON is looked for */

/* Seconds that methods of the guest's objects may take, as they may never return. */
#define WRITE_SECONDS 30 /* to write figures and variables into files */
#define SHOW_SECONDS  5  /* to show the value: its repr and other forms */

static bool may_have_figures(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    return PyDict_GetItemString(modules, "matplotlib.figure") ||
           PyDict_GetItemString(modules, "plotly.basedatatypes");
}

static void keep_figures(PyObject *space, PyObject *value, struct hc_report *report)
{
    hc_autopy *state = hc_frozen_call("hooks", "drawing", "()");
    hc_autopy *kept =
        state ? hc_frozen_call("figures", "capture", "(OOOs)", space, value ? value : Py_None, state, OUTPUT)
              : NULL;
    PyObject *saved, *warnings; /* borrowed from `kept` */
    if (kept && PyArg_ParseTuple(kept, "OO", &saved, &warnings))
        hc_report_figures(report, saved, warnings);
    else
        hc_report_warn(report, "Figures could not be looked for.");
    PyErr_Clear();
}

static void keep_results(const struct hc_handover_job *job, PyObject *space, struct hc_report *report)
{
    PyObject *results = PyDict_GetItemString(space, "results"); /* borrowed */
    if (!hc_rules_bool(job->rules, "prelude", "results", false) || !results)
        return;
    hc_autopy *plain =
        hc_frozen_call("return", "results", "(On)", results, (Py_ssize_t)hc_report_room(report));
    PyObject *json, *warnings; /* borrowed from `plain` */
    int is_json;
    if (plain && PyArg_ParseTuple(plain, "OOp", &json, &warnings, &is_json))
        hc_report_results(report, is_json ? json : NULL, warnings);
    PyErr_Clear();
}

static void keep_returned(const struct hc_handover_job *job, PyObject *space, struct hc_report *report)
{
    if (!job->returns || !job->returns->child)
        return;
    const char *texts = hc_rules_bool(job->rules, "prelude", "results", false) ? "results" : NULL;
    hc_autopy *rows = hc_py_from_json(job->returns);
    hc_autopy *collected = rows ? hc_frozen_call("return", "collect", "(OOsnz)", space, rows, OUTPUT,
                                                 (Py_ssize_t)hc_report_room(report), texts)
                                : NULL;
    PyObject *returned, *warnings; /* borrowed from `collected` */
    if (collected && PyArg_ParseTuple(collected, "OO", &returned, &warnings))
        hc_report_returned(report, returned, warnings);
    else
        hc_report_warn(report, "The variables that were asked for could not be looked for.");
    PyErr_Clear();
}

static void keep_displays(struct hc_report *report)
{
    hc_autopy *shown = hc_frozen_call("hooks", "displays", "()");
    PyObject *texts, *warnings; /* borrowed from `shown` */
    long left_out;
    if (shown && PyArg_ParseTuple(shown, "OlO", &texts, &left_out, &warnings))
        hc_report_displays(report, texts, left_out, warnings);
    PyErr_Clear();
}

/* Only instances of classes written in Python have methods that show them as HTML, an image and so on. */
static bool may_have_forms(PyObject *value)
{
    return PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_HEAPTYPE) && !PyType_Check(value);
}

static bool is_plain_text(PyObject *value)
{
    return PyUnicode_CheckExact(value) && PyUnicode_IS_ASCII(value) &&
           strlen(PyUnicode_AsUTF8(value)) == (size_t)PyUnicode_GET_LENGTH(value);
}

static bool is_plain_json(PyObject *value, int depth);

static bool is_plain_list(PyObject *list, int depth)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (!is_plain_json(PyList_GET_ITEM(list, i), depth + 1))
            return false;
    return true;
}

/* One key that begins with "$" would look like a tag of values.py. */
static bool is_plain_dict(PyObject *dict, int depth)
{
    PyObject *key, *item; /* borrowed */
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &item))
        if (!is_plain_text(key) || *PyUnicode_AsUTF8(key) == '$' || !is_plain_json(item, depth + 1))
            return false;
    return true;
}

/* Is JSON all that there is to the value? Only what is quickly seen to be plain counts: all else, such as
 * text that is not ASCII, is left to the frozen part, which takes time to load. */
static bool is_plain_json(PyObject *value, int depth)
{
    int overflow;
    if (value == Py_None || PyBool_Check(value))
        return true;
    if (PyFloat_CheckExact(value))
        return isfinite(PyFloat_AS_DOUBLE(value));
    if (PyLong_CheckExact(value))
        return PyLong_AsLongLongAndOverflow(value, &overflow) != -1 || !overflow;
    if (depth < PLAIN_DEPTH && PyList_CheckExact(value))
        return is_plain_list(value, depth);
    if (depth < PLAIN_DEPTH && PyDict_CheckExact(value))
        return is_plain_dict(value, depth);
    return is_plain_text(value);
}

/* Adds the form from which the Python package rebuilds the exact value, if plain JSON is not enough for
 * that. */
static void add_exact_form(PyObject *value, PyObject *forms, struct hc_report *report)
{
    if (is_plain_json(value, 0))
        return;
    hc_autopy *mime = hc_frozen_call("values", "tagged_mime", "()");
    hc_autopy *exact =
        mime ? hc_frozen_call("values", "tagged", "(On)", value, (Py_ssize_t)hc_report_value_room(report))
             : NULL;
    PyObject *node, *warning; /* borrowed from `exact` */
    if (!exact || !PyArg_ParseTuple(exact, "OO", &node, &warning))
        return;
    hc_report_warn_object(report, warning);
    if (node != Py_None)
        (void)PyDict_SetItem(forms, mime, node);
}

static void keep_value(PyObject *value, struct hc_report *report)
{
    hc_autopy *state = may_have_forms(value) ? hc_frozen_call("hooks", "drawing", "()") : NULL;
    hc_autopy *forms = state ? hc_frozen_call("value", "forms", "(OOsn)", value, state, OUTPUT,
                                              (Py_ssize_t)hc_report_value_room(report))
                             : PyDict_New();
    PyErr_Clear();
    if (forms && PyDict_Check(forms))
        add_exact_form(value, forms, report);
    PyErr_Clear();
    hc_report_value(report, value, forms && PyDict_Check(forms) ? forms : NULL);
}

void hc_results_gather(const struct hc_handover_job *job, PyObject *space, const struct hc_outcome *outcome,
                       struct hc_report *report)
{
    hc_deadline_within(WRITE_SECONDS);
    if (may_have_figures())
        keep_figures(space, outcome->value, report);
    keep_results(job, space, report);
    keep_returned(job, space, report);
    keep_displays(report);
    hc_deadline_within(SHOW_SECONDS);
    if (outcome->value)
        keep_value(outcome->value, report);
    hc_deadline_lift();
}
