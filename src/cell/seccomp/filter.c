#include "cell/filter.h"

#include "base/fd.h"
#include "cell/seccomp/filter_proof.h"
#include "policy/syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The numbers of calls about which a row was added already. */
struct decided {
    int numbers[512];
    size_t count; /* used entries of `numbers` */
};

static bool is_decided(const struct decided *s, int nr)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->numbers[i] == nr)
            return true;
    return false;
}

static void mark_decided(struct decided *s, int nr)
{
    if (!is_decided(s, nr) && s->count < sizeof s->numbers / sizeof *s->numbers)
        s->numbers[s->count++] = nr;
}

/* The state of compiling one filter. */
struct compilation {
    scmp_filter_ctx ctx;            /* libseccomp's filter; owned */
    enum hc_filter_kind kind;       /* the filter's kind */
    uint32_t arch;                  /* machine as libseccomp names it */
    unsigned when;                  /* enum hc_call_when: which rows the filter gets */
    const struct hc_policy *policy; /* borrowed */
    struct decided decided;         /* calls that have a row */
};

/* The number of a call on the machine that the filter is for; negative: it has none. */
static int number_of(const struct compilation *m, const char *call)
{
    return seccomp_syscall_resolve_name_arch(m->arch, call);
}

/* The action for calls that are in no row. */
static uint32_t default_action(enum hc_filter_kind kind)
{
    if (kind == HC_FILTER_ZYGOTE)
        return SCMP_ACT_NOTIFY;
    return kind == HC_FILTER_REPORT ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS);
}

/* This filter's action for a call that is refused with `error`. `told`: the launcher gets a notification. */
static uint32_t refusal_action(enum hc_filter_kind kind, bool told, int error)
{
    if (!told)
        return SCMP_ACT_ERRNO((uint32_t)error);
    return kind == HC_FILTER_JOB ? SCMP_ACT_ALLOW : SCMP_ACT_NOTIFY;
}

/* The reporting filter allows all calls that it does not report; a zygote's filter has only rules that
 * allow. libseccomp wants the number that a call has on this machine, whatever machine the filter is for. */
static int add_rule(const struct compilation *m, uint32_t action, const char *call, unsigned n,
                    const struct scmp_arg_cmp *cmp)
{
    if (m->kind == HC_FILTER_REPORT && action != SCMP_ACT_NOTIFY)
        return 0;
    if (m->kind == HC_FILTER_ZYGOTE && action != SCMP_ACT_ALLOW)
        return 0; /* the default action notifies */
    return seccomp_rule_add_array(m->ctx, action, seccomp_syscall_resolve_name(call), n, cmp);
}

/* Whether the policy denies the call; that affects the job's filter only. */
static bool is_denied(const struct compilation *m, const char *call)
{
    return m->kind == HC_FILTER_JOB && hc_syscalls_denied(m->policy->rules, call);
}

static bool is_always_notified(const struct compilation *m, const char *call)
{
    return m->kind == HC_FILTER_REPORT && hc_filter_learns(m->policy, call);
}

/* With a policy that learns: notify the launcher of this call with any arguments. */
static int add_notification(struct compilation *m, const char *call, struct hc_error *err)
{
    int nr = number_of(m, call);
    if (nr < 0 || !is_always_notified(m, call) || is_decided(&m->decided, nr))
        return 0;
    mark_decided(&m->decided, nr);
    int rc = add_rule(m, SCMP_ACT_NOTIFY, call, 0, NULL);
    return rc < 0 ? hc_fail(err, -rc, "ask about %s", call) : 0;
}

static int add_notifications(struct compilation *m, struct hc_error *err)
{
    char name[32];
    for (size_t i = 0; i < hc_call_sets_count; i++)
        for (const char *at = hc_call_sets[i].calls; hc_calls_next(&at, name);)
            if (add_notification(m, name, err) < 0)
                return -1;
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        for (const char *at = hc_call_refusals[i].calls; hc_calls_next(&at, name);)
            if (add_notification(m, name, err) < 0)
                return -1;
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if (add_notification(m, hc_call_rules[i].call, err) < 0)
            return -1;
    return 0;
}

static int add_sets(struct compilation *m, struct hc_error *err)
{
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        char name[32];
        const struct hc_call_set *set = &hc_call_sets[i];
        for (const char *at = set->when & m->when ? set->calls : ""; hc_calls_next(&at, name);) {
            int nr = number_of(m, name);
            if (nr < 0 || is_denied(m, name) || !hc_syscalls_in_set(m->policy->rules, set, name))
                continue;
            int rc = add_rule(m, SCMP_ACT_ALLOW, name, 0, NULL);
            if (rc < 0)
                return hc_fail(err, -rc, "allow %s", name);
            mark_decided(&m->decided, nr);
        }
    }
    return 0;
}

static int add_row(struct compilation *m, const struct hc_call_rule *r, struct hc_error *err)
{
    struct scmp_arg_cmp cmp[HC_CALL_COMPARISONS];
    unsigned n = 0;
    for (; n < HC_CALL_COMPARISONS && r->cmp[n].mask; n++)
        cmp[n] = SCMP_CMP64(r->cmp[n].arg, SCMP_CMP_MASKED_EQ, r->cmp[n].mask, r->cmp[n].value);
    bool told = r->error && (hc_filter_hint(r) || hc_filter_learns(m->policy, r->call));
    uint32_t action = r->error ? refusal_action(m->kind, told, r->error) : SCMP_ACT_ALLOW;
    int rc = add_rule(m, action, r->call, n, cmp);
    return rc < 0 ? hc_fail(err, -rc, "%s %s", r->error ? "refuse" : "allow", r->call) : 0;
}

static int add_rules(struct compilation *m, struct hc_error *err)
{
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        int nr = number_of(m, r->call);
        if (!(r->when & m->when) || nr < 0 || is_denied(m, r->call) || is_always_notified(m, r->call))
            continue;
        if (add_row(m, r, err) < 0)
            return -1;
        mark_decided(&m->decided, nr);
    }
    for (size_t i = 0; m->kind == HC_FILTER_ZYGOTE && i < hc_zygote_rules_count; i++)
        if (number_of(m, hc_zygote_rules[i].call) >= 0 && add_row(m, &hc_zygote_rules[i], err) < 0)
            return -1;
    return 0;
}

/* Add refusals of calls for which no other row was added. */
static int add_refusals(struct compilation *m, struct hc_error *err)
{
    for (size_t i = 0; i < hc_call_refusals_count; i++) {
        const struct hc_call_refusal *r = &hc_call_refusals[i];
        char name[32];
        for (const char *at = r->calls; hc_calls_next(&at, name);) {
            int nr = number_of(m, name);
            bool told = (hc_filter_advice(name) || hc_filter_learns(m->policy, name)) &&
                        !is_denied(m, name); /* else this filter would allow the call */
            uint32_t action = refusal_action(m->kind, told, r->error);
            if (nr < 0 || action == default_action(m->kind) || is_decided(&m->decided, nr))
                continue;
            int rc = add_rule(m, action, name, 0, NULL);
            if (rc < 0)
                return hc_fail(err, -rc, "refuse %s", name);
        }
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

static int set_attributes(struct compilation *m, uint32_t optimize, struct hc_error *err)
{
    if (seccomp_attr_set(m->ctx, SCMP_FLTATR_CTL_OPTIMIZE, optimize) < 0)
        return hc_fail(err, 0, "libseccomp is too old");
    if (m->arch == seccomp_arch_native())
        return 0;
    int rc = seccomp_arch_add(m->ctx, m->arch);
    if (rc == 0)
        rc = seccomp_arch_remove(m->ctx, seccomp_arch_native());
    return rc < 0 ? hc_fail(err, -rc, "choose another machine") : 0;
}

static int compile_once(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted, uint32_t arch,
                        uint32_t optimize, struct hc_buf *out, struct hc_error *err)
{
    struct compilation m = {
        /* Wrong architecture (32-bit calls on a 64-bit kernel) ends the process: libseccomp's default. */
        .ctx = seccomp_init(default_action(kind)),
        .kind = kind,
        .arch = arch == SCMP_ARCH_NATIVE ? seccomp_arch_native() : arch,
        .when = hc_filter_when(kind, policy, counted),
        .policy = policy,
    };
    if (!m.ctx)
        return hc_fail(err, ENOMEM, "libseccomp");
    int rc = set_attributes(&m, optimize, err);
    if (rc == 0)
        rc = add_notifications(&m, err);
    if (rc == 0)
        rc = add_sets(&m, err);
    if (rc == 0)
        rc = add_rules(&m, err);
    if (rc == 0)
        rc = add_refusals(&m, err);
    if (rc == 0)
        rc = export_bpf(m.ctx, out, err);
    seccomp_release(m.ctx);
    return rc < 0 ? rc : hc_filter_prove(out, kind, policy, counted, m.arch, err);
}

int hc_filter_compile(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted, uint32_t arch,
                      struct hc_buf *out, struct hc_error *err)
{
    /* Try a binary tree first: on loading, the kernel runs a filter once for every call number. libseccomp
     * shares equal parts of a filter, and has shared parts that expect different arguments to be loaded;
     * without the tree the parts are in another order. */
    static const uint32_t ways[] = {2, 1};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hc_buf_clear(out);
        if (compile_once(kind, policy, counted, arch, ways[i], out, err) == 0)
            return 0;
    }
    return hc_ctx(err, "compile a seccomp filter");
}
