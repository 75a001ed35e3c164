/* hotcell run - one job, from the command line or a spec, to its exit status. */
#include "cli/cli.h"

#include "base/fd.h"
#include "cell/policies.h"
#include "cell/run.h"
#include "cli/key.h"
#include "spec/options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#define MAX_SPEC ((size_t)80 << 20)

enum {
    OPT_HELP = 'h',
    OPT_OUTPUT = 'o',
    OPT_POLICY = 'p',
    OPT_TREE = 't',
    OPT_FIRST_LONG = 256,
    OPT_INPUT = OPT_FIRST_LONG,
    OPT_VAR,
    OPT_LABEL,
    OPT_TENANT,
    OPT_JOB_ID,
    OPT_SEED,
    OPT_SIGN,
    OPT_PERSIST,
    OPT_RETURN,
    OPT_SPEC,
    OPT_JSON,
    OPT_LIMITS /* the first row of the option table; the others follow */
};

static const struct option own_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"input", required_argument, NULL, OPT_INPUT},
    {"var", required_argument, NULL, OPT_VAR},
    {"label", required_argument, NULL, OPT_LABEL},
    {"tenant", required_argument, NULL, OPT_TENANT},
    {"job-id", required_argument, NULL, OPT_JOB_ID},
    {"seed", required_argument, NULL, OPT_SEED},
    {"sign", required_argument, NULL, OPT_SIGN},
    {"persist-code", no_argument, NULL, OPT_PERSIST},
    {"return", required_argument, NULL, OPT_RETURN},
    {"spec", required_argument, NULL, OPT_SPEC},
    {"json", no_argument, NULL, OPT_JSON},
};

#define OWN_OPTIONS (sizeof own_options / sizeof *own_options)

static const char help_head[] =
    "usage: hotcell run [OPTION]... FILE|-\n"
    "       hotcell run [OPTION]... --spec SPEC|-\n"
    "Run a Python program in a cell of its own.\n\n"
    "  -p, --policy POLICY       what the cell may do: a name, or a path with a slash (default)\n"
    "  -o, --output DIR          where files, figures and manifest.json go\n"
    "      --input NAME=FILE     data: a variable, and read-only as /input/NAME.EXT\n"
    "      --var NAME=JSON       a value\n"
    "      --spec SPEC           a job as JSON\n"
    "      --json                print the manifest instead of the program's output\n"
    "      --sign KEYFILE        sign the manifest (HMAC-SHA256)\n"
    "      --seed N              make hashes and random numbers repeatable\n"
    "      --persist-code        keep the program with its results\n"
    "      --label NAME=VALUE, --tenant NAME, --job-id ID\n"
    "                            go into the manifest\n\n"
    "Over the policy (hotcell-policy(5)):\n";

struct request {
    struct hc_job job;
    struct hc_policy policy;
    struct hc_buf key;
    struct hc_buf code;
    const char *spec;
    bool json;
};

static void print_help(void)
{
    (void)fputs(help_head, stdout);
    hc_options_print_help(stdout);
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

static int take_option(struct request *q, int opt, struct hc_error *err)
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
    case OPT_VAR:
        return hc_job_add_var(job, optarg, err);
    case OPT_LABEL:
        return hc_job_add_label(job, optarg, err);
    case OPT_RETURN:
        return hc_job_add_return(job, optarg, err);
    case OPT_TENANT:
        return set_id(&job->tenant, optarg, err);
    case OPT_JOB_ID:
        return set_id(&job->job_id, optarg, err);
    case OPT_SEED:
        return set_seed(job, optarg, err);
    case OPT_SIGN:
        return replace(&job->sign, optarg, err);
    case OPT_PERSIST:
        job->persist_code = true;
        return 0;
    case OPT_JSON:
        q->json = true;
        return 0;
    default:
        return hc_job_add_override(job, &hc_options[opt - OPT_LIMITS], optarg, err);
    }
}

static struct option *all_options(void)
{
    struct option *all = calloc(OWN_OPTIONS + hc_options_count + 1, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, own_options, sizeof own_options);
    for (size_t i = 0; i < hc_options_count; i++)
        all[OWN_OPTIONS + i] =
            (struct option){hc_options[i].flag, required_argument, NULL, OPT_LIMITS + (int)i};
    return all;
}

static int read_whole(const char *path, size_t max, struct hc_buf *out, struct hc_error *err)
{
    if (strcmp(path, "-") != 0)
        return hc_read_file(AT_FDCWD, path, out, max, err);
    return hc_read_all(STDIN_FILENO, out, max, err) < 0 ? hc_ctx(err, "standard input") : 0;
}

/* A spec is read before the options are applied over it, so it is looked for first. */
static int find_spec(int argc, char **argv, const struct option *all, struct request *q)
{
    int opt;
    optind = 1;
    while ((opt = getopt_long(argc, argv, ":ho:p:t:", all, NULL)) != -1) {
        if (opt == OPT_HELP)
            return 1;
        if (opt == ':')
            return hc_usage("run", "%s needs a value", argv[optind - 1]);
        if (opt == '?' && optopt && optopt < OPT_FIRST_LONG)
            return hc_usage("run", "unknown option -%c", optopt);
        if (opt == '?')
            return hc_usage("run", "unknown option %s", argv[optind - 1]);
        if (opt == OPT_SPEC)
            q->spec = optarg;
    }
    if (argc - optind != (q->spec ? 0 : 1))
        return hc_usage("run", q->spec ? "expected nothing after --spec's options"
                                       : "expected one FILE, or - for standard input");
    return 0;
}

static const char *long_name(const struct option *all, int opt)
{
    while (all->name && all->val != opt)
        all++;
    return all->name ? all->name : "tree"; /* whose letter is not in the table */
}

static int apply_options(int argc, char **argv, const struct option *all, struct request *q,
                         struct hc_error *err)
{
    int opt;
    optind = 1;
    while ((opt = getopt_long(argc, argv, ":ho:p:t:", all, NULL)) != -1)
        if (opt != OPT_SPEC && take_option(q, opt, err) < 0)
            return hc_ctx(err, "--%s", long_name(all, opt));
    return 0;
}

static int read_code(struct request *q, const char *path, struct hc_error *err)
{
    if (read_whole(path, MAX_SPEC, &q->code, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    q->job.code_len = q->code.len;
    q->job.code = hc_buf_take(&q->code);
    return q->job.code ? 0 : hc_fail(err, ENOMEM, "%s", path);
}

static int read_spec(struct request *q, struct hc_error *err)
{
    hc_autobuf text = {0};
    const char *name = strcmp(q->spec, "-") == 0 ? "standard input" : q->spec;
    if (read_whole(q->spec, MAX_SPEC, &text, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    return hc_job_parse(&q->job, name, text.data ? text.data : "", text.len, err);
}

static int load_policy(struct request *q, struct hc_error *err)
{
    const struct hc_job *job = &q->job;
    const char *otherwise = job->runner_form ? "analysis" : "default";
    if (hc_policy_load(&q->policy, job->policy ? job->policy : otherwise, hc_policies_read, NULL, err) < 0)
        return -1;
    for (size_t i = 0; i < job->override_count; i++)
        if (hc_option_set(&q->policy, job->overrides[i].opt, job->overrides[i].text, err) < 0)
            return -1;
    return 0;
}

static int make_cancel_fd(struct hc_error *err)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    struct sigaction hup;
    if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN) /* nohup(1) means it */
        (void)sigaddset(&set, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond the caller's own limit fails, and is reported */
    (void)signal(SIGCHLD,
                 SIG_DFL); /* ignored, as some callers leave it, it would take our children's status away */
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return hc_fail(err, errno, "block signals");
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : hc_fail(err, errno, "signalfd");
}

/* Everything is cleaned up: end as the signal would have ended us, for the shell and for make. */
static void end_by_signal(int cancel_fd)
{
    struct signalfd_siginfo info;
    if (cancel_fd < 0 || read(cancel_fd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    int sig = (int)info.ssi_signo;
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, sig);
    (void)fflush(stdout);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void say_cut(const char *name, const struct hc_stream *st, const char *limit)
{
    if (st->truncated)
        hc_warn("%s was cut: %lld bytes written, the first %zu passed on (%s)", name, (long long)st->bytes,
                st->text.len, limit);
}

/* What the user reads when the program's own output does not say it. */
static void say_outcome(const struct hc_manifest *m)
{
    say_cut("standard output", &m->out, "limits.stdout");
    say_cut("standard error", &m->err, "limits.stderr");
    switch (m->status) {
    case HC_STATUS_OK:
    case HC_STATUS_REJECTED: /* a syntax error has been shown with its line */
        if (m->status == HC_STATUS_REJECTED && m->rejection.set && strcmp(m->rejection.rule, "syntax") != 0)
            hc_warn("rejected (%s): %s", m->rejection.rule, m->rejection.message);
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

static int run_job(struct request *q, struct hc_error *err)
{
    hc_autofd cancel = make_cancel_fd(err);
    if (cancel < 0)
        return -1;
    struct hc_run run = {
        .job = &q->job,
        .policy = &q->policy,
        .pass_stdout = q->json ? -1 : STDOUT_FILENO,
        .pass_stderr = q->json ? -1 : STDERR_FILENO,
        .cancel_fd = cancel,
        .default_dir = "hotcell-output",
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    hc_autobuf text = {0};
    struct hc_error write_err = {0};
    int rc = hc_run(&run, m, err);
    int status = m->exit_code;
    bool written = hc_run_write_manifest(&run, m, q->key.data, q->key.len, &text, &write_err) == 0;
    if (q->json && text.len)
        (void)fwrite(text.data, 1, text.len, stdout);
    if (rc < 0)
        (void)hc_report(err);
    else if (!q->json)
        say_outcome(m);
    if (!written && rc == 0)
        status = hc_report(&write_err);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    end_by_signal(cancel);
    return status;
}

static int prepare(struct request *q, int argc, char **argv, const struct option *all, struct hc_error *err)
{
    const char *file = q->spec ? NULL : argv[optind];
    if (q->spec && read_spec(q, err) < 0)
        return -1;
    if (apply_options(argc, argv, all, q, err) < 0)
        return -1;
    if (file && read_code(q, file, err) < 0)
        return -1;
    if (hc_job_check(&q->job, err) < 0)
        return file ? hc_ctx(err, "%s", strcmp(file, "-") == 0 ? "standard input" : file) : -1;
    if (load_policy(q, err) < 0)
        return -1;
    return q->job.sign ? hc_key_read(q->job.sign, &q->key, err) : 0;
}

int hc_cmd_run(int argc, char **argv)
{
    struct request q = {.spec = NULL};
    struct hc_error err = {0};
    struct option *all = all_options();
    int status = all ? find_spec(argc, argv, all, &q) : HC_EXIT_INTERNAL;
    if (status == 1) {
        print_help();
        status = HC_EXIT_OK;
    } else if (status == 0) {
        status = prepare(&q, argc, argv, all, &err) < 0 ? hc_report(&err) : run_job(&q, &err);
        if (status < 0)
            status = hc_report(&err);
    }
    free(all);
    hc_job_finish(&q.job);
    hc_policy_finish(&q.policy);
    hc_buf_finish(&q.key);
    hc_buf_finish(&q.code);
    return status;
}
