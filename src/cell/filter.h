/* filter.h - seccomp filters from tables of named sets, compiled by libseccomp and cached by content. */
#ifndef HC_CELL_FILTER_H
#define HC_CELL_FILTER_H

#include "base/buf.h"
#include "base/error.h"
#include "spec/policy.h"

#include <stdbool.h>

enum hc_filter_kind {
    HC_FILTER_FIRST, /* from before the shim is executed: what the shim needs to start, and no more */
    HC_FILTER_JOB,   /* on top of it, before guest code is read: what the policy allows */
};

/* `counted`: a cgroup counts the cell's memory. The filter as struct sock_filter[] in `out`. `cache_dir` is
 * where compiled filters are kept (made if missing; NULL: nowhere); a cache that cannot be used costs time
 * only. */
int hc_filter_get(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                  const char *cache_dir, struct hc_buf *out, struct hc_error *err);

/* What the job's filter does, for people: sets of calls that are allowed, calls that depend on their
 * arguments, and calls that are refused with an errno of their own. Whatever is not named fails with ENOSYS.
 */
struct hc_filter_row {
    const char *name;  /* of a set, or the call */
    const char *calls; /* of a set, separated by blanks; else NULL */
    bool by_arguments; /* true for some arguments only */
    int error;         /* 0: allowed */
    const char *why;
};
typedef void hc_filter_visitor(void *ctx, const struct hc_filter_row *row);
void hc_filter_each(const struct hc_policy *policy, bool counted, hc_filter_visitor *each, void *ctx);

#endif
