/* session.h - an interpreter that lives from run to run, and the copies of it that wait in case one dies. */
#ifndef HC_SHIM_SESSION_H
#define HC_SHIM_SESSION_H

#include "shim/harness/py.h"

/* The interpreter is ready and filtered; take runs from the launcher until it hangs up. `space` is the dict
 * of
 * __main__, `columns` the dict input -> names; both are lent. Never returns. */
_Noreturn void hc_session_serve(PyObject *space, PyObject *columns);

#endif
