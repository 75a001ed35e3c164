/* host.h - check what this host can do for cells. Each check has a result, the cost of a failure and a
 * remedy. */
#ifndef HC_CELL_HOST_H
#define HC_CELL_HOST_H

#include <stdbool.h>

enum hc_host_level {
    HC_HOST_OK,   /* nothing is missing */
    HC_HOST_NOTE, /* runs work, with less */
    HC_HOST_FAIL, /* a run under the default policy would not work */
};

const char *hc_host_level_name(enum hc_host_level level); /* "ok", "note", "fail" */

struct hc_host_row {
    const char *name;         /* name of the check; static */
    enum hc_host_level level; /* result of the check */
    char detail[1024];        /* the check's finding in one line */
    const char *cost;         /* what cells lack if the check does not pass; static; empty if ok */
    char mend[1024];          /* the remedy; empty if ok, or if there is none */
};

/* Run all checks in order and call `each` with every result. A check is left out if another one, which it
 * needs, has failed. True if no row is HC_HOST_FAIL. No process or file stays behind. */
typedef void hc_host_visitor(void *ctx, const struct hc_host_row *row);
bool hc_host_examine(hc_host_visitor *each, void *ctx);

#endif
