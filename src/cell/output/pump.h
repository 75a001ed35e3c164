/* pump.h - hash and copy one file's content until a deadline. */
#ifndef HC_CELL_OUTPUT_PUMP_H
#define HC_CELL_OUTPUT_PUMP_H

#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* When collecting must stop: at a time, or soon after the job was cancelled. */
struct hc_deadline {
    int cancel_fd;  /* readable: the job is cancelled; borrowed. -1: none */
    int64_t at_us;  /* the deadline, in microseconds of hc_now_us */
    bool cancelled; /* the job is cancelled, and at_us was moved closer */
    bool passed;    /* the deadline has passed */
};

/* Set a deadline `ms` milliseconds from now; `cancel_fd`: see struct hc_deadline. Has it passed? */
void hc_deadline_start(struct hc_deadline *d, int cancel_fd, int64_t ms);
bool hc_deadline_passed(struct hc_deadline *d); /* reads cancel_fd and the clock: call it often */

/* How hc_pump ended. */
enum hc_pumped {
    HC_PUMPED_WHOLE,     /* the whole file was read */
    HC_PUMPED_TOO_LARGE, /* the file has more than `max` bytes */
    HC_PUMPED_STOPPED,   /* the deadline passed, or the job was cancelled */
};

struct hc_pump {
    int from;                     /* a regular file, borrowed */
    int to;                       /* gets a copy with the same holes, borrowed; -1: only hash */
    bool sparse;                  /* find holes with lseek, and do not read them */
    int64_t max;                  /* most bytes, holes included */
    struct hc_deadline *deadline; /* when to stop; borrowed */
    int64_t bytes;                /* bytes hashed so far */
    bool source_failed;           /* after -1: reading `from` failed; else writing `to` did */
    struct hc_hash hash;          /* SHA-256 of these bytes; begun by hc_pump */
};

/* Hash and copy the whole file. Its size is the number of bytes read, not that of fstat. Returns an enum
 * hc_pumped, or -1. */
int hc_pump(struct hc_pump *p, struct hc_error *err);

#endif
