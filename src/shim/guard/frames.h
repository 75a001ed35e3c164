/* frames.h - tells whose code makes a call: the program's, a library's or the harness's. Rules bind the
 * program; a library may do for itself what they forbid. So may the harness, except for calls that the
 * program could have made it do (hc_caller_may_serve_guest).
 *
 * A frame is the program's if its code has the program's file name, or the name of a file that does not
 * belong to the tree (a module that the program wrote). It is a library's if its file is the tree's or the
 * interpreter's. Code without a file ("<string>", which eval() and namedtuple make) counts as the program's,
 * because timeit, doctest and others run the program's texts as such code. Code that libraries make so for
 * themselves only computes, and needs nothing that a rule forbids; but the text that an extension module runs
 * while it is loaded is the library's. No program may give its code a library's
 * file name (origin.h). */
#ifndef HC_SHIM_GUARD_FRAMES_H
#define HC_SHIM_GUARD_FRAMES_H

#include "shim/harness/py.h"

#include "base/buf.h"

/* Whose code a frame runs. */
enum hc_party {
    HC_PARTY_GUEST,   /* code of the program */
    HC_PARTY_LIBRARY, /* code of a library, or the interpreter's own */
    HC_PARTY_HARNESS, /* code of the harness */
    HC_PARTY_NONE,    /* code without a file */
};

/* Whose code has this file name, a str? */
enum hc_party hc_party_of_file(PyObject *filename);

/* Is the innermost frame the program's, or of code without a file? Without any frame the harness calls:
 * false. `through`: modules of the tree or its layers that act for their callers, such as "gzip" or
 * "jinja2/", whose frames are skipped; NULL-terminated, or NULL for none. */
bool hc_caller_is_guest(const char *const *through);

/* Was the code of the innermost frame called by code of the program, or without a file? */
bool hc_called_by_guest(void);

/* Is the innermost frame one of `module` of the standard library? */
bool hc_caller_is_module(const char *module);

/* Is the innermost frame one of these modules, written as `through` above? */
bool hc_caller_is_one_of(const char *const *modules);

/* Is the innermost frame a library's? */
bool hc_caller_is_library(void);

/* Is a library's module being loaded: is there its top level between the innermost frame and the program's?
 */
bool hc_library_is_loaded(void);

/* Does `text`, a str, stand in the innermost frame's own code, as a constant? */
bool hc_caller_has_constant(PyObject *text);

/* As hc_caller_is_guest, but true for a frame of the harness too: the harness calls methods of the program's
 * figures and values, which may be functions of the interpreter, without a frame. */
bool hc_caller_may_serve_guest(const char *const *through);

/* Is the innermost frame at an instruction that loads an attribute which the code itself names? */
bool hc_caller_names_attribute(void);

/* Is the innermost frame at an instruction that loads `attribute`, a str? */
bool hc_caller_names(PyObject *attribute);

/* Does the innermost frame run "from module import *"? */
bool hc_caller_imports_all(void);

/* The present value of the first argument of the innermost frame, borrowed, if the frame runs `function` in a
 * file of the tree whose path ends with `file_end`; else NULL. */
PyObject *hc_caller_first_local(const char *file_end, const char *function);

/* Is there a frame of `module` of the standard library between the innermost frame and the program's? */
bool hc_asked_through(const char *module);

/* The line of the program's innermost frame; 0 without one. */
int hc_guest_line(void);

/* Appends "name (file:line) < caller (file:line) < ...", at most ten frames. */
void hc_callers_write(struct hc_buf *out);

#endif
