/* report.h - what the interpreter tells the launcher of a job: HC_FRAME_REPORT.
 *
 * Filled step by step, because values must be written down while they live and the message goes out only when
 * everything has ended. All of it stays within `max` bytes; what does not fit is named in "warnings". */
#ifndef HC_SHIM_HARNESS_REPORT_H
#define HC_SHIM_HARNESS_REPORT_H

#include "shim/harness/outcome.h"
#include "shim/harness/text.h"

#include "base/error.h"

struct hc_report {
    size_t max;
    /* JSON each; lists and "returned" without their brackets */
    struct hc_buf error, value, figures, columns, warnings, results, returned;
};

void hc_report_init(struct hc_report *r, size_t max);
void hc_report_finish(struct hc_report *r);

void hc_report_error(struct hc_report *r, const struct hc_outcome *outcome);
void hc_report_columns(struct hc_report *r, PyObject *columns); /* dict: input -> list of names */
/* What the frozen part "figures" returned: a list of (path, MIME type, kind), and a list of warnings. */
void hc_report_figures(struct hc_report *r, PyObject *saved, PyObject *warnings);
/* What the frozen part "return" made of the dict "results": (JSON, None) or (None, why not). */
void hc_report_results(struct hc_report *r, PyObject *results, PyObject *why_not);
/* And of the variables asked for: a dict of dicts. */
void hc_report_returned(struct hc_report *r, PyObject *returned);
/* Bytes that either may take. */
size_t hc_report_room(const struct hc_report *r);
/* After the others: it gets the room that is left. `forms` as in value.h. */
void hc_report_value(struct hc_report *r, PyObject *value, PyObject *forms);
size_t hc_report_value_room(const struct hc_report *r);
void hc_report_warn(struct hc_report *r, const char *text);

int hc_report_send(struct hc_report *r, int status, struct hc_error *err);

#endif
