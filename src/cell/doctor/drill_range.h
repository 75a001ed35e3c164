/* drill_range.h - private to the drill: the kinds of cells that attacks ask for, what is put up for them, and
 * one program in one of these cells. */
#ifndef HC_CELL_DOCTOR_DRILL_RANGE_H
#define HC_CELL_DOCTOR_DRILL_RANGE_H

#include "cell/doctor/decoys.h"
#include "cell/drill.h"
#include "cell/warm/zygote.h"

#define HC_DRILL_SAYS_REACHED "drill reached: " /* in what a program prints */

/* The head of an attack says in which kind of cell it is tried ("# cell: small"). */
enum hc_ground_kind {
    HC_GROUND_USUAL,   /* of the policy as it is */
    HC_GROUND_SMALL,   /* with little memory, and much else that memory can be held with */
    HC_GROUND_BIND,    /* whose output is a directory of the host's, with little time to collect it */
    HC_GROUND_SESSION, /* of a session: the attack is its first run, and others follow */
    HC_GROUNDS
};
enum hc_ground_kind hc_ground_kind(const char *name);

struct hc_ground {
    enum hc_ground_kind kind;
    struct hc_policy policy;  /* shares what it points to with the drill's */
    struct hc_zygote *zygote; /* of warm cells; NULL: none yet */
    bool proven, lacking;     /* there are such cells, or there are none under this policy on this host */
};

struct hc_range {
    struct hc_drill *d;
    struct hc_ground grounds[HC_GROUNDS][2]; /* under the policy, and under it without its guard */
    struct hc_decoys lures;
    char *vars;                  /* NAME=JSON for hc_job_add_var */
    char results[HC_DECOYS_DIR]; /* a directory for what attacks leave in /output; empty: none yet */
    struct hc_manifest *m;       /* of the last cell, or of the last run of a session */
    bool forged;                 /* that run's manifest says what another run had it say */
};

/* Whatever came out, hc_range_close is to be called. */
int hc_range_open(struct hc_range *g, struct hc_drill *d, struct hc_error *err);
void hc_range_close(struct hc_range *g);

/* From here on, cells that have little memory have room for a program that does nothing. */
int hc_range_learn_idle(struct hc_range *g, int64_t idle_bytes, struct hc_error *err);

/* Have a cell run the program, and fill g->m and g->forged. */
int hc_range_run(struct hc_range *g, struct hc_ground *ground, const char *code, struct hc_error *err);

#endif
