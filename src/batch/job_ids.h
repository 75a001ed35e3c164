/* job_ids.h - the job IDs that a batch has had, and the line of each: a hash table in an unnamed file, to
 * save memory. */
#ifndef HC_BATCH_JOB_IDS_H
#define HC_BATCH_JOB_IDS_H

#include "base/error.h"

#include <stdint.h>

struct hc_job_ids {
    int fd;                 /* descriptor of the table; owned */
    int dir;                /* directory for new files; borrowed */
    uint64_t places, taken; /* places of the table, a power of two; used places, at most half of them */
};

/* Make an empty table in the file system of the directory `dir`, which is borrowed. */
int hc_job_ids_open(struct hc_job_ids *ids, int dir, struct hc_error *err);
void hc_job_ids_finish(struct hc_job_ids *ids);

/* Add an ID. *first gets the first line with this ID, `line` itself if it is new. */
int hc_job_ids_put(struct hc_job_ids *ids, const char *id, int64_t line, int64_t *first,
                   struct hc_error *err);

/* Make an unnamed file, which vanishes when its descriptor is closed. Owned by the caller; -1. */
int hc_job_ids_file(int dir, struct hc_error *err);

#endif
