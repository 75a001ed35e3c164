#include "inside/plan.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                                                \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |        \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REFER |                  \
     LANDLOCK_ACCESS_FS_TRUNCATE)
/* Links and pipes are allowed in /tmp, which is discarded; /output may hold only files and directories. */
#define SCRATCH                                                                                              \
    (WRITE | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK)

#if defined(__x86_64__)
#define ELF_INTERPRETER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define ELF_INTERPRETER "/lib/ld-linux-aarch64.so.1"
#else
#error "hotcell knows x86-64 and arm64"
#endif

#define READ_FILE  LANDLOCK_ACCESS_FS_READ_FILE
#define WRITE_FILE LANDLOCK_ACCESS_FS_WRITE_FILE

static const struct {
    const char *path; /* a path in the cell */
    uint64_t access;  /* rights below it, LANDLOCK_ACCESS_FS_* */
    const char *why;  /* the reason, a phrase */
    bool counted;     /* the rule applies only if a cgroup counts the cell's memory */
} rules[] = {
    {"/", LANDLOCK_ACCESS_FS_READ_DIR, "names are no secret here", false},
    {"/usr", READ, "the tree", false},
    {"/etc", READ, "the tree", false},
    {"/input", READ, "the job's data", false},
    {"/output", READ | WRITE, "what the job leaves", false},
    {"/tmp", READ | SCRATCH, "scratch space", false},
    {"/dev/null", READ_FILE | WRITE_FILE, "programs write to it", false},
    {"/dev/full", READ_FILE | WRITE_FILE, "programs write to it", false},
    {"/dev/random", READ_FILE, "random numbers", false},
    {"/dev/urandom", READ_FILE, "random numbers", false},
    {"/dev/zero", READ_FILE, "mapped shared, it keeps pages that no watch sees", true},
    {ELF_INTERPRETER, LANDLOCK_ACCESS_FS_EXECUTE, "the kernel opens it when the shim is executed", false},
};

/* Rights that apply to a file; the others make a rule about a file invalid. */
#define FILE_RIGHTS                                                                                          \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |             \
     LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)

static int add_rule(int ruleset, int fd, uint64_t access, const char *what, struct hc_error *err)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "add a Landlock rule for %s", what);
    return 0;
}

static int make_ruleset(const struct hc_plan *plan, int abi, struct hc_error *err)
{
    struct hc_landlock_attr attr = {.handled_access_fs = hc_landlock_rights(abi)};
    size_t size = offsetof(struct hc_landlock_attr, handled_access_net);
    if (abi >= 4) {
        /* No rule allows a port, so a handled right is refused. */
        if (plan->policy->network == HC_NETWORK_NONE)
            attr.handled_access_net = HC_LANDLOCK_NET_BIND_TCP | HC_LANDLOCK_NET_CONNECT_TCP;
        size = offsetof(struct hc_landlock_attr, scoped);
    }
    if (abi >= 6) {
        attr.scoped = HC_LANDLOCK_SCOPE_ABSTRACT | HC_LANDLOCK_SCOPE_SIGNAL;
        size = sizeof attr;
    }
    int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    return fd >= 0 ? fd : hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "create a Landlock ruleset");
}

/* In a copy's cell the shim may be a memfd: no rule can name that, and Landlock lets it be executed
 * without one. */
static int allow_shim(int ruleset, int shim_fd, struct hc_error *err)
{
    if (add_rule(ruleset, shim_fd, LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE, "the shim",
                 err) == 0)
        return 0;
    return err->sys == EBADFD ? 0 : -1;
}

/* Allow reading directories of the host; in copies, and where the policy lets the program write, making and
 * changing files and directories; in scratch directories what /tmp allows, of which they are parts. */
static int allow_dirs(int ruleset, const struct hc_plan *plan, uint64_t handled, struct hc_error *err)
{
    for (size_t i = 0; i < plan->dir_count; i++) {
        hc_autofd fd = open(plan->dirs[i].place, O_PATH | O_CLOEXEC);
        if (fd < 0)
            return hc_fail(err, errno, "open %s", plan->dirs[i].place);
        static const uint64_t access[] = {[HC_DIR_RO] = READ,
                                          [HC_DIR_COW] = READ | WRITE,
                                          [HC_DIR_RW] = READ | WRITE,
                                          [HC_DIR_SCRATCH] = READ | SCRATCH};
        if (add_rule(ruleset, fd, access[plan->dirs[i].mode] & handled, plan->dirs[i].place, err) < 0)
            return -1;
    }
    return 0;
}

/* Allow executing one program, or all programs of a directory, if the tree has it. */
static int allow_program(int ruleset, const char *path, struct hc_error *err)
{
    hc_autofd fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : hc_fail(err, errno, "open %s", path);
    return add_rule(ruleset, fd, LANDLOCK_ACCESS_FS_EXECUTE, path, err);
}

/* Allow executing the programs of a name without a path, wherever PATH may find them. */
static int allow_named(int ruleset, const struct hc_plan *plan, const char *name, struct hc_error *err)
{
    char path[PATH_MAX];
    static const char *const dirs[] = {"/usr/bin", HC_LOCAL "/bin"};
    const size_t count = sizeof dirs / sizeof *dirs;
    for (size_t i = 0; i < count + plan->layer_count; i++) {
        int n = i < count ? snprintf(path, sizeof path, "%s/%s", dirs[i], name)
                          : snprintf(path, sizeof path, "/%s/" HC_LAYER_PROGRAMS "/%s",
                                     plan->layers[i - count].target, name);
        if (n >= (int)sizeof path)
            return hc_fail(err, ENAMETOOLONG, "%s", name);
        if (allow_program(ruleset, path, err) < 0)
            return -1;
    }
    return 0;
}

/* Allow executing the programs that the policy lists. All of them are in the tree or its layers, which are
 * read-only; what else is in the cell is mounted noexec, too. */
static int allow_programs(int ruleset, const struct hc_plan *plan, struct hc_error *err)
{
    const cJSON *item, *list = hc_policy_has_commands(plan->policy)
                                   ? hc_rules_get(plan->policy->rules, "commands", "allow")
                                   : NULL;
    cJSON_ArrayForEach(item, list)
    {
        const char *name = item->valuestring;
        const char *path = strcmp(name, "*") == 0 ? "/usr" : name;
        if ((*path == '/' ? allow_program(ruleset, path, err) : allow_named(ruleset, plan, path, err)) < 0)
            return -1;
    }
    return 0;
}

/* What a kernel without Landlock does not hold: that of the tree's programs only some may be executed. */
static int go_without(const struct hc_policy *policy, struct hc_error *err)
{
    const cJSON *item,
        *list = hc_policy_has_commands(policy) ? hc_rules_get(policy->rules, "commands", "allow") : NULL;
    bool all = !list;
    cJSON_ArrayForEach(item, list)
    {
        all |= strcmp(item->valuestring, "*") == 0;
    }
    return all ? 0
               : hc_fail_as(
                     err, HC_EXIT_UNAVAILABLE, 0,
                     "commands.allow lists programs, which only Landlock can hold, and this kernel has none: "
                     "allow \"*\", and leave out of the tree what must not run");
}

int hc_landlock_apply(const struct hc_plan *plan, int shim_fd, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_LANDLOCK) || plan->zygote)
        return 0;
    int abi = hc_landlock_abi();
    if (abi < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
        return go_without(plan->policy, err); /* the kernel was built or booted so; the manifest says so */
    if (abi < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "ask for the Landlock ABI");
    hc_autofd ruleset = make_ruleset(plan, abi, err);
    if (ruleset < 0)
        return -1;
    uint64_t handled = hc_landlock_rights(abi);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].counted && plan->rlimit_memory)
            continue;
        hc_autofd fd = open(rules[i].path, O_PATH | O_CLOEXEC);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "%s is missing in the tree", rules[i].path);
        uint64_t access = rules[i].access & handled & (S_ISDIR(st.st_mode) ? ~0ULL : FILE_RIGHTS);
        if (add_rule(ruleset, fd, access, rules[i].path, err) < 0)
            return -1;
    }
    if (allow_shim(ruleset, shim_fd, err) < 0 || allow_programs(ruleset, plan, err) < 0 ||
        allow_dirs(ruleset, plan, handled, err) < 0)
        return -1;
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "apply Landlock");
    return abi;
}

void hc_landlock_each(bool counted, void (*each)(void *ctx, const struct hc_landlock_row *row), void *ctx)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].counted && !counted)
            continue;
        each(ctx, &(struct hc_landlock_row){.path = rules[i].path,
                                            .why = rules[i].why,
                                            .reads = rules[i].access & READ,
                                            .writes = rules[i].access & LANDLOCK_ACCESS_FS_WRITE_FILE,
                                            .links = rules[i].access & LANDLOCK_ACCESS_FS_MAKE_SYM});
    }
}
