#include "shim/harness/value.h"

#include "shim/harness/frozen.h"
#include "shim/harness/outcome.h"

/* Bytes of the keys, quotes, commas and braces of a bundle. */
#define FRAME_BYTES 64

/* Bytes of a value's text that a large form in JSON must leave. */
#define LEAST_TEXT 1024

/* "<unprintable Name object: ValueError: text>" for the exception that is set, which is cleared. New
 * reference; NULL without memory. */
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

/* The first `count` items of a list, tuple, str or bytes object; another value as it is. The repr of a large
 * list takes long, and only its beginning is kept. New reference; NULL with an exception set. */
static PyObject *first_items(PyObject *value, Py_ssize_t count)
{
    if (PyList_CheckExact(value) && PyList_GET_SIZE(value) > count)
        return PyList_GetSlice(value, 0, count);
    if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) > count)
        return PyTuple_GetSlice(value, 0, count);
    if (PyUnicode_CheckExact(value) && PyUnicode_GET_LENGTH(value) > count)
        return PyUnicode_Substring(value, 0, count);
    if (PyBytes_CheckExact(value) && PyBytes_GET_SIZE(value) > count)
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(value), count);
    return Py_NewRef(value);
}

PyObject *hc_value_text(PyObject *value, size_t budget)
{
    hc_autopy *part = first_items(value, (Py_ssize_t)budget);
    PyObject *text = part ? PyObject_Repr(part) : NULL;
    if (!text)
        text = unprintable(value);
    PyErr_Clear();
    return text;
}

/* Appends ,"type":content if `out` stays within `end` bytes. */
static bool add_whole(struct hc_buf *out, size_t end, const char *type, const struct hc_buf *content)
{
    size_t need = content->len + strlen(type) + 4;
    if (content->failed || out->len + need > end)
        return false;
    (void)hc_buf_fmt(out, ",\"%s\":", type);
    return hc_buf_add(out, content->data, content->len) == 0;
}

/* Appends one form: `content` is a str, or for a JSON type an object that is printed as JSON. */
static bool add_form(struct hc_buf *out, size_t end, PyObject *mime, PyObject *content)
{
    const char *type = PyUnicode_Check(mime) ? PyUnicode_AsUTF8(mime) : NULL;
    size_t len = type ? strlen(type) : 0;
    bool is_json = len > 4 && strcmp(type + len - 4, "json") == 0;
    hc_autobuf text = {.max = end - out->len};
    bool whole = PyUnicode_Check(content) && !is_json ? hc_json_str(&text, content, SIZE_MAX)
                                                      : hc_json_value(&text, content);
    return type && whole && add_whole(out, end, type, &text);
}

static void add_forms(struct hc_buf *out, size_t end, PyObject *forms, bool has_json, PyObject *left_out)
{
    PyObject *mime, *content; /* borrowed */
    Py_ssize_t at = 0;
    while (PyDict_Next(forms, &at, &mime, &content)) {
        bool duplicate = has_json && PyUnicode_CompareWithASCIIString(mime, "application/json") == 0;
        if (!duplicate && !add_form(out, end, mime, content))
            (void)PyList_Append(left_out, mime);
        PyErr_Clear();
    }
}

/* The bytes that the text of a value may have: half of the budget, or less if the JSON then fits too. */
static size_t text_budget(size_t budget, size_t json)
{
    size_t half = (budget - FRAME_BYTES) / 2;
    bool fits = json + FRAME_BYTES + LEAST_TEXT <= budget;
    return fits && budget - FRAME_BYTES - json < half ? budget - FRAME_BYTES - json : half;
}

bool hc_value_bundle(struct hc_buf *out, PyObject *text, PyObject *value, PyObject *forms, size_t budget,
                     PyObject *left_out)
{
    size_t end = out->len + budget - 1; /* room for the closing brace */
    hc_autobuf json = {.max = budget};
    bool is_json = value != Py_None && hc_json_value(&json, value);
    (void)hc_buf_str(out, "{\"text/plain\":");
    bool whole = text && hc_json_str(out, text, text_budget(budget, is_json ? json.len : 0));
    if (!text)
        (void)hc_buf_str(out, "\"\"");

    if ((is_json || json.failed) && !add_whole(out, end, "application/json", &json)) {
        hc_autopy *mime = PyUnicode_FromString("application/json");
        (void)(mime ? PyList_Append(left_out, mime) : 0);
    }
    if (forms)
        add_forms(out, end, forms, is_json, left_out);
    (void)hc_buf_str(out, "}");
    return whole;
}

/* print_bundle(text, value, forms, room) -> (JSON text, list of MIME types left out, whether the text is
 * whole). Without a value, None, there are only `forms`. */
static PyObject *print_bundle(PyObject *self, PyObject *args)
{
    PyObject *text, *value, *forms; /* borrowed */
    Py_ssize_t room;
    (void)self;
    if (!PyArg_ParseTuple(args, "UOO!n", &text, &value, &PyDict_Type, &forms, &room))
        return NULL;
    hc_autobuf out = {0};
    hc_autopy *left_out = PyList_New(0);
    if (!left_out || room < 2 * FRAME_BYTES)
        return left_out ? PyErr_Format(PyExc_ValueError, "no room for a display") : NULL;
    bool whole = hc_value_bundle(&out, text, value, forms, (size_t)room, left_out);
    return out.failed
               ? PyErr_NoMemory()
               : Py_BuildValue("(s#OO)", out.data, (Py_ssize_t)out.len, left_out, whole ? Py_True : Py_False);
}

int hc_value_bind(void)
{
    static PyMethodDef functions[] = {{"print_bundle", print_bundle, METH_VARARGS, NULL}, {0}};
    return hc_frozen_add(functions);
}
