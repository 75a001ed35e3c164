/* frames.h - whose code asks? Rules bind the program; what a library does for itself, it may. So may the
 * harness, within the program's call or without, but for what it might have been made to do
 * (hc_caller_may_serve_guest).
 *
 * A frame is the program's if its code has the program's file name, or another file's that does not belong
 * to the tree (a module that the program wrote). It is a library's if its file is the tree's or the
 * interpreter's. Code without a file ("<string>", as eval() and namedtuple make it) counts
 * as the program's: timeit, doctest and others run its texts with a library's frame behind them. What
 * libraries make so for themselves computes, and asks for nothing that a rule is about. No program may give
 * its code a library's file name (origin.h). */
#ifndef HC_SHIM_GUARD_FRAMES_H
#define HC_SHIM_GUARD_FRAMES_H

#include "shim/harness/py.h"

#include "base/buf.h"

enum hc_party {
    HC_PARTY_GUEST,
    HC_PARTY_LIBRARY,
    HC_PARTY_HARNESS,
    HC_PARTY_NONE, /* code without a file */
};

enum hc_party hc_party_of_file(PyObject *filename);

/* Is the innermost frame the program's, or nobody's? Without any, the harness calls. `through`: modules of
 * the standard library that act for their callers, as "gzip" or "ctypes/", NULL-terminated; NULL: none. */
bool hc_caller_is_guest(const char *const *through);

/* Is the innermost frame that module's of the standard library? */
bool hc_caller_is_module(const char *module);

/* The same, and also true for the harness: it calls what the program has put into its figures and values,
 * which may be a function of the interpreter's, without a frame. */
bool hc_caller_may_serve_guest(const char *const *through);

/* Is the innermost frame at an attribute that its own text names? */
bool hc_caller_names_attribute(void);

/* And is it this one? */
bool hc_caller_names(PyObject *attribute);

/* Does the innermost frame run "from module import *"? */
bool hc_caller_imports_all(void);

/* What the first argument of the innermost frame is by now, if that frame is the function of that name in a
 * file of the tree whose path ends so. Borrowed; else NULL. */
PyObject *hc_caller_first_local(const char *file_end, const char *function);

/* Does that module of the standard library stand between the program and what happens now? */
bool hc_asked_through(const char *module);

/* The line of the program's innermost frame; 0 without one. */
int hc_guest_line(void);

/* "name (file:line) < caller (file:line) < ...", at most ten. */
void hc_callers_write(struct hc_buf *out);

#endif
