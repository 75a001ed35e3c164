/* interface.h - the words for the parts of a job in the interface through which the job was sent
 * (interface.def). */
#ifndef HC_POLICY_INTERFACE_H
#define HC_POLICY_INTERFACE_H

#include "base/buf.h"

#include <stdbool.h>

struct hc_interface {
    const char *name; /* name of the interface, such as "cli" */
    /* Its words for an input, a variable's value, standard input (NULL: a job gets none), limits.timeout, a
     * directory of the host, and the variables that a job returns (NULL: it returns none). */
    const char *input, *var, *input_stream, *timeout, *dir, *returned;
    const char
        *files; /* place of the host's files that a program works with; NULL: /input, /output and /tmp */
    const char *before_limit, *after_limit; /* text around a limit's name; NULL: its sender sets no limits */
    bool flags; /* a limit has the name of its option, not that in a policy's "limits" */
};

extern const char *const hc_interface_names[]; /* names of all interfaces; ends with NULL */

/* The interface of this name, static; NULL: there is none. */
const struct hc_interface *hc_interface_find(const char *name);

/* Appends a hint, with the interface's words in the place of {input}, {var}, {timeout}, {dir} and {files}. */
void hc_interface_fill(const struct hc_interface *as, const char *hint, struct hc_buf *out);

#endif
