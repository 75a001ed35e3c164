/* modules.h - functions of modules that the program finds changed, and modules that it does not find.
 *
 * A changed function looks at who calls it: libraries reach the one that it stands for. */
#ifndef HC_SHIM_GUARD_MODULES_H
#define HC_SHIM_GUARD_MODULES_H

#include "shim/harness/py.h"

/* Read the policy's rows, change what is loaded, put the view on sys.modules in place. -1 with an exception
 * set. */
int hc_modules_guard(void);

/* Change what has been loaded since: after each import by the program. -1 with an exception set. */
int hc_modules_update(void);

/* May a thread be started now? Those of asyncio's executor always may. */
bool hc_threads_allowed(void);

#endif
