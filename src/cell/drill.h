/* drill.h - attacks on the host from inside cells of a given policy, and which of them the cells held.
 *
 * The attacks are hotcell's own, so their reports can be believed. They are embedded
 * (src/cell/doctor/attacks) and do no harm where they succeed. Each is tried under the policy as it is,
 * and, if the policy has the guard, once more without the guard: the kernel must hold alone. */
#ifndef HC_CELL_DRILL_H
#define HC_CELL_DRILL_H

#include "manifest/manifest.h"

#include <stdbool.h>

struct hc_attack {
    /* Name of the attack; what it tries, a phrase; name of its group of similar attacks. All texts are
     * static. */
    const char *name, *about, *group;
    const char *held; /* layers each of which alone stops the attack, separated by blanks */
    bool with_kit;    /* the program uses what src/cell/doctor/attacks/kit.py defines */
    const char *cell; /* needed kind of cell (drill_range.h); empty: the policy's own */
    const char *text; /* the program, in Python */
};

enum hc_drill_verdict {
    HC_DRILL_NOT_TRIED, /* the host lacks the target, or the policy has no guard to leave out, or no cell of
                           the needed kind can be made */
    HC_DRILL_HELD,      /* the cell stopped the attack */
    HC_DRILL_REACHED,   /* the attack reached its target */
    HC_DRILL_UNCLEAR,   /* the attack ended before it could report */
};

const char *hc_drill_verdict_name(enum hc_drill_verdict v); /* "not tried", "held", "reached", "unclear" */

struct hc_drill_result {
    enum hc_drill_verdict verdict; /* verdict on one attempt */
    const char *by;   /* what stopped it: "guard", "seccomp", "limit", "kernel"; "" unless held; static */
    char detail[256]; /* what was reached, or how it was refused */
};

struct hc_drill_row {
    const struct hc_attack *attack;          /* the attack that was tried; static */
    struct hc_drill_result as_is, unguarded; /* result under the policy as it is; without its guard */
};

/* A layer of the attacked cells, and how many attacks it stops. */
struct hc_drill_layer {
    const struct hc_layer *layer; /* as a cell's manifest has it; valid during the drill */
    int attacks;                  /* number of attacks that name the layer in `held` */
    int reached;                  /* number of these that reached their target */
};

struct hc_drill {
    const struct hc_policy *policy; /* policy of the attacked cells; borrowed */
    const char *only;               /* name of the one attack to try; NULL: all. Borrowed */
    bool warm;                      /* attack from warm cells, which are copies of a zygote */
    int cancel_fd;                  /* readable: stop; borrowed; -1: none */
    void (*each)(void *ctx, const struct hc_drill_row *row);      /* called after each attack */
    void (*layer)(void *ctx, const struct hc_drill_layer *layer); /* called for each layer at the end */
    void *ctx;                                                    /* for `each` and `layer`; borrowed */
    /* Filled: number of attempts (one with the guard and one without it are two); of these, HC_DRILL_HELD; of
     * these, HC_DRILL_UNCLEAR. */
    int tried, held, unclear;
};

/* Run the attacks. 0 when all were tried. -1: no cell of this policy can be made here, the drill was
 * cancelled, or there is no attack of that name (HC_EXIT_USAGE). No process or file stays behind. */
int hc_drill(struct hc_drill *d, struct hc_error *err);

#endif
