/* Reads the spec and the command line, whose options override the spec. */
#include "cli/request.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "base/units.h"
#include "batch/batch.h"
#include "cell/key.h"
#include "cell/policies.h"
#include "cell/policy_store.h"
#include "cell/steps.h"
#include "cli/cli.h"
#include "policy/options.h"
#include "policy/tighten.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_SPEC ((size_t)80 << 20) /* most bytes of a program or a spec */

enum {
    OPT_HELP = 'h',
    OPT_CONNECTION = 'f',
    OPT_OUTPUT = 'o',
    OPT_POLICY = 'p',
    OPT_TREE = 't',
    OPT_FIRST_LONG = 256,
    OPT_INPUT = OPT_FIRST_LONG,
    OPT_VAR,
    OPT_LABEL,
    OPT_ENV,
    OPT_STDIN,
    OPT_SEED,
    OPT_RETURN,
    OPT_DIR,
    OPT_SPEC,
    OPT_SESSION,
    OPT_STEP,
    OPT_WAIT,
    OPT_JSON,
    OPT_TOOL,
    OPT_TOOL_FD,
    OPT_CALLER_FD,
    OPT_STDOUT_FD,
    OPT_STDERR_FD,
    OPT_FIGURE_FD,
    OPT_JOBS,
    OPT_STORE,
    OPT_WARM,
    OPT_RESUME,
    OPT_RERUN,
    OPT_RETRY,
    OPT_ORDERED,
    OPT_FAIL_FAST,
    OPT_MAX_FAILURES,
    OPT_SHARD,
    OPT_INSTALL,
    OPT_USER,
    OPT_NAME,
    OPT_ROWS /* the first row of hc_options; the others follow, then those of hc_job_options */
};

#define OF_ALL    (HC_OF_RUN | HC_OF_EXEC | HC_OF_CHECK | HC_OF_SESSION | HC_OF_SERVE | HC_OF_BATCH)
#define OF_KERNEL 64 /* `hotcell kernel`, which takes all else that is of HC_OF_SESSION */

static const struct {
    struct option option;
    int of;
} own_options[] = {
    {{"help", no_argument, NULL, OPT_HELP}, OF_ALL},
    {{"output", required_argument, NULL, OPT_OUTPUT},
     HC_OF_RUN | HC_OF_EXEC | HC_OF_SESSION | HC_OF_SERVE | HC_OF_BATCH},
    {{"policy", required_argument, NULL, OPT_POLICY}, OF_ALL},
    {{"input", required_argument, NULL, OPT_INPUT}, OF_ALL & ~HC_OF_BATCH},
    {{"dir", required_argument, NULL, OPT_DIR}, HC_OF_RUN | HC_OF_EXEC | HC_OF_SESSION},
    {{"var", required_argument, NULL, OPT_VAR}, HC_OF_RUN | HC_OF_SESSION | HC_OF_SERVE},
    {{"label", required_argument, NULL, OPT_LABEL},
     HC_OF_RUN | HC_OF_EXEC | HC_OF_SESSION | HC_OF_SERVE | HC_OF_BATCH},
    {{"env", required_argument, NULL, OPT_ENV}, HC_OF_RUN | HC_OF_EXEC | HC_OF_SESSION | HC_OF_SERVE},
    {{"stdin", required_argument, NULL, OPT_STDIN}, HC_OF_RUN | HC_OF_EXEC},
    {{"seed", required_argument, NULL, OPT_SEED}, HC_OF_RUN | HC_OF_SESSION | HC_OF_SERVE | HC_OF_BATCH},
    {{"return", required_argument, NULL, OPT_RETURN}, HC_OF_RUN},
    {{"spec", required_argument, NULL, OPT_SPEC}, HC_OF_RUN | HC_OF_CHECK | HC_OF_SESSION},
    {{"session", required_argument, NULL, OPT_SESSION}, HC_OF_RUN | HC_OF_EXEC},
    {{"step", required_argument, NULL, OPT_STEP}, HC_OF_RUN | HC_OF_EXEC},
    {{"wait", no_argument, NULL, OPT_WAIT}, HC_OF_RUN | HC_OF_EXEC},
    {{"json", no_argument, NULL, OPT_JSON}, HC_OF_RUN | HC_OF_EXEC | HC_OF_CHECK | HC_OF_BATCH},
    {{"warm", optional_argument, NULL, OPT_WARM}, HC_OF_RUN | HC_OF_EXEC | HC_OF_BATCH},
    {{"tool", required_argument, NULL, OPT_TOOL}, HC_OF_RUN | HC_OF_SESSION | HC_OF_SERVE},
    {{"tool-fd", required_argument, NULL, OPT_TOOL_FD}, HC_OF_RUN | HC_OF_SESSION},
    {{"caller-fd", required_argument, NULL, OPT_CALLER_FD}, HC_OF_RUN | HC_OF_EXEC | HC_OF_CHECK},
    {{"live-stdout", required_argument, NULL, OPT_STDOUT_FD}, HC_OF_RUN | HC_OF_EXEC},
    {{"live-stderr", required_argument, NULL, OPT_STDERR_FD}, HC_OF_RUN | HC_OF_EXEC},
    {{"live-figures", required_argument, NULL, OPT_FIGURE_FD}, HC_OF_RUN},
    {{"jobs", required_argument, NULL, OPT_JOBS}, HC_OF_SERVE | HC_OF_BATCH},
    {{"store", required_argument, NULL, OPT_STORE}, HC_OF_SERVE},
    {{"resume", optional_argument, NULL, OPT_RESUME}, HC_OF_BATCH},
    {{"rerun", required_argument, NULL, OPT_RERUN}, HC_OF_BATCH},
    {{"retry", required_argument, NULL, OPT_RETRY}, HC_OF_BATCH},
    {{"ordered", no_argument, NULL, OPT_ORDERED}, HC_OF_BATCH},
    {{"fail-fast", no_argument, NULL, OPT_FAIL_FAST}, HC_OF_BATCH},
    {{"max-failures", required_argument, NULL, OPT_MAX_FAILURES}, HC_OF_BATCH},
    {{"shard", required_argument, NULL, OPT_SHARD}, HC_OF_BATCH},
    {{"connection", required_argument, NULL, OPT_CONNECTION}, OF_KERNEL},
    {{"install", no_argument, NULL, OPT_INSTALL}, OF_KERNEL},
    {{"user", no_argument, NULL, OPT_USER}, OF_KERNEL},
    {{"name", required_argument, NULL, OPT_NAME}, OF_KERNEL},
};

#define OWN_OPTIONS (sizeof own_options / sizeof *own_options)

/* The short options for getopt; "hotcell check" has no -o. */
static const char *letters(const struct hc_request *q)
{
    if (q->exec) /* what follows the program's name is the program's own */
        return "+:ho:p:t:";
    if (q->kernel)
        return ":hf:o:p:t:";
    return q->check ? ":hp:t:" : ":ho:p:t:";
}

static int replace(char **field, const char *value, struct hc_error *err)
{
    if (!*value)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a value, got an empty string");
    char *copy = strdup(value);
    if (!copy)
        return hc_fail(err, ENOMEM, "options");
    free(*field);
    *field = copy;
    return 0;
}

static int set_id(char **field, const char *text, struct hc_error *err)
{
    if (hc_job_check_id(text, err) < 0)
        return hc_exit_as(err, HC_EXIT_USAGE);
    return replace(field, text, err);
}

/* Reads an ID that is also the name of a directory. */
static int set_directory(char **field, const char *text, struct hc_error *err)
{
    if (text[0] == '.')
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected an ID that does not begin with a dot, got '%.80s'",
                          text);
    return set_id(field, text, err);
}

static int set_seed(struct hc_job *job, const char *text, struct hc_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || !*text || *end || text[0] == '-' || text[0] == '+' || v > UINT32_MAX)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a number from 0 to %u, got '%s'", UINT32_MAX,
                          text);
    job->has_seed = true;
    job->seed = (uint32_t)v;
    return 0;
}

/* Reads the number of a descriptor, which must not be one of the standard three. */
static int set_fd(int *field, const char *text, struct hc_error *err)
{
    int64_t fd;
    if (hc_parse_int(text, &fd) < 0 || fd <= STDERR_FILENO || fd > INT_MAX)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a descriptor from 3 on, got '%.40s'", text);
    if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
        return hc_fail_as(err, HC_EXIT_USAGE, errno, "%s", text);
    *field = (int)fd;
    return 0;
}

static int set_number(int64_t *field, const char *text, int64_t least, int64_t most, struct hc_error *err)
{
    if (hc_parse_int(text, field) == 0 && *field >= least && *field <= most)
        return 0;
    return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a number from %lld to %lld, got '%.40s'",
                      (long long)least, (long long)most, text);
}

static int set_jobs(struct hc_request *q, const char *text, struct hc_error *err)
{
    if (q->batch)
        return set_number(&q->batch->jobs, text, 1, HC_BATCH_MOST_JOBS, err);
    return set_number(&q->jobs, text, 1, HC_MAX_SERVED, err);
}

/* Reads a shard, "K/N". */
static int set_shard(struct hc_batch_options *b, const char *text, struct hc_error *err)
{
    const char *slash = strchr(text, '/');
    char first[24];
    if (slash && slash - text < (ptrdiff_t)sizeof first) {
        (void)snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
        if (hc_parse_int(first, &b->shard) == 0 && hc_parse_int(slash + 1, &b->shards) == 0 &&
            b->shard >= 1 && b->shard <= b->shards && b->shards <= HC_BATCH_SHARDS)
            return 0;
    }
    return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected K/N, with K from 1 to N and N at most %d, got '%.40s'",
                      HC_BATCH_SHARDS, text);
}

/* Reads a list of statuses, "STATUS[,STATUS]...". */
static int set_rerun(struct hc_batch_options *b, const char *text, struct hc_error *err)
{
    for (const char *at = text;; at++) {
        char name[24];
        size_t len = strcspn(at, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), at);
        int status = len < sizeof name ? hc_batch_status_of(name) : -1;
        if (status < 0)
            return hc_fail_as(
                err, HC_EXIT_USAGE, 0,
                "expected statuses of results, such as outcome_unknown,launch_failed, got '%.80s'", text);
        b->rerun[status] = true;
        at += len;
        if (!*at)
            return 0;
    }
}

static int take_batch_option(struct hc_batch_options *b, int opt, struct hc_error *err)
{
    switch (opt) {
    case OPT_RESUME:
        b->resume = true;
        b->changed = optarg;
        return !optarg || strcmp(optarg, "changed") == 0
                   ? 0
                   : hc_fail_as(err, HC_EXIT_USAGE, 0, "expected --resume or --resume=changed");
    case OPT_ORDERED:
        b->ordered = true;
        return 0;
    case OPT_FAIL_FAST:
        b->max_failures = 1;
        return 0;
    case OPT_MAX_FAILURES:
        return set_number(&b->max_failures, optarg, 1, INT64_MAX, err);
    case OPT_RETRY:
        return set_number(&b->retry, optarg, 0, 1000, err);
    case OPT_SHARD:
        return set_shard(b, optarg, err);
    default:
        return set_rerun(b, optarg, err);
    }
}

static int take_kernel_option(struct hc_kernel_options *k, int opt, struct hc_error *err)
{
    if (opt == OPT_INSTALL || opt == OPT_USER) {
        *(opt == OPT_USER ? &k->user : &k->install) = true;
        return 0;
    }
    if (!*optarg)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a value, got an empty string");
    *(opt == OPT_NAME ? &k->name : &k->connection) = optarg;
    return 0;
}

static int set_store(struct hc_request *q, const char *text, struct hc_error *err)
{
    if (hc_parse_size(text, &q->store) == 0 && q->store >= 1 << 20)
        return 0;
    return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a size from 1M on, such as 2G, got '%.40s'", text);
}

static int set_warm(struct hc_request *q, const char *text, struct hc_error *err)
{
    static const char *const words[] = {[HC_WARM_NO] = "no", [HC_WARM_TRY] = "try", [HC_WARM_YES] = "yes"};
    for (int i = HC_WARM_NO; i <= HC_WARM_YES; i++)
        if (strcmp(text, words[i]) == 0) {
            q->warm = (enum hc_warm)i;
            return 0;
        }
    return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected yes, no or try, got '%.40s'", text);
}

static int take_row(struct hc_job *job, size_t row, struct hc_error *err)
{
    if (row < hc_options_count)
        return hc_job_add_override(job, &hc_options[row], optarg, err);
    return hc_job_set(job, &hc_job_options[row - hc_options_count], optarg, err);
}

/* The member for the inherited descriptor that an option gives. */
static int *fd_of(struct hc_request *q, int opt)
{
    return opt == OPT_TOOL_FD     ? &q->tool_fd
           : opt == OPT_CALLER_FD ? &q->caller_fd
           : opt == OPT_STDOUT_FD ? &q->stdout_fd
           : opt == OPT_STDERR_FD ? &q->stderr_fd
                                  : &q->figure_fd;
}

static int take_option(struct hc_request *q, int opt, struct hc_error *err)
{
    struct hc_job *job = &q->job;
    switch (opt) {
    case OPT_OUTPUT:
        return replace(&job->output_dir, optarg, err);
    case OPT_POLICY:
        return replace(&job->policy, optarg, err);
    case OPT_TREE:
        return hc_job_add_override(job, hc_option_by_flag("tree"), optarg, err);
    case OPT_INPUT:
        return hc_job_add_input(job, optarg, err);
    case OPT_DIR:
        return hc_job_add_dir(job, optarg, err);
    case OPT_VAR:
        return hc_job_add_var(job, optarg, err);
    case OPT_LABEL:
        return hc_job_add_label(job, optarg, err);
    case OPT_ENV:
        return hc_job_add_env(job, optarg, err);
    case OPT_STDIN:
        q->stdin_path = optarg;
        return 0;
    case OPT_RETURN:
        return hc_job_add_return(job, optarg, err);
    case OPT_TOOL:
        return hc_job_add_tool(job, optarg, err);
    case OPT_TOOL_FD:
    case OPT_CALLER_FD:
    case OPT_STDOUT_FD:
    case OPT_STDERR_FD:
    case OPT_FIGURE_FD:
        return set_fd(fd_of(q, opt), optarg, err);
    case OPT_SEED:
        return set_seed(job, optarg, err);
    case OPT_SESSION:
        return set_directory(&q->session, optarg, err);
    case OPT_STEP:
        return set_directory(&q->step, optarg, err);
    case OPT_WAIT:
        q->wait = true;
        return 0;
    case OPT_JSON:
        if (q->batch)
            q->batch->json = true;
        q->json = true;
        return 0;
    case OPT_JOBS:
        return set_jobs(q, optarg, err);
    case OPT_STORE:
        return set_store(q, optarg, err);
    case OPT_WARM:
        return set_warm(q, optarg ? optarg : "yes", err);
    case OPT_RESUME ... OPT_SHARD:
        return take_batch_option(q->batch, opt, err);
    case OPT_CONNECTION:
    case OPT_INSTALL ... OPT_NAME:
        return take_kernel_option(q->kernel, opt, err);
    default:
        return take_row(job, (size_t)(opt - OPT_ROWS), err);
    }
}

static unsigned command_of(const struct hc_request *q)
{
    return q->batch   ? HC_OF_BATCH
           : q->serve ? HC_OF_SERVE
           : q->check ? HC_OF_CHECK
           : q->live  ? HC_OF_SESSION
           : q->exec  ? HC_OF_EXEC
                      : HC_OF_RUN;
}

static struct option *all_options(const struct hc_request *q)
{
    const unsigned of = command_of(q);
    struct option *all = calloc(OWN_OPTIONS + hc_options_count + hc_job_options_count + 1, sizeof *all),
                  *at = all;
    int next = OPT_ROWS;
    if (!all)
        return NULL;
    for (size_t i = 0; i < OWN_OPTIONS; i++)
        if ((unsigned)own_options[i].of & (of | (q->kernel ? OF_KERNEL : 0)))
            *at++ = own_options[i].option;
    for (size_t i = 0; i < hc_options_count; i++)
        *at++ = (struct option){hc_options[i].flag, required_argument, NULL, next++};
    for (size_t i = 0; i < hc_job_options_count; i++, next++) {
        const struct hc_job_option *row = &hc_job_options[i];
        if (row->commands & of)
            *at++ = (struct option){row->flag, row->is_flag ? no_argument : required_argument, NULL, next};
    }
    return all;
}

static int read_whole(const char *path, size_t max, struct hc_buf *out, struct hc_error *err)
{
    if (strcmp(path, "-") != 0)
        return hc_read_file(AT_FDCWD, path, out, max, err);
    return hc_read_all(STDIN_FILENO, out, max, err) < 0 ? hc_ctx(err, "standard input") : 0;
}

/* Do arguments of the program follow? They stand behind "--", which getopt_long leaves before all that is no
 * option. */
static bool takes_args(const struct hc_request *q, char **argv)
{
    return command_of(q) == HC_OF_RUN && strcmp(argv[optind - 1], "--") == 0;
}

/* Options of "hotcell run" that describe one program, where there are several programs. */
static int refuse_option(const struct hc_request *q, const struct option *all, const char *given)
{
    static const char name[] = "--stdin";
    if (q->live && strncmp(given, name, sizeof name - 1) == 0 && strchr("=", given[sizeof name - 1]))
        return hc_usage(q->command, "there is no option --stdin: each %s",
                        q->serve   ? "call has its own standard input, the argument \"stdin\""
                        : q->batch ? "job has its own standard input, \"stdin\" in its line"
                                   : "run has its own standard input, \"stdin\" in its request");
    return hc_unknown_option(q->command, all, given);
}

/* Finds --spec first, as the spec is read before the options override it. */
static int find_spec(int argc, char **argv, const struct option *all, struct hc_request *q)
{
    int opt;
    optind = 1;
    while ((opt = hc_getopt(argc, argv, letters(q), all)) != -1) {
        if (opt == OPT_HELP)
            return 1;
        if (opt == ':')
            return hc_usage(q->command, "%s needs a value", argv[optind - 1]);
        if (opt == '?' && optopt && optopt < OPT_FIRST_LONG)
            return hc_usage(q->command, "unknown option -%c", optopt);
        if (opt == '?')
            return refuse_option(q, all, argv[optind - 1]);
        if (opt == OPT_SPEC)
            q->spec = optarg;
    }
    if (q->live && q->spec && (q->kernel || strcmp(q->spec, "-") == 0))
        return hc_usage(q->command,
                        q->kernel ? "--spec is not for notebooks" : "--spec -: runs come on standard input");
    if (q->batch && argc - optind != 1)
        return hc_usage(q->command, "expected one file of jobs, or - for standard input");
    if (q->live && !q->batch && argc != optind)
        return hc_usage(q->command, "expected no program: %s",
                        q->kernel ? "cells of a notebook come over the connection"
                                  : "runs come on standard input");
    if (q->exec)
        return argc > optind ? 0 : hc_usage(q->command, "expected a program of the tree, and its arguments");
    const int files = q->spec || q->live ? 0 : 1;
    if (!q->live && argc - optind != files && (argc - optind < files || !takes_args(q, argv)))
        return hc_usage(q->command, q->spec ? "expected nothing after --spec's options"
                                            : "expected one FILE, or - for standard input");
    return 0;
}

static const char *long_name(const struct option *all, int opt)
{
    while (all->name && all->val != opt)
        all++;
    return all->name ? all->name : "tree"; /* no option in the table has the value 't' */
}

/* Does an option go into the command lines of later programs? */
static bool is_for_programs(const struct hc_request *q, int opt)
{
    if (q->kernel)
        return opt != OPT_CONNECTION && opt != OPT_INSTALL && opt != OPT_USER && opt != OPT_NAME;
    return q->serve && opt != OPT_OUTPUT && opt != OPT_JOBS && opt != OPT_STORE;
}

/* Collects an option for the command lines of later programs. */
static int collect(struct hc_request *q, const struct option *all, int opt, struct hc_error *err)
{
    char *argument = NULL;
    if (!is_for_programs(q, opt))
        return 0;
    if (q->given_count == sizeof q->given / sizeof *q->given)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %zu options", q->given_count);
    const char *name = long_name(all, opt);
    int n = optarg ? asprintf(&argument, "--%s=%s", name, optarg) : asprintf(&argument, "--%s", name);
    if (n < 0)
        return hc_fail(err, ENOMEM, "options");
    q->given[q->given_count++] = argument;
    return 0;
}

static int apply_options(int argc, char **argv, const struct option *all, struct hc_request *q,
                         struct hc_error *err)
{
    int opt;
    optind = 1;
    while ((opt = hc_getopt(argc, argv, letters(q), all)) != -1)
        if (opt != OPT_SPEC && (take_option(q, opt, err) < 0 || collect(q, all, opt, err) < 0))
            return hc_ctx(err, "--%s", long_name(all, opt));
    return 0;
}

static int read_code(struct hc_request *q, const char *path, struct hc_error *err)
{
    if (read_whole(path, MAX_SPEC, &q->code, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    q->job.code_len = q->code.len;
    q->job.code = hc_buf_take(&q->code);
    return q->job.code ? 0 : hc_fail(err, ENOMEM, "%s", path);
}

static int read_spec(struct hc_request *q, struct hc_error *err)
{
    hc_autobuf text = {0};
    const char *name = strcmp(q->spec, "-") == 0 ? "standard input" : q->spec;
    if (read_whole(q->spec, MAX_SPEC, &text, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    return (q->live ? hc_job_parse_session : hc_job_parse)(&q->job, name, text.data ? text.data : "",
                                                           text.len, err);
}

/* Whether the job under its policy has another text than the policy has (hc_policy_text). */
static bool changes_policy(const struct hc_job *job)
{
    return job->override_count || job->tools.count || job->tool_command_count;
}

int hc_request_load_policy(struct hc_request *q, struct hc_error *err)
{
    const struct hc_job *job = &q->job;
    if (job->sign && hc_key_read(job->sign, &q->key, err) < 0)
        return -1;
    if (hc_policy_load(&q->policy, hc_job_policy(job), hc_policies_read, NULL, err) < 0)
        return -1;
    hc_maxima_init(&q->policy.max); /* they are for requests to hotcelld, and in no record of a program */
    q->unnamed = !q->live && !changes_policy(job);
    if (!q->unnamed && (hc_policy_begin(&q->policy, err) < 0 || hc_job_apply(job, &q->policy, err) < 0))
        return -1;
    return hc_job_put_tools(&q->job, &q->policy, err);
}

/* Sets the output directory to DIR/SESSION/STEP, and locks the session against other jobs. */
static int enter_session(struct hc_request *q, struct hc_error *err)
{
    struct hc_job *job = &q->job;
    char path[PATH_MAX];
    if (!q->session && !q->step && !q->wait)
        return 0;
    if (!q->session || !q->step || !job->output_dir)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--session ID, --step ID and -o DIR need each other");
    int n = snprintf(path, sizeof path, "%s/%s/%s", job->output_dir, q->session, q->step);
    if (n < 0 || n >= (int)sizeof path)
        return hc_fail_as(err, HC_EXIT_USAGE, ENAMETOOLONG, "-o %.100s", job->output_dir);
    q->session_fd = hc_session_open(job->output_dir, q->session, q->wait, err);
    return q->session_fd < 0 ? -1 : replace(&job->output_dir, path, err);
}

/* Opens the program's standard input; the caller's own is duplicated. */
static int open_stdin(struct hc_request *q, struct hc_error *err)
{
    struct stat st;
    if (!q->stdin_path || q->check)
        return 0;
    bool own = strcmp(q->stdin_path, "-") == 0;
    if (own && q->file && strcmp(q->file, "standard input") == 0)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--stdin -: the program itself comes on standard input");
    q->stdin_fd = own ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                      : open(q->stdin_path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (q->stdin_fd < 0 || fstat(q->stdin_fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "--stdin %s", q->stdin_path);
    /* Who fills the cell's pipe waits for the writer of a FIFO, under the job's time limit: an open would not
     * end. */
    if (!own && !S_ISFIFO(st.st_mode) && fcntl(q->stdin_fd, F_SETFL, 0) < 0)
        return hc_fail(err, errno, "--stdin %s", q->stdin_path);
    if (S_ISDIR(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "--stdin %s: expected a file, got a directory",
                          q->stdin_path);
    hc_job_drop_stdin(&q->job); /* drops the standard input of the spec */
    q->job.has_stdin = true;
    return 0;
}

/* Takes what stands behind "--" as the program's arguments, in the place of those of the spec. */
static int take_args(struct hc_request *q, int argc, char **argv, struct hc_error *err)
{
    int first = optind + (q->spec ? 0 : 1);
    if (q->exec)
        return hc_job_set_command(&q->job, argv + optind, (size_t)(argc - optind), err);
    if (q->live || q->check || argc <= first)
        return 0;
    return hc_job_set_args(&q->job, argv + first, (size_t)(argc - first), err);
}

static int prepare(struct hc_request *q, int argc, char **argv, const struct option *all,
                   struct hc_error *err)
{
    const char *file = q->spec || q->live || q->exec ? NULL : argv[optind];
    bool here = q->check || (q->live && !q->batch && !q->kernel);
    const char *socket = here ? NULL : getenv("HOTCELL_SOCKET");
    q->warm = socket && *socket ? HC_WARM_YES : HC_WARM_NO;
    if (q->spec && read_spec(q, err) < 0)
        return -1;
    if (apply_options(argc, argv, all, q, err) < 0)
        return -1;
    if (file && read_code(q, file, err) < 0)
        return -1;
    q->job.check_only |= q->check;
    q->file = file ? file : q->spec;
    if (q->batch)
        q->batch->jobs_path = argv[optind];
    if (q->file && strcmp(q->file, "-") == 0)
        q->file = "standard input";
    if (take_args(q, argc, argv, err) < 0 || open_stdin(q, err) < 0)
        return -1;
    if (!q->live && hc_job_check(&q->job, err) < 0)
        return file ? hc_ctx(err, "%s", q->file) : -1;
    if (q->warm == HC_WARM_NO && hc_request_load_policy(q, err) < 0)
        return -1;
    return enter_session(q, err);
}

/* Returns 0; 1 if only help is wanted; or the exit status, after an error was printed. */
static int read_request(struct hc_request *q, int argc, char **argv)
{
    struct hc_error err = {0};
    struct option *all = all_options(q);
    q->session_fd = q->stdin_fd = -1;
    if (!all) {
        (void)hc_fail(&err, ENOMEM, "read the command line");
        return hc_report(&err);
    }
    int status = find_spec(argc, argv, all, q);
    if (status == 0 && prepare(q, argc, argv, all, &err) < 0)
        status = hc_report(&err);
    free(all);
    return status;
}

static void finish_request(struct hc_request *q)
{
    hc_job_finish(&q->job);
    for (size_t i = 0; i < q->given_count; i++)
        free(q->given[i]);
    hc_close_fd(&q->session_fd);
    hc_close_fd(&q->stdin_fd);
    free(q->session);
    free(q->step);
    hc_policy_finish(&q->policy);
    hc_buf_finish(&q->key);
    hc_buf_finish(&q->code);
}

/* Prints a command's own lines, then those of the rows of job_options.def that it takes, then the limits. */
static void print_help(const struct hc_request *q, const char *head)
{
    const char *over = strstr(head, "\n\nOver the policy");
    (void)printf("%.*s\n", over ? (int)(over - head) : (int)strlen(head), head);
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        char flag[64];
        (void)snprintf(flag, sizeof flag, "--%s%s%s", row->flag, row->is_flag ? "" : " ",
                       row->is_flag ? "" : row->arg);
        if (row->commands & command_of(q))
            (void)printf("      %-21s %s\n", flag, row->help);
    }
    (void)fputs(over ? over + 1 : "", stdout);
    hc_options_print_help(stdout);
}

int hc_request_serve(struct hc_request *q, int argc, char **argv, const char *help, hc_request_worker *work)
{
    struct hc_error err = {0};
    int status = read_request(q, argc, argv);
    if (status == 1) {
        print_help(q, help);
        status = HC_EXIT_OK;
    } else if (status == 0) {
        status = work(q, &err);
        if (status < 0)
            status = hc_report(&err);
    }
    finish_request(q);
    return status;
}
