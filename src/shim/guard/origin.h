/* origin.h - code has a library's file name only if that file of the tree holds it.
 *
 * Rules ask for the file name of the code that runs (frames.h), and whoever makes code says what its file is
 * called: compile(), code.replace(), the bytes that marshal reads, and so a loader, or a .pyc file, of the
 * program's. What the import system read of the tree itself, and nothing else, keeps a library's name; any
 * other code that claims one is called "<made as NAME>", which is no file's. Code that was there before the
 * program keeps its name, too. */
#ifndef HC_SHIM_GUARD_ORIGIN_H
#define HC_SHIM_GUARD_ORIGIN_H

#include "shim/harness/py.h"

#include <stdbool.h>

/* Before the interpreter starts: see what its import system reads. -1: it could not be arranged. */
int hc_origin_prepare(void);

/* Before the program runs. -1 with an exception set. */
int hc_origin_guard(void);

/* What compile() made of `source` under `filename`; steals `code`, which may be NULL. New reference. */
PyObject *hc_origin_compiled(PyObject *code, PyObject *source, PyObject *filename);

/* Did this code claim a library's name in vain? */
bool hc_origin_refuted(PyObject *code);

#endif
