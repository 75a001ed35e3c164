/* dynamic.h - code that comes into being while the program runs: exec(), eval(), compile(), and modules that
 * the program wrote itself. It is the program's like the rest: judged by its tree, run with its built-ins. */
#ifndef HC_SHIM_GUARD_DYNAMIC_H
#define HC_SHIM_GUARD_DYNAMIC_H

#include "shim/harness/py.h"

/* Guard the three in the program's built-in names (lent, must stay). -1 with an exception set. */
int hc_dynamic_guard(PyObject *builtins);

/* Source (str or bytes) of a module that is the program's: 0, or -1 with an exception set if a rule refuses
 * it. What cannot be parsed is not refused: whoever compiles it says why. */
int hc_dynamic_judge(PyObject *source, int start);

#endif
