/* hotcell check - says what a policy would refuse in a program, without running it. The check runs in a cell,
 * as the text of a program can be hostile too. */
#include "cli/cli.h"

#include "base/fd.h"
#include "cell/run.h"
#include "cli/cancel.h"
#include "cli/request.h"
#include "json/lines.h"
#include "manifest/finding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help_head[] =
    "usage: hotcell check [OPTION]... FILE|-\n"
    "       hotcell check [OPTION]... --spec SPEC|-\n"
    "Say what a policy would refuse in a Python program, without running it.\n\n"
    "  -p, --policy POLICY       what the cell may do: a name, or a path with a slash (default)\n"
    "      --input NAME=FILE     data that the program will have; it is not read\n"
    "      --spec SPEC           a job as JSON\n"
    "      --caller-fd N         end once this is readable, or its other end closed: a pidfd, a pipe\n"
    "      --json                print JSON: safe, reason, findings, warnings, columns\n\n"
    "Over the policy (hotcell-policy(5)):\n";

/* ---- as text ---- */

static void add_plain(struct hc_buf *out, const char *text)
{
    hc_plain_add(out, text, strlen(text));
}

static void add_finding(struct hc_buf *out, const struct hc_request *q, const struct hc_lines *lines,
                        const cJSON *finding, bool warning)
{
    struct hc_span at = {.line = (int)hc_json_int(finding, "line", 0),
                         .column = (int)hc_json_int(finding, "column", 0),
                         .end_column = (int)hc_json_int(finding, "end_column", 0)};
    const char *hint = hc_json_text(finding, "hint");
    add_plain(out, q->file);
    if (at.line)
        (void)hc_buf_fmt(out, ":%d", at.line);
    if (at.line && at.column)
        (void)hc_buf_fmt(out, ":%d", at.column);
    (void)hc_buf_str(out, warning ? ": warning: " : ": ");
    add_plain(out, hc_json_text(finding, "rule"));
    (void)hc_buf_str(out, ": ");
    add_plain(out, hc_json_text(finding, "message"));
    (void)hc_buf_str(out, "\n");
    hc_lines_show(lines, at, out);
    if (*hint) {
        (void)hc_buf_str(out, "    hint: ");
        add_plain(out, hint);
        (void)hc_buf_str(out, "\n");
    }
}

static int print_text(const struct hc_request *q, const struct hc_manifest *m, const cJSON *findings,
                      struct hc_error *err)
{
    struct hc_lines lines;
    hc_autobuf out = {0};
    const cJSON *finding;
    const char *code = q->job.code;
    if (strncmp(code, HC_BOM, strlen(HC_BOM)) == 0)
        code += strlen(HC_BOM);
    if (hc_lines_init(&lines, code) < 0)
        return hc_fail(err, ENOMEM, "check");
    cJSON_ArrayForEach(finding, findings) add_finding(&out, q, &lines, finding, false);
    cJSON_ArrayForEach(finding, hc_json_member(m->check, "warnings"))
        add_finding(&out, q, &lines, finding, true);
    if (m->rejection.more)
        (void)hc_buf_fmt(&out, "and %lld more\n", (long long)m->rejection.more);
    hc_lines_finish(&lines);
    (void)fwrite(out.len ? out.data : "", 1, out.len, stdout);
    return out.failed ? hc_fail(err, ENOMEM, "check") : 0;
}

/* ---- as JSON ---- */

/* A copy of `node`; for NULL an empty value from `make`. */
static cJSON *copy_or(const cJSON *node, cJSON *(*make)(void))
{
    return node ? cJSON_Duplicate(node, true) : make();
}

static bool add(cJSON *to, const char *key, cJSON *node)
{
    if (node && cJSON_AddItemToObject(to, key, node))
        return true;
    cJSON_Delete(node);
    return false;
}

static int print_json(const struct hc_manifest *m, const cJSON *findings, struct hc_error *err)
{
    hc_autobuf out = {0};
    cJSON *root = cJSON_CreateObject();
    bool safe = m->status == HC_STATUS_OK;
    bool made = root && add(root, "safe", cJSON_CreateBool(safe)) &&
                add(root, "reason", safe ? cJSON_CreateNull() : cJSON_CreateString(m->reason)) &&
                add(root, "findings", cJSON_Duplicate(findings, true)) &&
                add(root, "warnings", copy_or(hc_json_member(m->check, "warnings"), cJSON_CreateArray)) &&
                add(root, "columns", copy_or(hc_json_member(m->check, "columns"), cJSON_CreateObject));
    char *text = made ? cJSON_PrintUnformatted(root) : NULL;
    int rc = text ? hc_json_indent(text, strlen(text), NULL, &out, err) : hc_fail(err, ENOMEM, "check");
    if (rc == 0)
        (void)fwrite(out.data, 1, out.len, stdout);
    cJSON_free(text);
    cJSON_Delete(root);
    return rc;
}

/* ---- the check ---- */

static int print_findings(const struct hc_request *q, const struct hc_manifest *m, struct hc_error *err)
{
    cJSON *findings = hc_manifest_findings(m);
    if (!findings)
        return hc_fail(err, ENOMEM, "check");
    int rc = q->json ? print_json(m, findings, err) : print_text(q, m, findings, err);
    cJSON_Delete(findings);
    if (!q->json && m->status != HC_STATUS_OK && m->status != HC_STATUS_REJECTED)
        hc_warn("%s: %s", hc_status_name(m->status), m->reason);
    return rc;
}

/* A check writes no files, whatever the spec says. */
static void drop_results(struct hc_request *q)
{
    free(q->job.output_dir);
    q->job.output_dir = NULL;
    q->job.persist_code = false;
    q->job.runner_form = false;
    q->policy.output_mode = HC_OUTPUT_CAPPED;
}

static int check_program(struct hc_request *q, struct hc_error *err)
{
    hc_autofd signals = hc_cancel_open(err);
    hc_autofd cancel = signals < 0 ? -1 : hc_cancel_watch(signals, q->caller_fd, err);
    struct hc_manifest *m = cancel < 0 ? NULL : calloc(1, sizeof *m);
    if (!m)
        return cancel < 0 ? -1 : hc_fail(err, ENOMEM, "check");
    drop_results(q);
    struct hc_run run = {
        .job = &q->job,
        .policy = &q->policy,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = cancel,
        .default_dir = "hotcell-output",
    };
    int rc = hc_run(&run, m, err);
    int status = m->exit_code;
    if (rc == 0)
        rc = print_findings(q, m, err);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    hc_cancel_end(signals);
    return rc < 0 ? hc_report(err) : status;
}

int hc_cmd_check(int argc, char **argv)
{
    struct hc_request q = {.command = "check", .check = true};
    return hc_request_serve(&q, argc, argv, help_head, check_program);
}
