/* v3_11.h - defines the functions of cpython.h for CPython 3.11. */
#ifndef HC_SHIM_CPYTHON_V3_11_H
#define HC_SHIM_CPYTHON_V3_11_H

#include <internal/pycore_opcode.h>

#define HC_HAS_TYPE_PARAMETERS 0
#define HC_HAS_IMMORTAL        0

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

static inline bool hc_op_loads_attribute(int op)
{
    return op == LOAD_ATTR || op == LOAD_METHOD;
}

static inline int hc_op_attribute(int op, int arg)
{
    return hc_op_loads_attribute(op) || op == IMPORT_FROM ? arg : -1;
}

static inline bool hc_op_imports_all(int op, int arg)
{
    (void)arg;
    return op == IMPORT_STAR;
}

static inline void hc_code_set_counter(PyCodeObject *code, Py_ssize_t at, int value)
{
    _PyCode_CODE(code)[at] = adaptive_counter_bits(value, ADAPTIVE_BACKOFF_START);
}

static inline PyObject *hc_type_dict(PyTypeObject *type)
{
    return type->tp_dict;
}

static inline uint64_t hc_dict_tag(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_version_tag;
}

static inline void hc_fork_take_import_lock(void)
{
    /* PyOS_AfterFork_Child makes the lock anew, and releases only one that is held */
}

#endif
