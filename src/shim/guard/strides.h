/* strides.h - numpy's as_strided() makes an array of whatever memory its caller describes. */
#ifndef HC_SHIM_GUARD_STRIDES_H
#define HC_SHIM_GUARD_STRIDES_H

#include "shim/harness/py.h"

/* 0 if all of `view`, as as_strided() made it, is memory of the array that it is a view of; else -1 with
 * PermissionError set. Nothing of the view is read. */
int hc_strides_judge(PyObject *view);

#endif
