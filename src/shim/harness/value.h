/* value.h - prints the value of the last expression as a MIME bundle. */
#ifndef HC_SHIM_HARNESS_VALUE_H
#define HC_SHIM_HARNESS_VALUE_H

#include "shim/harness/text.h"

/* Returns the repr of a value, a str, or a text that says why it has none; of a long list or text only the
 * beginning that can fit into `budget` bytes. New reference; NULL without memory, and no exception is set. */
PyObject *hc_value_text(PyObject *value, size_t budget);

/* Appends {"text/plain": ..., MIME type: ...} of at most `budget` bytes: `text` (borrowed; NULL: ""), the
 * value itself if it is JSON, and `forms` (borrowed: a dict MIME type -> str or JSON, from the frozen part
 * "value"; or NULL). The text is cut to fit; a form that does not fit is left out, and its MIME type appended
 * to the list `left_out`. Returns whether the text is whole. */
bool hc_value_bundle(struct hc_buf *out, PyObject *text, PyObject *value, PyObject *forms, size_t budget,
                     PyObject *left_out);

/* Gives the frozen Python the function print_bundle(), which makes the bundles of displays. -1 with an
 * exception set. */
int hc_value_bind(void);

#endif
