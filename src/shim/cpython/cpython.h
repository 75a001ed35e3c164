/* cpython.h - what the shim knows of the interpreter's own structs and instructions, which each version of
 * CPython changes. A header for each version defines the functions below. Besides them, source.c, dynamic.c,
 * transform.c and tree.c use the parser's tree.
 *
 * To be included first, as CPython declares these structs only for code that defines Py_BUILD_CORE. */
#ifndef HC_SHIM_CPYTHON_CPYTHON_H
#define HC_SHIM_CPYTHON_CPYTHON_H

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <opcode.h>

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "hotcell knows CPython 3.11, 3.12 and 3.13: name one of them, such as make PYTHON=/usr/bin/python3.13"
#endif
#ifdef Py_GIL_DISABLED
#error "hotcell does not embed a free-threaded build of CPython: its guard relies on the global lock"
#endif

typedef struct _PyInterpreterFrame hc_frame;

/* The frame that runs in the thread, borrowed; it may not have begun to run its code. NULL: there is none. */
static inline const hc_frame *hc_frame_top(PyThreadState *thread);

/* The code of a frame that has begun to run, borrowed. */
static inline PyCodeObject *hc_frame_code(const hc_frame *f);

/* The offset of the frame's instruction, in code units of 2 bytes. */
static inline int hc_frame_at(const hc_frame *f);

/* The index, in co_names, of the attribute that the instruction loads or imports; -1: it does neither. */
static inline int hc_op_attribute(int op, int arg);

/* Does the instruction load an attribute, and have an inline cache for it? */
static inline bool hc_op_loads_attribute(int op);

/* Is the instruction "from module import *"? */
static inline bool hc_op_imports_all(int op, int arg);

/* Have the instruction whose cache begins at unit `at` run `value` times before the interpreter adapts it. */
static inline void hc_code_set_counter(PyCodeObject *code, Py_ssize_t at, int value);

/* The dict of the type's own attributes, borrowed. */
static inline PyObject *hc_type_dict(PyTypeObject *type);

/* A number that is another one after each change of the dict. */
static inline uint64_t hc_dict_tag(PyObject *dict);

/* In the child of a fork before which PyOS_BeforeFork was not called: hold the import lock, which
 * PyOS_AfterFork_Child releases. A thread that held it when the process was copied is not in the child. */
static inline void hc_fork_take_import_lock(void);

/* HC_HAS_IMMORTAL: 1 where objects can be immortal, and then are not counted (PEP 683). */
/* HC_HAS_TYPE_PARAMETERS: 1 where the syntax has type parameters and the statement "type". */

#if PY_VERSION_HEX < 0x030c0000
#include "shim/cpython/v3_11.h"
#elif PY_VERSION_HEX < 0x030d0000
#include "shim/cpython/v3_12.h"
#else
#include "shim/cpython/v3_13.h"
#endif

#endif
