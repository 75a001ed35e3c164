/* origin.h - lets code have the file name of a library only if it comes from that file of the tree.
 *
 * Rules look at the file name of the code that runs (frames.h), and code can be made with any file name: by
 * compile(), code.replace(), and by the bytes that marshal reads, so that a loader or a .pyc file of the
 * program can do it as well. Only code that the import system itself read from the tree keeps a library's
 * name; other code that claims one is renamed "<made as NAME>", which is no file's name. Code that was made
 * before the program ran keeps its name, too. */
#ifndef HC_SHIM_GUARD_ORIGIN_H
#define HC_SHIM_GUARD_ORIGIN_H

#include "shim/harness/py.h"

#include <stdbool.h>

/* Watches the files that the import system reads; called before the interpreter starts. -1: CPython refused
 * the hook. */
int hc_origin_prepare(void);

/* Replaces the functions that make code; called before the program runs. -1 with an exception set. */
int hc_origin_guard(void);

/* Is `source` what the import system has just read from the file of the tree that `filename` names? */
bool hc_origin_is_read(PyObject *source, PyObject *filename);

/* Renames code that compile() made of `source` under `filename`, if it claims a library's name wrongly.
 * Steals `code`, which may be NULL. New reference. */
PyObject *hc_origin_compiled(PyObject *code, PyObject *source, PyObject *filename);

/* Was this code renamed because it claimed a library's name? */
bool hc_origin_refuted(PyObject *code);

#endif
