/* finding.h - check the findings that the interpreter's process reports about a program before running it.
 * A parser made them from a hostile program, so their shape is checked before they go into a manifest.
 *
 * A finding is an object of "rule" and "message" (strings), "what" (the name or module that it is about),
 * "hint" (strings or null), "line", "column" and "end_column" (from 1, or null). */
#ifndef HC_MANIFEST_FINDING_H
#define HC_MANIFEST_FINDING_H

#include "json/json.h"

#define HC_FINDINGS_LISTED 200 /* most findings in one list */

/* Parse the payload of HC_FRAME_REJECTED: {"findings": [at least one], "more": n}. The caller owns *findings
 * (cJSON_Delete); *more is the number of findings left out. HC_EXIT_DATA. */
int hc_rejected_parse(cJSON **findings, int64_t *more, const char *text, size_t len, struct hc_error *err);

/* Parse the payload of HC_FRAME_CHECKED: {"warnings": [findings], "columns": {frame: [names]}}. The caller
 * owns *check, the whole object. HC_EXIT_DATA. */
int hc_checked_parse(cJSON **check, const char *text, size_t len, struct hc_error *err);

#endif
