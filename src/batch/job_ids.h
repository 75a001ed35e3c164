/* job_ids.h - which job IDs a batch has had, and in which line: in a file without a name, not in memory. */
#ifndef HC_BATCH_JOB_IDS_H
#define HC_BATCH_JOB_IDS_H

#include "base/error.h"

#include <stdint.h>

struct hc_job_ids {
    int fd; /* owned */
    int dir;
    uint64_t places, taken; /* a power of two; at most half of them */
};

/* In the file system of this directory, which is borrowed. */
int hc_job_ids_open(struct hc_job_ids *seen, int dir, struct hc_error *err);
void hc_job_ids_finish(struct hc_job_ids *seen);

/* `first` becomes the line that had this ID first: this one, if none had it. */
int hc_job_ids_put(struct hc_job_ids *seen, const char *id, int64_t line, int64_t *first,
                   struct hc_error *err);

/* Such a file: of no name, and gone with its descriptor. Owned by the caller; -1. */
int hc_job_ids_file(int dir, struct hc_error *err);

#endif
