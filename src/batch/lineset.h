/* lineset.h - a set of lines that fills up from its beginning: what is full there takes no room. */
#ifndef HC_BATCH_LINESET_H
#define HC_BATCH_LINESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hc_lineset {
    int64_t full;  /* every number below is in it */
    uint8_t *bits; /* owned; of those from `full` rounded down to 8 on */
    size_t bytes;  /* room */
};

bool hc_lineset_has(const struct hc_lineset *s, int64_t number); /* numbers count from 0 */
int hc_lineset_add(struct hc_lineset *s, int64_t number);        /* -1: no memory */
void hc_lineset_finish(struct hc_lineset *s);

#endif
