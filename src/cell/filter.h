/* filter.h - seccomp filters from the tables of policy/calls.h, compiled by libseccomp and cached by
 * content.
 *
 * A call passes only if all filters of a process let it pass, so a call that one filter refuses stays
 * refused. The kernel prefers an errno to a notification: a call that is to be told to the launcher must
 * not be refused with an errno by any of them. Such calls get a notification from the first filter, which
 * has no listener, so that they fail with ENOSYS; then one from the reporting filter, whose listener the
 * launcher holds and answers with the errno that programs understand; and the job's filter leaves them to
 * these two.
 *
 * The holder of a listener could also let a call pass, and a process that is under a filter with a
 * listener cannot have another (EBUSY). So the reporting filter goes on first of all, while the
 * interpreter's process still does what the shim says: what loads the job's data later could otherwise
 * make a listener for itself.
 *
 * A zygote's cells inherit its filter, which must change nothing about theirs: what it does not allow gets
 * a notification from it, before which the kernel prefers every errno, and every younger filter's
 * notification. */
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
    HC_FILTER_FIRST,  /* set before the shim is executed: allows what the shim needs to start */
    HC_FILTER_REPORT, /* set on top of the first, at once in the interpreter's process: reports calls to the
                       * launcher
                       */
    HC_FILTER_JOB,    /* set on top of both, before guest code is read: allows what the policy allows */
    HC_FILTER_ZYGOTE, /* a zygote's, below those of its cells: allows what the first allows, and making cells
                       */
};

/* Which rows of the tables make this filter, as a set of enum hc_call_when. `counted`: a cgroup counts the
 * cell's memory. */
unsigned hc_filter_when(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted);

/* Compile the filter into `out` as struct sock_filter[]. `arch` is a machine as libseccomp names it,
 * SCMP_ARCH_NATIVE for this one. */
int hc_filter_compile(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted, uint32_t arch,
                      struct hc_buf *out, struct hc_error *err);

/* Get the filter for this machine, from the cache if it is there, else compiled. `cache_dir` is the directory
 * of compiled filters (made if missing; NULL: no cache); an unusable cache costs time only. */
int hc_filter_get(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                  const char *cache_dir, struct hc_buf *out, struct hc_error *err);

/* One row of a description of the filters, for people: a set of allowed calls, a call that depends on its
 * arguments, or refused calls. Calls in no row fail with ENOSYS. */
struct hc_filter_row {
    const char *name;   /* name of the set or of the call; empty for calls that are refused together */
    const char *calls;  /* the allowed calls of a set, or the refused calls, separated by blanks; else NULL */
    const char *denied; /* calls of this row that the policy takes away; else NULL */
    bool optional;      /* a set that holds only if the policy asks for it */
    const char *which;  /* the arguments that the row is about; NULL: all */
    int error;          /* errno that the call fails with; 0: it is allowed */
    const char *why;    /* the reason, a phrase */
};
typedef void hc_filter_visitor(void *ctx, const struct hc_filter_row *row);
void hc_filter_each(const struct hc_policy *policy, bool counted, hc_filter_visitor *each, void *ctx);

/* Advice what to use instead of the refused call of this name, or of the call of this row, if its refusals
 * are reported to the launcher; else NULL. Static. */
const char *hc_filter_advice(const char *call);
const char *hc_filter_hint(const struct hc_call_rule *row);

/* Whether a policy that learns has the launcher asked about this call: it is not one of the most common
 * calls. */
bool hc_filter_learns(const struct hc_policy *policy, const char *call);

/* Describe in `out`, for the manifest, a call that the reporting filter refused. Returns the errno to
 * refuse it with. */
int hc_filter_explain(const struct seccomp_data *call, struct hc_denial *out);

/* Whether libc makes this call by itself, so that its refusal is not reported. */
bool hc_filter_is_habit(const struct seccomp_data *call);

#endif
