/* strides.h - memory that an array is made of because a dict says so: numpy's __array_interface__, by which
 * as_strided() works too. numpy believes every word of it. */
#ifndef HC_SHIM_GUARD_STRIDES_H
#define HC_SHIM_GUARD_STRIDES_H

#include "shim/harness/py.h"

/* 0 if numpy may read this dict: it tells of bytes that it holds, all of them or fewer; or as_strided() asks,
 * and it tells of memory of the array that as_strided() was given. Else -1 with PermissionError set. Nothing
 * of the memory is read. */
int hc_strides_judge(PyObject *interface);

#endif
