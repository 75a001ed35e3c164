/* hotcell run - runs one job, from the command line or a spec, and exits with its status. */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/plain.h"
#include "cell/run.h"
#include "cli/cancel.h"
#include "cli/request.h"
#include "client/remote.h"
#include "manifest/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STDIN ((size_t)64 << 20) /* the most that a policy's limits.stdin can be */

static const char help_head[] =
    "usage: hotcell run [OPTION]... FILE|- [-- ARG...]\n"
    "       hotcell run [OPTION]... --spec SPEC|- [-- ARG...]\n"
    "Run a Python program in a cell of its own.\n\n"
    "  -p, --policy POLICY       what the cell may do: a name, or a path with a slash (default)\n"
    "  -o, --output DIR          where files, figures and manifest.json go\n"
    "      --input NAME=FILE     data: a variable, and read-only as /input/NAME.EXT\n"
    "      --dir HOST[:PLACE][:ro|:cow|:rw]\n"
    "                            a directory of this host, at PLACE or at its own path: to read (ro),\n"
    "                            as a copy that the program may change (cow), or, where the policy\n"
    "                            allows it, to write to (rw)\n"
    "      --var NAME=JSON       a value\n"
    "      --stdin FILE|-        the program's standard input\n"
    "      --env NAME=VALUE      an environment variable of the program\n"
    "      --return NAME[=FORMAT]\n"
    "                            give a variable back: auto, json, npy, csv, jsonl, exact\n"
    "      --tool NAME=COMMAND   what the program may call on this host as tools.NAME(...)\n"
    "      --tool-fd N           a socket over which other tools are answered\n"
    "      --caller-fd N         end once this is readable, or its other end closed: a pidfd, a pipe\n"
    "      --spec SPEC           a job as JSON\n"
    "      --json                print the manifest instead of the program's output\n"
    "      --live-stdout N, --live-stderr N, --live-figures N\n"
    "                            also copy the output, and announce figures, to these descriptors\n"
    "      --warm[=yes|no|try]   have hotcelld run it, which has warm cells; try: if there is one\n"
    "      --seed N              make hashes and random numbers repeatable\n"
    "      --session ID --step ID [--wait]\n"
    "                            results go into DIR/SESSION/STEP, one step at a time\n"
    "      --label NAME=VALUE    goes into the manifest\n\n"
    "Over the policy (hotcell-policy(5)):\n";

static void say_cut(const char *name, const struct hc_stream *st, const char *limit,
                    const struct hc_policy *policy)
{
    bool plain = !policy || !policy->rules || !cJSON_GetObjectItemCaseSensitive(policy->rules, "truncation");
    if (st->truncated)
        hc_warn("%s was cut: %lld bytes written, %s%zu passed on (%s)", name, (long long)st->bytes,
                plain ? "the first " : "", st->text.len, limit);
}

/* Prints why the program could not be saved: the manifest, which has the reason, may be lost as well. */
static void say_not_kept(const struct hc_manifest *m)
{
    const char *why = hc_manifest_code_lost(m);
    if (why)
        hc_warn("the program was not kept: %s", why);
}

static void say_file_left_out(void *ctx, const char *text)
{
    (void)ctx;
    hc_warn("%s", text);
}

/* Prints what was changed in the program before it ran: repaired text, and imports that were not allowed. */
static void say_changes(const struct hc_manifest *m)
{
    const cJSON *finding,
        *found = m->status == HC_STATUS_REJECTED ? NULL : hc_json_member(m->check, "warnings");
    cJSON_ArrayForEach(finding, found)
    {
        const char *rule = hc_json_text(finding, "rule");
        bool import = strcmp(rule, "imports") == 0;
        if (import || strcmp(rule, "tidy") == 0)
            hc_warn("line %d: %s%s", (int)hc_json_int(finding, "line", 0), hc_json_text(finding, "message"),
                    import ? "; the program runs without it, as it does not use it" : "");
    }
}

#define GUESTS_TOLD         3    /* warnings of the program's process that are printed */
#define GUEST_WARNING_SHOWN 1000 /* most bytes of one of them */

/* Prints warnings about inputs from the report of a program that ran on this host. Other warnings are about
 * what the manifest lists. */
static void say_warnings_of_inputs(const char *report)
{
    struct hc_guest_warnings all;
    struct hc_error ignored;
    int told = 0;
    if (hc_guest_report_check(report, strlen(report), &all, &ignored) < 0)
        return;
    cJSON *text = all.texts ? all.texts->child : NULL;
    for (const cJSON *kind = all.kinds ? all.kinds->child : NULL; kind && text && told < GUESTS_TOLD;
         kind = kind->next, text = text->next) {
        if (strcmp(kind->valuestring, HC_WARNING_INPUT) != 0)
            continue;
        hc_plain_line(text->valuestring);
        hc_warn("guest: %.*s", GUEST_WARNING_SHOWN, text->valuestring);
        told++;
    }
    hc_guest_warnings_finish(&all);
}

/* Prints the first warnings of the program's process, such as of a table that it could not read. The manifest
 * has all. */
static void say_guests_warnings(const struct hc_manifest *m)
{
    static const char mark[] = "guest: ";
    int told = 0;
    for (size_t i = 0; i < m->warning_count && told < GUESTS_TOLD; i++)
        if (strncmp(m->warnings[i], mark, strlen(mark)) == 0) {
            hc_warn("%s", m->warnings[i]);
            told++;
        }
    if (!told && m->guest)
        say_warnings_of_inputs(m->guest);
}

/* Prints how the job ended, unless the program's own output has shown it. */
static void say_outcome(const struct hc_manifest *m)
{
    say_cut("standard output", &m->out, "limits.stdout", m->policy);
    say_cut("standard error", &m->err, "limits.stderr", m->policy);
    say_not_kept(m);
    hc_manifest_left_out(m, say_file_left_out, NULL);
    say_changes(m);
    say_guests_warnings(m);
    const char *policy = m->policy ? m->policy->name : m->policy_name;
    switch (m->status) {
    case HC_STATUS_OK:
    case HC_STATUS_REJECTED: /* a syntax error has been shown with its line */
        if (m->status == HC_STATUS_REJECTED && m->rejection.set && strcmp(m->rejection.rule, "syntax") != 0)
            hc_warn("rejected by policy %s (%s): %s", policy, m->rejection.rule, m->rejection.message);
        return;
    case HC_STATUS_ERROR:
        if (m->process.known && !m->process.signaled && m->process.value != 0)
            return; /* the traceback has been shown */
        break;
    default:
        break;
    }
    hc_warn("%s: %s", hc_status_name(m->status), m->reason);
}

/* Prints that output could not be passed on, and makes the exit status a failure, as the user lacks that
 * output. */
static int say_not_passed(const char *name, const struct hc_stream *st, int status)
{
    if (!st->pass_errno)
        return status;
    hc_warn("%s could not be passed on: %s", name, strerror(st->pass_errno));
    return status == HC_EXIT_OK ? HC_EXIT_INTERNAL : status;
}

/* The exit status of a command that came to its own end; else what `hotcell run` exits with. */
static int exit_of_command(const struct hc_manifest *m)
{
    bool own_end = m->status == HC_STATUS_OK || m->status == HC_STATUS_ERROR;
    return own_end && m->process.known && !m->process.signaled ? m->process.value : m->exit_code;
}

static int say_end(const struct hc_request *q, const struct hc_manifest *m, const struct hc_buf *text, int rc,
                   const struct hc_error *err)
{
    int status = m->exit_code;
    if (q->json && text->len)
        (void)fwrite(text->data, 1, text->len, stdout);
    if (rc != 0)
        (void)hc_report(err);
    else if (!q->json)
        say_outcome(m);
    if (q->exec && rc == 0)
        status = exit_of_command(m);
    status = say_not_passed("standard output", &m->out, status);
    return say_not_passed("standard error", &m->err, status);
}

/* No daemon has begun the job, and it may run without one. */
#define HC_NOT_WARM (-2)

static const char *advice_after(int sys)
{
    if (sys == EACCES)
        return "socket.mode and socket.group of hotcelld.conf(5) say who may, or --warm=no";
    if (sys == EBUSY)
        return "it has more clients than it takes now: try again, or --warm=no";
    return "start hotcelld(8), or say where it is in HOTCELL_SOCKET, or --warm=no";
}

static int ask_daemon(struct hc_remote *remote, struct hc_manifest *m, struct hc_buf *text,
                      struct hc_error *err)
{
    int rc = hc_remote_run(remote, m, text, err);
    if (rc > 0 && err->exit == HC_EXIT_UNAVAILABLE)
        (void)hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%.600s: %s", strdupa(err->text),
                         advice_after(err->sys));
    return rc;
}

/* Prints that output was left out; the manifest may still have it. */
static int say_left_out(bool cut, int status)
{
    if (!cut)
        return status;
    hc_warn("output could not be passed on whole: hotcelld keeps no more than 8 MB of what it passes on");
    return status == HC_EXIT_OK ? HC_EXIT_INTERNAL : status;
}

/* Where the program's own output goes: to the descriptor `given`, if it is not 0, else to `fd`. If the caller
 * has closed `fd`, hotcell has opened /dev/null there for reading (base/program.c), and the output is
 * dropped: the job ends as if the caller had read it. */
static int passed(const struct hc_request *q, int given, int fd)
{
    if (given)
        return given;
    return q->json || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? -1 : fd;
}

/* Reads standard input whole, for a daemon. If the job may run without one, it gets the content as a file. */
static int read_stdin(struct hc_request *q, int cancel, struct hc_error *err)
{
    hc_autobuf all = {0};
    struct pollfd ready[] = {{.fd = q->stdin_fd, .events = POLLIN}, {.fd = cancel, .events = POLLIN}};
    if (q->stdin_fd < 0)
        return 0;
    if (poll(ready, 2, -1) < 0) /* a FIFO may have no writer yet */
        return hc_fail(err, errno, "--stdin %s", q->stdin_path);
    if (ready[1].revents)
        return hc_fail_as(err, HC_EXIT_LIMIT, 0, "--stdin %s: cancelled before anything came", q->stdin_path);
    if (strcmp(q->stdin_path, "-") != 0 && fcntl(q->stdin_fd, F_SETFL, 0) < 0)
        return hc_fail(err, errno, "--stdin %s", q->stdin_path);
    if (hc_read_all(q->stdin_fd, &all, MAX_STDIN, err) < 0 || hc_buf_add(&all, "", 1) < 0)
        return hc_ctx(err, "--stdin %s: hotcelld gets it whole, 64M at most; else give --warm=no",
                      q->stdin_path);
    hc_close_fd(&q->stdin_fd);
    q->job.stdin_len = all.len - 1;
    q->job.stdin_data = hc_buf_take(&all);
    if (q->warm == HC_WARM_TRY)
        q->stdin_fd = hc_sealed_memfd("hotcell-stdin", q->job.stdin_data, q->job.stdin_len, err);
    return q->warm == HC_WARM_TRY && q->stdin_fd < 0 ? -1 : 0;
}

/* Writes a line of JSON about a new figure to the caller, unless the caller reads too slowly for it. */
static void announce_figure(void *figure_fd, const struct hc_figure *f, int fd)
{
    hc_autobuf line = {0};
    (void)fd;
    hc_figure_print(f, &line);
    if (hc_buf_str(&line, "\n") == 0 && line.len <= PIPE_BUF)
        (void)hc_write_some(*(const int *)figure_fd, line.data, line.len);
}

static int run_warm(struct hc_request *q, int cancel, struct hc_error *err)
{
    if (read_stdin(q, cancel, err) < 0)
        return -1;
    struct hc_remote remote = {
        .job = &q->job,
        .tool_fd = q->tool_fd,
        .pass_stdout = passed(q, q->stdout_fd, STDOUT_FILENO),
        .pass_stderr = passed(q, q->stderr_fd, STDERR_FILENO),
        .cancel_fd = cancel,
        .default_dir = "hotcell-output",
        .else_temporary = true,
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    hc_autobuf text = {0};
    int rc = ask_daemon(&remote, m, &text, err), status = HC_NOT_WARM;
    if (rc <= 0 || q->warm == HC_WARM_YES) {
        m->exit_code = rc == 0 ? m->exit_code : err->exit;
        status = say_left_out(remote.cut && !q->json, say_end(q, m, &text, rc, err));
    }
    hc_manifest_finish(m);
    free(m);
    return status;
}

/* Tells where the changes are, which nobody has applied. */
static void say_copies(const struct hc_manifest *m, const struct hc_run *run)
{
    char host[PATH_MAX];
    for (size_t i = 0; i < m->dir_count; i++) {
        const struct hc_changes *c = m->dirs[i].changes;
        size_t count = c ? c->count + c->skipped.count : 0;
        if (!count)
            continue;
        hc_plain_ascii(host, sizeof host, m->dirs[i].host);
        hc_warn("%zu change%s in the copy of %s: see hotcell workspace diff %s", count, count == 1 ? "" : "s",
                host, run->dest.path);
    }
}

static int run_cold(struct hc_request *q, int cancel, struct hc_error *err)
{
    struct hc_run run = {
        .job = &q->job,
        .policy = &q->policy,
        .pass_stdout = passed(q, q->stdout_fd, STDOUT_FILENO),
        .pass_stderr = passed(q, q->stderr_fd, STDERR_FILENO),
        .cancel_fd = cancel,
        .stdin_fd = q->stdin_fd < 0 ? 0 : q->stdin_fd,
        .tool_fd = q->tool_fd,
        .default_dir = "hotcell-output",
        .figure_sink = {q->figure_fd ? announce_figure : NULL, &q->figure_fd},
        .else_temporary = true,
        .unnamed = q->unnamed ? &q->policy : NULL,
        .printing = q->json ? HC_PRINT_INDENTED : HC_PRINT_NOTHING,
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    if (run.stdin_fd)
        hc_job_drop_stdin(&q->job); /* it was read for a daemon, and no daemon runs the job */
    hc_autobuf text = {0};
    struct hc_error write_err = {0};
    int rc = hc_run(&run, m, err);
    bool written = hc_run_write_manifest(&run, m, q->key.data, q->key.len, &text, &write_err) == 0;
    int status = say_end(q, m, &text, rc, err);
    if (written && !q->json)
        say_copies(m, &run);
    if (run.dest.temporary_reason[0] && !q->json)
        hc_warn("the results are in %s: %s", run.dest.path, run.dest.temporary_reason);
    if (!written && rc == 0)
        status = hc_report(&write_err);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    return status;
}

static int run_job(struct hc_request *q, struct hc_error *err)
{
    if (q->job.return_count && !q->json && !q->job.output_dir)
        hc_warn("--return: the values are members of the manifest, which -o DIR keeps and --json prints");
    hc_autofd signals = hc_cancel_open(err);
    hc_autofd cancel = signals < 0 ? -1 : hc_cancel_watch(signals, q->caller_fd, err);
    if (cancel < 0)
        return -1;
    int status = q->warm == HC_WARM_NO ? HC_NOT_WARM : run_warm(q, cancel, err);
    if (status == HC_NOT_WARM)
        status = q->warm != HC_WARM_NO && hc_request_load_policy(q, err) < 0 ? -1 : run_cold(q, cancel, err);
    hc_cancel_end(signals);
    return status;
}

static const char exec_head[] =
    "usage: hotcell exec [OPTION]... [--] PROGRAM [ARG]...\n"
    "Execute a program of the tree in a cell of its own, and exit with its exit status.\n"
    "The policy has to allow it (commands.allow): \"shell\" does, with the tree \"shell\".\n\n"
    "  -p, --policy POLICY       what the cell may do: a name, or a path with a slash (default)\n"
    "  -o, --output DIR          where files and manifest.json go\n"
    "      --input NAME=FILE     data: read-only as /input/NAME.EXT, and by its own name in /output\n"
    "      --dir HOST[:PLACE][:ro|:cow|:rw]\n"
    "                            a directory of this host, as in hotcell run\n"
    "      --stdin FILE|-        the program's standard input\n"
    "      --env NAME=VALUE      an environment variable of the program\n"
    "      --caller-fd N         end once this is readable, or its other end closed: a pidfd, a pipe\n"
    "      --json                print the manifest instead of the program's output\n"
    "      --live-stdout N, --live-stderr N\n"
    "                            also copy the output to these descriptors\n"
    "      --warm[=yes|no|try]   have hotcelld run it, which has warm cells; try: if there is one\n"
    "      --session ID --step ID [--wait]\n"
    "                            results go into DIR/SESSION/STEP, one step at a time\n"
    "      --label NAME=VALUE    goes into the manifest\n\n"
    "Over the policy (hotcell-policy(5)):\n";

int hc_cmd_exec(int argc, char **argv)
{
    struct hc_request q = {.command = "exec", .exec = true};
    return hc_request_serve(&q, argc, argv, exec_head, run_job);
}

int hc_cmd_run(int argc, char **argv)
{
    struct hc_request q = {.command = "run"};
    return hc_request_serve(&q, argc, argv, help_head, run_job);
}
