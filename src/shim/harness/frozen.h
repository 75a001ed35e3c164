/* frozen.h - the harness's own Python, compiled into the binary and run out of the guest's reach.
 *
 * Each part runs in a private namespace with a copy of the builtins as they were before the guest: it is not
 * in sys.modules, and nothing that the guest does to builtins changes it. A part is unmarshalled and run
 * only when it is first called. */
#ifndef HC_SHIM_HARNESS_FROZEN_H
#define HC_SHIM_HARNESS_FROZEN_H

#include "shim/harness/py.h"

/* Make the modules that start-up needs come from the binary: before the interpreter starts. */
void hc_frozen_register(void);

/* Copy the builtins: before any code but our own has run. -1 with an exception set. */
int hc_frozen_init(void);

/* Functions that all parts know by their names, for good; the row after the last has none. -1 with an
 * exception set. */
int hc_frozen_give(PyMethodDef *functions);

/* Call `function` of part `part` with arguments built as by Py_BuildValue; `format` must be a tuple's,
 * "(...)". New reference; NULL with an exception set. */
PyObject *hc_frozen_call(const char *part, const char *function, const char *format, ...);

/* A function of a part, for another part to call. New reference; NULL with an exception set. */
PyObject *hc_frozen_function(const char *part, const char *function);

#endif
