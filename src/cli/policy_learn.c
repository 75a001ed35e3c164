/* hotcell policy learn - runs a trusted program in a cell with all that a policy can allow, and proposes the
 * smallest policy under which the program does the same.
 *
 * The cell keeps its walls: namespaces, tree, mounts, Landlock, ids, limits, and the refusal of calls that no
 * policy can allow. The guard has the narrowest rules, and only records what they would refuse; the kernel
 * reports each call that is not among the most common. From these records the policy is made. */
#include "cli/policy.h"

#include "base/fd.h"
#include "base/log.h"
#include "cell/policies.h"
#include "cell/run.h"
#include "cli/cancel.h"
#include "cli/request.h"
#include "json/json.h"
#include "policy/options.h"
#include "policy/syscalls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#define MIB ((int64_t)1 << 20)

static const char help_head[] =
    "usage: hotcell policy learn [OPTION]... FILE\n"
    "\n"
    "Run FILE, which must be a program that you TRUST, in a cell that refuses little, and print the\n"
    "smallest policy under which it does the same. Options as for hotcell run, but for --json and -p.\n";

/* One run of the program, and its records. */
struct learning {
    struct hc_request *q;        /* the command line; borrowed */
    struct hc_learned lessons;   /* calls that the program made */
    struct hc_manifest manifest; /* what the guard recorded */
    cJSON *rules; /* the rules of the policy that is extended, before they were narrowed; owned */
    bool failed;  /* there was no memory for a part of the proposal */
};

/* ---- the cell ---- */

static bool put_list(cJSON *rules, const char *section, const char *key, cJSON *list)
{
    cJSON *to = cJSON_GetObjectItemCaseSensitive(rules, section);
    if (!to)
        to = cJSON_AddObjectToObject(rules, section);
    cJSON_DeleteItemFromObjectCaseSensitive(to, key);
    if (to && list && cJSON_AddItemToObject(to, key, list))
        return true;
    cJSON_Delete(list);
    return false;
}

static cJSON *optional_sets(void)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; list && i < hc_call_sets_count; i++)
        if (hc_call_sets[i].when & HC_ANY_OPTIONAL)
            (void)cJSON_AddItemToArray(list, cJSON_CreateString(hc_call_sets[i].name));
    return list;
}

/* Has the kernel allow all that it can, and empties the guard's lists, so that it records each import and
 * path. */
static int widen_policy(struct learning *l, struct hc_error *err)
{
    struct hc_policy *p = &l->q->policy;
    l->rules = cJSON_Duplicate(p->rules, true);
    p->learn = true;
    p->network = HC_NETWORK_LOOPBACK;
    p->processes = HC_PROCESSES_FORK;
    p->guard = HC_GUARD_ON;
    cJSON_DeleteItemFromObjectCaseSensitive(p->rules, "syscalls");
    if (l->rules && put_list(p->rules, "syscalls", "allow", optional_sets()) &&
        put_list(p->rules, "imports", "allow", cJSON_CreateArray()) &&
        put_list(p->rules, "files", "read", cJSON_CreateArray()) &&
        put_list(p->rules, "files", "write", cJSON_CreateArray()))
        return 0;
    return hc_fail(err, ENOMEM, "policy learn");
}

/* ---- records ---- */

static bool is_recorded(const struct learning *l, const char *rule)
{
    for (size_t i = 0; i < l->manifest.denials.count; i++)
        if (strcmp(l->manifest.denials.items[i].rule, rule) == 0)
            return true;
    return false;
}

static bool holds(const cJSON *list, const char *text)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (strcmp(item->valuestring, text) == 0)
            return true;
    }
    return false;
}

/* Adds a text to the list, unless it is there. */
static void insert(struct learning *l, cJSON *list, const char *text)
{
    if (holds(list, text))
        return;
    cJSON *new = cJSON_CreateString(text);
    if (list && new &&cJSON_AddItemToArray(list, new))
        return;
    cJSON_Delete(new);
    l->failed = true;
}

/* A new list of the same texts, sorted. Consumes `list`. */
static cJSON *sorted(cJSON *list)
{
    cJSON *out = cJSON_CreateArray(), *item;
    while (out && list && list->child) {
        cJSON *first = list->child;
        cJSON_ArrayForEach(item, list) if (strcmp(item->valuestring, first->valuestring) < 0) first = item;
        (void)cJSON_AddItemToArray(out, cJSON_DetachItemViaPointer(list, first));
    }
    cJSON_Delete(list);
    return out;
}

/* A new list: the names and paths that were recorded under a rule. */
static cJSON *names_of(struct learning *l, const char *rule)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < l->manifest.denials.count; i++) {
        const struct hc_denial *d = &l->manifest.denials.items[i];
        if (d->by != HC_REFUSER_SECCOMP && strcmp(d->rule, rule) == 0)
            insert(l, list, d->what);
    }
    return list;
}

/* Is `dotted` this module, or a submodule of it? */
static bool is_in(const char *dotted, const char *module)
{
    size_t len = strlen(module);
    return strncmp(dotted, module, len) == 0 && (!dotted[len] || dotted[len] == '.');
}

/* ---- the proposal ---- */

static void put(struct learning *l, cJSON *to, const char *name, cJSON *value)
{
    if (cJSON_IsArray(value))
        value = sorted(value);
    if (value && cJSON_AddItemToObject(to, name, value))
        return;
    cJSON_Delete(value);
    l->failed = true;
}

static cJSON *section(struct learning *l, cJSON *policy, const char *name)
{
    cJSON *to = cJSON_GetObjectItemCaseSensitive(policy, name);
    if (!to)
        put(l, policy, name, to = cJSON_CreateObject());
    return to;
}

/* Adds a section's deny list without the names that the program needs; adds nothing if it needs none of them.
 */
static void put_denied(struct learning *l, cJSON *policy, const char *name, const cJSON *needed)
{
    const cJSON *denied = hc_rules_get(l->rules, name, "deny"), *item, *need;
    cJSON *left = cJSON_CreateArray();
    bool changed = false;
    cJSON_ArrayForEach(item, denied)
    {
        bool used = false;
        cJSON_ArrayForEach(need, needed) used |= is_in(need->valuestring, item->valuestring);
        changed |= used;
        if (!used)
            insert(l, left, item->valuestring);
    }
    if (changed)
        put(l, section(l, policy, name), "deny", left);
    else
        cJSON_Delete(left);
}

static void put_imports(struct learning *l, cJSON *policy)
{
    cJSON *used = names_of(l, "imports");
    put_denied(l, policy, "imports", used);
    put(l, section(l, policy, "imports"), "allow", used);
}

static void put_names(struct learning *l, cJSON *policy)
{
    static const char *const lists[] = {"attributes", "calls", "names"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        cJSON *used = names_of(l, lists[i]);
        if (used && used->child)
            put_denied(l, policy, lists[i], used);
        cJSON_Delete(used);
    }
    cJSON *events = names_of(l, "audit");
    if (events && events->child)
        put(l, section(l, policy, "audit"), "allow", events);
    else
        cJSON_Delete(events);
}

static bool is_below(const char *path, const char *place)
{
    size_t len = strlen(place);
    return strncmp(path, place, len) == 0 && (!path[len] || path[len] == '/');
}

/* The only places where programs can write, whatever a policy says. */
static const char *const writable[] = {"/output", "/tmp", "/dev/null", NULL};

static const char *place_of(const char *path)
{
    for (size_t i = 0; writable[i]; i++)
        if (is_below(path, writable[i]))
            return writable[i];
    return NULL;
}

static void print_impossible(const char *what, const char *why)
{
    hc_warn("cannot be granted: %s: %s", what, why);
}

static void put_files(struct learning *l, cJSON *policy)
{
    cJSON *reads = names_of(l, "files.read"), *writes = names_of(l, "files.write");
    cJSON *read = cJSON_CreateArray(), *write = cJSON_CreateArray();
    const cJSON *item;
    cJSON_ArrayForEach(item, writes)
    {
        const char *place = place_of(item->valuestring);
        if (place)
            insert(l, write, place);
        else
            print_impossible(item->valuestring, "only /output and /tmp can be written to");
    }
    cJSON_ArrayForEach(item, reads)
    {
        char directory[sizeof((struct hc_denial *)0)->what];
        (void)snprintf(directory, sizeof directory, "%s", item->valuestring);
        char *slash = strrchr(directory, '/');
        if (slash && slash != directory)
            *slash = '\0';
        const char *place = place_of(directory);
        if (directory[0] == '/')
            insert(l, read, place ? place : directory);
    }
    put(l, section(l, policy, "files"), "read", read);
    put(l, section(l, policy, "files"), "write", write);
    cJSON_Delete(reads);
    cJSON_Delete(writes);
}

/* Is each use of the set's calls recorded? Some calls the C library can answer without the kernel. */
static bool is_always_recorded(const struct hc_call_set *set)
{
    return strcmp(set->name, "clocks") != 0 && strcmp(set->name, "identity") != 0 &&
           strcmp(set->name, "messages") != 0;
}

static bool is_used(const struct learning *l, const struct hc_call_set *set)
{
    char call[32];
    for (const char *at = set->calls; hc_calls_next(&at, call);)
        if (hc_learn_used(&l->lessons, call))
            return true;
    return false;
}

static void put_sets(struct learning *l, cJSON *allow, cJSON *deny)
{
    char why[512];
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        const struct hc_call_set *set = &hc_call_sets[i];
        char call[32];
        for (const char *at = set->when & HC_ANY_OPTIONAL ? set->calls : ""; hc_calls_next(&at, call);)
            if (hc_learn_used(&l->lessons, call))
                insert(l, allow, call);
        if (set->when == HC_IN_JOB && is_always_recorded(set) && !is_used(l, set) &&
            hc_syscalls_may_deny(set->name, why, sizeof why))
            insert(l, deny, set->name);
    }
}

/* Denies the calls of the table of arguments that the program did not use with any argument. */
static void put_rows(struct learning *l, cJSON *deny)
{
    char why[512];
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        bool programs = (r->when & HC_IN_JOB) && !r->error;
        if (programs && !hc_learn_used(&l->lessons, r->call) &&
            hc_syscalls_may_deny(r->call, why, sizeof why))
            insert(l, deny, r->call);
    }
}

static void put_syscalls(struct learning *l, cJSON *policy)
{
    cJSON *to = section(l, policy, "syscalls");
    cJSON *allow = cJSON_CreateArray(), *deny = cJSON_CreateArray();
    put_sets(l, allow, deny);
    put_rows(l, deny);
    put(l, to, "allow", allow);
    put(l, to, "deny", deny);
    if (!l->lessons.makes_code)
        put(l, to, "executable_memory", cJSON_CreateString("files"));
}

/* ---- limits ---- */

/* Twice the amount used, rounded up to `step`, at least `least` and at most `most`. */
static int64_t with_margin(int64_t used, int64_t least, int64_t step, int64_t most)
{
    int64_t wanted = MAX(2 * used, least);
    return MIN((wanted + step - 1) / step * step, most);
}

static void put_limit(struct learning *l, cJSON *limits, struct hc_policy *p, const char *path)
{
    const struct hc_option *opt = hc_option_by_path(path);
    put(l, limits, path + strlen("limits."), opt ? hc_option_to_json(p, opt) : NULL);
}

static void put_limits(struct learning *l, cJSON *policy)
{
    const struct hc_manifest *m = &l->manifest;
    const struct hc_limits *had = &l->q->policy.limits;
    struct hc_policy p = l->q->policy; /* a shallow copy: only its numbers are used */
    cJSON *limits = section(l, policy, "limits");
    p.limits.timeout_ms = with_margin(m->usage.wall_us / 1000, 5000, 1000, had->timeout_ms);
    p.limits.stdout_bytes = with_margin(m->out.bytes, MIB / 16, MIB / 16, had->stdout_bytes);
    p.limits.stderr_bytes = with_margin(m->err.bytes, MIB / 16, MIB / 16, had->stderr_bytes);
    p.limits.memory = with_margin(m->usage.memory_peak, 96 * MIB, 32 * MIB, had->memory);
    p.limits.pids = with_margin(m->usage.pids_peak, 8, 1, had->pids);
    p.limits.output_bytes = with_margin(m->usage.output_bytes, MIB, MIB, had->output_bytes);
    p.limits.output_files = with_margin(m->usage.output_files, 16, 1, had->output_files);
    put_limit(l, limits, &p, "limits.timeout");
    put_limit(l, limits, &p, "limits.stdout");
    put_limit(l, limits, &p, "limits.stderr");
    if (m->usage.memory_peak >= 0)
        put_limit(l, limits, &p, "limits.memory");
    if (m->usage.pids_peak >= 0)
        put_limit(l, limits, &p, "limits.pids");
    if (m->usage.output_bytes >= 0)
        put_limit(l, limits, &p, "limits.output");
    if (m->usage.output_files >= 0)
        put_limit(l, limits, &p, "limits.output_files");
}

/* Adds a field whose value in this run differs from that of the policy "default", unless the proposal has it.
 */
static void put_given(struct learning *l, cJSON *policy, const struct hc_policy *usual,
                      const struct hc_option *opt)
{
    const char *dot = strchr(opt->path, '.'), *name = dot ? dot + 1 : opt->path;
    char of[32];
    (void)snprintf(of, sizeof of, "%.*s", dot ? (int)(dot - opt->path) : 0, opt->path);
    cJSON *had = hc_option_to_json(&l->q->policy, opt), *usually = hc_option_to_json(usual, opt);
    cJSON *to = dot ? cJSON_GetObjectItemCaseSensitive(policy, of) : policy;
    if (!cJSON_Compare(had, usually, true) && !cJSON_GetObjectItemCaseSensitive(to, name)) {
        put(l, dot ? section(l, policy, of) : policy, name, had);
        had = NULL;
    }
    cJSON_Delete(had);
    cJSON_Delete(usually);
}

/* Adds the fields that the command line has set, such as a larger /tmp: the program may need them. */
static int put_all_given(struct learning *l, cJSON *policy, struct hc_error *err)
{
    static const char *const learnt[] = {"network", "processes",
                                         "guard"}; /* the learning run itself sets these */
    struct hc_policy usual;
    hc_policy_init(&usual);
    int rc = hc_policy_load(&usual, "default", hc_policies_read, NULL, err);
    for (size_t i = 0; rc == 0 && i < hc_options_count; i++) {
        bool skip = false;
        for (size_t j = 0; j < sizeof learnt / sizeof *learnt; j++)
            skip |= strcmp(hc_options[i].path, learnt[j]) == 0;
        if (!skip)
            put_given(l, policy, &usual, &hc_options[i]);
    }
    hc_policy_finish(&usual);
    return rc;
}

static void warn_of_impossible(const struct learning *l)
{
    for (size_t i = 0; i < l->lessons.count; i++)
        if (l->lessons.calls[i].never)
            print_impossible(l->lessons.calls[i].call, l->lessons.calls[i].never);
    for (size_t i = 0; i < l->manifest.denials.count; i++) {
        const struct hc_denial *d = &l->manifest.denials.items[i];
        if (strcmp(d->rule, "builtins") == 0)
            print_impossible(d->what, "nobody is there to answer it");
    }
    if (l->manifest.denials.more)
        hc_warn("the program needed more than could be noted: the policy may be too small");
}

static bool needs_sockets(const struct learning *l)
{
    return l->lessons.network || is_recorded(l, "network");
}

static bool needs_processes(const struct learning *l)
{
    return l->lessons.processes || is_recorded(l, "processes");
}

/* Warns of powers that the proposal gives: the program is trusted while it is learnt, but not later. */
static void warn_of_powers(const struct learning *l)
{
    const char *by = l->manifest.enforced_by.memory;
    if ((needs_sockets(l) || needs_processes(l)) && by && strcmp(by, "cgroup") != 0 &&
        l->q->policy.enforcement == HC_ENFORCE_AUTO)
        hc_warn("where no cgroup counts memory, as here, the policy starts only with limits.enforcement "
                "\"rlimits\" (--enforcement rlimits)");
}

static cJSON *propose(struct learning *l)
{
    cJSON *policy = cJSON_CreateObject();
    put(l, policy, "name", cJSON_CreateString("learned"));
    put(l, policy, "description", cJSON_CreateString("What one run of a trusted program needed"));
    put(l, policy, "extends", cJSON_CreateString("default"));
    put(l, policy, "tree", cJSON_CreateString(l->q->policy.tree));
    put_limits(l, policy);
    if (needs_sockets(l))
        put(l, policy, "network", cJSON_CreateString("loopback"));
    if (needs_processes(l))
        put(l, policy, "processes", cJSON_CreateString("fork"));
    put_imports(l, policy);
    put_names(l, policy);
    put_files(l, policy);
    put_syscalls(l, policy);
    return policy;
}

/* ---- the command ---- */

static int print_proposal(struct learning *l, struct hc_error *err)
{
    cJSON *policy = propose(l);
    if (put_all_given(l, policy, err) < 0) {
        cJSON_Delete(policy);
        return -1;
    }
    char *text = l->failed ? NULL : cJSON_PrintUnformatted(policy);
    cJSON_Delete(policy);
    hc_autobuf out = {0};
    int rc =
        text ? hc_json_indent(text, strlen(text), NULL, &out, err) : hc_fail(err, ENOMEM, "propose a policy");
    cJSON_free(text);
    if (rc < 0)
        return -1;
    (void)fputs(out.data, stdout);
    warn_of_impossible(l);
    warn_of_powers(l);
    return 0;
}

static int run_and_propose(struct learning *l, int cancel, struct hc_error *err)
{
    struct hc_run run = {
        .job = &l->q->job,
        .policy = &l->q->policy,
        .pass_stdout = STDERR_FILENO,
        .pass_stderr = STDERR_FILENO,
        .cancel_fd = cancel,
        .default_dir = "hotcell-output",
        .learned = &l->lessons,
    };
    int rc = hc_run(&run, &l->manifest, err);
    const struct hc_manifest *m = &l->manifest;
    if (rc == 0 && m->status != HC_STATUS_OK)
        hc_warn("the program did not end well, so that there may be more to learn: %s: %s",
                hc_status_name(m->status), m->reason);
    if (rc == 0 && m->status != HC_STATUS_REJECTED)
        rc = print_proposal(l, err);
    hc_run_finish(&run);
    return rc < 0 ? -1 : m->exit_code;
}

static int learn(struct hc_request *q, struct hc_error *err)
{
    if (q->job.policy)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "policy learn: takes no policy: what it proposes extends \"default\"");
    if (q->json)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "policy learn: takes no --json: standard output has the policy, the manifest is in "
                          "the output directory");
    struct learning *l = calloc(1, sizeof *l);
    hc_autofd cancel = l ? hc_cancel_open(err) : hc_fail(err, ENOMEM, "policy learn");
    if (cancel < 0) {
        free(l);
        return -1;
    }
    l->q = q;
    l->lessons.policy = &q->policy;
    hc_warn("learning: %s runs with few checks; do this with programs that you trust alone", q->file);
    int status = widen_policy(l, err) < 0 ? -1 : run_and_propose(l, cancel, err);
    hc_manifest_finish(&l->manifest);
    cJSON_Delete(l->rules);
    free(l);
    hc_cancel_end(cancel);
    return status;
}

int hc_policy_learn(int argc, char **argv)
{
    struct hc_request q = {.command = "policy learn"};
    return hc_request_serve(&q, argc, argv, help_head, learn);
}
