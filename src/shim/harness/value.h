/* value.h - prints the value of the last expression as a MIME bundle. */
#ifndef HC_SHIM_HARNESS_VALUE_H
#define HC_SHIM_HARNESS_VALUE_H

#include "shim/harness/text.h"

/* Appends {"text/plain": ..., MIME type: ...} of at most `budget` bytes: the repr, the value itself if it is
 * JSON, and `forms` (borrowed: a dict MIME type -> str or JSON, from the frozen part "value"; or NULL). The
 * repr is cut to fit; a form that does not fit is left out, and its MIME type appended to the list
 * `left_out`. Returns whether the repr is whole. */
bool hc_value_bundle(struct hc_buf *out, PyObject *value, PyObject *forms, size_t budget, PyObject *left_out);

#endif
