/* v3_13.h - CPython 3.13, for cpython.h. */
#ifndef HC_SHIM_CPYTHON_V3_13_H
#define HC_SHIM_CPYTHON_V3_13_H

#include <internal/pycore_backoff.h>
#include <internal/pycore_descrobject.h>
#include <internal/pycore_import.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_intrinsics.h>
#include <internal/pycore_opcode_metadata.h>
#include <internal/pycore_typeobject.h>

#define HC_HAS_TYPE_PARAMETERS 1

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

static inline bool hc_op_loads_attribute(int op)
{
    return op == LOAD_ATTR;
}

/* The lowest bits of LOAD_ATTR (1) and LOAD_SUPER_ATTR (2) say how the attribute is called. */
static inline int hc_op_attribute(int op, int arg)
{
    return op == LOAD_ATTR ? arg >> 1 : op == LOAD_SUPER_ATTR ? arg >> 2 : op == IMPORT_FROM ? arg : -1;
}

static inline bool hc_op_imports_all(int op, int arg)
{
    return op == CALL_INTRINSIC_1 && arg == INTRINSIC_IMPORT_STAR;
}

static inline void hc_code_set_counter(PyCodeObject *code, Py_ssize_t at, int value)
{
    _PyCode_CODE(code)[at].counter = make_backoff_counter((uint16_t)value, ADAPTIVE_WARMUP_BACKOFF);
}

static inline PyObject *hc_type_dict(PyTypeObject *type)
{
    return _PyType_GetDict(type); /* types of the interpreter have no tp_dict */
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the member is kept up to date until 3.13 */
static inline uint64_t hc_dict_tag(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_version_tag;
}
#pragma GCC diagnostic pop

/* To release a lock that is not held ends the process. */
static inline void hc_fork_take_import_lock(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    interpreter->imports.lock = (_PyRecursiveMutex){0};
    _PyImport_AcquireLock(interpreter);
}

#endif
