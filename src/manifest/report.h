/* report.h - check the report of the guest's process (HC_FRAME_REPORT), which is hostile text, before it
 * goes into a manifest, so that a manifest always fits its schema. */
#ifndef HC_MANIFEST_REPORT_H
#define HC_MANIFEST_REPORT_H

#include "json/json.h"

/* Kinds of warnings in a report: an input could not be loaded as it was meant to be; the report lacks
 * something. */
#define HC_WARNING_INPUT  "input"
#define HC_WARNING_REPORT "report"

/* The warnings of a report: two lists of strings, owned. `kinds` is NULL, or as long as `texts`. */
struct hc_guest_warnings {
    cJSON *texts, *kinds;
};

/* Check that the text is an object of "value" (an object or null), "error" ({"type", "message", "traceback",
 * "line", "column", "end_column", "hint", "classes": strings} or null), "figures" ([{"path", "mime", "kind":
 * strings, "chart": object, which may be missing}]), "columns" ({input: [names]}), "warnings",
 * "warning_kinds" (a kind for each warning), "exit", "complete", "results" (anything), "returned" ({name:
 * {"type", "path", "mime", "error": strings, "json": anything}}), "displays" ([objects]); each member may be
 * missing, and no other is allowed. A report that is nested too deeply for a manifest is refused.
 * HC_EXIT_DATA. *warnings gets the warnings of the report, and is empty if there are none or the report is
 * refused; `warnings` may be NULL. */
int hc_guest_report_check(const char *text, size_t len, struct hc_guest_warnings *warnings,
                          struct hc_error *err);
/* Frees both lists. */
void hc_guest_warnings_finish(struct hc_guest_warnings *warnings);

#endif
