/* since_3_12.h - defines those functions of cpython.h that are the same for CPython 3.12 and later ones. */
#ifndef HC_SHIM_CPYTHON_SINCE_3_12_H
#define HC_SHIM_CPYTHON_SINCE_3_12_H

#include <internal/pycore_intrinsics.h>
#include <internal/pycore_typeobject.h>

#define HC_HAS_TYPE_PARAMETERS 1
#define HC_HAS_IMMORTAL        1

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

#endif
