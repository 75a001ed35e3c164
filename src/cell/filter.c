#include "cell/filter.h"

#include "base/fd.h"
#include "spec/calls.h"

#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned hc_filter_when(enum hc_filter_kind kind, const struct hc_policy *p, bool counted)
{
    unsigned when = HC_IN_JOB | (counted ? HC_COUNTED : HC_UNCOUNTED);
    if (kind == HC_FILTER_FIRST)
        when |= HC_IN_FIRST;
    if (p->processes == HC_PROCESSES_FORK)
        when |= HC_WITH_FORK;
    else if (kind != HC_FILTER_FIRST)
        when |= HC_NO_FORK;
    if (p->network == HC_NETWORK_LOOPBACK)
        when |= HC_WITH_SOCKETS;
    return when;
}

/* The calls that some row has decided already. */
struct seen {
    int numbers[512];
    size_t count;
};

static bool seen_before(const struct seen *s, int nr)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->numbers[i] == nr)
            return true;
    return false;
}

static void remember(struct seen *s, int nr)
{
    if (!seen_before(s, nr) && s->count < sizeof s->numbers / sizeof *s->numbers)
        s->numbers[s->count++] = nr;
}

/* What this filter does about a call that is refused with `error`. */
static uint32_t refuse(enum hc_filter_kind kind, const char *call, int error)
{
    if (!hc_filter_hint(call))
        return SCMP_ACT_ERRNO((uint32_t)error);
    return kind == HC_FILTER_JOB ? SCMP_ACT_ALLOW : SCMP_ACT_NOTIFY;
}

/* The reporting filter lets pass whatever it does not report. */
static int add_rule(scmp_filter_ctx ctx, enum hc_filter_kind kind, uint32_t action, int nr, unsigned n,
                    const struct scmp_arg_cmp *cmp)
{
    if (kind == HC_FILTER_REPORT && action != SCMP_ACT_NOTIFY)
        return 0;
    return seccomp_rule_add_array(ctx, action, nr, n, cmp);
}

static int add_sets(scmp_filter_ctx ctx, enum hc_filter_kind kind, unsigned when, struct seen *seen,
                    struct hc_error *err)
{
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        if (!(hc_call_sets[i].when & when))
            continue;
        char names[1024];
        (void)snprintf(names, sizeof names, "%s", hc_call_sets[i].calls);
        char *rest = NULL;
        for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            int nr = seccomp_syscall_resolve_name(name);
            if (nr < 0)
                continue;
            int rc = add_rule(ctx, kind, SCMP_ACT_ALLOW, nr, 0, NULL);
            if (rc < 0)
                return hc_fail(err, -rc, "allow %s", name);
            remember(seen, nr);
        }
    }
    return 0;
}

static int add_rules(scmp_filter_ctx ctx, enum hc_filter_kind kind, unsigned when, struct seen *seen,
                     struct hc_error *err)
{
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        int nr = seccomp_syscall_resolve_name(r->call);
        if (!(r->when & when) || nr < 0)
            continue;
        struct scmp_arg_cmp cmp[2];
        unsigned n = 0;
        for (; n < 2 && r->cmp[n].mask; n++)
            cmp[n] = SCMP_CMP64(r->cmp[n].arg, SCMP_CMP_MASKED_EQ, r->cmp[n].mask, r->cmp[n].value);
        uint32_t action = r->error ? refuse(kind, r->call, r->error) : SCMP_ACT_ALLOW;
        int rc = add_rule(ctx, kind, action, nr, n, cmp);
        if (rc < 0)
            return hc_fail(err, -rc, "%s %s", r->error ? "refuse" : "allow", r->call);
        remember(seen, nr);
    }
    return 0;
}

/* Those that no other row has decided for this filter. */
static int add_refusals(scmp_filter_ctx ctx, enum hc_filter_kind kind, const struct seen *seen,
                        struct hc_error *err)
{
    for (size_t i = 0; i < hc_call_refusals_count; i++) {
        const struct hc_call_refusal *r = &hc_call_refusals[i];
        int nr = seccomp_syscall_resolve_name(r->call);
        uint32_t action = refuse(kind, r->call, r->error);
        if (nr < 0 || action == SCMP_ACT_ERRNO(ENOSYS) || seen_before(seen, nr))
            continue;
        int rc = add_rule(ctx, kind, action, nr, 0, NULL);
        if (rc < 0)
            return hc_fail(err, -rc, "refuse %s", r->call);
    }
    return 0;
}

static int export_bpf(scmp_filter_ctx ctx, struct hc_buf *out, struct hc_error *err)
{
    hc_autofd fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "memfd_create");
    int rc = seccomp_export_bpf(ctx, fd);
    if (rc < 0)
        return hc_fail(err, -rc, "export the seccomp filter");
    if (lseek(fd, 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "rewind the seccomp filter");
    return hc_read_all(fd, out, sizeof(struct sock_filter) * BPF_MAXINSNS, err);
}

int hc_filter_compile(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                      struct hc_buf *out, struct hc_error *err)
{
    /* Wrong architecture (32-bit calls on a 64-bit kernel) ends the process: libseccomp's default. */
    scmp_filter_ctx ctx = seccomp_init(kind == HC_FILTER_REPORT ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS));
    if (!ctx)
        return hc_fail(err, ENOMEM, "compile a seccomp filter");
    struct seen seen = {.count = 0};
    unsigned when = hc_filter_when(kind, policy, counted);
    /* A binary tree: loading a filter makes the kernel run it once for every call number. */
    int rc =
        seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0 ? hc_fail(err, 0, "libseccomp is too old") : 0;
    if (rc == 0)
        rc = add_sets(ctx, kind, when, &seen, err);
    if (rc == 0)
        rc = add_rules(ctx, kind, when, &seen, err);
    if (rc == 0)
        rc = add_refusals(ctx, kind, &seen, err);
    if (rc == 0)
        rc = export_bpf(ctx, out, err);
    seccomp_release(ctx);
    return rc < 0 ? hc_ctx(err, "compile a seccomp filter") : 0;
}
