/* drill_range.h - private to the drill: the kinds of cells that attacks need, their decoys, and running
 * one program in such a cell. */
#ifndef HC_CELL_DOCTOR_DRILL_RANGE_H
#define HC_CELL_DOCTOR_DRILL_RANGE_H

#include "cell/doctor/decoys.h"
#include "cell/drill.h"
#include "cell/warm/zygote.h"

#define HC_DRILL_SAYS_REACHED "drill reached: " /* begins the line that a successful attack prints */

/* The head of an attack says in which kind of cell it is tried ("# cell: small"). */
enum hc_ground_kind {
    HC_GROUND_USUAL, /* a cell of the policy as it is */
    HC_GROUND_SMALL, /* a cell with little memory, and with many open files and names, by which kernel memory
                        can be held */
    HC_GROUND_BIND,  /* a cell whose output is a directory of the host, with little time to collect it */
    HC_GROUND_SESSION,     /* a session: the attack is its first run, and harmless runs follow */
    HC_GROUND_DIRECTORIES, /* a cell with directories of the host: one to read, and the copy of one */
    HC_GROUNDS
};
enum hc_ground_kind hc_ground_kind(const char *name); /* the kind of this name; HC_GROUNDS: there is none */

struct hc_ground {
    enum hc_ground_kind kind; /* kind of cells that attacks of this ground get */
    struct hc_policy policy;  /* a copy of the drill's policy, whose pointers are borrowed */
    struct hc_zygote *zygote; /* zygote that makes its warm cells; owned; NULL: not started */
    bool proven, unavailable; /* such cells were made and tested; no such cell can be made here */
};

struct hc_range {
    struct hc_drill *d; /* the drill; borrowed */
    struct hc_ground grounds[HC_GROUNDS]
                            [2]; /* cells under the policy, and under the policy without its guard */
    struct hc_decoys decoys;     /* decoys that attacks try to reach; owned */
    char *vars;                  /* "lure=JSON" with the decoys, for hc_job_add_var; owned */
    char results[HC_DECOYS_DIR]; /* directory for the files that attacks leave in /output; empty: not made */
    struct hc_manifest *m;       /* manifest of the last cell, or of the last run of a session; owned */
    bool forged;                 /* another run falsified the manifest of that run */
};

/* Make the decoys and the grounds for this drill, which is borrowed. The caller calls hc_range_close also
 * after -1. */
int hc_range_open(struct hc_range *g, struct hc_drill *d, struct hc_error *err);
void hc_range_close(struct hc_range *g);

/* Give small cells `idle_bytes` more memory: as much as a program that does nothing uses. */
int hc_range_learn_idle(struct hc_range *g, int64_t idle_bytes, struct hc_error *err);

/* Run the program `code` in a cell of this kind, and fill g->m and g->forged. */
int hc_range_run(struct hc_range *g, struct hc_ground *ground, const char *code, struct hc_error *err);

#endif
