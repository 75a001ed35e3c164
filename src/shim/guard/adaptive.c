/* Code that has run often is adapted by the interpreter to what it finds: an attribute of a module is then
 * taken from where it was the last time, and reach.c is not asked. An instruction may be adapted the very
 * first time that it runs. Here each loads its attribute a few times in the ordinary way before. */
#define Py_BUILD_CORE
#include "shim/guard/guard.h"

#include <internal/pycore_code.h>
#include <internal/pycore_opcode.h>
#include <opcode.h>

/* Not the same number for all, which a program could count. */
static uint16_t times(Py_ssize_t at)
{
    return adaptive_counter_bits(8 + (int)(((uintptr_t)at * 2654435761u >> 7) % 16), ADAPTIVE_BACKOFF_START);
}

static void put_off(PyCodeObject *code)
{
    _Py_CODEUNIT *all = _PyCode_CODE(code);
    for (Py_ssize_t i = 0; i < Py_SIZE(code); i++) {
        int op = _Py_OPCODE(all[i]);
        if (op == LOAD_ATTR || op == LOAD_METHOD)
            all[i + 1] = times(i); /* the counter comes first in what follows the instruction */
        i += _PyOpcode_Caches[_PyOpcode_Deopt[op]];
    }
}

void hc_guard_compiled(PyObject *code)
{
    if (!hc_guard.on || !code || !PyCode_Check(code))
        return;
    put_off((PyCodeObject *)code);
    PyObject *inner = ((PyCodeObject *)code)->co_consts; /* borrowed */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inner); i++)
        if (PyCode_Check(PyTuple_GET_ITEM(inner, i)))
            hc_guard_compiled(PyTuple_GET_ITEM(inner, i));
}
