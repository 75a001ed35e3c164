#include "shim/cpython/cpython.h"

#include "shim/guard/reduces.h"

static PyObject *real_getattr, *own_getattr; /* owned: the built-in function, and the program's */

/* Types whose objects are reduced to a call of getattr, which they take from the caller's built-in names. */
static struct {
    PyTypeObject *type;
    PyCFunction plain; /* the type's own __reduce__; NULL: unchanged */
} reduced[] = {
    {&PyMethod_Type, NULL},       {&PyCFunction_Type, NULL},      {&PyMethodDescr_Type, NULL},
    {&PyGetSetDescr_Type, NULL},  {&PyMemberDescr_Type, NULL},    {&PyClassMethodDescr_Type, NULL},
    {&PyWrapperDescr_Type, NULL}, {&_PyMethodWrapper_Type, NULL},
};
#define REDUCED (sizeof reduced / sizeof *reduced)

/* Replaces the program's getattr in `result`, which is "name" or (getattr, arguments), by the real one.
 * Consumes `result`. */
static PyObject *with_real(PyObject *result)
{
    hc_autopy *held = result;
    bool own = held && PyTuple_Check(held) && PyTuple_GET_SIZE(held) == 2 &&
               PyTuple_GET_ITEM(held, 0) == own_getattr;
    return own ? PyTuple_Pack(2, real_getattr, PyTuple_GET_ITEM(held, 1)) : hc_py_take(&held);
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    for (size_t i = 0; i < REDUCED; i++)
        if (PyObject_TypeCheck(self, reduced[i].type))
            return with_real(reduced[i].plain(self, unused));
    PyErr_SetString(PyExc_TypeError, "cannot pickle this object");
    return NULL;
}

int hc_reduces_guard(PyObject *names)
{
    static PyMethodDef method = {"__reduce__", reduce, METH_NOARGS, NULL};
    real_getattr = Py_XNewRef(PyDict_GetItemString(PyEval_GetBuiltins(), "getattr"));
    own_getattr = Py_XNewRef(PyDict_GetItemString(names, "getattr"));
    if (!real_getattr || !own_getattr || real_getattr == own_getattr)
        return 0;
    for (size_t i = 0; i < REDUCED; i++) {
        PyObject *plain = PyDict_GetItemString(hc_type_dict(reduced[i].type), method.ml_name); /* borrowed */
        if (!plain || !Py_IS_TYPE(plain, &PyMethodDescr_Type))
            continue;
        reduced[i].plain = ((PyMethodDescrObject *)plain)->d_method->ml_meth;
        hc_autopy *instead = PyDescr_NewMethod(reduced[i].type, &method);
        if (!instead || PyDict_SetItemString(hc_type_dict(reduced[i].type), method.ml_name, instead) < 0)
            return -1;
        PyType_Modified(reduced[i].type);
    }
    return 0;
}
