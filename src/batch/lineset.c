#include "batch/lineset.h"

#include <stdlib.h>
#include <string.h>

static size_t place(const struct hc_lineset *s, int64_t number)
{
    return (size_t)(number / 8 - s->full / 8);
}

static bool bit(const struct hc_lineset *s, int64_t number)
{
    size_t at = place(s, number);
    return at < s->bytes && (s->bits[at] >> (number % 8) & 1);
}

bool hc_lineset_has(const struct hc_lineset *s, int64_t number)
{
    return number < s->full || bit(s, number);
}

static int make_room(struct hc_lineset *s, size_t at)
{
    if (at < s->bytes)
        return 0;
    size_t bytes = s->bytes ? s->bytes : 64;
    while (bytes <= at)
        bytes *= 2;
    uint8_t *bits = realloc(s->bits, bytes);
    if (!bits)
        return -1;
    memset(bits + s->bytes, 0, bytes - s->bytes);
    s->bits = bits;
    s->bytes = bytes;
    return 0;
}

/* Drop full bytes at the beginning. */
static void drop_full_bytes(struct hc_lineset *s)
{
    size_t whole = 0;
    int64_t full = s->full;
    while (bit(s, full))
        full++;
    whole = (size_t)(full / 8 - s->full / 8);
    memmove(s->bits, s->bits + whole, s->bytes - whole);
    memset(s->bits + s->bytes - whole, 0, whole);
    s->full = full;
}

int hc_lineset_add(struct hc_lineset *s, int64_t number)
{
    if (number < s->full)
        return 0;
    if (make_room(s, place(s, number)) < 0)
        return -1;
    s->bits[place(s, number)] |= (uint8_t)(1U << (number % 8));
    if (number == s->full)
        drop_full_bytes(s);
    return 0;
}

void hc_lineset_finish(struct hc_lineset *s)
{
    free(s->bits);
    *s = (struct hc_lineset){0};
}
