/* frozen.h - runs the harness's own Python, which is compiled into the binary, out of the guest's reach.
 *
 * Each part runs in a private namespace with a copy of the builtins as they were before the guest: it is not
 * in sys.modules, and nothing that the guest does to builtins changes it. A part is unmarshalled and run
 * only when it is first called. */
#ifndef HC_SHIM_HARNESS_FROZEN_H
#define HC_SHIM_HARNESS_FROZEN_H

#include "shim/harness/py.h"

/* Has the interpreter load the modules that its start needs from the binary; called before it starts. */
void hc_frozen_register(void);

/* Copies the builtins; called before any code but the harness's has run. -1 with an exception set. */
int hc_frozen_init(void);

/* Adds functions to the builtins of all parts. `functions` ends with a row without a name, and is borrowed
 * for the life of the process. -1 with an exception set. */
int hc_frozen_add(PyMethodDef *functions);

/* Calls `function` of `part` with arguments built as by Py_BuildValue; `format` must build a tuple, "(...)".
 * New reference; NULL with an exception set. */
PyObject *hc_frozen_call(const char *part, const char *function, const char *format, ...);

/* Returns `function` of `part`, for another part to call. New reference; NULL with an exception set. */
PyObject *hc_frozen_function(const char *part, const char *function);

#endif
