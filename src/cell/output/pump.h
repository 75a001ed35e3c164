/* pump.h - one file's content, hashed and copied, for as long as collecting may take. */
#ifndef HC_CELL_OUTPUT_PUMP_H
#define HC_CELL_OUTPUT_PUMP_H

#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* When collecting stops, whatever is left: at a time, and soon after somebody has cancelled the job. */
struct hc_deadline {
    int cancel_fd;  /* readable: the job is cancelled; -1: nobody can. Borrowed */
    int64_t at_us;  /* the deadline, in microseconds of hc_now_us */
    bool cancelled; /* the job is, and at_us is soon */
    bool passed;
};

void hc_deadline_start(struct hc_deadline *d, int cancel_fd, int64_t ms);
bool hc_deadline_passed(struct hc_deadline *d); /* to be asked again and again: it looks at both */

enum hc_pumped {
    HC_PUMPED_WHOLE,
    HC_PUMPED_TOO_LARGE, /* more than `max` */
    HC_PUMPED_STOPPED,   /* the deadline passed, or somebody cancelled */
};

struct hc_pump {
    int from;                     /* a regular file */
    int to;                       /* gets a copy, with the same holes; -1: only hash */
    bool sparse;                  /* look for holes in it, and read none of them */
    int64_t max;                  /* bytes, holes included */
    struct hc_deadline *deadline; /* borrowed */
    int64_t bytes;                /* of the file, gone through so far */
    bool source_failed;           /* with -1: `from` could not be read; else `to` could not be written */
    struct hc_hash hash;          /* of these bytes; begun by hc_pump */
};

/* From the first byte to the last. What counts is the bytes that are met, whatever fstat promised. enum
 * hc_pumped, or -1. */
int hc_pump(struct hc_pump *p, struct hc_error *err);

#endif
