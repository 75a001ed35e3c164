/* finding.h - keeps, sorts and prints the findings of a check of a program, before any of it runs. */
#ifndef HC_SHIM_HARNESS_FINDING_H
#define HC_SHIM_HARNESS_FINDING_H

#include "base/buf.h"
#include "json/lines.h"

#include <stdbool.h>

#define HC_FINDINGS_MAX 200 /* most refusals that are listed, and most warnings; others are counted */

/* One refusal or warning. */
struct hc_finding {
    const char *rule;  /* static: "imports", "calls", "attributes", "names", "code_size", "statements",
                          "syntax", ... */
    char message[512]; /* message for the writer of the program, one sentence */
    char what[128];    /* the name or module that the finding is about; empty: none */
    const char *hint;  /* what the program can do instead; static; NULL: no hint */
    struct hc_span at; /* place in the program; line 0: the finding is about the whole program */
    bool warning;      /* the finding is shown, but does not refuse the program */
};

struct hc_findings {
    struct hc_finding *items; /* the findings; owned */
    size_t count, cap;        /* number of findings; number of those that `items` has room for */
    size_t warnings;          /* number of warnings among the items */
    size_t more;              /* number of refusals beyond HC_FINDINGS_MAX */
    struct hc_buf columns;    /* JSON object: frame -> names of columns that the program uses; empty: none */
};

void hc_findings_finish(struct hc_findings *f);

/* Adds a copy of `one`. -1: no memory. */
int hc_findings_add(struct hc_findings *f, const struct hc_finding *one);

/* Called when all findings are added: sorts them by their places, drops duplicates and those beyond
 * HC_FINDINGS_MAX, and turns columns from bytes into characters. `lines` is NULL if columns are in
 * characters. */
void hc_findings_close(struct hc_findings *f, const struct hc_lines *lines);

/* Is there a refusal among the findings? */
bool hc_findings_refuse(const struct hc_findings *f);

/* Appends a JSON list of the refusals, or with `warnings` of the warnings. */
void hc_findings_json(const struct hc_findings *f, bool warnings, struct hc_buf *out);

/* Writes the refusals as text to descriptor 2, each with its line, a caret and its hint, as the interpreter
 * shows syntax errors. `utf8` is the text of the program. */
void hc_findings_show(const struct hc_findings *f, const char *filename, const char *utf8);

#endif
