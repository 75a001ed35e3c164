/* interface.h - the words for the parts of a job in the interface through which the job was sent
 * (interface.def). */
#ifndef HC_POLICY_INTERFACE_H
#define HC_POLICY_INTERFACE_H

#include "base/buf.h"

#include <stdbool.h>

struct hc_interface {
    const char *name;                                 /* "cli" */
    const char *input, *var, *input_stream, *timeout; /* what it calls these */
    const char *before_limit, *after_limit; /* around a limit's name; NULL: its sender sets no limits */
    bool flags; /* a limit is called as its option, not as in a policy's "limits" */
};

extern const char *const hc_interface_names[]; /* ends with NULL */

/* NULL: there is no interface of this name. */
const struct hc_interface *hc_interface_find(const char *name);

/* Appends a hint, with the interface's words in the place of {input}, {var} and {timeout}. */
void hc_interface_fill(const struct hc_interface *as, const char *hint, struct hc_buf *out);

#endif
