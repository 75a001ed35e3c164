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
    struct hc_buf error, value, figures, columns, warnings; /* JSON each; lists without their brackets */
};

void hc_report_init(struct hc_report *r, size_t max);

void hc_report_error(struct hc_report *r, const struct hc_outcome *outcome);
void hc_report_columns(struct hc_report *r, PyObject *columns); /* dict: input -> list of names */
/* What the frozen part "figures" returned: a list of (path, MIME type, kind), and a list of warnings. */
void hc_report_figures(struct hc_report *r, PyObject *saved, PyObject *warnings);
void hc_report_value(struct hc_report *r,
                     PyObject *value); /* after the others: it gets the room that is left */
void hc_report_warn(struct hc_report *r, const char *text);

int hc_report_send(struct hc_report *r, int status, struct hc_error *err);

#endif
