/* tools.h - the program's way to the tools of the host: calls out, answers in (spec/frame.h). */
#ifndef HC_SHIM_HARNESS_TOOLS_H
#define HC_SHIM_HARNESS_TOOLS_H

#include "shim/harness/py.h"

#include <cjson/cJSON.h>

/* Give the program `tools` and `ToolError`, if there are any: `list` is the handover's member. 0, or -1 with
 * a Python exception set. */
int hc_tools_bind(const cJSON *list, PyObject *space);

#endif
