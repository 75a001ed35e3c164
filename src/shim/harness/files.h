/* files.h - what the harness writes for the program: figures, values, matplotlib's own directory.
 *
 * It has functions of its own for that, which no rule of the guard judges and which reach nothing but /output
 * and /tmp (and the lists of fonts, for reading). So the harness needs no rights for the files that it opens,
 * and whatever of the program's it calls has none either. */
#ifndef HC_SHIM_HARNESS_FILES_H
#define HC_SHIM_HARNESS_FILES_H

#include "shim/harness/py.h"

#include <stdbool.h>

/* Give them to the harness's own Python (frozen.h). `directory`, lent for good: below /output, where figures
 * go. -1 with an exception set. */
int hc_files_bind(const char *directory);

/* The program opens a file for writing. The first that goes into the directory for figures finds it there. */
void hc_files_on_open(PyObject *path);

/* Figures are told of as they are made (HC_FRAME_FIGURE), between HC_FRAME_RUN and HC_FRAME_REPORT, and by
 * this process alone. */
void hc_files_tell(bool from_now_on);

#endif
