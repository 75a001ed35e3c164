/* hotcell policy check - what loading a policy does not look at: whether its code compiles, its directories
 * are real ones, and its patterns work. */
#include "cli/policy.h"

#include "base/fd.h"
#include "cell/policies.h"
#include "cli/cli.h"
#include "json/json.h"
#include "policy/redact.h"
#include "policy/rules.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MOST_SAID 512 /* most bytes of what the compiler says */

/* ---- code ---- */

/* Compiles standard input and runs nothing of it. */
static const char compiler[] =
    "import sys, warnings\n"
    "warnings.simplefilter('ignore')\n"
    "try:\n"
    "    compile(sys.stdin.buffer.read(), 'code', 'exec', dont_inherit=True)\n"
    "except SyntaxError as error:\n"
    "    print(f'line {error.lineno or 1}, column {error.offset or 1}: {error.msg}', end='')\n"
    "except (ValueError, RecursionError, MemoryError) as error:\n"
    "    print(f'cannot be compiled: {error}', end='')\n";

/* Start the host's Python with `code` as its standard input, wait for it, and put what it printed into `out`.
 */
static int ask_compiler(int code, int out, struct hc_error *err)
{
    char *const argv[] = {HC_HOST_PYTHON, "-I", "-S", "-B", "-c", (char *)compiler, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return hc_fail(err, ENOMEM, "start " HC_HOST_PYTHON);
    int rc = posix_spawn_file_actions_adddup2(&actions, code, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (rc == 0)
        rc = posix_spawn(&pid, HC_HOST_PYTHON, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (rc)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, rc, "start " HC_HOST_PYTHON);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return hc_fail(err, errno, "wait for " HC_HOST_PYTHON);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                            HC_HOST_PYTHON " failed to compile the policy's code");
}

/* Check the value of a rule, which is code. `rule` is its name for messages. */
static int check_code(const struct hc_json *j, const cJSON *node, const char *rule, struct hc_error *err)
{
    char said[MOST_SAID];
    const char *text = cJSON_GetStringValue(node);
    if (!text)
        return 0; /* null, which removes an inherited rule */
    hc_autofd code = hc_sealed_memfd("hotcell-code", text, strlen(text), err);
    hc_autofd out = memfd_create("hotcell-said", MFD_CLOEXEC);
    if (code < 0 || lseek(code, 0, SEEK_SET) < 0 || out < 0)
        return hc_fail(err, errno, "compile %s", rule);
    if (ask_compiler(code, out, err) < 0)
        return -1;
    ssize_t n = pread(out, said, sizeof said - 1, 0);
    if (n <= 0)
        return n < 0 ? hc_fail(err, errno, "compile %s", rule) : 0;
    said[n] = '\0';
    return hc_json_fail(j, node, false, err, "%s: %s", rule, said);
}

/* Check the code in the rows of a rule, such as warm.ladder. */
static int check_rows(const struct hc_json *j, const struct hc_rule *r, const cJSON *rows,
                      struct hc_error *err)
{
    const cJSON *row;
    char rule[80];
    cJSON_ArrayForEach(row, rows)
    {
        for (const struct hc_rule_field *f = r->fields; f->name; f++) {
            (void)snprintf(rule, sizeof rule, "%s.%s: %s", r->section, r->key, f->name);
            const cJSON *node = cJSON_GetObjectItemCaseSensitive(row, f->name);
            if (f->kind == HC_RULE_CODE && check_code(j, node, rule, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- directories ---- */

/* Whether the path, or that part of it that is there, leads over a symbolic link. `real` gets the part's real
 * path. */
static bool leads_over_link(const char *path, char real[PATH_MAX])
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return false;
    for (char *slash; !realpath(part, real); *slash = '\0')
        if (!(slash = strrchr(part, '/')) || slash == part)
            return false;
    return strcmp(part, real) != 0;
}

static int check_dirs(const struct hc_json *j, const struct hc_rule *r, const cJSON *list,
                      struct hc_error *err)
{
    const cJSON *item;
    char real[PATH_MAX];
    cJSON_ArrayForEach(item, list)
    {
        const char *path = cJSON_GetStringValue(item);
        if (path && leads_over_link(path, real))
            return hc_json_fail(
                j, item, false, err,
                "%s.%s: '%.200s' leads over a symbolic link to %.200s: expected a real path, as "
                "jobs get no directory by this one",
                r->section, r->key, path, real);
    }
    return 0;
}

/* ---- files of the policy ---- */

static int check_rule(const struct hc_json *j, const struct hc_rule *r, const cJSON *node,
                      struct hc_error *err)
{
    char rule[80];
    (void)snprintf(rule, sizeof rule, "%s.%s", r->section, r->key);
    switch (r->kind) {
    case HC_RULE_CODE:
        return check_code(j, node, rule, err);
    case HC_RULE_ROWS:
        return check_rows(j, r, node, err);
    case HC_RULE_HOST_DIRS:
        return check_dirs(j, r, node, err);
    default:
        return 0;
    }
}

/* Read one file of a policy, and check the rules in it, whose form the loader looks at afterwards. The first
 * failure is kept: the loader's own comes first, as its message is about the form. */
static int read_and_check(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                          struct hc_error *err)
{
    struct hc_error *failure = ctx;
    struct hc_json j;
    struct hc_error ignored;
    if (hc_policies_read(NULL, name, from, text, file, err) < 0)
        return -1;
    if (*failure->text || hc_json_parse(&j, *file, text->data, text->len, &ignored) < 0)
        return 0;
    for (size_t i = 0; i < hc_rules_count; i++)
        if (check_rule(&j, &hc_rules[i], hc_rules_get(j.root, hc_rules[i].section, hc_rules[i].key),
                       failure) < 0)
            break;
    hc_json_finish(&j);
    return 0;
}

int hc_policy_check(const char *name)
{
    struct hc_policy p;
    struct hc_redactor *redactor = NULL;
    struct hc_error err, failure = {0};
    if (hc_policy_load(&p, name, read_and_check, &failure, &err) < 0)
        return hc_report(&err);
    if (*failure.text) {
        hc_policy_finish(&p);
        (void)hc_exit_as(&failure, failure.exit == HC_EXIT_DATA ? HC_EXIT_CONFIG : failure.exit);
        return hc_report(&failure);
    }
    int rc = hc_redactor_new(&redactor, p.rules, &err);
    if (rc < 0)
        (void)hc_ctx(&err, "policy %s", p.name);
    hc_redactor_free(redactor);
    hc_policy_finish(&p);
    return rc < 0 ? hc_report(&err) : HC_EXIT_OK;
}
