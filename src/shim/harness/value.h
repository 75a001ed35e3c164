/* value.h - the value of the last expression as a MIME bundle. */
#ifndef HC_SHIM_HARNESS_VALUE_H
#define HC_SHIM_HARNESS_VALUE_H

#include "shim/harness/text.h"

enum hc_value_lack {
    HC_VALUE_CUT = 1,     /* "text/plain" is not all of it */
    HC_VALUE_NO_JSON = 2, /* it is JSON, but too large */
    HC_VALUE_NO_HTML = 4, /* it has HTML, but too large */
};

/* Append {"text/plain": ..., "application/json": ..., "text/html": ...} of at most `budget` bytes: the repr,
 * the value itself where it is JSON, and a table's HTML. The text is cut to fit, the others are whole or left
 * out. Returns what did not fit, as bits of enum hc_value_lack. */
unsigned hc_value_bundle(struct hc_buf *out, PyObject *value, size_t budget);

#endif
