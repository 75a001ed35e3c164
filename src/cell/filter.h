/* filter.h - seccomp filters from the tables of policy/calls.h, compiled by libseccomp and cached by content.
 *
 * A call passes only if all filters of a process let it pass, so what each of them refuses stays refused. The
 * kernel prefers an errno to a notification: a call that is to be told to the launcher must not be refused
 * with an errno by any of them. Such calls get a notification from the first filter, which has no listener,
 * so that they fail with ENOSYS; then one from the reporting filter, whose listener the launcher holds and
 * answers with the errno that programs understand; and the job's filter leaves them to these two.
 *
 * Whoever holds a listener could also let a call pass, and a process that is under a filter with a listener
 * cannot have another (EBUSY). So the reporting filter goes on first of all, while the interpreter's process
 * still does what the shim says: what loads the job's data later could otherwise make a listener for itself.
 *
 * A zygote's cells inherit its filter, which must change nothing about theirs: what it does not allow gets a
 * notification from it, before which the kernel prefers every errno, and every younger filter's notification.
 */
#ifndef HC_CELL_FILTER_H
#define HC_CELL_FILTER_H

#include "base/buf.h"
#include "base/error.h"
#include "manifest/denial.h"
#include "policy/calls.h"
#include "policy/policy.h"

#include <linux/seccomp.h>
#include <stdbool.h>

enum hc_filter_kind {
    HC_FILTER_FIRST,  /* from before the shim is executed: what the shim needs to start, and no more */
    HC_FILTER_REPORT, /* on top of it, first thing in the interpreter's process: what is told to the launcher
                       */
    HC_FILTER_JOB,    /* on top of these, before guest code is read: what the policy allows */
    HC_FILTER_ZYGOTE, /* of a zygote, below those of its cells: what the first one allows, and what makes
                       * cells
                       */
};

/* Which rows of the tables (enum hc_call_when) make this filter. `counted`: a cgroup counts the cell's
 * memory. */
unsigned hc_filter_when(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted);

/* The filter as struct sock_filter[]. `arch`: a machine as libseccomp names it, SCMP_ARCH_NATIVE for this
 * one.
 */
int hc_filter_compile(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted, uint32_t arch,
                      struct hc_buf *out, struct hc_error *err);

/* For this machine, from the cache if it is there. `counted`: a cgroup counts the cell's memory. The filter
 * as struct sock_filter[] in `out`. `cache_dir` is where compiled filters are kept (made if missing; NULL:
 * nowhere); a cache that cannot be used costs time only. */
int hc_filter_get(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                  const char *cache_dir, struct hc_buf *out, struct hc_error *err);

/* What the filters do, for people: sets of calls that are allowed, calls that depend on their arguments, and
 * calls that are refused. Whatever is not named fails with ENOSYS. */
struct hc_filter_row {
    const char *name; /* of a set, or the call; empty for calls that are refused together */
    const char
        *calls; /* of a set, those that are allowed, or those refused; separated by blanks; else NULL */
    const char *denied; /* of a set or a call, those that the policy takes away; else NULL */
    bool optional;      /* a set that only a policy brings */
    const char *which;  /* for these arguments; NULL: for all */
    int error;          /* 0: allowed */
    const char *why;
};
typedef void hc_filter_visitor(void *ctx, const struct hc_filter_row *row);
void hc_filter_each(const struct hc_policy *policy, bool counted, hc_filter_visitor *each, void *ctx);

/* What to do instead, if the refusal of a call, or the one that a row is about, is told to the launcher;
 * NULL: it is not. */
const char *hc_filter_told(const char *call);
const char *hc_filter_hint(const struct hc_call_rule *row);

/* With a policy that learns, the launcher is asked about each call that is not among the most common. */
bool hc_filter_learns(const struct hc_policy *policy, const char *call);

/* A call that the reporting filter refused: the denial, for the manifest, and the errno to refuse it with. */
int hc_filter_explain(const struct seccomp_data *call, struct hc_denial *out);

/* Is it what libc does by itself, so that nobody is told? */
bool hc_filter_is_habit(const struct seccomp_data *call);

#endif
