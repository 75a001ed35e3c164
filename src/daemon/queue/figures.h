/* figures.h - figures of a job that goes on, for who asks for them before it has ended. */
#ifndef HC_DAEMON_QUEUE_FIGURES_H
#define HC_DAEMON_QUEUE_FIGURES_H

#include "base/buf.h"
#include "manifest/figure.h"

#define HC_FIGURES_MAX                                                                                       \
    ((size_t)8 << 20) /* bytes of the figures of one job; those that came first make room */

struct hc_kept_figure {
    char path[HC_FIGURE_PATH_MAX];
    struct hc_buf data;
};

struct hc_figures {
    struct hc_kept_figure *list; /* owned */
    size_t count;
    size_t bytes; /* of all of them */
};

/* Read `fd`, a sealed memfd (lent), and keep it under that path, in the place of what had it; -1: there is
 * nothing to keep, and what had the path is not it any more. Without memory nothing is kept either. */
void hc_figures_keep(struct hc_figures *f, const char *path, int fd);

/* The bytes of the figure; NULL: there is none of this path. */
const struct hc_buf *hc_figures_find(const struct hc_figures *f, const char *path);

void hc_figures_finish(struct hc_figures *f);

#endif
