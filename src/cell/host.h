/* host.h - what this host can and cannot do for cells: a table of checks, each tried, with what it costs to
 * do without and what mends it. */
#ifndef HC_CELL_HOST_H
#define HC_CELL_HOST_H

#include <stdbool.h>

enum hc_host_level {
    HC_HOST_OK,
    HC_HOST_NOTE, /* runs work, with less */
    HC_HOST_FAIL, /* a run under the default policy would not work */
};

const char *hc_host_level_name(enum hc_host_level level); /* "ok", "note", "fail" */

struct hc_host_row {
    const char *name; /* static */
    enum hc_host_level level;
    char detail[1024]; /* what was found */
    const char *cost;  /* what one does without; static; empty if ok */
    char mend[1024];   /* what to do about it; empty if ok, or if nothing can be done */
};

/* Try everything, in order, and hand over each result as it comes. A check that can say nothing, as another
 * one has failed, is left out. True if no row is HC_HOST_FAIL. Nothing stays behind. */
typedef void hc_host_visitor(void *ctx, const struct hc_host_row *row);
bool hc_host_examine(hc_host_visitor *each, void *ctx);

#endif
