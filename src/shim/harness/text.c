#include "shim/harness/text.h"

#define MOST_VALUES 400000 /* most values of a whole report; the launcher takes 500000 */
/* Most lists and dicts within each other; json/json.h accepts 64, and a value stands within others. */
#define DEEPEST 48

/* Prints one character as JSON; returns the bytes used. */
static size_t escape(Py_UCS4 c, char *out, size_t size)
{
    static const char plain[] = "\"\\\n\t", letter[] = "\"\\nt";
    const char *at = c ? strchr(plain, c < 0x80 ? (int)c : 0x7f) : NULL;
    if (at)
        return (size_t)snprintf(out, size, "\\%c", letter[at - plain]);
    if (c >= 0x20 && c < 0x7f) {
        *out = (char)c;
        return 1;
    }
    if (c == 0 || (c >= 0xd800 && c <= 0xdfff))
        c = 0xfffd; /* a NUL or half a surrogate pair: JSON could express it, C strings and UTF-8 cannot */
    if (c <= 0xffff)
        return (size_t)snprintf(out, size, "\\u%04x", (unsigned)c);
    c -= 0x10000;
    return (size_t)snprintf(out, size, "\\u%04x\\u%04x", 0xd800u + (c >> 10), 0xdc00u + (c & 0x3ffu));
}

/* Appends characters from `at` on, at most `budget` bytes. Returns the index of the first one left out. */
static Py_ssize_t add_escaped(struct hc_buf *out, PyObject *str, Py_ssize_t at, size_t budget)
{
    int kind = PyUnicode_KIND(str);
    const void *data = PyUnicode_DATA(str);
    for (; at < PyUnicode_GET_LENGTH(str) && !out->failed; at++) {
        char text[16];
        size_t n = escape(PyUnicode_READ(kind, data, at), text, sizeof text);
        if (n > budget)
            break;
        budget -= n;
        (void)hc_buf_add(out, text, n);
    }
    return at;
}

/* The first character, not before `from`, from which on the rest fits into `budget` bytes. */
static Py_ssize_t tail_start(PyObject *str, Py_ssize_t from, size_t budget)
{
    Py_ssize_t at = PyUnicode_GET_LENGTH(str);
    for (; at > from; at--) {
        char text[16];
        size_t n = escape(PyUnicode_READ_CHAR(str, at - 1), text, sizeof text);
        if (n > budget)
            break;
        budget -= n;
    }
    return at;
}

bool hc_json_str(struct hc_buf *out, PyObject *str, size_t budget)
{
    if (budget < 2 || PyUnicode_READY(str) < 0)
        return PyErr_Clear(), false;
    (void)hc_buf_add(out, "\"", 1);
    bool whole = add_escaped(out, str, 0, budget - 2) == PyUnicode_GET_LENGTH(str);
    return hc_buf_add(out, "\"", 1) == 0 && whole;
}

void hc_json_ends(struct hc_buf *out, PyObject *str, size_t budget)
{
    static const char mark[] = "\\n[...]\\n";
    if (budget < sizeof mark + 2 || PyUnicode_READY(str) < 0)
        return PyErr_Clear(), (void)hc_buf_str(out, "\"\"");
    size_t room = budget - 2 - (sizeof mark - 1);
    if (tail_start(str, 0, budget - 2) == 0)
        return (void)hc_json_str(out, str, budget);
    (void)hc_buf_add(out, "\"", 1);
    Py_ssize_t head_end = add_escaped(out, str, 0, room / 4);
    (void)hc_buf_str(out, mark);
    (void)add_escaped(out, str, tail_start(str, head_end, room - room / 4), room);
    (void)hc_buf_add(out, "\"", 1);
}

bool hc_json_cstr(struct hc_buf *out, const char *utf8, size_t budget)
{
    hc_autopy *str = PyUnicode_DecodeUTF8(utf8, (Py_ssize_t)strlen(utf8), "replace");
    if (!str)
        return PyErr_Clear(), false;
    return hc_json_str(out, str, budget);
}

static bool add_value(struct hc_buf *out, PyObject *value, int depth);

static bool add_int(struct hc_buf *out, PyObject *value)
{
    /* More than 64 bits is JSON too, but hardly any reader keeps all its digits: "text/plain" has them. */
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow && hc_buf_fmt(out, "%lld", n) == 0;
}

static bool add_float(struct hc_buf *out, double x)
{
    if (!isfinite(x))
        return false;
    char *text = PyOS_double_to_string(x, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    bool ok = text && hc_buf_str(out, text) == 0;
    PyMem_Free(text);
    return ok;
}

static bool add_list(struct hc_buf *out, PyObject *list, int depth)
{
    (void)hc_buf_add(out, "[", 1);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (i)
            (void)hc_buf_add(out, ",", 1);
        hc_autopy *item = Py_NewRef(PyList_GET_ITEM(list, i));
        if (!add_value(out, item, depth + 1))
            return false;
    }
    return hc_buf_add(out, "]", 1) == 0;
}

/* Can the str be a key of the output? Characters that the output replaces are refused, as two different keys
 * could become the same. */
static bool is_key(PyObject *key)
{
    if (!PyUnicode_CheckExact(key) || PyUnicode_READY(key) < 0)
        return false;
    if (PyUnicode_IS_ASCII(key))
        return PyUnicode_FindChar(key, 0, 0, PyUnicode_GET_LENGTH(key), 1) == -1;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(key); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(key, i);
        if (c == 0 || (c >= 0xd800 && c <= 0xdfff))
            return false;
    }
    return true;
}

static bool add_dict(struct hc_buf *out, PyObject *dict, int depth)
{
    PyObject *key, *item; /* borrowed */
    Py_ssize_t at = 0;
    Py_ssize_t size = PyDict_GET_SIZE(dict);
    bool first = true;
    (void)hc_buf_add(out, "{", 1);
    while (PyDict_Next(dict, &at, &key, &item)) {
        if (!is_key(key))
            return false;
        if (!first)
            (void)hc_buf_add(out, ",", 1);
        first = false;
        hc_autopy *held = Py_NewRef(item);
        if (!hc_json_str(out, key, SIZE_MAX) || hc_buf_add(out, ":", 1) < 0 ||
            !add_value(out, held, depth + 1))
            return false;
        if (PyDict_GET_SIZE(dict) != size)
            return false; /* another thread changes the dict */
    }
    return hc_buf_add(out, "}", 1) == 0;
}

/* numpy's scalars are what most computed values are; item() gives the plain Python object. */
static bool add_numpy_scalar(struct hc_buf *out, PyObject *value)
{
    const char *type = Py_TYPE(value)->tp_name;
    if (strncmp(type, "numpy.", 6) != 0 || strcmp(type, "numpy.ndarray") == 0)
        return false;
    hc_autopy *plain = PyObject_CallMethod(value, "item", NULL);
    if (!plain) {
        PyErr_Clear();
        return false;
    }
    bool simple = PyBool_Check(plain) || PyLong_CheckExact(plain) || PyFloat_CheckExact(plain);
    return simple && add_value(out, plain, DEEPEST);
}

static bool add_value(struct hc_buf *out, PyObject *value, int depth)
{
    static size_t count;
    if (depth > DEEPEST || out->failed || ++count > MOST_VALUES)
        return false;
    if (value == Py_None)
        return hc_buf_str(out, "null") == 0;
    if (PyBool_Check(value))
        return hc_buf_str(out, value == Py_True ? "true" : "false") == 0;
    if (PyLong_Check(value))
        return add_int(out, value);
    if (PyFloat_Check(value))
        return add_float(out, PyFloat_AS_DOUBLE(value));
    if (PyUnicode_Check(value))
        return hc_json_str(out, value, SIZE_MAX);
    if (PyList_Check(value))
        return add_list(out, value, depth);
    if (PyDict_Check(value))
        return add_dict(out, value, depth);
    return add_numpy_scalar(out, value);
}

bool hc_json_value(struct hc_buf *out, PyObject *value)
{
    bool ok = add_value(out, value, 0) && !out->failed;
    if (PyErr_Occurred())
        PyErr_Clear();
    return ok;
}
