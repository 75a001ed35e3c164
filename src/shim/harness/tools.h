/* tools.h - the program's way to the tools of the host: calls out, answers in (wire/frame.h). */
#ifndef HC_SHIM_HARNESS_TOOLS_H
#define HC_SHIM_HARNESS_TOOLS_H

#include "shim/harness/py.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Give the program `tools` and `ToolError`, if there are any: `list` is the handover's member. 0, or -1 with
 * a Python exception set. */
int hc_tools_bind(const cJSON *list, PyObject *space);

/* A session's next run, in a process that may be another one: what the last one waited for does not come any
 * more. As above. */
int hc_tools_begin_run(void);

/* Calls go out between HC_FRAME_RUN and HC_FRAME_REPORT alone, whatever threads are left. */
void hc_tools_open(bool open);

#endif
