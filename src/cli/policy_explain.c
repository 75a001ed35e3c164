/* hotcell policy explain - prints what enforces each field of a policy: the guard inside the interpreter,
 * which gives early and clear refusals, and the kernel or the launcher, which hold whatever the program does
 * to the interpreter. */
#include "cli/policy.h"

#include "base/error.h"
#include "base/units.h"
#include "cell/card.h"
#include "cell/filter.h"
#include "inside/plan.h"
#include "policy/options.h"
#include "policy/tighten.h"

#include <stdio.h>
#include <string.h>

#define NOTHING "-" /* a column without content */

/* Fields with single values, except limits, whose own rows have these texts. With `value`, the row is for
 * that value only. */
static const struct {
    const char *path, *value, *guard, *kernel;
} fields[] = {
    {"limits.enforcement", NULL, NOTHING,
     "whether cgroup controllers or resource limits do what is said above"},
    {"output.mode", "capped", NOTHING,
     "/output is a tmpfs; the launcher moves what is left there once the cell is dead"},
    {"output.mode", "bind", NOTHING,
     "/output is the output directory, mounted without executables, devices and links"},
    {"output.overflow", NULL, NOTHING, "the launcher drops the rest of the stream, or kills the cell"},
    {"guard", "on", "all that is said of it below", NOTHING},
    {"guard", "off", "does nothing", "all that is said of it here: it does not depend on the guard"},
    {"network", "none", "sockets are refused by the audit hook, with a hint",
     "an empty network namespace; the filter refuses socket(); Landlock refuses TCP"},
    {"network", "loopback", "sockets are let through",
     "a network namespace with a loopback interface and no route; the filter has the set \"sockets\""},
    {"processes", "none", "os.fork, os.exec* and subprocess are refused by the audit hook, with a hint",
     "the filter refuses fork and execve; Landlock lets nothing be executed; the tree has no other program"},
    {"processes", "fork", "os.fork is let through; other programs are refused by the audit hook",
     "limits.pids counts; without commands.allow the filter refuses execve, and Landlock lets nothing be "
     "executed"},
    {"tree", NULL, NOTHING, "mounted read-only as the root, without set-id programs and devices"},
    {"tree_check", "none", NOTHING, "nothing: the manifest has the tree's ID, which nobody compared"},
    {"tree_check", "quick", NOTHING,
     "the launcher compares inodes, modes, sizes and times of the tree's upper directories, of what every "
     "run "
     "loads and of some other entries; of all, for what serves many runs"},
    {"tree_check", "stamps", NOTHING,
     "the launcher compares inodes, modes, sizes and times of all of the tree's entries"},
    {"tree_check", "content", NOTHING, "the launcher hashes every file of the tree"},
};

/* What enforces the sections of rules. */
static const struct {
    const char *section, *guard, *kernel;
} sections[] = {
    {"imports",
     "import statements are looked up before the program runs, imports of the program's own frames while "
     "it runs; libraries import what they like",
     "only what the tree holds can be imported; it is read-only, and native code cannot be brought in: "
     "/output and "
     "/tmp are mounted without execution"},
    {"calls", "calls of these names are found in the syntax tree before the program runs", NOTHING},
    {"builtins", "the program's namespace has its own set of built-in names", NOTHING},
    {"attributes", "found in the syntax tree before the program runs, and refused by getattr() and its like",
     NOTHING},
    {"names", "found in the syntax tree before the program runs", NOTHING},
    {"code", "the program's text and syntax tree are looked at before it runs",
     "the parser itself runs in the cell, behind the job's filter"},
    {"files",
     "the audit hook resolves each path that is opened or changed, and compares it with these directories",
     "mounts and Landlock, as below: nothing else of the host exists in the cell"},
    {"commands", NOTHING,
     "execve passes the filter, and Landlock lets these programs of the tree be executed; nothing else can "
     "be: what "
     "can be written is mounted without execution"},
    {"modules", "what the program finds in these modules is replaced; libraries keep the originals", NOTHING},
    {"audit", "a hook in C that Python code cannot remove sees every audit event",
     "effects are refused by the filter where no event is raised"},
    {"prelude", "runs before the program, trusted; names are bound only if the program mentions them",
     NOTHING},
    {"figures", "the harness saves figures when the program has ended",
     "limits.output and limits.file hold for them too"},
    {"syscalls", NOTHING, "the job's filter, as it is listed below with what the policy changed"},
    {"redact", NOTHING, "the launcher replaces it in what it reads from the cell, before anybody sees it"},
    {"truncation", NOTHING, "the launcher cuts what it reads from the cell"},
    {"persist", NOTHING, "the launcher writes the saved code"},
};

static const struct {
    const char *where, *what;
} mounts[] = {
    {"/", "the tree: read-only, nosuid, nodev"},
    {"/input", "the job's data, file by file: read-only, noexec, nosuid, nodev, nosymfollow"},
    {"/output", "what the job leaves: noexec, nosuid, nodev, nosymfollow"},
    {"/tmp", "a tmpfs that is thrown away: noexec, nosuid, nodev, nosymfollow"},
    {"/proc", "nothing: no process, and nothing of the machine"},
    {"/dev", "null, zero, full, random and urandom"},
};

static void print_sides(bool guard, const char *by_guard, const char *by_kernel)
{
    hc_print_wrapped(stdout, "    guard:  ", guard || by_guard[0] == '-' ? by_guard : "off");
    hc_print_wrapped(stdout, "    kernel: ", by_kernel);
}

static void explain_field(const struct hc_policy *p, const struct hc_option *opt)
{
    char value[300];
    hc_option_format(p, opt, value, sizeof value);
    (void)printf("%s = %s\n", opt->path, value);
    if (opt->kernel)
        print_sides(p->guard == HC_GUARD_ON, opt->guard ? opt->guard : NOTHING, opt->kernel);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].path, opt->path) == 0 &&
            (!fields[i].value || strcmp(fields[i].value, value) == 0))
            print_sides(p->guard == HC_GUARD_ON, fields[i].guard, fields[i].kernel);
}

/* Prints the maxima, up to which senders of jobs may raise limits. */
static void explain_maxima(const struct hc_policy *p)
{
    cJSON *max = hc_maxima_to_json(&p->max);
    const cJSON *item;
    cJSON_ArrayForEach(item, max)
    {
        char *text = cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
        (void)printf("limits.max.%s = %s\n", item->string, text ? text : cJSON_GetStringValue(item));
        cJSON_free(text);
    }
    if (max && max->child)
        print_sides(
            p->guard == HC_GUARD_ON, NOTHING,
            "hotcelld refuses jobs that ask for more than these, and than limits that have none here; "
            "a tenant's maxima bound them");
    cJSON_Delete(max);
}

/* Prints a row of a list of objects in a few words: its module, its name, or its lists of names; of a row
 * with none of these, which members it has. */
static void describe_row(const cJSON *row, struct hc_buf *out)
{
    const cJSON *member;
    const char *module = hc_json_text_or(row, "module", NULL), *name = hc_json_text_or(row, "name", NULL);
    if (module || name) {
        (void)hc_buf_fmt(out, "%s%s%s", module ? module : "", module && name ? "." : "", name ? name : "");
        return;
    }
    (void)hc_buf_str(out, "(");
    cJSON_ArrayForEach(member, row)
    {
        (void)hc_buf_fmt(out, "%s%s", member == row->child ? "" : "; ", member->string);
        if (cJSON_IsArray(member)) {
            (void)hc_buf_str(out, ": ");
            hc_join_names(out, member, 0);
        }
    }
    (void)hc_buf_str(out, ")");
}

/* Prints a value in a few words. */
static void describe(const cJSON *value, struct hc_buf *out)
{
    const cJSON *item;
    if (cJSON_IsString(value)) {
        char *text = cJSON_PrintUnformatted(value); /* escaped, on one line */
        size_t len = text ? strlen(text) : 0;
        (void)hc_buf_fmt(out, "%.80s%s", text ? text : "?", len > 80 ? "..." : "");
        cJSON_free(text);
    } else if (cJSON_IsArray(value) && cJSON_IsString(value->child)) {
        hc_join_names(out, value, 0);
    } else if (cJSON_IsArray(value) && !value->child) {
        (void)hc_buf_str(out, "nothing");
    } else if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach(item, value)
        {
            (void)hc_buf_str(out, item == value->child ? "" : ", ");
            describe_row(item, out);
        }
    } else if (cJSON_IsObject(value)) {
        cJSON_ArrayForEach(item, value)(void)
            hc_buf_fmt(out, "%s%s (%s)", item == value->child ? "" : ", ", item->string, item->valuestring);
    } else {
        char *text = cJSON_PrintUnformatted(value);
        (void)hc_buf_str(out, text ? text : "?");
        cJSON_free(text);
    }
}

static void explain_section(const struct hc_policy *p, const char *section)
{
    const cJSON *keys = cJSON_GetObjectItemCaseSensitive(p->rules, section), *value;
    if (!keys || !keys->child)
        return;
    (void)printf("%s\n", section);
    cJSON_ArrayForEach(value, keys)
    {
        hc_autobuf text = {0};
        char first[80];
        (void)snprintf(first, sizeof first, "    %.60s = ", value->string);
        describe(value, &text);
        hc_print_wrapped(stdout, first, text.data ? text.data : "");
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].section, section) == 0)
            print_sides(p->guard == HC_GUARD_ON, sections[i].guard, sections[i].kernel);
}

static void explain_env(const struct hc_policy *p)
{
    const cJSON *item;
    if (!p->env || !p->env->child)
        return;
    (void)puts("env");
    cJSON_ArrayForEach(item, p->env)
    {
        char *text = cJSON_PrintUnformatted(item);
        (void)printf("    %s = %s\n", item->string, text ? text : "?");
        cJSON_free(text);
    }
    print_sides(p->guard == HC_GUARD_ON, "-",
                "the cell's environment is these and a few that are fixed, nothing of the caller's");
}

/* Prints the tools that programs may call on the host. */
static void explain_tools(const struct hc_policy *p)
{
    if (p->tools.count == 0)
        return;
    (void)puts("tools");
    for (size_t i = 0; i < p->tools.count; i++) {
        const struct hc_tool *t = &p->tools.items[i];
        hc_autobuf text = {0};
        char first[HC_TOOL_NAME + 16], size[32], time[32];
        (void)snprintf(first, sizeof first, "    %s = ", t->name);
        (void)hc_buf_fmt(&text, "%s, %lld calls of %s, arguments of %s at most",
                         t->command ? t->command[0] : "answered by the caller", (long long)t->calls,
                         hc_format_duration(t->timeout_ms, time, sizeof time),
                         hc_format_size(t->argument_bytes, size, sizeof size));
        for (size_t k = 0; k < t->path_count; k++) {
            (void)hc_buf_fmt(&text, "; %s %s", t->paths[k].argument,
                             t->paths[k].mode ? "if it is written to below" : "below");
            for (char **dir = t->paths[k].below; *dir; dir++)
                (void)hc_buf_fmt(&text, " %s", *dir);
        }
        hc_print_wrapped(stdout, first, text.data ? text.data : "");
    }
    print_sides(p->guard == HC_GUARD_ON, "-",
                "calls go out on the channel that each cell has; the launcher looks at each, and runs it "
                "outside the cell as "
                "whoever started it");
}

/* Prints one Landlock rule. */
static void print_landlock(void *ctx, const struct hc_landlock_row *row)
{
    (void)ctx;
    const char *may = row->links    ? "read, write, link"
                      : row->writes ? "read, write"
                      : row->reads  ? "read"
                                    : "start";
    (void)printf("    %-28s %-18s %s\n", row->path, may, row->why);
}

/* ---- system calls ---- */

/* Neighbouring rows with the same reason are printed as one paragraph. */
struct paragraph {
    bool sets, refused;  /* print rows of sets of calls; print rows of refused calls */
    char head[256];      /* the reason, and the call or set of the paragraph */
    struct hc_buf items; /* names of calls, or arguments of one call; owned */
};

static void print_paragraph(struct paragraph *at)
{
    if (*at->head)
        (void)printf("    %s\n", at->head);
    if (at->items.len)
        hc_print_wrapped(stdout, "        ", at->items.data);
    at->head[0] = '\0';
    hc_buf_clear(&at->items);
}

static const char *policy_change(const struct hc_filter_row *row)
{
    return row->denied && !row->calls ? " (denied by the policy)"
           : row->optional            ? " (allowed by the policy)"
                                      : "";
}

static void add_to_paragraph(void *ctx, const struct hc_filter_row *row)
{
    struct paragraph *at = ctx;
    char head[sizeof at->head];
    const char *item = row->calls ? row->calls : row->which;
    if (at->refused != (row->error != 0) || (!at->refused && at->sets != (row->calls != NULL)))
        return;
    (void)snprintf(head, sizeof head, "%s%s%s: %s%s", row->name, *row->name && row->error ? " " : "",
                   row->error ? strerrorname_np(row->error) : "", row->why, policy_change(row));
    if (strcmp(head, at->head) != 0)
        print_paragraph(at);
    memcpy(at->head, head, sizeof head);
    if (item && *item)
        (void)hc_buf_fmt(&at->items, "%s%s", at->items.len ? "; " : "", item);
    if (row->calls && row->denied)
        (void)hc_buf_fmt(&at->items, "%s(denied by the policy: %s)", at->items.len ? " " : "", row->denied);
}

static void print_calls(const struct hc_policy *p, bool sets, bool refused)
{
    struct paragraph at = {.sets = sets, .refused = refused};
    hc_filter_each(p, p->enforcement != HC_ENFORCE_RLIMITS, add_to_paragraph, &at);
    print_paragraph(&at);
    hc_buf_finish(&at.items);
}

static void explain_kernel(const struct hc_policy *p)
{
    (void)puts("\nMounts: nothing of the host but these");
    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++)
        (void)printf("    %-8s %s\n", mounts[i].where, mounts[i].what);
    (void)puts("\nLandlock: the same once more, where the kernel has it");
    hc_landlock_each(true, print_landlock, NULL);
    const cJSON *program,
        *programs = hc_policy_has_commands(p) ? hc_rules_get(p->rules, "commands", "allow") : NULL;
    cJSON_ArrayForEach(program, programs)
    {
        bool all = strcmp(program->valuestring, "*") == 0;
        (void)printf("    %-28s %-18s %s\n", all ? "/usr" : program->valuestring, "start", "commands.allow");
    }
    (void)puts("\nSystem calls that are allowed, by sets");
    print_calls(p, true, false);
    (void)puts("\nAllowed for some arguments; for others they fail with ENOSYS, or as below");
    print_calls(p, false, false);
    (void)puts("\nRefused, under every policy but for what is said of network and processes");
    print_calls(p, false, true);
    (void)puts(
        "\nAlways: namespaces for users, mounts, processes, network, IPC, host name, cgroups and time;\n"
        "a uid without any rights, no capabilities, no_new_privs, no core files");
}

int hc_policy_explain(const struct hc_policy *p)
{
    (void)printf("Policy %s: what the guard in the interpreter does, and what holds without it\n\n", p->name);
    for (size_t i = 0; i < hc_options_count; i++)
        explain_field(p, &hc_options[i]);
    explain_maxima(p);
    explain_env(p);
    explain_tools(p);
    const char *section;
    for (size_t i = 0; (section = hc_rules_section(i)); i++)
        explain_section(p, section);
    explain_kernel(p);
    return HC_EXIT_OK;
}
