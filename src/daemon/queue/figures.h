/* figures.h - figures of a running job, for clients that ask for them before the job has ended. */
#ifndef HC_DAEMON_QUEUE_FIGURES_H
#define HC_DAEMON_QUEUE_FIGURES_H

#include "base/buf.h"
#include "manifest/figure.h"

/* Most bytes of one job's figures; the oldest are dropped to make room. */
#define HC_FIGURES_MAX ((size_t)8 << 20)

/* The content of a figure. It is freed with its last user: the job, or an answer that is being sent. */
struct hc_figure_data {
    struct hc_buf bytes; /* content of the figure's file; owned */
    size_t users;        /* number of references */
};

struct hc_kept_figure {
    char path[HC_FIGURE_PATH_MAX]; /* path of the figure below the job's output directory */
    struct hc_figure_data *data;   /* a counted reference */
};

struct hc_figures {
    struct hc_kept_figure *list; /* the oldest first; owned */
    size_t count;                /* number of figures */
    size_t bytes;                /* bytes of all figures together */
};

/* Read a figure from `fd`, a sealed memfd (borrowed), and keep it under `path`, in place of an older figure
 * of that path. If `fd` is -1 or there is no memory, only the older figure is dropped. */
void hc_figures_keep(struct hc_figures *f, const char *path, int fd);

/* The content of the figure with this path, a reference that the caller gives back with
 * hc_figure_data_unref; NULL: there is none. */
struct hc_figure_data *hc_figures_find(const struct hc_figures *f, const char *path);
void hc_figure_data_unref(void *data); /* a struct hc_figure_data; fine with NULL */

void hc_figures_finish(struct hc_figures *f);

#endif
