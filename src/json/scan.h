/* scan.h - the strict JSON scanner (RFC 8259) below json.h: which bytes of a text are which value.
 *
 * It refuses with a position, and leaves a flat list of spans, in the order of the text. The tree that json.h
 * makes of them forgets where things stood and how numbers were written. */
#ifndef HC_JSON_SCAN_H
#define HC_JSON_SCAN_H

#include "json/json.h"

struct hc_node {
    uint32_t start, end; /* bytes of the value: text[start] .. text[end - 1] */
    uint32_t key;        /* of its member name's opening quote; 0 if it is not a member */
    uint32_t next;       /* index of the first node behind it and all that it contains */
};

struct hc_scan {
    const char *text;      /* borrowed */
    struct hc_node *nodes; /* owned; nodes[0] is the document */
    size_t count, cap;
};

/* `depth`: how many lists and objects the text stands in already (0 for a whole document). */
int hc_scan(struct hc_scan *out, const char *name, const char *text, size_t len, int depth,
            struct hc_error *err);
void hc_scan_finish(struct hc_scan *s);

#define hc_autoscan __attribute__((cleanup(hc_scan_finish))) struct hc_scan

/* Refuses a number of more than 4300 digits, in a text that somebody may read who uses Python's own json,
 * which fails for longer ones (sys.set_int_max_str_digits). */
int hc_scan_numbers(const struct hc_scan *s, const char *name, struct hc_error *err);

/* The members of the object (or elements of the list) at `node`, as indices; members sorted by the bytes of
 * their decoded names if `sorted`. Owned by the caller; NULL without memory. */
uint32_t *hc_scan_children(const struct hc_scan *s, size_t node, bool sorted, size_t *count);

/* Next character of a scanned string, escapes decoded; `*p` starts behind the opening quote. */
#define HC_SCAN_END UINT32_MAX
uint32_t hc_scan_char(const char **p);

#endif
