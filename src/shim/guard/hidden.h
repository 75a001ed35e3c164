/* hidden.h - shows the program sys.modules without the modules that the policy hides (modules.scrub) or
 * denies.
 *
 * Libraries, and the import system written in Python, see all modules. */
#ifndef HC_SHIM_GUARD_HIDDEN_H
#define HC_SHIM_GUARD_HIDDEN_H

#include "shim/harness/py.h"

/* The view of sys.modules that the program gets instead of the dict itself. New reference; NULL with an
 * exception set. */
PyObject *hc_hidden_view(void);

/* Sets sys.modules to the view, if the policy hides any module. -1 with an exception set. */
int hc_hidden_modules(void);

#endif
