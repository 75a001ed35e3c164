/* reject.h - why a program was refused before it ran. */
#ifndef HC_SHIM_HARNESS_REJECT_H
#define HC_SHIM_HARNESS_REJECT_H

#include "shim/harness/finding.h"
#include "shim/harness/py.h"

struct hc_rejection {
    const char *rule;  /* static: "syntax", "input", ... */
    PyObject *message; /* str, owned */
    int line, column;  /* from 1; 0 if it has none */
    const char *hint;  /* static, NULL if there is none */
};

/* As a finding. The text is cut to fit. */
void hc_rejection_finding(const struct hc_rejection *why, struct hc_finding *out);

/* Send HC_FRAME_REJECTED. The first refusal stands for all. */
void hc_send_rejected(const struct hc_findings *found);

/* The same, and end the process with HC_EXIT_REJECTED. */
_Noreturn void hc_reject_findings(const struct hc_findings *found);
_Noreturn void hc_reject(const struct hc_rejection *why); /* of one finding */

/* Send HC_FRAME_CHECKED: the warnings, and the columns that the program uses. */
void hc_send_checked(const struct hc_findings *found);

#endif
