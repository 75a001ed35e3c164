/* modules.h - replaces functions of modules for the program, and hides modules from it.
 *
 * A replacement looks at its caller: a library's call goes to the original function. */
#ifndef HC_SHIM_GUARD_MODULES_H
#define HC_SHIM_GUARD_MODULES_H

#include "shim/harness/py.h"

/* Reads the policy's rows, replaces functions of the modules that are loaded, and hides modules. -1 with an
 * exception set. */
int hc_modules_guard(void);

/* Replaces functions of modules that were loaded since; called after each import by the program. -1 with an
 * exception set. */
int hc_modules_update(void);

/* May a thread be started now? Threads of asyncio's executor always may. */
bool hc_threads_allowed(void);

#endif
