/* diff.h - the differences of two JSON values. */
#ifndef HC_JSON_DIFF_H
#define HC_JSON_DIFF_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#define HC_JSON_PATH 256 /* most bytes of a member's name with those of the objects around it, and a NUL */

/* One difference. All pointers are borrowed, until the visitor returns. */
struct hc_json_change {
    const char *path; /* where the value is, names of members joined by dots: "limits.timeout" */
    /* The value in the first and in the second document, NULL: there is none. Of lists each item that only
     * one of them has is a change of its own; `reordered`: they have the same items in another order. */
    const cJSON *from, *to;
    bool item, reordered; /* `from` or `to` is an item of the list at `path`; see above */
};

typedef void hc_json_change_visitor(void *ctx, const struct hc_json_change *change);

/* Call `each` for every difference, in the order of the members of `a`, then for the members that only `b`
 * has. NULL is an object without members. Returns whether there was a difference. */
bool hc_json_diff(const cJSON *a, const cJSON *b, hc_json_change_visitor *each, void *ctx);

#endif
