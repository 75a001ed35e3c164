/* figures.h - figures of a program that goes on, told to whoever is interested as they are made. That there
 * is one, the guest's process says; what it is, is looked at in the cell's /output, whose files the guest may
 * change meanwhile. What is collected at the end, and what the manifest says, does not depend on any of it.
 */
#ifndef HC_CELL_SUPERVISE_FIGURES_H
#define HC_CELL_SUPERVISE_FIGURES_H

#include "manifest/figure.h"

struct hc_supervisor;

/* Somebody who is told, and does not block. `fd` is lent: the file, of which no more than `bytes` may be
 * read. */
struct hc_figure_sink {
    void (*take)(void *ctx, const struct hc_figure *f, int fd); /* NULL: nobody */
    void *ctx;
};

#define HC_FIGURE_NOTICES 4 /* of each figure that the policy has room for; more are not looked at */

/* An HC_FRAME_FIGURE. -1: it is none. */
int hc_figures_heard(struct hc_supervisor *s, struct hc_error *err);

#endif
