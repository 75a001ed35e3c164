/* reject.h - why a program was refused before it ran. */
#ifndef HC_SHIM_HARNESS_REJECT_H
#define HC_SHIM_HARNESS_REJECT_H

#include "shim/harness/py.h"

struct hc_rejection {
    const char *rule;  /* static: "syntax", "input", ... */
    PyObject *message; /* str, owned */
    int line, column;  /* from 1; 0 if it has none */
    const char *hint;  /* static, NULL if there is none */
};

/* Send HC_FRAME_REJECTED and end the process with HC_EXIT_REJECTED. */
_Noreturn void hc_reject(const struct hc_rejection *why);

#endif
