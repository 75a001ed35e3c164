/* The interpreter adapts instructions that have run often: it then takes an attribute of a module from where
 * it was the last time, and does not call reach.c. It may adapt an instruction when it runs for the first
 * time. This file makes each instruction load its attribute in the ordinary way a few times before. */
#include "shim/cpython/cpython.h"

#include "shim/guard/guard.h"

/* The start value of an instruction's counter. It differs between instructions, so that a program cannot
 * count. */
static int initial_counter(Py_ssize_t at)
{
    return 8 + (int)(((uintptr_t)at * 2654435761u >> 7) % 16);
}

static void delay_adaption(PyCodeObject *code)
{
    _Py_CODEUNIT *all = _PyCode_CODE(code);
    for (Py_ssize_t i = 0; i < Py_SIZE(code); i++) {
        int op = _PyOpcode_Deopt[_Py_OPCODE(all[i])];
        if (hc_op_loads_attribute(op))
            hc_code_set_counter(code, i + 1, initial_counter(i)); /* the first unit behind the instruction */
        i += _PyOpcode_Caches[op];
    }
}

void hc_guard_compiled(PyObject *code)
{
    if (!hc_guard.on || !code || !PyCode_Check(code))
        return;
    delay_adaption((PyCodeObject *)code);
    PyObject *inner = ((PyCodeObject *)code)->co_consts; /* borrowed */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inner); i++)
        if (PyCode_Check(PyTuple_GET_ITEM(inner, i)))
            hc_guard_compiled(PyTuple_GET_ITEM(inner, i));
}
