/* value.h - the value of the last expression as a MIME bundle. */
#ifndef HC_SHIM_HARNESS_VALUE_H
#define HC_SHIM_HARNESS_VALUE_H

#include "shim/harness/text.h"

/* Append {"text/plain": ..., "application/json": ..., "text/html": ...} of at most `budget` bytes: the repr,
 * the value itself where it is JSON, and a table's HTML. The text is cut to fit, the others are whole or left
 * out. Returns NULL, or what did not fit as a phrase (static). */
const char *hc_value_bundle(struct hc_buf *out, PyObject *value, size_t budget);

#endif
