/* session.h - serves the runs of a session with one interpreter, and keeps copies of it that can take over.
 */
#ifndef HC_SHIM_SESSION_H
#define HC_SHIM_SESSION_H

#include "shim/harness/py.h"

/* Serves runs until the launcher hangs up; never returns. The interpreter must be ready, and the filters on.
 * `space` is the dict of __main__, `columns` a dict input name -> names of its columns; both are borrowed. */
_Noreturn void hc_session_serve(PyObject *space, PyObject *columns);

#endif
