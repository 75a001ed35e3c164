/* report.h - builds HC_FRAME_REPORT, in which the interpreter tells the launcher the results of a job.
 *
 * The report is filled step by step, because values must be written down while they live, and it is sent when
 * the program and its threads have ended. It stays within `max` bytes; "warnings" names what did not fit. */
#ifndef HC_SHIM_HARNESS_REPORT_H
#define HC_SHIM_HARNESS_REPORT_H

#include "shim/harness/outcome.h"
#include "shim/harness/text.h"

#include "base/error.h"

struct hc_report {
    size_t max; /* most bytes of the whole report */
    /* JSON text of each member, owned; "figures", "warnings", "warning_kinds", "returned" and "displays"
     * without their brackets */
    struct hc_buf error, value, figures, columns, warnings, kinds, results, returned, displays;
};

/* Begins a report. `max`: most bytes of the whole report, at least 4096. */
void hc_report_init(struct hc_report *r, size_t max);
void hc_report_finish(struct hc_report *r);

/* All objects below are borrowed. An object that is too large or of a wrong type becomes a warning in the
 * report; no exception is left set. */

/* The exception that ended the program, if one did. */
void hc_report_error(struct hc_report *r, const struct hc_outcome *outcome);
/* `columns` is a dict: name of an input -> list of its columns' names. */
void hc_report_columns(struct hc_report *r, PyObject *columns);
/* The two results of the frozen part "figures": a list of (path, MIME type, kind, data of the chart or
 * None), and a list of warnings. */
void hc_report_figures(struct hc_report *r, PyObject *saved, PyObject *warnings);
/* What the frozen part "return" makes of the dict "results": JSON, NULL if there is none, and a list of
 * warnings. */
void hc_report_results(struct hc_report *r, PyObject *results, PyObject *warnings);
/* The variables that the job asks for, from the frozen part "return": a dict of dicts, and a list of
 * warnings. */
void hc_report_returned(struct hc_report *r, PyObject *returned, PyObject *warnings);
/* Most bytes that "results" may take, and most that "returned" may take. */
size_t hc_report_room(const struct hc_report *r);
/* The displays that display() has shown, from the frozen part "hooks": a list of JSON texts, the number of
 * those that were left out, and a list of warnings. Must be called when all but the value is reported. */
void hc_report_displays(struct hc_report *r, PyObject *displays, long left_out, PyObject *warnings);
/* Must be called last, as the value gets the room that the others have left. `forms`: see value.h. */
void hc_report_value(struct hc_report *r, PyObject *value, PyObject *forms);
/* Most bytes that the value may take. */
size_t hc_report_value_room(const struct hc_report *r);
/* Adds a warning, a text in UTF-8. */
void hc_report_warn(struct hc_report *r, const char *text);
/* Adds a warning, a str; another object is ignored. */
void hc_report_warn_object(struct hc_report *r, PyObject *text);
/* Has the next report that is begun contain the warning `text`, a str, about an input, as inputs are loaded
 * before there is a report. */
void hc_report_warn_of_input(PyObject *text);

/* Sends the report; `status` is the exit status of the process. -1: no memory, or the launcher is gone. */
int hc_report_send(struct hc_report *r, int status, struct hc_error *err);

#endif
