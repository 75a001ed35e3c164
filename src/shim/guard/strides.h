/* strides.h - checks the dict __array_interface__, from which numpy makes an array over the memory that the
 * dict describes, without any check of its own; as_strided() works by it too. */
#ifndef HC_SHIM_GUARD_STRIDES_H
#define HC_SHIM_GUARD_STRIDES_H

#include "shim/harness/py.h"

/* 0 if numpy may use this dict: it describes no more than the bytes object that it holds; or as_strided()
 * calls, and it describes memory of as_strided()'s own array. Else -1 with PermissionError set. The memory
 * itself is not read. */
int hc_strides_judge(PyObject *interface);

#endif
