/* report.h - what the guest's process says of itself (HC_FRAME_REPORT): hostile text, held to one shape
 * before it goes into a manifest, so that a manifest is always as its schema says. */
#ifndef HC_MANIFEST_REPORT_H
#define HC_MANIFEST_REPORT_H

#include "json/json.h"

/* An object of "value" (an object or null), "error" ({"type", "message", "traceback"} or null), "figures"
 * ([{"path", "mime", "kind"}]), "columns" ({input: [names]}), "warnings", "exit", "complete", "results"
 * (anything), "returned" ({name: {"type", "path", "mime", "error": strings, "json": anything}}); each may be
 * missing, none may be another. Not nested so deeply that it would not fit into a manifest. HC_EXIT_DATA. */
int hc_guest_report_check(const char *text, size_t len, struct hc_error *err);

#endif
