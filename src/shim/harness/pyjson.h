/* pyjson.h - turns parts of the handover's document into Python objects, for the harness's Python. */
#ifndef HC_SHIM_HARNESS_PYJSON_H
#define HC_SHIM_HARNESS_PYJSON_H

#include "shim/harness/py.h"

#include <cjson/cJSON.h>

/* Makes a Python object of a JSON node; an empty dict of NULL, which stands for a section that a policy
 * leaves out. New reference; NULL with an exception set. */
PyObject *hc_py_from_json(const cJSON *node);

#endif
