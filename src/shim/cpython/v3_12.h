/* v3_12.h - defines the functions of cpython.h for CPython 3.12. */
#ifndef HC_SHIM_CPYTHON_V3_12_H
#define HC_SHIM_CPYTHON_V3_12_H

#include "shim/cpython/since_3_12.h"

#include <internal/pycore_opcode.h>

static inline const hc_frame *hc_frame_top(PyThreadState *thread)
{
    return thread->cframe->current_frame;
}

static inline PyCodeObject *hc_frame_code(const hc_frame *f)
{
    return f->f_code;
}

static inline int hc_frame_at(const hc_frame *f)
{
    return _PyInterpreterFrame_LASTI(f);
}

static inline void hc_code_set_counter(PyCodeObject *code, Py_ssize_t at, int value)
{
    _PyCode_CODE(code)[at].cache = adaptive_counter_bits((uint16_t)value, ADAPTIVE_WARMUP_BACKOFF);
}

static inline void hc_fork_take_import_lock(void)
{
    /* PyOS_AfterFork_Child makes the lock anew, and releases only one that is held */
}

#endif
