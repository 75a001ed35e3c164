/* reject.h - tells the launcher that a program was refused before it ran, or that the check let it through.
 */
#ifndef HC_SHIM_HARNESS_REJECT_H
#define HC_SHIM_HARNESS_REJECT_H

#include "shim/harness/finding.h"
#include "shim/harness/py.h"

/* One reason for refusing a program. */
struct hc_rejection {
    const char *rule;  /* name of the rule: "syntax", "input", ...; static */
    PyObject *message; /* why the program is refused, a str; owned */
    int line, column;  /* place in the program, from 1; 0: there is none */
    const char *hint;  /* how to mend the program; static; NULL: no hint */
};

/* Copies the reason into a finding; the text is cut to fit. */
void hc_rejection_finding(const struct hc_rejection *why, struct hc_finding *out);

/* Sends HC_FRAME_REJECTED with the refusals in `found`. Ends the process if the launcher is gone. */
void hc_send_rejected(const struct hc_findings *found);

/* Sends HC_FRAME_REJECTED with these findings, or with one reason, and ends the process with
 * HC_EXIT_REJECTED. */
_Noreturn void hc_reject_findings(const struct hc_findings *found);
_Noreturn void hc_reject(const struct hc_rejection *why);

/* Sends HC_FRAME_CHECKED: the warnings, and the columns that the program uses. Ends the process if the
 * launcher is gone. */
void hc_send_checked(const struct hc_findings *found);

#endif
