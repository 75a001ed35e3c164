/* code.h - a program's text, with what was found at its lines. */
#ifndef HC_REPORT_CODE_H
#define HC_REPORT_CODE_H

#include "base/buf.h"

struct hc_mark {
    long line, column, end_column; /* from 1, in characters; 0: none */
    const char *class;             /* "refused", "warned", "raised" */
    const char *what;              /* the rule, or the kind of exception */
    const char *message, *hint;    /* empty: none */
    bool said;                     /* by the program's own process, nobody else */
    long count;                    /* times; 0: does not apply */
};

/* The marks are sorted. */
void hc_code_put(struct hc_buf *out, const char *text, size_t len, struct hc_mark *marks, size_t count);

/* One of them, as it stands below its line. */
void hc_code_put_note(struct hc_buf *out, const struct hc_mark *mark);

#endif
