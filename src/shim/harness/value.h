/* value.h - the value of the last expression as a MIME bundle. */
#ifndef HC_SHIM_HARNESS_VALUE_H
#define HC_SHIM_HARNESS_VALUE_H

#include "shim/harness/text.h"

/* Append {"text/plain": ..., MIME type: ...} of at most `budget` bytes: the repr, the value itself where it
 * is JSON, and `forms` (lent; a dict that the frozen part "value" made, or NULL). The text is cut to fit, the
 * others are whole, or left out and appended to the list `left_out`. Returns whether the text is whole. */
bool hc_value_bundle(struct hc_buf *out, PyObject *value, PyObject *forms, size_t budget, PyObject *left_out);

#endif
