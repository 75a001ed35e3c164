/* tools.h - lets the program call tools of the host: sends calls, receives answers (wire/frame.h). */
#ifndef HC_SHIM_HARNESS_TOOLS_H
#define HC_SHIM_HARNESS_TOOLS_H

#include "shim/harness/py.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Puts `tools` and `ToolError` into `space`, the dict of __main__, if the job has tools. `list` is the
 * handover's description of them, borrowed; NULL or empty: no tools. -1 with an exception set. */
int hc_tools_bind(const cJSON *list, PyObject *space);

/* Begins a session's next run, which may be in another process: calls that the last run still waits for fail.
 * -1 with an exception set. */
int hc_tools_begin_run(void);

/* Allows or forbids calls. They are allowed between HC_FRAME_RUN and HC_FRAME_REPORT only, also for threads
 * that run on. */
void hc_tools_open(bool open);

#endif
