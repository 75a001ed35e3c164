/* pointers.h - numbers that become addresses. Two functions of libpython do it for C code, and the guard's
 * stand in their place (the Makefile makes libpython's own weak): numpy reads each item of an
 * __array_interface__ with the one, ctypes and others turn an int into a pointer with the other. Where an
 * object came from, and under what name, does not matter here. */
#ifndef HC_SHIM_GUARD_POINTERS_H
#define HC_SHIM_GUARD_POINTERS_H

#include "shim/harness/py.h"

/* From now on they ask. */
void hc_pointers_guard(void);

/* One of _ctypes' types: from now on, neither it nor a type that is made of it makes objects for the program,
 * which could lead to any memory. */
void hc_pointers_watch(PyObject *type);

#endif
