/* parked.h - private to hc_run: a job goes into a cell that is there. */
#ifndef HC_CELL_PARKED_H
#define HC_CELL_PARKED_H

#include "cell/launch.h"
#include "cell/zygote.h"

/* In the place of preparing and constructing a cell: take over what `p` owns, check its layers, fill /input
 * and give it the job. */
int hc_launch_enter(struct hc_launch *l, struct hc_parked *p, struct hc_error *err);

/* A program that is over (over.h): what still dies is for whoever finishes `p`. */
void hc_launch_leave(struct hc_launch *l, struct hc_parked *p);

#endif
