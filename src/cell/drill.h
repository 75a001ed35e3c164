/* drill.h - attacks from inside cells of a given policy on the host that they run on, and what became of
 * them.
 *
 * The attacks are ours, so that what they say of themselves can be believed; they are embedded
 * (src/cell/doctor/attacks) and do no harm where they succeed. Each is tried under the policy as it is, and,
 * if that has the guard, without it once more: the kernel must hold alone. */
#ifndef HC_CELL_DRILL_H
#define HC_CELL_DRILL_H

#include "manifest/manifest.h"

#include <stdbool.h>

struct hc_attack {
    const char *name, *about, *group;
    const char *held; /* layers that hold it, each alone, separated by blanks */
    bool with_kit;    /* it uses what src/cell/doctor/attacks/kit.py defines */
    const char
        *cell; /* the kind of cell that it is tried in (drill_range.h); empty: of the policy as it is */
    const char *text; /* Python */
};

enum hc_drill_verdict {
    HC_DRILL_NOT_TRIED, /* the host lacks what it attacks, or there is no guard to be tried without, or no
                           cell of the kind that it needs */
    HC_DRILL_HELD,
    HC_DRILL_REACHED,
    HC_DRILL_UNCLEAR, /* it ended before it could tell */
};

const char *hc_drill_verdict_name(enum hc_drill_verdict v); /* "not tried", "held", "reached", "unclear" */

struct hc_drill_result {
    enum hc_drill_verdict verdict;
    const char *by;   /* static: "guard", "seccomp", "limit", "kernel"; "" unless held */
    char detail[256]; /* what was reached, or how it was refused */
};

struct hc_drill_row {
    const struct hc_attack *attack;
    struct hc_drill_result as_is, unguarded;
};

/* A layer of the cells that were tried, and what rests on it. */
struct hc_drill_layer {
    const struct hc_layer *layer;
    int attacks; /* that name it as one that holds them */
    int reached; /* of these */
};

struct hc_drill {
    const struct hc_policy *policy; /* borrowed */
    const char *only;               /* name of the one attack to try; NULL: all. Borrowed */
    bool warm;                      /* cells that waited, copies of a zygote, are attacked */
    int cancel_fd;                  /* readable: stop; -1: none */
    void (*each)(void *ctx, const struct hc_drill_row *row);
    void (*layer)(void *ctx, const struct hc_drill_layer *layer);
    void *ctx;
    int tried, held, unclear; /* filled: attempts, with and without guard */
};

/* Try them. 0 when all were tried; -1: cells of this policy cannot be had here, or it was cancelled, or there
 * is no attack of that name (HC_EXIT_USAGE). Nothing stays behind. */
int hc_drill(struct hc_drill *d, struct hc_error *err);

#endif
