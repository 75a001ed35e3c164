#include "shim/harness/value.h"

#include "shim/harness/outcome.h"

/* Keys, quotes, commas and braces of a bundle. */
#define FRAME_BYTES 64

/* "<unprintable Name object: ValueError: text>" for the exception that is set. New reference or NULL. */
static PyObject *unprintable(PyObject *value)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    hc_autopy *what = hc_type_name(value);
    hc_autopy *why = hc_type_name(error);
    hc_autopy *text = hc_safe_str(error);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    if (!what || !why || !text)
        return NULL;
    return PyUnicode_FromFormat("<unprintable %U object: %U: %U>", what, why, text);
}

static PyObject *plain_text(PyObject *value)
{
    PyObject *text = PyObject_Repr(value);
    if (!text)
        text = unprintable(value);
    PyErr_Clear();
    return text;
}

/* Looked up on the type, as the interpreter does with special methods. */
static bool type_has(PyObject *value, const char *method)
{
    hc_autopy *found = PyObject_GetAttrString((PyObject *)Py_TYPE(value), method);
    PyErr_Clear();
    return found != NULL;
}

/* New reference; NULL (no exception) for what has no HTML form. Plotly figures have one that holds all of
 * plotly.js, and are kept as JSON files anyway. */
static PyObject *html_text(PyObject *value)
{
    if (PyType_Check(value) || !type_has(value, "_repr_html_") || type_has(value, "to_plotly_json"))
        return NULL;
    PyObject *html = PyObject_CallMethod(value, "_repr_html_", NULL);
    PyErr_Clear();
    if (html && !PyUnicode_Check(html))
        Py_CLEAR(html);
    return html;
}

/* Append ,"type":content if it fits. */
static bool add_whole(struct hc_buf *out, size_t end, const char *type, const struct hc_buf *content)
{
    size_t need = content->len + strlen(type) + 4;
    if (content->failed || out->len + need > end)
        return false;
    (void)hc_buf_fmt(out, ",\"%s\":", type);
    return hc_buf_add(out, content->data, content->len) == 0;
}

unsigned hc_value_bundle(struct hc_buf *out, PyObject *value, size_t budget)
{
    unsigned missing = 0;
    size_t end = out->len + budget - 1; /* room for the closing brace */
    hc_autopy *text = plain_text(value);
    (void)hc_buf_str(out, "{\"text/plain\":");
    if (!text)
        (void)hc_buf_str(out, "\"\"");
    else if (!hc_json_str(out, text, (budget - FRAME_BYTES) / 2))
        missing |= HC_VALUE_CUT;

    hc_autobuf json = {.max = budget};
    bool is_json = hc_json_value(&json, value);
    if ((is_json || json.failed) && !add_whole(out, end, "application/json", &json))
        missing |= HC_VALUE_NO_JSON;

    hc_autopy *html = html_text(value);
    hc_autobuf table = {.max = budget};
    if (html && (!hc_json_str(&table, html, budget) || !add_whole(out, end, "text/html", &table)))
        missing |= HC_VALUE_NO_HTML;
    (void)hc_buf_str(out, "}");
    return missing;
}
