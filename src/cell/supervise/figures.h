/* figures.h - hand over figures of a running program as they are made. The guest's process announces a
 * figure; its file is opened in the cell's /output, and the guest may change it meanwhile. The files
 * collected at the end, and the manifest, do not depend on these announcements. */
#ifndef HC_CELL_SUPERVISE_FIGURES_H
#define HC_CELL_SUPERVISE_FIGURES_H

#include "manifest/figure.h"

struct hc_supervisor;

/* A receiver of figures. `take` must not block. `fd` is the figure's file, borrowed; the receiver reads at
 * most f->bytes of it. */
struct hc_figure_sink {
    void (*take)(void *ctx, const struct hc_figure *f, int fd); /* NULL: there is no receiver */
    void *ctx;                                                  /* for `take`; borrowed */
};

#define HC_FIGURE_NOTICES 4 /* announcements passed on for each figure that limits.figures allows */

/* Handle an HC_FRAME_FIGURE in s->inbox. -1: the frame is malformed. */
int hc_figures_handle(struct hc_supervisor *s, struct hc_error *err);

#endif
