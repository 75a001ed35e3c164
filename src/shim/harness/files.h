/* files.h - writes files for the program: figures, values, matplotlib's configuration directory.
 *
 * The frozen Python (frozen.h) opens files by functions of this module. The guard's rules do not apply to
 * them, and they reach only /output, /tmp and, for reading, /input and the lists of fonts. So no exception
 * from the guard's rules is needed that the guest's methods, which the harness calls, could use as well. */
#ifndef HC_SHIM_HARNESS_FILES_H
#define HC_SHIM_HARNESS_FILES_H

#include "shim/harness/py.h"

#include <stdbool.h>

/* Gives these functions to the frozen Python. `directory` is the name of the directory for figures below
 * /output, borrowed for the life of the process. -1 with an exception set. */
int hc_files_bind(const char *directory);

/* Must be called when the program creates a file: makes the directory for figures if `path` is in it. */
void hc_files_on_open(PyObject *path);

/* Turns on or off the announcement of each finished figure (HC_FRAME_FIGURE), which is allowed between
 * HC_FRAME_RUN and HC_FRAME_REPORT. Only the process that turned it on sends it, not a fork of it. */
void hc_files_announce(bool on);

#endif
