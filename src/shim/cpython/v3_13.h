/* v3_13.h - defines the functions of cpython.h for CPython 3.13. */
#ifndef HC_SHIM_CPYTHON_V3_13_H
#define HC_SHIM_CPYTHON_V3_13_H

#include "shim/cpython/since_3_12.h"

#include <internal/pycore_backoff.h>
#include <internal/pycore_descrobject.h>
#include <internal/pycore_import.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_opcode_metadata.h>

static inline const hc_frame *hc_frame_top(PyThreadState *thread)
{
    return thread->current_frame;
}

static inline PyCodeObject *hc_frame_code(const hc_frame *f)
{
    return (PyCodeObject *)f->f_executable; /* a complete frame has code there */
}

static inline int hc_frame_at(const hc_frame *f)
{
    return (int)(f->instr_ptr - _PyCode_CODE(hc_frame_code(f)));
}

static inline void hc_code_set_counter(PyCodeObject *code, Py_ssize_t at, int value)
{
    _PyCode_CODE(code)[at].counter = make_backoff_counter((uint16_t)value, ADAPTIVE_WARMUP_BACKOFF);
}

/* This version ends a process that releases a lock which is not held. */
static inline void hc_fork_take_import_lock(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    interpreter->imports.lock = (_PyRecursiveMutex){0};
    _PyImport_AcquireLock(interpreter);
}

#endif
