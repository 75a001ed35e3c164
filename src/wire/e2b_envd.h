/* e2b_envd.h - the messages of the daemon in E2B's sandboxes, which speaks Connect in JSON: translates calls
 * about files and processes into requests to a session, and the session's answers and events back. */
#ifndef HC_WIRE_E2B_ENVD_H
#define HC_WIRE_E2B_ENVD_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define HC_E2B_LAST 2 /* the flag of the message that ends a stream of Connect */

/* Append one message of a stream: flags, length, and the JSON. */
void hc_e2b_envelope(unsigned char flags, const char *json, size_t len, struct hc_buf *out);

#endif
