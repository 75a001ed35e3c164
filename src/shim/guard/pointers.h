/* pointers.h - keeps the program from turning numbers into addresses. Functions of libpython do this for C
 * code: numpy reads each item of an __array_interface__ by one of two, ctypes and others turn an int into a
 * pointer by a third. The guard defines these functions itself (the Makefile makes libpython's own weak).
 * So it does not matter how the program came by an object. */
#ifndef HC_SHIM_GUARD_POINTERS_H
#define HC_SHIM_GUARD_POINTERS_H

#include "shim/harness/py.h"

/* Has these functions check their callers from now on. */
void hc_pointers_guard(void);

/* Refuses to make objects of `type`, one of _ctypes', and of its subclasses for the program, as such an
 * object could point to any memory. */
void hc_pointers_watch(PyObject *type);

#endif
