/* report.h - check the report of the guest's process (HC_FRAME_REPORT), which is hostile text, before it
 * goes into a manifest, so that a manifest always fits its schema. */
#ifndef HC_MANIFEST_REPORT_H
#define HC_MANIFEST_REPORT_H

#include "json/json.h"

/* An object of "value" (an object or null), "error" ({"type", "message", "traceback", "line", "column",
 * "end_column", "hint"} or null), "figures" ([{"path", "mime", "kind": strings, "chart": object, which may be
 * missing}]), "columns" ({input: [names]}), "warnings", "exit", "complete", "results" (anything), "returned"
 * ({name: {"type", "path", "mime", "error": strings, "json": anything}}), "displays" ([objects]); each member
 * may be missing, and no other is allowed. A report that is nested too deeply for a manifest is refused.
 * HC_EXIT_DATA. *warnings gets the list "warnings", owned by the caller, and stays as it is if there is none;
 * `warnings` may be NULL. */
int hc_guest_report_check(const char *text, size_t len, cJSON **warnings, struct hc_error *err);

#endif
