/* scan.h - the strict JSON scanner (RFC 8259) below json.h: which bytes of a text are which value.
 *
 * An error has a position. The result is a flat list of spans, in the order of the text. The tree that json.h
 * makes of the spans lacks the places of the values and the spelling of the numbers. */
#ifndef HC_JSON_SCAN_H
#define HC_JSON_SCAN_H

#include "json/json.h"

struct hc_node {
    uint32_t start, end; /* bytes of the value: text[start] .. text[end - 1] */
    uint32_t key;        /* offset of the opening quote of the member's name; 0: not a member of an object */
    uint32_t next;       /* index of the first node behind this one and all nodes within it */
};

struct hc_scan {
    const char *text;      /* the scanned text; borrowed */
    struct hc_node *nodes; /* values in the order of the text; owned; nodes[0] is the whole document */
    size_t count, cap;     /* nodes that are used, nodes that there is room for */
};

/* Scan `text`. `depth`: the number of lists and objects around the text (0 for a whole document). */
int hc_scan(struct hc_scan *out, const char *name, const char *text, size_t len, int depth,
            struct hc_error *err);
void hc_scan_finish(struct hc_scan *s);

#define hc_autoscan __attribute__((cleanup(hc_scan_finish))) struct hc_scan

/* Refuses a number of more than 4300 digits, for texts that Python's own json has to be able to read: it
 * fails for longer numbers (sys.set_int_max_str_digits). */
int hc_scan_numbers(const struct hc_scan *s, const char *name, struct hc_error *err);

/* The members of the object (or elements of the list) at `node`, as indices; members sorted by the bytes of
 * their decoded names if `sorted`. Owned by the caller; NULL without memory. */
uint32_t *hc_scan_children(const struct hc_scan *s, size_t node, bool sorted, size_t *count);

/* Returns the next character of a scanned string, escapes decoded, and moves `*p` behind it; `*p` starts
 * behind the opening quote. */
#define HC_SCAN_END UINT32_MAX /* returned at the closing quote */
uint32_t hc_scan_char(const char **p);

#endif
