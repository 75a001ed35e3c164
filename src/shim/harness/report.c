#include "shim/harness/report.h"

#include "shim/harness/value.h"
#include "shim/harness/wire.h"
#include "spec/handover.h"

/* Keys and punctuation of the whole object. */
#define FRAME_BYTES 192

/* Shares of the whole. A small budget must still name an error and the figures. */
static size_t share(const struct hc_report *r, size_t part)
{
    return r->max / part;
}

void hc_report_init(struct hc_report *r, size_t max)
{
    *r = (struct hc_report){.max = max < 4096 ? 4096 : max};
    r->error.max = share(r, 4);
    r->figures.max = r->columns.max = r->warnings.max = share(r, 8);
}

/* Append one more item to a comma-separated list; undo it if it does not fit. */
static bool add_item(struct hc_buf *list, const struct hc_buf *item)
{
    if (item->failed || list->len + item->len + 1 > list->max)
        return false;
    if (list->len)
        (void)hc_buf_add(list, ",", 1);
    return hc_buf_add(list, item->data, item->len) == 0;
}

static void warn_str(struct hc_report *r, PyObject *text)
{
    hc_autobuf item = {0};
    (void)hc_json_str(&item, text, 1024);
    (void)add_item(&r->warnings, &item);
}

void hc_report_warn(struct hc_report *r, const char *text)
{
    hc_autobuf item = {0};
    (void)hc_json_cstr(&item, text, 1024);
    (void)add_item(&r->warnings, &item);
}

void hc_report_error(struct hc_report *r, const struct hc_outcome *outcome)
{
    if (!outcome->error_type || !outcome->error_message || !outcome->error_trace)
        return;
    size_t room = r->error.max - 64;
    (void)hc_buf_str(&r->error, "{\"type\":");
    (void)hc_json_str(&r->error, outcome->error_type, room / 8);
    (void)hc_buf_str(&r->error, ",\"message\":");
    (void)hc_json_str(&r->error, outcome->error_message, room / 4);
    (void)hc_buf_str(&r->error, ",\"traceback\":");
    hc_json_ends(&r->error, outcome->error_trace, room / 2);
    (void)hc_buf_str(&r->error, "}");
}

void hc_report_columns(struct hc_report *r, PyObject *columns)
{
    if (hc_json_value(&r->columns, columns))
        return;
    hc_buf_clear(&r->columns);
    hc_report_warn(r, "The names of the inputs' columns are too long to be listed.");
}

/* One saved figure as an object; false if it is not what it should be. */
static bool figure_object(struct hc_buf *out, PyObject *figure)
{
    static const char *const keys[] = {"{\"path\":", ",\"mime\":", ",\"kind\":"};
    if (!PyTuple_Check(figure) || PyTuple_GET_SIZE(figure) != 3)
        return false;
    for (Py_ssize_t i = 0; i < 3; i++) {
        PyObject *text = PyTuple_GET_ITEM(figure, i); /* borrowed */
        if (!PyUnicode_Check(text))
            return false;
        (void)hc_buf_str(out, keys[i]);
        (void)hc_json_str(out, text, 256);
    }
    return hc_buf_str(out, "}") == 0;
}

void hc_report_figures(struct hc_report *r, PyObject *saved, PyObject *warnings)
{
    for (Py_ssize_t i = 0; PyList_Check(warnings) && i < PyList_GET_SIZE(warnings); i++)
        if (PyUnicode_Check(PyList_GET_ITEM(warnings, i)))
            warn_str(r, PyList_GET_ITEM(warnings, i));
    for (Py_ssize_t i = 0; PyList_Check(saved) && i < PyList_GET_SIZE(saved); i++) {
        hc_autobuf item = {0};
        if (figure_object(&item, PyList_GET_ITEM(saved, i)) && add_item(&r->figures, &item))
            continue;
        hc_report_warn(r, "Not all figures could be listed.");
        return;
    }
}

void hc_report_value(struct hc_report *r, PyObject *value)
{
    static const struct {
        unsigned bit;
        const char *warning;
    } lacks[] = {
        {HC_VALUE_CUT, "The text of the value was cut: it is too long."},
        {HC_VALUE_NO_JSON, "The value as JSON was left out: it is too large."},
        {HC_VALUE_NO_HTML, "The value as HTML was left out: it is too large."},
    };
    size_t taken = FRAME_BYTES + r->error.len + r->figures.len + r->columns.len + r->warnings.max;
    unsigned missing = hc_value_bundle(&r->value, value, r->max - taken);
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (missing & lacks[i].bit)
            hc_report_warn(r, lacks[i].warning);
}

static const char *or_else(const struct hc_buf *b, const char *otherwise)
{
    return b->failed || !b->len ? otherwise : b->data;
}

int hc_report_send(struct hc_report *r, int status, struct hc_error *err)
{
    hc_autobuf out = {0};
    (void)hc_buf_fmt(&out, "{\"value\":%s,\"error\":%s,\"figures\":[%s],\"columns\":%s,\"warnings\":[%s]",
                     or_else(&r->value, "null"), or_else(&r->error, "null"), or_else(&r->figures, ""),
                     or_else(&r->columns, "{}"), or_else(&r->warnings, ""));
    (void)hc_buf_fmt(&out, ",\"exit\":%d,\"complete\":true}", status);
    if (out.failed)
        return hc_fail(err, 0, "report: out of memory");
    return hc_wire_send(HC_FD_CONTROL, HC_FRAME_REPORT, out.data, out.len, err);
}
