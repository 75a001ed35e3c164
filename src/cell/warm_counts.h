/* warm_counts.h - what a worker tells of its warm cells, and what the front sums up. */
#ifndef HC_CELL_WARM_COUNTS_H
#define HC_CELL_WARM_COUNTS_H

#include <stdint.h>

/* Why a job had a cell built for it. */
enum hc_cold {
    HC_COLD_OFF,  /* there are no warm cells at all */
    HC_COLD_JOB,  /* what it asks for is for a cell of its own: a seed, output that is bound, large inputs */
    HC_COLD_NEW,  /* nobody has asked for such a cell before, or not often enough */
    HC_COLD_NONE, /* none waits: the last one has not been replaced yet, or is too old */
    HC_COLD_PAUSED, /* none can be made at the moment */
    HC_COLD_DIED,   /* the one that waited has died */
    HC_COLD_FAILED, /* the one that waited did not get as far as the program */
    HC_COLD_REASONS,
};

/* Since the worker began, but for the first two. */
struct hc_warm_counts {
    int64_t zygotes, cells; /* that there are now */
    int64_t zygotes_started, zygotes_failed, zygotes_died, zygotes_recycled, zygotes_idle;
    int64_t cells_made, cells_failed, cells_used, cells_died, cells_expired;
    int64_t cells_early; /* of those that were used: their job was answered before they were gone */
    int64_t cold[HC_COLD_REASONS];
};

#define HC_WARM_COUNTS (sizeof(struct hc_warm_counts) / sizeof(int64_t))

#endif
