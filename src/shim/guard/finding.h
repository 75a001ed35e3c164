/* finding.h - what a look at a program found, before any of it ran. */
#ifndef HC_SHIM_GUARD_FINDING_H
#define HC_SHIM_GUARD_FINDING_H

#include "base/buf.h"

#include <stdbool.h>

#define HC_FINDINGS_MAX 200 /* listed; more are counted */

struct hc_finding {
    const char *rule; /* static: "imports", "calls", "attributes", "names", "code_size", "statements",
                         "syntax", ... */
    char message[512];
    const char *hint; /* static, NULL: none */
    int line, column; /* from 1; 0: of the whole program. Columns count characters */
    int end_column;   /* of the same line; 0 if unknown */
    bool warning;     /* said, but no reason to refuse */
};

struct hc_findings {
    struct hc_finding *items; /* owned; in the program's order */
    size_t count, more;       /* more: beyond HC_FINDINGS_MAX */
    struct hc_buf columns;    /* JSON object: frame -> names of columns that the program uses; empty: none */
};

void hc_findings_finish(struct hc_findings *f);

/* Is one of them no mere warning? */
bool hc_findings_refuse(const struct hc_findings *f);

#endif
