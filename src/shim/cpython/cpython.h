/* cpython.h - what the shim knows of the interpreter's own structs and instructions, which each version of
 * CPython changes. A file for each version has the functions below; no other file but source.c, dynamic.c and
 * tree.c, which use the parser's tree, includes a header of pycore_*.h.
 *
 * To be included first, as CPython declares these structs only for code that defines Py_BUILD_CORE.
 *
 *   hc_frame_top(thread)      the frame that runs in the thread, complete or not
 *   hc_frame_code(frame)      the frame's code, borrowed
 *   hc_frame_at(frame)        the offset of the frame's instruction, in code units of 2 bytes
 *   hc_op_attribute(op, arg)  index of the name whose attribute the instruction loads or imports; -1: it does
 *                             neither
 *   hc_op_loads_attribute(op) the instruction has an inline cache for an attribute that it loads
 *   hc_op_imports_all(op, arg) the instruction is "from module import *"
 *   hc_code_set_counter(code, at, value) have the instruction whose cache begins at unit `at` run `value`
 * times before the interpreter adapts it hc_dict_tag(dict)         a number that each change of the dict
 * changes HC_HAS_TYPE_PARAMETERS    the syntax has type parameters and the statement "type" */
#ifndef HC_SHIM_CPYTHON_CPYTHON_H
#define HC_SHIM_CPYTHON_CPYTHON_H

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE
#endif
#include "shim/harness/py.h"

#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <opcode.h>

typedef struct _PyInterpreterFrame hc_frame;

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "hotcell knows CPython 3.11, 3.12 and 3.13: name one of them, such as make PYTHON=/usr/bin/python3.13"
#elif PY_VERSION_HEX < 0x030c0000
#include "shim/cpython/v3_11.h"
#elif PY_VERSION_HEX < 0x030d0000
#include "shim/cpython/v3_12.h"
#else
#include "shim/cpython/v3_13.h"
#endif

#ifdef Py_GIL_DISABLED
#error "hotcell does not embed a free-threaded build of CPython: its guard relies on the global lock"
#endif

#endif
