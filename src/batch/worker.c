#include "batch/worker.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/packet.h"
#include "batch/folder.h"
#include "cell/collect.h"
#include "cell/key.h"
#include "cell/run.h"
#include "cell/steps.h"
#include "cell/warm.h"
#include "client/remote.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define RETRY_MS 1000 /* ms after which a job that the daemon did not take is tried again */

/* The defaults of hotcelld, with fewer interpreters. */
static const struct hc_warm_rules warm_rules = {.bytes = 4 * HC_WARM_LOADED_BYTES,
                                                .wanted = HC_WARM_WANTED,
                                                .cells = 1000,
                                                .age_ms = 3600 * 1000,
                                                .idle_ms = 3600 * 1000};

/* ---- messages ---- */

int hc_batch_send(int socket, const void *message, size_t size, int fd, struct hc_error *err)
{
    return hc_packet_send(socket, message, size, &fd, fd >= 0, 0) < 0
               ? hc_fail(err, errno, "send to another process")
               : 0;
}

int hc_batch_receive(int socket, void *message, size_t size, int *fd, struct hc_error *err)
{
    struct hc_packet p = {.fds = fd, .room = 1};
    ssize_t n = hc_packet_receive(socket, message, size, &p, 0);
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return 0;
    if (n < 0)
        return hc_fail(err, errno, "receive from another process");
    return n == (ssize_t)size ? 1 : hc_fail(err, EPROTO, "a message of %zd bytes from another process", n);
}

/* ---- a line ---- */

/* The parser reports positions in the line's text, "NAME:1:7: ...": replace line 1 by the line of the jobs
 * file. */
static int place_error(const struct hc_batch *b, int64_t line, struct hc_error *err)
{
    char *text = strdupa(err->text), front[300];
    const char *name = strcmp(b->asked->jobs_path, "-") == 0 ? "standard input" : b->asked->jobs_path;
    int n = snprintf(front, sizeof front, "%.200s:1:", name);
    int exit = err->exit;
    if (n > 0 && strncmp(text, front, (size_t)n) == 0)
        return hc_fail_as(err, exit, 0, "%.200s:%lld:%s", name, (long long)line, text + n);
    return hc_ctx(err, "%.200s:%lld", name, (long long)line);
}

static int replace(char **field, const char *value, struct hc_error *err)
{
    if (!value)
        return 0;
    free(*field);
    *field = strdup(value);
    return *field ? 0 : hc_fail(err, ENOMEM, "options");
}

static int add_labels(struct hc_job *job, const cJSON *labels, struct hc_error *err)
{
    const cJSON *label;
    cJSON_ArrayForEach(label, labels)
    {
        char *text = NULL;
        if (asprintf(&text, "%s=%s", label->string, label->valuestring) < 0)
            return hc_fail(err, ENOMEM, "options");
        int rc = hc_job_add_label(job, text, err);
        free(text);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Applies the options of job_options.def that the command line gives. */
static int apply_text_options(struct hc_job *job, const struct hc_job *given, struct hc_error *err)
{
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        const char *text = hc_job_text_of(given, row);
        if ((text || hc_job_flag_of(given, row)) && hc_job_set(job, row, text, err) < 0)
            return -1;
    }
    return 0;
}

/* Options of the command line override those of the line, as with --spec. */
static int apply_options(struct hc_job *job, const struct hc_job *given, struct hc_error *err)
{
    if (replace(&job->policy, given->policy, err) < 0 || apply_text_options(job, given, err) < 0 ||
        add_labels(job, given->labels, err) < 0)
        return -1;
    for (size_t i = 0; i < given->override_count; i++)
        if (hc_job_add_override(job, given->overrides[i].opt, given->overrides[i].text, err) < 0)
            return -1;
    if (given->has_seed) {
        job->has_seed = true;
        job->seed = given->seed;
    }
    return 0;
}

int hc_batch_parse(const struct hc_batch *b, struct hc_job *job, int64_t line, const char *text, size_t len,
                   struct hc_error *err)
{
    char name[201];
    const char *path = strcmp(b->asked->jobs_path, "-") == 0 ? "standard input" : b->asked->jobs_path;
    (void)snprintf(name, sizeof name, "%.200s", path);
    if (hc_job_parse(job, name, text, len, err) < 0 || apply_options(job, b->given, err) < 0 ||
        hc_job_check(job, err) < 0)
        return place_error(b, line, err);
    return 0;
}

/* ---- a job ---- */

/* What a worker keeps from job to job. */
struct run_tasks {
    const struct hc_batch *batch;    /* borrowed */
    int cancel_fd, dir;              /* readable: end the job, borrowed; the batch's directory, owned */
    const char *jobs_dir;            /* path of the directory for jobs' results, DIR/jobs */
    struct hc_policy_cache policies; /* policies of earlier jobs */
    struct hc_warm warm;             /* the worker's zygotes and cells */
    bool begun;                      /* a job was run before */
};

/* One job that is being run. */
struct item {
    const struct hc_batch_task *task; /* borrowed */
    struct hc_job job;                /* the line, parsed */
    struct hc_cached_policy *policy;  /* the job's policy, a counted reference; NULL: none */
    struct hc_warm_use use;           /* the cell that the job used */
    /* The key that signs manifests (empty: they are not signed), and the manifest in one line; both owned. */
    struct hc_buf key, manifest;
    struct hc_ended *answer; /* gets the result; borrowed */
};

static void fill_outcome(struct item *it, const struct hc_manifest *m, const struct hc_dest *dest)
{
    struct hc_result *r = &it->answer->result;
    r->status = (int)m->status;
    r->exit_code = m->exit_code;
    (void)snprintf(r->reason, sizeof r->reason, "%s", m->reason);
    r->wall_us = m->usage.wall_us;
    r->cpu_us = m->usage.cpu_user_us + m->usage.cpu_system_us;
    r->memory_peak = m->usage.memory_peak;
    r->output_bytes = m->usage.output_bytes;
    if (it->job.output_dir)
        (void)snprintf(r->output_dir, sizeof r->output_dir, "%s", dest->path);
    else if (dest->fd >= 0)
        (void)snprintf(r->output_dir, sizeof r->output_dir, HC_BATCH_JOBS "/%s", it->job.job_id);
    it->answer->not_started = m->status == HC_STATUS_LAUNCH_FAILED && m->timing.run_us < 0;
}

/* If results could not be written, the job counts as failed, even if the program succeeded. */
static void fill_failure(struct item *it, const struct hc_error *err)
{
    struct hc_result *r = &it->answer->result;
    bool refused = err->exit == HC_EXIT_DATA || err->exit == HC_EXIT_CONFIG || err->exit == HC_EXIT_USAGE;
    r->status = refused ? HC_BATCH_INVALID : HC_BATCH_LAUNCH_FAILED;
    r->exit_code = err->exit == HC_EXIT_USAGE ? HC_EXIT_DATA : err->exit;
    (void)snprintf(r->reason, sizeof r->reason, "%.*s", (int)sizeof r->reason - 1, err->text);
}

static int write_manifest(struct item *it, struct hc_run *run, struct hc_manifest *m, struct hc_error *err)
{
    hc_autobuf kept = {0};
    bool in_file = run->dest.path[0] && (it->job.output_dir || run->dest.fd >= 0);
    int rc = hc_run_write_manifest(run, m, it->key.data, it->key.len, in_file ? &kept : &it->manifest, err);
    struct hc_error lost;
    if (in_file && hc_manifest_print_plain(m, it->key.data, it->key.len, &it->manifest, &lost) < 0) {
        hc_buf_finish(&it->manifest);
        return rc < 0 ? -1 : hc_fail(err, 0, "%s", lost.text);
    }
    return rc;
}

/* Assume that many jobs are like the first: start a zygote before running it, unless it is the only one. */
static void start_first_zygote(struct run_tasks *w, const struct item *it)
{
    struct hc_warm_use use;
    if (w->begun || !it->task->more)
        return;
    w->begun = true;
    w->warm.rules.wanted = 1;
    if (!hc_warm_take(&w->warm, &it->job, it->policy, 0, &use))
        hc_warm_settle(&w->warm, &use, it->policy, 0);
    w->warm.rules.wanted = HC_WARM_WANTED;
}

static int run_here(struct run_tasks *w, struct item *it, struct hc_error *err)
{
    struct hc_run run = {
        .job = &it->job,
        .policy = &it->policy->policy,
        .policy_hash = it->policy->policy_hash,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = w->cancel_fd,
        .printing = HC_PRINT_PLAIN,
        .default_dir = HC_BATCH_JOBS,
        .default_at = w->dir,
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    struct hc_error failed; /* the manifest has the reason */
    bool ran = hc_warm_run(&w->warm, &it->use, it->policy, &run, m, &failed) == 0;
    int rc = write_manifest(it, &run, m, err);
    if (!ran)
        rc = 0; /* the manifest may be missing for the same reason */
    fill_outcome(it, m, &run.dest);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    return rc;
}

/* With bound output a job needs a directory: choose one if its specification names none. */
static int choose_dir(const struct run_tasks *w, struct item *it, struct hc_error *err)
{
    if (it->policy->policy.output_mode != HC_OUTPUT_BIND || it->job.output_dir)
        return 0;
    if (mkdirat(w->dir, HC_BATCH_JOBS, 0700) < 0 && errno != EEXIST)
        return hc_fail(err, errno, "make %s", w->jobs_dir);
    if (asprintf(&it->job.output_dir, "%s/%s", w->jobs_dir, it->job.job_id) >= 0)
        return 0;
    it->job.output_dir = NULL;
    return hc_fail(err, ENOMEM, "output directory");
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the directory `inner` the directory `dir`, or below it? */
static int is_in(int inner, int dir, struct hc_error *err)
{
    struct stat above, here, wanted;
    hc_autofd fd = openat(inner, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &here) < 0 || fstat(dir, &wanted) < 0)
        return hc_fail(err, errno, "output directory");
    while (!is_same(&here, &wanted)) {
        int parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (parent < 0 || fstat(parent, &above) < 0) {
            hc_close_fd(&parent);
            return hc_fail(err, errno, "output directory");
        }
        hc_close_fd(&fd);
        fd = parent;
        if (is_same(&above, &here))
            return false;
        here = above;
    }
    return true;
}

/* Refuse an output directory in the batch's own: a program's files could replace the journal or other
 * jobs' results. */
static int check_dir(const struct run_tasks *w, const struct item *it, struct hc_error *err)
{
    struct hc_dest dest = {.fd = -1, .named = true};
    if (!it->job.output_dir)
        return 0;
    (void)snprintf(dest.path, sizeof dest.path, "%s", it->job.output_dir);
    struct hc_error said_later; /* the run reports the error */
    int rc = hc_dest_open(&dest, &said_later) < 0 ? 0 : is_in(dest.fd, w->dir, err);
    hc_dest_finish(&dest);
    return rc > 0 ? hc_fail_as(err, HC_EXIT_DATA, 0,
                               "output_dir: %.256s is in the directory of the batch, where a job has its own",
                               it->job.output_dir)
                  : rc;
}

static int remove_attempt(const struct run_tasks *w, const struct item *it, struct hc_error *err)
{
    char path[128];
    if (!it->task->again)
        return 0;
    (void)snprintf(path, sizeof path, HC_BATCH_JOBS "/%s", it->task->job_id);
    return hc_remove_results(w->dir, path, err);
}

static int run_local(struct run_tasks *w, struct item *it, struct hc_error *err)
{
    if ((it->job.sign && hc_key_read(it->job.sign, &it->key, err) < 0) ||
        hc_policy_cache_find(&w->policies, &it->job, NULL, &it->policy, err) < 0 ||
        check_dir(w, it, err) < 0 || choose_dir(w, it, err) < 0)
        return -1;
    start_first_zygote(w, it);
    return run_here(w, it, err);
}

/* ---- by a daemon ---- */

/* The daemon chooses its own job ID; the batch's ID names the directory and the result. */
static int ask_daemon(struct run_tasks *w, struct item *it, struct hc_manifest *m, struct hc_buf *text,
                      struct hc_error *err)
{
    struct hc_remote remote = {
        .job = &it->job,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = w->cancel_fd,
        .default_dir = HC_BATCH_JOBS,
        .default_at = w->dir,
        .default_name = it->task->job_id,
    };
    struct hc_result *r = &it->answer->result;
    char *id = it->job.job_id;
    it->job.job_id = NULL;
    int rc = hc_remote_run(&remote, m, text, err);
    it->job.job_id = id;
    if (it->job.output_dir)
        (void)snprintf(r->output_dir, sizeof r->output_dir, "%s", it->job.output_dir);
    else if (remote.kept)
        (void)snprintf(r->output_dir, sizeof r->output_dir, HC_BATCH_JOBS "/%s", it->task->job_id);
    return rc;
}

/* Fill in the result of a job without a manifest. If the connection was lost, or the job's files could not
 * be fetched, the job may have run. */
static void fill_unknown(struct item *it, const struct hc_error *err)
{
    fill_failure(it, err);
    if (err->exit == HC_EXIT_INTERNAL)
        it->answer->result.status = HC_BATCH_OUTCOME_UNKNOWN;
    it->answer->not_started = err->exit == HC_EXIT_UNAVAILABLE;
}

static void fill_from_manifest(struct item *it, const struct hc_manifest *m, struct hc_buf *text)
{
    struct hc_result *r = &it->answer->result;
    struct hc_error lost;
    r->status = (int)m->status;
    r->exit_code = m->exit_code;
    (void)snprintf(r->reason, sizeof r->reason, "%s", m->reason);
    if (hc_json_canonical(text->data, text->len, NULL, &it->manifest, &lost) < 0)
        hc_buf_finish(&it->manifest);
    hc_result_read_usage(r, it->manifest.data ? it->manifest.data : "", it->manifest.len);
}

/* If the job will be tried again, gives the daemon time: it may drain, start anew, or have a full queue. */
static void wait_for_retry(const struct run_tasks *w, const struct item *it)
{
    struct pollfd cancel = {.fd = w->cancel_fd, .events = POLLIN};
    if (it->answer->not_started && it->task->attempt <= w->batch->asked->retry)
        (void)poll(&cancel, 1, RETRY_MS);
}

/* Returns 1 if the job has not begun, as there is no daemon, or it refuses the job. */
static int run_remote(struct run_tasks *w, struct item *it, struct hc_error *err)
{
    struct hc_manifest *m = calloc(1, sizeof *m);
    hc_autobuf text = {0};
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    int rc = ask_daemon(w, it, m, &text, err);
    if (rc == 0)
        fill_from_manifest(it, m, &text);
    else if (rc < 0 || w->batch->where == HC_BATCH_DAEMON) {
        fill_unknown(it, err);
        wait_for_retry(w, it);
    }
    hc_manifest_finish(m);
    free(m);
    return rc > 0;
}

static int run_item(struct run_tasks *w, struct item *it, struct hc_error *err)
{
    int rc = w->batch->where == HC_BATCH_HERE ? 1 : run_remote(w, it, err);
    return rc > 0 && w->batch->where != HC_BATCH_DAEMON ? run_local(w, it, err) : rc < 0 ? -1 : 0;
}

static int read_task(struct run_tasks *w, struct item *it, int fd, struct hc_error *err)
{
    hc_autobuf text = {0};
    if (lseek(fd, 0, SEEK_SET) < 0) /* an earlier attempt has read it */
        return hc_fail(err, errno, "read the job");
    if (hc_read_all(fd, &text, HC_BATCH_MAX_LINE, err) < 0 ||
        hc_batch_parse(w->batch, &it->job, it->task->line, text.data ? text.data : "", text.len, err) < 0)
        return -1;
    return replace(&it->job.job_id, it->task->job_id, err);
}

/* Print the result's line into a memfd, owned by the caller. */
static int print_result(const struct item *it, struct hc_error *err)
{
    hc_autobuf line = {0};
    hc_result_print(&line, &it->answer->result, it->manifest.len ? it->manifest.data : NULL,
                    it->manifest.len);
    (void)hc_buf_str(&line, "\n");
    if (line.failed)
        return hc_fail(err, ENOMEM, "result");
    return hc_sealed_memfd("hotcell-result", line.data, line.len, err);
}

static void item_finish(struct item *it)
{
    hc_job_finish(&it->job);
    hc_policy_cache_drop(it->policy);
    hc_buf_finish(&it->key);
    hc_buf_finish(&it->manifest);
}

static int run_task(struct run_tasks *w, int socket, const struct hc_batch_task *task, int fd,
                    struct hc_error *err)
{
    struct hc_ended answer = {.result = {.line = task->line, .attempts = task->attempt, .wall_us = -1}};
    struct item it = {.task = task, .answer = &answer};
    struct hc_error failed;
    memcpy(answer.result.job_id, task->job_id, sizeof answer.result.job_id);
    if (remove_attempt(w, &it, &failed) < 0 || read_task(w, &it, fd, &failed) < 0 ||
        run_item(w, &it, &failed) < 0)
        fill_failure(&it, &failed);
    hc_autofd result = print_result(&it, err);
    int rc = result < 0 ? -1 : hc_batch_send(socket, &answer, sizeof answer, result, err);
    /* The front does not wait for these steps. */
    hc_warm_reap_cell(&it.use);
    hc_warm_settle(&w->warm, &it.use, it.policy, 0);
    item_finish(&it);
    return rc;
}

static int run_tasks(struct run_tasks *w, int socket, struct hc_error *err)
{
    static const struct hc_ended idle = {.idle = true};
    for (;;) {
        struct hc_batch_task task;
        hc_autofd fd = -1;
        if (hc_batch_send(socket, &idle, sizeof idle, -1, err) < 0)
            return err->sys == EPIPE ? 0 : -1;
        int rc = hc_batch_receive(socket, &task, sizeof task, &fd, err);
        if (rc <= 0)
            return rc;
        if (run_task(w, socket, &task, fd, err) < 0)
            return -1;
    }
}

_Noreturn void hc_batch_worker(const struct hc_batch *b, int socket, int cancel_fd)
{
    static struct run_tasks w;
    struct hc_error err = {0};
    char *jobs_dir = NULL;
    w.batch = b;
    w.cancel_fd = cancel_fd;
    w.dir = open(b->output_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w.dir < 0 || asprintf(&jobs_dir, "%s/" HC_BATCH_JOBS, b->output_dir) < 0)
        exit(EXIT_FAILURE);
    w.jobs_dir = jobs_dir;
    hc_warm_init(&w.warm, &warm_rules);
    int rc = run_tasks(&w, socket, &err);
    if (rc < 0)
        hc_warn("%s", err.text);
    hc_warm_finish(&w.warm);
    free(jobs_dir);
    exit(rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
