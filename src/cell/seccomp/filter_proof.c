#include "cell/seccomp/filter_proof.h"

#include "policy/syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS     1024       /* all calls with a lower number are tested */
#define MOST_VALUES 96         /* most values tested for one argument */
#define ARGUMENTS   6          /* number of arguments in struct seccomp_data */
#define X32_BIT     0x40000000 /* this bit is set in the numbers of x32's calls */

/* ---- a machine that runs filters ---- */

static bool jumps(const struct sock_filter *op, uint32_t a)
{
    switch (BPF_OP(op->code)) {
    case BPF_JEQ:
        return a == op->k;
    case BPF_JGT:
        return a > op->k;
    case BPF_JGE:
        return a >= op->k;
    default:
        return (a & op->k) != 0;
    }
}

uint32_t hc_filter_run(const struct hc_buf *bpf, const struct seccomp_data *data)
{
    const struct sock_filter *ops = (const void *)bpf->data;
    size_t count = bpf->len / sizeof *ops;
    uint32_t a = 0;
    for (size_t pc = 0; pc < count; pc++) {
        const struct sock_filter *op = &ops[pc];
        if (op->code == (BPF_LD | BPF_W | BPF_ABS) && op->k % 4 == 0 && op->k < sizeof *data)
            memcpy(&a, (const char *)data + op->k, sizeof a);
        else if (op->code == (BPF_ALU | BPF_AND | BPF_K))
            a &= op->k;
        else if (op->code == (BPF_RET | BPF_K))
            return op->k;
        else if (op->code == (BPF_JMP | BPF_JA))
            pc += op->k;
        else if (BPF_CLASS(op->code) == BPF_JMP && BPF_SRC(op->code) == BPF_K)
            pc += jumps(op, a) ? op->jt : op->jf;
        else
            break;
    }
    return SECCOMP_RET_KILL_PROCESS;
}

/* ---- arguments worth trying ---- */

/* The values to test of each argument. */
struct values {
    uint64_t of[ARGUMENTS][MOST_VALUES];
    size_t count[ARGUMENTS]; /* used entries of each row of `of` */
};

static void add_value(struct values *v, unsigned arg, uint64_t value)
{
    for (size_t i = 0; i < v->count[arg]; i++)
        if (v->of[arg][i] == value)
            return;
    if (v->count[arg] < MOST_VALUES)
        v->of[arg][v->count[arg]++] = value;
}

static bool add_values_of(const struct hc_call_rule *rows, size_t count, const char *call, struct values *v)
{
    bool any = false;
    for (const struct hc_call_rule *r = rows; r < rows + count; r++) {
        if (strcmp(r->call, call) != 0)
            continue;
        any = true;
        for (size_t n = 0; n < HC_CALL_COMPARISONS && r->cmp[n].mask; n++) {
            add_value(v, r->cmp[n].arg, 0);
            add_value(v, r->cmp[n].arg, ~0ULL);
            add_value(v, r->cmp[n].arg, r->cmp[n].value);
            add_value(v, r->cmp[n].arg, r->cmp[n].mask);
            add_value(v, r->cmp[n].arg, r->cmp[n].value | ~r->cmp[n].mask);
        }
    }
    return any;
}

/* Collect the values to test for this call. False: the call is in no row. */
static bool values_for(const char *call, struct values *v)
{
    memset(v->count, 0, sizeof v->count);
    bool any = add_values_of(hc_call_rules, hc_call_rules_count, call, v);
    return add_values_of(hc_zygote_rules, hc_zygote_rules_count, call, v) || any;
}

/* Test each value of an argument with each value of the others. Arguments that no row compares all have the
 * value `rest`. */
static bool sample_all(const char *call, struct seccomp_data data, const struct values *v, uint64_t rest,
                       hc_filter_sampler *each, void *ctx)
{
    size_t combinations = 1;
    for (unsigned arg = 0; arg < ARGUMENTS; arg++)
        combinations *= v->count[arg] ? v->count[arg] : 1;
    for (size_t i = 0; i < combinations; i++) {
        size_t left = i;
        for (unsigned arg = 0; arg < ARGUMENTS; arg++) {
            data.args[arg] = v->count[arg] ? v->of[arg][left % v->count[arg]] : rest;
            left /= v->count[arg] ? v->count[arg] : 1;
        }
        if (!each(ctx, call, &data))
            return false;
    }
    return true;
}

static uint32_t audit_of(uint32_t arch)
{
    if (arch == SCMP_ARCH_NATIVE)
        arch = seccomp_arch_native();
    return arch == SCMP_ARCH_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

static bool sample_call(const char *call, struct seccomp_data data, hc_filter_sampler *each, void *ctx)
{
    static struct values values;
    if (call && values_for(call, &values))
        return sample_all(call, data, &values, 0, each, ctx) &&
               sample_all(call, data, &values, ~0ULL, each, ctx);
    if (!each(ctx, call, &data))
        return false;
    memset(data.args, 0xff, sizeof data.args);
    return each(ctx, call, &data);
}

bool hc_filter_samples(uint32_t arch, hc_filter_sampler *each, void *ctx)
{
    for (int nr = 0; nr < NUMBERS; nr++) {
        struct seccomp_data data = {.nr = nr, .arch = audit_of(arch)};
        char *call = seccomp_syscall_resolve_num_arch(arch, nr);
        bool good = sample_call(call, data, each, ctx);
        free(call);
        if (!good)
            return false;
    }
    return true;
}

/* ---- the answers that the tables require ---- */

/* The state of hc_filter_prove; all pointers are borrowed. */
struct proof {
    const struct hc_buf *bpf;       /* the compiled filter */
    enum hc_filter_kind kind;       /* the filter's kind */
    const struct hc_policy *policy; /* the policy that it was made for */
    unsigned when;                  /* enum hc_call_when: which rows it has */
    struct hc_error *err;           /* the caller's record of the first error */
};

/* The filter's answer for calls that are in no row; refusal() gives the one for refused calls. */
static uint32_t default_answer(const struct proof *p)
{
    if (p->kind == HC_FILTER_ZYGOTE)
        return SECCOMP_RET_USER_NOTIF;
    return p->kind == HC_FILTER_REPORT ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)ENOSYS;
}

static uint32_t refusal(const struct proof *p, bool told, int error)
{
    if (p->kind == HC_FILTER_ZYGOTE)
        return SECCOMP_RET_USER_NOTIF;
    if (told)
        return p->kind == HC_FILTER_JOB ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF;
    return p->kind == HC_FILTER_REPORT ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)error;
}

static bool in_sets(const struct proof *p, const char *call)
{
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if ((hc_call_sets[i].when & p->when) && hc_calls_have(hc_call_sets[i].calls, call) &&
            hc_syscalls_in_set(p->policy->rules, &hc_call_sets[i], call))
            return true;
    return false;
}

/* Get the answer that the rows require for this call. False: the call is in no row. */
static bool answer_of_rules(const struct proof *p, const char *call, const struct seccomp_data *data,
                            uint32_t *says)
{
    bool any = false;
    *says = default_answer(p);
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        if (!(r->when & p->when) || strcmp(r->call, call) != 0)
            continue;
        any = true;
        if (p->kind == HC_FILTER_ZYGOTE && r->error)
            continue; /* the default action notifies */
        if (hc_call_fits(r, data->args) &&
            (r->error || *says != SECCOMP_RET_USER_NOTIF || p->kind == HC_FILTER_ZYGOTE))
            *says = r->error ? refusal(p, hc_filter_hint(r) || hc_filter_learns(p->policy, call), r->error)
                             : SECCOMP_RET_ALLOW;
    }
    return any;
}

static uint32_t answer_of_refusals(const struct proof *p, const char *call, bool denied)
{
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        if (hc_calls_have(hc_call_refusals[i].calls, call))
            return refusal(p, (hc_filter_advice(call) || hc_filter_learns(p->policy, call)) && !denied,
                           hc_call_refusals[i].error);
    return default_answer(p);
}

static bool makes_cells(const struct proof *p, const char *call, const struct seccomp_data *data)
{
    for (size_t i = 0; p->kind == HC_FILTER_ZYGOTE && i < hc_zygote_rules_count; i++)
        if (strcmp(hc_zygote_rules[i].call, call) == 0 && hc_call_fits(&hc_zygote_rules[i], data->args))
            return true;
    return false;
}

static uint32_t expected(const struct proof *p, const char *call, const struct seccomp_data *data)
{
    uint32_t says;
    if (makes_cells(p, call, data))
        return SECCOMP_RET_ALLOW;
    if (p->kind == HC_FILTER_REPORT && hc_filter_learns(p->policy, call))
        return SECCOMP_RET_USER_NOTIF;
    if (p->kind == HC_FILTER_JOB && hc_syscalls_denied(p->policy->rules, call))
        return answer_of_refusals(p, call, true);
    bool ruled = answer_of_rules(p, call, data, &says);
    if (in_sets(p, call))
        return ruled && p->kind == HC_FILTER_REPORT ? says : SECCOMP_RET_ALLOW;
    return ruled ? says : answer_of_refusals(p, call, false);
}

/* ---- the proof ---- */

static bool agrees(void *ctx, const char *call, const struct seccomp_data *data)
{
    struct proof *p = ctx;
    uint32_t says = call ? expected(p, call, data) : default_answer(p);
    uint32_t does = hc_filter_run(p->bpf, data);
    if (says == does)
        return true;
    (void)hc_fail(p->err, 0, "%s(%#llx, %#llx, %#llx, %#llx) gets %#x from it instead of %#x",
                  call ? call : "no call", (unsigned long long)data->args[0],
                  (unsigned long long)data->args[1], (unsigned long long)data->args[2],
                  (unsigned long long)data->args[3], does, says);
    return false;
}

/* Calls of 32-bit programs, x32 and other machines must kill the process, whatever their number. */
static bool kills_other_machines(const struct proof *p, uint32_t own)
{
    static const uint32_t machines[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64,
                                        AUDIT_ARCH_AARCH64};
    for (int nr = 0; nr < NUMBERS; nr++) {
        struct seccomp_data x32 = {.nr = nr | X32_BIT, .arch = own};
        if (own == AUDIT_ARCH_X86_64 && hc_filter_run(p->bpf, &x32) != SECCOMP_RET_KILL_THREAD)
            return false;
        for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
            struct seccomp_data other = {.nr = nr, .arch = machines[i]};
            if (machines[i] != own && hc_filter_run(p->bpf, &other) != SECCOMP_RET_KILL_THREAD)
                return false;
        }
    }
    return true;
}

int hc_filter_prove(const struct hc_buf *bpf, enum hc_filter_kind kind, const struct hc_policy *policy,
                    bool counted, uint32_t arch, struct hc_error *err)
{
    struct proof p = {.bpf = bpf,
                      .kind = kind,
                      .policy = policy,
                      .when = hc_filter_when(kind, policy, counted),
                      .err = err};
    if (!hc_filter_samples(arch, agrees, &p))
        return hc_ctx(err, "the filter is not what the tables say");
    return kills_other_machines(&p, audit_of(arch))
               ? 0
               : hc_fail(err, 0, "the filter lets calls of other machines pass");
}
