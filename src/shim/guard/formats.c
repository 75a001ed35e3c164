#include "shim/cpython/cpython.h"

#include "shim/guard/formats.h"

#include "shim/guard/attributes.h"
#include "shim/guard/frames.h"

static PyCFunctionWithKeywords plain_format; /* the real str.format */
static PyCFunction plain_format_map;         /* the real str.format_map */

/* Checks the attributes of a field, which are the names behind dots outside of brackets. `field` is the text
 * that follows the brace. */
static int judge_field(const char *field)
{
    for (const char *at = field; *at && !strchr("{}!:", *at);) {
        if (*at == '[') {
            at += strcspn(at, "]");
            continue;
        }
        if (*at++ != '.')
            continue;
        size_t len = strcspn(at, ".[{}!:");
        hc_autopy *name = PyUnicode_DecodeUTF8(at, (Py_ssize_t)len, "replace");
        if (!name || hc_attribute_judge(name) < 0)
            return -1;
        at += len;
    }
    return 0;
}

/* The text as bytes without NULs, as a NUL or a lone surrogate, which format() takes like any other
 * character, must not hide the fields behind it. New reference; NULL with an exception set. */
static PyObject *plain_bytes(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"); /* new: may be changed */
    for (Py_ssize_t i = 0; bytes && i < PyBytes_GET_SIZE(bytes); i++)
        if (!PyBytes_AS_STRING(bytes)[i])
            PyBytes_AS_STRING(bytes)[i] = ' ';
    return bytes;
}

/* Checks all fields of a format string, also those within a field's format. */
static int judge_text(PyObject *text)
{
    hc_autopy *bytes = plain_bytes(text);
    if (!bytes)
        return -1;
    for (const char *at = PyBytes_AS_STRING(bytes); (at = strchr(at, '{'));) {
        at++;
        if (*at == '{')
            at++;
        else if (judge_field(at) < 0)
            return -1;
    }
    return 0;
}

/* Can the text name an attribute: is there a dot before something other than a digit? Most formats of
 * libraries are "{:.2f}" and the like. */
static bool may_name_attribute(PyObject *text)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    Py_ssize_t at = -1;
    while ((at = PyUnicode_FindChar(text, '.', at + 1, size, 1)) >= 0)
        if (at + 1 < size && !Py_UNICODE_ISDIGIT(PyUnicode_READ_CHAR(text, at + 1)))
            return true;
    return false;
}

/* Does the program format, or a library with a text that is not in its own code? A program can have a library
 * do so with its text. */
static bool is_for_guest(PyObject *text)
{
    if (hc_caller_is_guest(NULL))
        return true;
    return may_name_attribute(text) && hc_caller_is_library() && !hc_caller_has_constant(text);
}

static PyObject *format(PyObject *self, PyObject *args, PyObject *named)
{
    return is_for_guest(self) && judge_text(self) < 0 ? NULL : plain_format(self, args, named);
}

static PyObject *format_map(PyObject *self, PyObject *mapping)
{
    return is_for_guest(self) && judge_text(self) < 0 ? NULL : plain_format_map(self, mapping);
}

/* The C function behind a method of str; NULL with an exception set. */
static PyCFunction method_of_str(const char *name)
{
    PyObject *method = PyDict_GetItemString(hc_type_dict(&PyUnicode_Type), name); /* borrowed */
    if (method && Py_IS_TYPE(method, &PyMethodDescr_Type))
        return ((PyMethodDescrObject *)method)->d_method->ml_meth;
    PyErr_Format(PyExc_SystemError, "str.%s is no method", name);
    return NULL;
}

static int replace_method(PyMethodDef *method)
{
    hc_autopy *descriptor = PyDescr_NewMethod(&PyUnicode_Type, method);
    return descriptor ? PyDict_SetItemString(hc_type_dict(&PyUnicode_Type), method->ml_name, descriptor) : -1;
}

int hc_formats_guard(void)
{
    static PyMethodDef methods[] = {
        {"format", (PyCFunction)(void (*)(void))format, METH_VARARGS | METH_KEYWORDS,
         "S.format(*args, **kwargs) -> str"},
        {"format_map", format_map, METH_O, "S.format_map(mapping) -> str"},
    };
    plain_format = (PyCFunctionWithKeywords)(void (*)(void))method_of_str("format");
    plain_format_map = method_of_str("format_map");
    if (!plain_format || !plain_format_map || replace_method(&methods[0]) < 0 ||
        replace_method(&methods[1]) < 0)
        return -1;
    PyType_Modified(&PyUnicode_Type);
    return 0;
}
