#include "shim/harness/report.h"

#include "base/units.h"
#include "manifest/report.h"
#include "shim/harness/value.h"
#include "shim/harness/wire.h"
#include "shim/harness/words.h"
#include "wire/handover.h"

/* Bytes of the keys and punctuation of the whole report. */
#define FRAME_BYTES 256
/* Bytes of the keys, numbers and punctuation of the error. */
#define ERROR_KEYS 192

/* A 1/`part` of the report's bytes. Even in a small report an error and the figures must have room. */
static size_t share(const struct hc_report *r, size_t part)
{
    return r->max / part;
}

void hc_report_finish(struct hc_report *r)
{
    struct hc_buf *const all[] = {&r->error, &r->value,   &r->figures,  &r->columns,  &r->warnings,
                                  &r->kinds, &r->results, &r->returned, &r->displays, NULL};
    for (struct hc_buf *const *buf = all; *buf; buf++)
        hc_buf_finish(*buf);
}

size_t hc_report_room(const struct hc_report *r)
{
    return share(r, 8);
}

static PyObject *of_inputs; /* owned: a list of warnings for the next report; NULL: none */

void hc_report_warn_of_input(PyObject *text)
{
    if (!of_inputs)
        of_inputs = PyList_New(0);
    if (!of_inputs || PyList_Append(of_inputs, text) < 0)
        PyErr_Clear();
}

/* Appends an item to a comma-separated list. false: it does not fit, and the list is unchanged. */
static bool add_item(struct hc_buf *list, const struct hc_buf *item)
{
    if (item->failed || list->len + item->len + 1 > list->max)
        return false;
    if (list->len)
        (void)hc_buf_add(list, ",", 1);
    return hc_buf_add(list, item->data, item->len) == 0;
}

/* Adds a warning, a JSON text, and its kind, HC_WARNING_INPUT or HC_WARNING_REPORT. The kinds share the room
 * of the warnings. */
static void add_warning(struct hc_report *r, const struct hc_buf *text, const char *kind)
{
    const size_t kinds = r->kinds.len + strlen(kind) + strlen(",\"\"");
    if (r->warnings.len + text->len + 1 + kinds > r->warnings.max || !add_item(&r->warnings, text))
        return;
    (void)hc_buf_fmt(&r->kinds, "%s\"%s\"", r->kinds.len ? "," : "", kind);
}

static void warn_str(struct hc_report *r, PyObject *text, const char *kind)
{
    hc_autobuf item = {0};
    (void)hc_json_str(&item, text, 1024);
    add_warning(r, &item, kind);
}

void hc_report_init(struct hc_report *r, size_t max)
{
    *r = (struct hc_report){.max = max < 4096 ? 4096 : max};
    r->error.max = share(r, 4);
    r->figures.max = r->columns.max = r->warnings.max = share(r, 8);
    r->results.max = r->returned.max = hc_report_room(r);
    for (Py_ssize_t i = 0; of_inputs && i < PyList_GET_SIZE(of_inputs); i++)
        warn_str(r, PyList_GET_ITEM(of_inputs, i), HC_WARNING_INPUT);
    Py_CLEAR(of_inputs);
}

void hc_report_warn(struct hc_report *r, const char *text)
{
    hc_autobuf item = {0};
    (void)hc_json_cstr(&item, text, 1024);
    add_warning(r, &item, HC_WARNING_REPORT);
}

static void add_place(struct hc_buf *out, const char *key, int n)
{
    (void)(n > 0 ? hc_buf_fmt(out, ",\"%s\":%d", key, n) : hc_buf_fmt(out, ",\"%s\":null", key));
}

/* Appends ,"classes":[...] if the names fit into `room` bytes. */
static void add_classes(struct hc_buf *out, PyObject *names, size_t room)
{
    hc_autobuf text = {.max = room};
    if (!names || !hc_json_value(&text, names) || text.failed)
        return;
    (void)hc_buf_str(out, ",\"classes\":");
    (void)hc_buf_add(out, text.data, text.len);
}

void hc_report_error(struct hc_report *r, const struct hc_outcome *outcome)
{
    if (!outcome->error_type || !outcome->error_message || !outcome->error_trace)
        return;
    size_t room = r->error.max - ERROR_KEYS;
    (void)hc_buf_str(&r->error, "{\"type\":");
    (void)hc_json_str(&r->error, outcome->error_type, room / 16);
    add_classes(&r->error, outcome->error_classes, room / 16);
    (void)hc_buf_str(&r->error, ",\"message\":");
    (void)hc_json_str(&r->error, outcome->error_message, room / 4);
    (void)hc_buf_str(&r->error, ",\"traceback\":");
    hc_json_ends(&r->error, outcome->error_trace, room / 2);
    add_place(&r->error, "line", outcome->line);
    add_place(&r->error, "column", outcome->column);
    add_place(&r->error, "end_column", outcome->end_column);
    (void)hc_buf_str(&r->error, ",\"hint\":");
    if (outcome->error_hint)
        (void)hc_json_str(&r->error, outcome->error_hint, room / 8);
    else
        (void)hc_buf_str(&r->error, "null");
    (void)hc_buf_str(&r->error, "}");
}

void hc_report_columns(struct hc_report *r, PyObject *columns)
{
    if (hc_json_value(&r->columns, columns))
        return;
    hc_buf_clear(&r->columns);
    hc_report_warn(r, "The names of the inputs' columns are too long to be listed.");
}

/* Appends ,"chart":... to a figure. false: it does not fit into `room` bytes, or is no JSON; `out` is
 * unchanged. */
static bool add_chart(struct hc_buf *out, PyObject *chart, size_t room)
{
    hc_autobuf text = {.max = room};
    if (!PyDict_Check(chart) || !hc_json_value(&text, chart) || text.failed)
        return false;
    (void)hc_buf_str(out, ",\"chart\":");
    return hc_buf_add(out, text.data, text.len) == 0;
}

/* Prints one figure, a tuple (path, MIME type, kind, data of its chart or None), as a JSON object; the data
 * may take `room` bytes. false: it is not such a tuple. */
static bool figure_object(struct hc_report *r, struct hc_buf *out, PyObject *figure, size_t room)
{
    static const char *const keys[] = {"{\"path\":", ",\"mime\":", ",\"kind\":"};
    if (!PyTuple_Check(figure) || PyTuple_GET_SIZE(figure) != 4)
        return false;
    for (Py_ssize_t i = 0; i < 3; i++) {
        PyObject *text = PyTuple_GET_ITEM(figure, i); /* borrowed */
        if (!PyUnicode_Check(text))
            return false;
        (void)hc_buf_str(out, keys[i]);
        (void)hc_json_str(out, text, 256);
    }
    PyObject *chart = PyTuple_GET_ITEM(figure, 3); /* borrowed */
    if (chart != Py_None && !add_chart(out, chart, room))
        hc_report_warn(r, "The data of a chart was left out: it is too large.");
    return hc_buf_str(out, "}") == 0;
}

static void warn_all(struct hc_report *r, PyObject *warnings)
{
    for (Py_ssize_t i = 0; PyList_Check(warnings) && i < PyList_GET_SIZE(warnings); i++)
        if (PyUnicode_Check(PyList_GET_ITEM(warnings, i)))
            warn_str(r, PyList_GET_ITEM(warnings, i), HC_WARNING_REPORT);
}

void hc_report_figures(struct hc_report *r, PyObject *saved, PyObject *warnings)
{
    warn_all(r, warnings);
    for (Py_ssize_t i = 0; PyList_Check(saved) && i < PyList_GET_SIZE(saved); i++) {
        /* Half of the room is kept for the list itself. */
        const size_t half = r->figures.max / 2, left = r->figures.len < half ? half - r->figures.len : 1;
        hc_autobuf item = {0};
        if (figure_object(r, &item, PyList_GET_ITEM(saved, i), left) && add_item(&r->figures, &item))
            continue;
        hc_report_warn(r, "Not all figures could be listed.");
        return;
    }
}

void hc_report_results(struct hc_report *r, PyObject *results, PyObject *warnings)
{
    warn_all(r, warnings);
    if (!results || hc_json_value(&r->results, results))
        return;
    hc_buf_clear(&r->results);
    r->results.failed = false;
    hc_report_warn(r, "The results were left out: they are too large.");
}

/* Adds "name":{...}; the object has only an error if the variable's entry is too large. */
static void add_returned(struct hc_report *r, PyObject *name, PyObject *entry)
{
    hc_autobuf item = {.max = r->returned.max};
    (void)hc_json_str(&item, name, 512);
    (void)hc_buf_add(&item, ":", 1);
    if (hc_json_value(&item, entry) && add_item(&r->returned, &item))
        return;
    hc_autobuf instead = {0};
    (void)hc_json_str(&instead, name, 512);
    (void)hc_buf_str(&instead, ":{\"error\":\"too large to be listed, or no JSON\"}");
    if (!add_item(&r->returned, &instead))
        hc_report_warn(r, "Not all variables that were asked for could be listed.");
}

void hc_report_returned(struct hc_report *r, PyObject *returned, PyObject *warnings)
{
    warn_all(r, warnings);
    PyObject *name, *entry; /* borrowed */
    Py_ssize_t at = 0;
    while (PyDict_Check(returned) && PyDict_Next(returned, &at, &name, &entry))
        if (PyUnicode_Check(name))
            add_returned(r, name, entry);
}

size_t hc_report_value_room(const struct hc_report *r)
{
    return r->max - (FRAME_BYTES + r->error.len + r->figures.len + r->columns.len + r->warnings.max +
                     r->results.len + r->returned.len + r->displays.len);
}

/* Leaves the value's share of the report free. */
void hc_report_displays(struct hc_report *r, PyObject *displays, long left_out, PyObject *warnings)
{
    warn_all(r, warnings);
    const size_t room = hc_report_value_room(r);
    r->displays.max = room > share(r, 8) ? room - share(r, 8) : 0;
    for (Py_ssize_t i = 0; PyList_Check(displays) && i < PyList_GET_SIZE(displays); i++) {
        PyObject *display = PyList_GET_ITEM(displays, i); /* borrowed */
        hc_autobuf item = {0};
        const char *text = PyUnicode_Check(display) ? PyUnicode_AsUTF8(display) : NULL;
        if (!text || hc_buf_str(&item, text) < 0 || !add_item(&r->displays, &item))
            left_out++;
    }
    char text[80];
    (void)snprintf(text, sizeof text, "%ld displays were left out: there was no room for them.", left_out);
    if (left_out)
        hc_report_warn(r, text);
    PyErr_Clear();
}

void hc_report_warn_object(struct hc_report *r, PyObject *text)
{
    if (PyUnicode_Check(text))
        warn_str(r, text, HC_WARNING_REPORT);
}

/* Which limit a large value exceeds, and how to get such a value. New reference; NULL with an exception set.
 */
static PyObject *about_size(const struct hc_report *r)
{
    char size[32];
    (void)hc_format_size((int64_t)r->max, size, sizeof size);
    const char *returned = hc_words_interface()->returned;
    return returned ? PyUnicode_FromFormat("limits.value is %s. A variable comes back whole with %s.", size,
                                           returned)
                    : PyUnicode_FromFormat("limits.value is %s.", size);
}

static void warn_of_size(struct hc_report *r, PyObject *left_out)
{
    hc_autopy *limit = PyList_GET_SIZE(left_out) > 0 ? about_size(r) : NULL;
    for (Py_ssize_t i = 0; limit && i < PyList_GET_SIZE(left_out); i++) {
        hc_autopy *text = PyUnicode_FromFormat("The value as %S was left out: it is too large: %U",
                                               PyList_GET_ITEM(left_out, i), limit);
        if (text)
            warn_str(r, text, HC_WARNING_REPORT);
    }
}

void hc_report_value(struct hc_report *r, PyObject *value, PyObject *forms)
{
    hc_autopy *left_out = PyList_New(0);
    if (!left_out)
        return PyErr_Clear();
    hc_autopy *repr = hc_value_text(value, hc_report_value_room(r));
    if (!hc_value_bundle(&r->value, repr, value, forms, hc_report_value_room(r), left_out))
        hc_report_warn(r, "The text of the value was cut: it is too long.");
    warn_of_size(r, left_out);
    PyErr_Clear();
}

static const char *text_or(const struct hc_buf *b, const char *otherwise)
{
    return b->failed || !b->len ? otherwise : b->data;
}

int hc_report_send(struct hc_report *r, int status, struct hc_error *err)
{
    hc_autobuf out = {0};
    (void)hc_buf_fmt(&out, "{\"value\":%s,\"error\":%s,\"figures\":[%s],\"columns\":%s,\"warnings\":[%s]",
                     text_or(&r->value, "null"), text_or(&r->error, "null"), text_or(&r->figures, ""),
                     text_or(&r->columns, "{}"), text_or(&r->warnings, ""));
    if (r->kinds.len)
        (void)hc_buf_fmt(&out, ",\"warning_kinds\":[%s]", text_or(&r->kinds, ""));
    if (r->results.len)
        (void)hc_buf_fmt(&out, ",\"results\":%s", text_or(&r->results, "null"));
    if (r->returned.len)
        (void)hc_buf_fmt(&out, ",\"returned\":{%s}", text_or(&r->returned, ""));
    if (r->displays.len)
        (void)hc_buf_fmt(&out, ",\"displays\":[%s]", text_or(&r->displays, ""));
    (void)hc_buf_fmt(&out, ",\"exit\":%d,\"complete\":true}", status);
    if (out.failed)
        return hc_fail(err, 0, "report: out of memory");
    return hc_wire_send(HC_FD_CONTROL, HC_FRAME_REPORT, out.data, out.len, err);
}
