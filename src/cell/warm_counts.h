/* warm_counts.h - a worker's counts of its warm cells, which the daemon adds up over all workers. */
#ifndef HC_CELL_WARM_COUNTS_H
#define HC_CELL_WARM_COUNTS_H

#include <stdint.h>

/* Why a job had a cell built for it. */
enum hc_cold {
    HC_COLD_OFF,    /* warm cells are switched off */
    HC_COLD_JOB,    /* the job needs a cell of its own: it has a seed, bound output or large inputs */
    HC_COLD_NEW,    /* too few jobs have asked for such a cell yet */
    HC_COLD_NONE,   /* no cell waits: the last one has not been replaced yet, or is too old */
    HC_COLD_PAUSED, /* no cell is made for a while, after failures */
    HC_COLD_DIED,   /* the cell that waited had died */
    HC_COLD_FULL,   /* there is no room for its interpreter beside those that are in use */
    HC_COLD_FAILED, /* the cell that waited failed before the program began */
    HC_COLD_REASONS,
};

/* Counts since the worker started, except the first row, which is of now. */
struct hc_warm_counts {
    /* Numbers of zygotes; of cells that wait; of further cells that there is room for, without one more
     * zygote. */
    int64_t zygotes, cells, room;
    /* Numbers of zygotes that were started; could not be started; died; were replaced (recycled) because of
     * the number of their cells, their age or their tree; were ended as no job asked for them (idle); were
     * ended to make room for another one (evicted). */
    int64_t zygotes_started, zygotes_failed, zygotes_died, zygotes_recycled, zygotes_idle, zygotes_evicted;
    /* Numbers of cells that were made; could not be made; were given to a job; died while they waited; ended
     * unused, with their zygote or because of their age. */
    int64_t cells_made, cells_failed, cells_used, cells_died, cells_expired;
    int64_t cells_early;           /* used cells whose job was answered before their processes were gone */
    int64_t cold[HC_COLD_REASONS]; /* jobs that had a cell built for them, by reason */
};

#define HC_WARM_COUNTS (sizeof(struct hc_warm_counts) / sizeof(int64_t)) /* number of counts */

#endif
