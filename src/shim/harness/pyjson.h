/* pyjson.h - parts of the handover's document as Python objects, for the harness's Python. */
#ifndef HC_SHIM_HARNESS_PYJSON_H
#define HC_SHIM_HARNESS_PYJSON_H

#include "shim/harness/py.h"

#include <cjson/cJSON.h>

/* New reference; an empty dict for NULL, as a section that a policy leaves out. NULL with an exception set.
 */
PyObject *hc_py_from_json(const cJSON *node);

#endif
