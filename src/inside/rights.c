#include "inside/plan.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int hc_rights_become_guest(const struct hc_plan *plan, struct hc_error *err)
{
    /* Groups first: the right to change them goes with the uid. Without root the kernel forbids setgroups in
     * a user namespace, and the caller's own groups stay; they own nothing that the cell can reach. */
    if (plan->drop_groups && setgroups(0, NULL) < 0)
        return hc_fail(err, errno, "drop supplementary groups");
    /* The host's root would lose, with its uid, the rights that the next steps need. */
    if (hc_weak(HC_WEAK_USER_NAMESPACE) && prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
        return hc_fail(err, errno, "keep rights for a while");
    uid_t uid = hc_guest_uid(plan);
    gid_t gid = hc_guest_gid(plan);
    if (setresgid(gid, gid, gid) < 0)
        return hc_fail(err, errno, "become gid %u", gid);
    if (setresuid(uid, uid, uid) < 0)
        return hc_fail(err, errno, "become uid %u", uid);
    return 0;
}

static int limit(__rlimit_resource_t resource, const char *name, uint64_t value, struct hc_error *err)
{
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return hc_fail(err, errno, "read %s", name);
    /* A caller that is itself under a lower hard limit cannot raise it; the lower one is the safer one. */
    rlim_t v = now.rlim_max != RLIM_INFINITY && value > now.rlim_max ? now.rlim_max : value;
    struct rlimit set = {.rlim_cur = v, .rlim_max = v};
    if (setrlimit(resource, &set) < 0)
        return hc_fail(err, errno, "set %s to %llu", name, (unsigned long long)v);
    return 0;
}

int hc_rights_limit(const struct hc_plan *plan, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_RLIMITS))
        return 0;
    const struct hc_limits *l = &plan->policy->limits;
    if (limit(RLIMIT_CORE, "RLIMIT_CORE", 0, err) < 0 ||
        limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", (uint64_t)l->open_files, err) < 0 ||
        limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", (uint64_t)l->file_bytes, err) < 0 ||
        limit(RLIMIT_STACK, "RLIMIT_STACK", (uint64_t)l->stack_bytes, err) < 0 ||
        limit(RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 0, err) < 0 ||
        limit(RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", 0, err) < 0 ||
        limit(RLIMIT_NICE, "RLIMIT_NICE", 0, err) < 0 || limit(RLIMIT_RTPRIO, "RLIMIT_RTPRIO", 0, err) < 0)
        return -1;
    if (plan->zygote) /* the limits below are for one job; all cells of a zygote would inherit them */
        return 0;
    /* The limit of a user namespace's creator holds for all processes in it together. */
    if (limit(RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING", 1024, err) < 0)
        return -1;
    /* One second more than the limit itself, which the launcher watches over all processes together. */
    if (l->cpu_ms && limit(RLIMIT_CPU, "RLIMIT_CPU", (uint64_t)l->cpu_ms / 1000 + 2, err) < 0)
        return -1;
    if (plan->rlimit_pids && limit(RLIMIT_NPROC, "RLIMIT_NPROC", (uint64_t)l->pids, err) < 0)
        return -1;
    /* Not RLIMIT_AS, which counts reservations that are never touched. The watch ends the job at the limit
     * itself; this stops one process that outruns it. */
    if (plan->rlimit_memory &&
        limit(RLIMIT_DATA, "RLIMIT_DATA", 2 * (uint64_t)l->memory + (1u << 30), err) < 0)
        return -1;
    return 0;
}

static int drop_bounding_set(struct hc_error *err)
{
    for (int cap = 0; cap <= 63; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
            continue;
        if (errno == EINVAL && cap > 0)
            return 0; /* past the last capability that this kernel knows */
        return hc_fail(err, errno, "drop capability %d from the bounding set", cap);
    }
    return 0;
}

/* Make these capabilities, numbered below 32, inheritable; without the bounding set no others can become
 * so. */
static int make_inheritable(uint32_t kept, struct hc_error *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[2] = {0};
    if (syscall(SYS_capget, &head, d) < 0)
        return hc_fail(err, errno, "read capabilities");
    d[0].inheritable = kept;
    d[1].inheritable = 0;
    return syscall(SYS_capset, &head, d) < 0 ? hc_fail(err, errno, "keep some capabilities") : 0;
}

/* Drop all capabilities except those in `kept`, which stay also when the shim is executed. */
static int drop_capabilities(uint32_t kept, struct hc_error *err)
{
    if ((kept && make_inheritable(kept, err) < 0) || drop_bounding_set(err) < 0)
        return -1;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return hc_fail(err, errno, "clear ambient capabilities");
    for (unsigned cap = 0; cap < 32; cap++)
        if ((kept >> cap & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
            return hc_fail(err, errno, "keep capability %u", cap);
    if (prctl(PR_SET_SECUREBITS, HC_SECUREBITS, 0, 0, 0) < 0)
        return hc_fail(err, errno, "lock securebits");
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[2] = {{.effective = kept, .permitted = kept, .inheritable = kept}};
    if (syscall(SYS_capset, &head, d) < 0)
        return hc_fail(err, errno, "drop all capabilities");
    return 0;
}

/* Raise all capabilities in the ambient set, so that the shim keeps them. */
static int keep_capabilities(struct hc_error *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[2] = {0};
    if (syscall(SYS_capget, &head, d) < 0)
        return hc_fail(err, errno, "read capabilities");
    for (size_t i = 0; i < 2; i++)
        d[i].inheritable = d[i].permitted;
    if (syscall(SYS_capset, &head, d) < 0)
        return hc_fail(err, errno, "keep all capabilities");
    for (int cap = 0; cap < 64; cap++)
        if ((d[cap / 32].permitted >> cap % 32 & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
            return hc_fail(err, errno, "keep capability %d", cap);
    return 0;
}

int hc_rights_drop(const struct hc_plan *plan, struct hc_error *err)
{
    /* A zygote that root starts keeps CAP_SETUID and CAP_SETGID in its own user namespace, as each of its
     * cells gets another uid. */
    const uint32_t kept = plan->zygote && plan->drop_groups ? 1u << CAP_SETUID | 1u << CAP_SETGID : 0;
    if ((hc_weak(HC_WEAK_CAPABILITIES) ? keep_capabilities(err) : drop_capabilities(kept, err)) < 0)
        return -1;
    if (!hc_weak(HC_WEAK_NO_NEW_PRIVS) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return hc_fail(err, errno, "set no_new_privs");
    if (hc_weak(HC_WEAK_CAPABILITIES))
        return 0;
    /* Prove that the dropped rights cannot be regained. */
    if ((!hc_weak(HC_WEAK_IDS) && setresuid(0, 0, 0) == 0) || prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0)
        return hc_fail(err, 0, "dropped rights could be taken back");
    return 0;
}

static uint64_t capability_bits(int (*has)(int))
{
    uint64_t bits = 0;
    for (int cap = 0; cap < 64; cap++) {
        int v = has(cap);
        if (v < 0)
            break;
        bits |= (uint64_t)v << cap;
    }
    return bits;
}

static int in_bounding_set(int cap)
{
    return prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
}

static int in_ambient_set(int cap)
{
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0);
}

static uint64_t limit_of(__rlimit_resource_t resource)
{
    struct rlimit r = {0};
    return getrlimit(resource, &r) == 0 ? r.rlim_max : 0;
}

int hc_rights_read_back(struct hc_facts *f, struct hc_error *err)
{
    f->pid = getpid();
    if (getresuid(&f->ruid, &f->euid, &f->suid) < 0 || getresgid(&f->rgid, &f->egid, &f->sgid) < 0)
        return hc_fail(err, errno, "read ids back");
    f->groups = getgroups(0, NULL);
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[2] = {0};
    if (syscall(SYS_capget, &head, d) < 0)
        return hc_fail(err, errno, "read capabilities back");
    f->caps_effective = d[0].effective | (uint64_t)d[1].effective << 32;
    f->caps_permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
    f->caps_inheritable = d[0].inheritable | (uint64_t)d[1].inheritable << 32;
    f->caps_bounding = capability_bits(in_bounding_set);
    f->caps_ambient = capability_bits(in_ambient_set);
    f->securebits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    f->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    f->rlimit_core = limit_of(RLIMIT_CORE);
    f->rlimit_files = limit_of(RLIMIT_NOFILE);
    f->rlimit_file = limit_of(RLIMIT_FSIZE);
    f->rlimit_stack = limit_of(RLIMIT_STACK);
    f->rlimit_pids = limit_of(RLIMIT_NPROC);
    f->rlimit_data = limit_of(RLIMIT_DATA);
    f->rlimit_cpu = limit_of(RLIMIT_CPU);
    return 0;
}
