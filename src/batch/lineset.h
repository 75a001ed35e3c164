/* lineset.h - a set of line numbers that fills up from 0: its full beginning takes no memory. */
#ifndef HC_BATCH_LINESET_H
#define HC_BATCH_LINESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hc_lineset {
    int64_t full;  /* every number below is in the set */
    uint8_t *bits; /* one bit per number from `full` rounded down to 8 on; owned */
    size_t bytes;  /* allocated bytes of `bits` */
};

bool hc_lineset_has(const struct hc_lineset *s, int64_t number); /* numbers count from 0 */
int hc_lineset_add(struct hc_lineset *s, int64_t number);        /* -1: no memory */
void hc_lineset_finish(struct hc_lineset *s);

#endif
