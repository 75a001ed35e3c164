/* text.h - prints Python objects as JSON, without running any of their code.
 *
 * The output is ASCII. Every function appends to `out`, whose ceiling is the caller's budget. */
#ifndef HC_SHIM_HARNESS_TEXT_H
#define HC_SHIM_HARNESS_TEXT_H

#include "shim/harness/py.h"

#include "base/buf.h"

/* Appends a str (of any subclass), or a text in UTF-8, as a JSON string of at most `budget` bytes, quotes
 * included; surrogates become U+FFFD. Returns true if all of it fitted, false if it was cut or did not begin
 * to fit. */
bool hc_json_str(struct hc_buf *out, PyObject *str, size_t budget);
bool hc_json_cstr(struct hc_buf *out, const char *utf8, size_t budget);

/* Appends a str as hc_json_str does, but cuts a long one in its middle, where a traceback says least. */
void hc_json_ends(struct hc_buf *out, PyObject *str, size_t budget);

/* Appends a value that is JSON: None, bool, int of 64 bits, finite float, str, list, dict with str keys, and
 * numpy scalars of these. Returns false, with `out` in an undefined state, for any other value, and for one
 * that exceeds the buffer's ceiling. */
bool hc_json_value(struct hc_buf *out, PyObject *value);

#endif
