#include "shim/guard/guard.h"

#include "shim/guard/audit.h"
#include "shim/guard/builtins.h"
#include "shim/guard/denial.h"
#include "shim/guard/frames.h"
#include "shim/guard/imports.h"
#include "shim/guard/modules.h"
#include "shim/guard/origin.h"
#include "shim/guard/pointers.h"
#include "shim/guard/reach.h"
#include "shim/guard/reduces.h"
#include "shim/harness/frozen.h"

int hc_guard_prepare(void)
{
    if (!hc_guard.on)
        return 0;
    return hc_audit_prepare() < 0 || hc_origin_prepare() < 0 ? -1 : 0;
}

/* Sets __loader__ of the main module to None, if the policy denies the attribute. */
static int hide_loader(PyObject *space)
{
    return hc_guard_attribute_denied("__loader__") ? PyDict_SetItemString(space, "__loader__", Py_None) : 0;
}

/* may_import(name): does the policy let the program import this module? For the harness's advice. */
static PyObject *may_import(PyObject *self, PyObject *name)
{
    (void)self;
    const char *dotted = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    return PyBool_FromLong(dotted && !hc_guard_import_refusal(dotted, false));
}

/* called_by_program(): does the program, and no library, call the code that asks? For a policy's own code. */
static PyObject *called_by_program(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyBool_FromLong(hc_called_by_guest());
}

/* Has calls of native functions judged, if the policy declares some. */
static int watch_natives(void)
{
    const struct hc_names *natives = &hc_guard.audit.natives;
    if (!natives->given)
        return 0;
    hc_autopy *names = PyTuple_New((Py_ssize_t)natives->count);
    for (size_t i = 0; names && i < natives->count; i++) {
        PyObject *name = PyUnicode_FromString(natives->items[i]);
        if (!name)
            return -1;
        PyTuple_SET_ITEM(names, (Py_ssize_t)i, name); /* steals it */
    }
    hc_autopy *done = names ? hc_frozen_call("calls", "declare", "(O)", names) : NULL;
    return done ? 0 : -1;
}

int hc_guard_install(PyObject *space)
{
    static PyMethodDef functions[] = {{"may_import", may_import, METH_O, NULL},
                                      {"called_by_program", called_by_program, METH_NOARGS, NULL},
                                      {0}};
    if (hc_frozen_add(functions) < 0)
        return -1;
    if (!hc_guard.on)
        return 0;
    hc_autopy *module = hc_builtins_make(space);
    PyObject *names = module ? PyModule_GetDict(module) : NULL; /* borrowed */
    if (!names || hc_imports_prepare(module) < 0 || PyDict_SetItemString(space, "__builtins__", names) < 0)
        return -1;
    if (hide_loader(space) < 0 || hc_modules_guard() < 0 || hc_origin_guard() < 0 ||
        hc_reach_guard(module) < 0 || hc_reduces_guard(names) < 0 || watch_natives() < 0)
        return -1;
    hc_pointers_guard();
    hc_audit_watch();
    return 0;
}

void hc_guard_begin(void)
{
    if (hc_guard.on)
        hc_denials_begin();
}

void hc_guard_learn(const struct hc_findings *found)
{
    for (size_t i = 0; hc_guard.learn && i < found->count; i++)
        if (!found->items[i].warning)
            hc_denial_note(HC_DENIAL_RUNTIME, found->items[i].rule, found->items[i].what, NULL);
}

void hc_guard_release(void)
{
    hc_denials_end();
}
