/* under.h - what the jobs of a batch run under: policy, limits, tree, tenant. The journal has it for each run
 * of the batch, so that a later run, and a merge, can tell that something else holds. */
#ifndef HC_BATCH_UNDER_H
#define HC_BATCH_UNDER_H

#include "base/buf.h"

#include <stdbool.h>

/* Append in words, for people, how two such JSON objects differ: "limits.timeout: \"60s\" -> \"5s\", ...". A
 * few differences are named, the others counted. False: they are equal, or one of the texts is empty, as
 * journals of older versions have none; nothing is appended. */
bool hc_under_differs(const char *was, const char *is, struct hc_buf *out);

#endif
