/* finding.h - what a look at a program found, before any of it ran. */
#ifndef HC_SHIM_HARNESS_FINDING_H
#define HC_SHIM_HARNESS_FINDING_H

#include "base/buf.h"
#include "json/lines.h"

#include <stdbool.h>

#define HC_FINDINGS_MAX 200 /* listed; more are counted */

struct hc_finding {
    const char *rule; /* static: "imports", "calls", "attributes", "names", "code_size", "statements",
                         "syntax", ... */
    char message[512];
    char what[128];     /* the name or module that it is about; empty: none */
    const char *hint;   /* static, NULL: none */
    struct hc_place at; /* line 0: of the whole program */
    bool warning;       /* said, but no reason to refuse */
};

struct hc_findings {
    struct hc_finding *items; /* owned */
    size_t count, cap;
    size_t warnings;       /* among them */
    size_t more;           /* refusals beyond HC_FINDINGS_MAX */
    struct hc_buf columns; /* JSON object: frame -> names of columns that the program uses; empty: none */
};

void hc_findings_finish(struct hc_findings *f);

/* Copies it. -1 without memory. */
int hc_findings_add(struct hc_findings *f, const struct hc_finding *one);

/* All have been added: put them in the program's order, each once, refusals and warnings HC_FINDINGS_MAX at
 * most, their columns in characters. `lines` is NULL if they are so already. */
void hc_findings_close(struct hc_findings *f, const struct hc_lines *lines);

/* Is one of them no mere warning? */
bool hc_findings_refuse(const struct hc_findings *f);

/* A JSON list of the refusals, or of the warnings. */
void hc_findings_json(const struct hc_findings *f, bool warnings, struct hc_buf *out);

/* The refusals as text on descriptor 2, each with its line, a caret and its hint, as the interpreter shows
 * syntax errors. `utf8` is the program. */
void hc_findings_show(const struct hc_findings *f, const char *filename, const char *utf8);

#endif
