/* A worker: parses the request again, with the front's parser, writes the inputs where the cell can mount
 * them, runs the job, and returns the manifest. It has the rights that cells need, so it handles no HTTP;
 * what it receives is a spec that names no file of the host. */
#include "daemon/worker.h"

#include "base/fd.h"
#include "base/log.h"
#include "cell/key.h"
#include "cell/run.h"
#include "cell/session_talk.h"
#include "cell/steps.h"
#include "cell/tree.h"
#include "cell/warm.h"
#include "daemon/config/config.h"
#include "daemon/process/channel.h"
#include "daemon/process/trees.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>

#define IDLE_MS     2 /* milliseconds without an order after which a worker has waiting cells prepare for one */
#define REFRESH_MS  10000              /* ms between checks of waiting cells */
#define FIGURE_KEPT (2 << 20)          /* most bytes of a figure that is sent to the front */
#define MAX_BODY    ((size_t)16 << 30) /* most bytes of a request; the configuration sets a lower limit */

/* A job as the front sent it, and what the worker makes of it. */
struct work {
    struct hc_message *order;               /* the front's message; borrowed */
    int *fds;                               /* descriptors of the message (enum hc_run_fd), owned */
    struct hc_buf body;                     /* the request; owned */
    struct hc_job job;                      /* the request, parsed */
    struct hc_uploads uploads;              /* content of the job's inputs; owned */
    struct hc_cached_policy *cached_policy; /* the job's policy; a counted reference */
    /* key that signs manifests; borrowed; empty: they are not signed */
    const struct hc_buf *key;
    int channel;                           /* channel to the front; borrowed */
    bool session, has_tools;               /* the job is a session; the client answers tool calls */
    const char *stage;                     /* path of the worker's own directory in HC_STAGE_DIR; borrowed */
    bool staged;                           /* `stage` has files of the job */
    struct hc_volume volumes[HC_MAX_DIRS]; /* the job's, at the index of their directories; owned */
    bool has_volumes;
    struct hc_warm *warm;   /* zygotes and cells of the worker; borrowed */
    struct hc_warm_use use; /* the cell that the job used */
};

/* Writes an input that all users may read, so that no mount has to map its owner to the guest; other users
 * cannot reach its directory. */
static int write_input(const char *path, const char *data, size_t len, struct hc_error *err)
{
    hc_autofd fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return hc_fail(err, errno, "%s", path);
    return hc_write_all(fd, data, len, err) < 0 ? hc_ctx(err, "%s", path) : 0;
}

/* Give the upload's file this name, too: the job goes on if the upload is removed. The front has checked
 * whose it is, and its name says so again. */
static int link_upload(const struct work *w, const char *id, const char *path, struct hc_error *err)
{
    char file[HC_TENANT_NAME + 160];
    (void)snprintf(file, sizeof file, HC_UPLOADS_DIR "/%s:%.80s", w->order->tenant, id);
    if (linkat(AT_FDCWD, file, AT_FDCWD, path, 0) < 0)
        return errno == ENOENT ? hc_fail_as(err, HC_EXIT_DATA, 0, "the upload '%s' is no longer there", id)
                               : hc_fail(err, errno, "upload '%s'", id);
    return chmod(path, 0644) < 0 ? hc_fail(err, errno, "upload '%s'", id) : 0;
}

/* Writes HC_STAGE_DIR/WORKER/JOB_ID/N/FILE; N, as two inputs may have files of the same name. */
static int stage_input(struct work *w, size_t i, struct hc_error *err)
{
    struct hc_input *in = &w->job.inputs[i];
    char *path = NULL, dir[192];
    (void)snprintf(dir, sizeof dir, "%s/%s/%zu", w->stage, w->job.job_id, i);
    if (mkdir(dir, 0700) < 0)
        return hc_fail(err, errno, "make %s", dir);
    if (asprintf(&path, "%s/%s", dir, in->path) < 0)
        return hc_fail(err, ENOMEM, "input '%s'", in->name);
    free(in->path);
    in->path = path;
    if (w->uploads.list[i].upload)
        return link_upload(w, w->uploads.list[i].upload, path, err);
    return write_input(path, w->uploads.list[i].data, w->uploads.list[i].len, err);
}

static int stage_inputs(struct work *w, struct hc_error *err)
{
    char dir[160];
    if (w->job.input_count == 0)
        return 0;
    (void)snprintf(dir, sizeof dir, "%s/%s", w->stage, w->job.job_id);
    if (mkdir(dir, 0700) < 0)
        return hc_fail(err, errno, "make %s", dir);
    w->staged = true;
    for (size_t i = 0; i < w->job.input_count; i++)
        if (stage_input(w, i, err) < 0)
            return hc_ctx(err, "stage inputs");
    /* the content is on the disk: no need to keep it in memory while the job runs */
    hc_uploads_finish(&w->uploads);
    return 0;
}

/* Opens the tenant's volumes that the job has, for which their tenant's name stands in the path. */
static int open_volumes(struct work *w, struct hc_error *err)
{
    char path[HC_VOLUME_PATH];
    hc_autofd root = -1;
    for (size_t i = 0; i < w->job.dir_count; i++) {
        struct hc_dir *dir = &w->job.dirs[i];
        if (!dir->volume)
            continue;
        if (root < 0 && (root = open(HC_VOLUMES_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
            return hc_fail(err, errno, "open " HC_VOLUMES_DIR);
        if (hc_volume_open(&w->volumes[i], root, w->order->tenant, dir->volume, &w->order->volumes, path,
                           err) < 0)
            return -1;
        free(dir->host);
        if (asprintf(&dir->host, HC_VOLUMES_DIR "/%s", path) < 0) {
            dir->host = NULL;
            return hc_fail(err, ENOMEM, "volume '%s'", dir->volume);
        }
        w->has_volumes = true;
    }
    return 0;
}

/* Lets other jobs have the volumes; before the end of this one is told. A job that did not begin leaves no
 * new ones. */
static void close_volumes(struct work *w, bool begun)
{
    for (size_t i = 0; i < HC_MAX_DIRS; i++) {
        if (!begun)
            hc_volume_undo(&w->volumes[i]);
        hc_volume_close(&w->volumes[i]);
    }
}

static void init_volumes(struct work *w)
{
    for (size_t i = 0; i < HC_MAX_DIRS; i++)
        w->volumes[i].fd = w->volumes[i].tenant_fd = -1;
}

static int read_body(struct work *w, struct hc_error *err)
{
    if (lseek(w->fds[HC_RUN_BODY], 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "read the request");
    if (hc_read_all(w->fds[HC_RUN_BODY], &w->body, MAX_BODY, err) < 0)
        return hc_ctx(err, "read the request");
    if (hc_job_parse_upload(&w->job, &w->uploads, w->session, "request", w->body.data ? w->body.data : "",
                            w->body.len, err) < 0)
        return -1;
    hc_buf_finish(&w->body);
    w->job.job_id = strdup(w->order->job_id);
    w->job.tenant = strdup(w->order->tenant);
    if (!w->job.policy)
        w->job.policy = strdup(w->order->policy);
    if (!w->job.interface)
        w->job.interface = strdup("http");
    if (!w->job.interface || !w->job.job_id || !w->job.tenant || !w->job.policy)
        return hc_fail(err, ENOMEM, "read the request");
    return hc_job_check(&w->job, err);
}

static int load_policy(struct hc_policy_cache *policies, struct work *w, struct hc_error *err)
{
    if (hc_policy_cache_find(policies, &w->job, &w->order->max, &w->cached_policy, err) < 0)
        return -1;
    if (w->cached_policy->policy.output_mode != HC_OUTPUT_BIND)
        return 0; /* in other modes a directory is made only for files that are kept */
    if (asprintf(&w->job.output_dir, HC_RESULTS_DIR "/%s", w->job.job_id) >= 0)
        return 0;
    w->job.output_dir = NULL;
    return hc_fail(err, ENOMEM, "load the policy");
}

static void fill_outcome(struct hc_outcome *o, const struct hc_manifest *m)
{
    *o = (struct hc_outcome){
        .warm = o->warm,
        .status = (int32_t)m->status,
        .exit_code = m->exit_code,
        .cpu_us = m->usage.cpu_user_us + m->usage.cpu_system_us,
        .wall_us = m->usage.wall_us,
        .memory_peak = m->usage.memory_peak,
        .build_us = m->timing.build_us,
        .start_us = m->timing.start_us,
        .run_us = m->timing.run_us,
        .collect_us = m->timing.collect_us,
        .denials = (int64_t)m->denials.count,
        .figures = (int64_t)m->figure_count,
    };
    (void)snprintf(o->reason, sizeof o->reason, "%.255s", m->reason);
    o->bytes = m->kept_bytes;
    for (size_t i = 0; i < m->figure_count; i++)
        o->bytes += m->figures[i].bytes;
    for (size_t i = 0; i < m->file_count; i++)
        o->bytes += m->files[i].bytes;
}

/* Copies a figure into a sealed memfd for clients that watch the running job. -1: it is too long, or an
 * error. */
static int copy_figure(const struct hc_figure *f, int fd, struct hc_error *err)
{
    hc_autobuf data = {0};
    if (f->bytes > FIGURE_KEPT || hc_read_all(fd, &data, (size_t)FIGURE_KEPT, err) < 0)
        return -1;
    return hc_sealed_memfd("hotcell-figure", data.data, data.len, err);
}

/* Tells the front of a figure. A front that is too slow misses it; the manifest lists all figures. */
static void tell_figure(void *ctx, const struct hc_figure *f, int fd)
{
    const struct work *w = ctx;
    struct hc_message m = {.kind = HC_SAY_FIGURE, .figure = *f};
    struct hc_error ignored;
    memcpy(m.job_id, w->order->job_id, sizeof m.job_id);
    hc_autofd copy = copy_figure(f, fd, &ignored);
    (void)hc_channel_send(w->channel, &m, &copy, copy >= 0, &ignored);
}

/* Returns the manifest in a sealed memfd, or -1. */
static int run_job(struct work *w, struct hc_outcome *outcome, struct hc_error *err)
{
    struct hc_run run = {
        .job = &w->job,
        .policy = &w->cached_policy->policy,
        .policy_hash = w->cached_policy->policy_hash,
        .pass_stdout = w->fds[HC_RUN_STDOUT],
        .pass_stderr = w->fds[HC_RUN_STDERR],
        .cancel_fd = w->fds[HC_RUN_CANCEL],
        .cancel_has_reason = true,
        .printing = HC_PRINT_PLAIN,
        .shared = true, /* the front reads the results, and runs as another user */
        .figure_sink = {tell_figure, w},
        .tool_fd = w->has_tools ? w->fds[HC_RUN_TOOLS] : 0,
        .default_dir = HC_RESULTS_DIR,
        .share = {w->job.tenant, w->order->weight},
        .volumes = w->has_volumes ? w->volumes : NULL,
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    hc_autobuf text = {0};
    struct hc_error failed; /* not used: the manifest has the error */
    (void)hc_warm_run(w->warm, &w->use, w->cached_policy, &run, m, &failed);
    outcome->warm = w->use.warm;
    int rc = hc_run_write_manifest(&run, m, w->key->data, w->key->len, &text, err);
    if (rc < 0 && text.len) { /* the text is complete, so the front gets it */
        hc_warn("job %s: %s", w->job.job_id, err->text);
        rc = 0;
    }
    fill_outcome(outcome, m);
    outcome->bytes += (int64_t)text.len;
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    return rc < 0 ? -1 : hc_sealed_memfd("hotcell-manifest", text.data, text.len, err);
}

static void unstage(struct work *w)
{
    char dir[160];
    struct hc_error err;
    (void)snprintf(dir, sizeof dir, "%s/%s", w->stage, w->order->job_id);
    if (w->staged && hc_remove_results(AT_FDCWD, dir, &err) < 0)
        hc_warn("%s", err.text);
}

static void work_finish(struct work *w)
{
    hc_job_finish(&w->job);
    hc_uploads_finish(&w->uploads);
    hc_policy_cache_drop(w->cached_policy);
    hc_buf_finish(&w->body);
}

static int send_answer(int channel, struct hc_message *answer, int manifest, struct hc_error *err)
{
    if (manifest < 0)
        return hc_channel_send(channel, answer, NULL, 0, err);
    answer->kind = HC_SAY_DONE;
    return hc_channel_send(channel, answer, &manifest, 1, err);
}

/* What a worker keeps from one job to the next. */
struct worker {
    int channel;                     /* channel to the front; owned */
    char stage[40];                  /* path of the worker's own directory in HC_STAGE_DIR */
    struct hc_policy_cache policies; /* policies of earlier jobs */
    struct hc_warm warm;             /* zygotes, and cells that were built ahead */
    struct hc_warm_counts reported;  /* the counts that the front was last told */
    struct hc_buf key;               /* key that signs manifests; owned; empty: they are not signed */
    const struct hc_trees *trees;    /* the board of changed trees; borrowed */
    uint32_t trees_news;             /* the board's `news` when the worker last dropped changed trees */
};

static int say_idle(struct worker *me, struct hc_error *err)
{
    const struct hc_message m = {.kind = HC_SAY_IDLE, .warm = me->warm.counts};
    me->reported = me->warm.counts;
    return hc_channel_send(me->channel, &m, NULL, 0, err);
}

static bool is_changed(void *ctx, const char *name, const char *const *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hc_trees_find_changed(ctx, ids[i]))
            return true;
    return !hc_trees_still_means(name, ids, count);
}

/* Drops zygotes and cells that have loaded a tree which has changed since, or which its name no longer means.
 */
static void drop_changed_trees(struct worker *me)
{
    uint32_t news = me->trees->board->news;
    if (news != me->trees_news)
        hc_warm_drop(&me->warm, is_changed, (void *)(uintptr_t)me->trees);
    me->trees_news = news;
}

/* Does all that comes before the cell: reads the job, loads its policy, checks its tree, writes its
 * inputs. */
/* A tree that the job names, and that is not there, is the sender's mistake; the policy's is the operator's.
 */
static int check_tree(const struct hc_job *job, struct hc_error *err)
{
    const char *tree = hc_job_override(job, "tree");
    return tree ? hc_tree_check_there(tree, err) : 0;
}

static int prepare_job(struct worker *me, struct work *w, struct hc_error *err)
{
    return read_body(w, err) < 0 || load_policy(&me->policies, w, err) < 0 || check_tree(&w->job, err) < 0 ||
                   hc_trees_check(me->trees, w->cached_policy->policy.tree, err) < 0 ||
                   stage_inputs(w, err) < 0 || open_volumes(w, err) < 0
               ? -1
               : 0;
}

static int serve_job(struct worker *me, struct hc_message *order, int fds[HC_RUN_FDS], size_t count,
                     struct hc_error *err)
{
    struct work w = {.order = order,
                     .fds = fds,
                     .key = &me->key,
                     .channel = me->channel,
                     .has_tools = count > HC_RUN_TOOLS,
                     .stage = me->stage,
                     .warm = &me->warm};
    struct hc_message answer = {.kind = HC_SAY_FAILED};
    hc_autofd manifest = -1;
    memcpy(answer.job_id, order->job_id, sizeof answer.job_id);
    drop_changed_trees(me);
    init_volumes(&w);
    if (prepare_job(me, &w, &answer.error) == 0)
        manifest = run_job(&w, &answer.outcome, &answer.error);
    close_volumes(&w, manifest >= 0 && answer.outcome.status != HC_STATUS_LAUNCH_FAILED);
    unstage(&w);
    for (size_t i = 0; i < count; i++)
        hc_close_fd(&fds[i]);
    int rc = send_answer(me->channel, &answer, manifest, err);
    /* The client has its answer already. The front is told when this is done; until then it prefers other
     * workers. */
    hc_warm_reap_cell(&w.use);
    hc_warm_settle(&me->warm, &w.use, w.cached_policy, order->weight);
    work_finish(&w);
    return rc < 0 ? -1 : say_idle(me, err);
}

/* Serves one session until it ends; then the process ends. */
static int serve_session(struct worker *me, struct hc_message *order, int fds[HC_RUN_FDS], size_t count,
                         struct hc_error *err)
{
    struct work w = {.order = order, .fds = fds, .session = true, .stage = me->stage};
    struct hc_message answer = {.kind = HC_SAY_FAILED};
    struct hc_session_talk talk = {.job = &w.job,
                                   .default_dir = HC_RESULTS_DIR,
                                   .cancel_fd = fds[HC_SESSION_CANCEL],
                                   .cancel_has_reason = true,
                                   .tool_fd = count > HC_SESSION_TOOLS ? fds[HC_SESSION_TOOLS] : 0,
                                   .in_fd = fds[HC_SESSION_STREAM],
                                   .out_fd = fds[HC_SESSION_STREAM],
                                   .max_text = HC_MAX_TEXT,
                                   .key = me->key.data,
                                   .key_len = me->key.len,
                                   .share = {order->tenant, order->weight},
                                   .shared = true};
    memcpy(answer.job_id, order->job_id, sizeof answer.job_id);
    init_volumes(&w);
    if (prepare_job(me, &w, &answer.error) == 0) {
        talk.volumes = w.has_volumes ? w.volumes : NULL;
        talk.policy = &w.cached_policy->policy;
        talk.ceiling = &w.cached_policy->ceiling;
        if (hc_session_talk(&talk, &answer.error) >= 0)
            answer.kind = HC_SAY_DONE;
    }
    close_volumes(&w, answer.kind == HC_SAY_DONE);
    work_finish(&w);
    if (hc_remove_results(AT_FDCWD, me->stage, err) < 0)
        hc_warn("%s", err->text);
    if (hc_channel_send(me->channel, &answer, NULL, 0, err) < 0)
        return -1;
    exit(EXIT_SUCCESS);
}

static void forget(const char *job_id)
{
    char dir[128];
    struct hc_error err;
    (void)snprintf(dir, sizeof dir, HC_RESULTS_DIR "/%s", job_id);
    if (hc_remove_results(AT_FDCWD, dir, &err) < 0)
        hc_warn("%s", err.text);
}

static int remove_volume(const struct worker *me, const struct hc_message *order, struct hc_error *err)
{
    static struct hc_message answer;
    answer = (struct hc_message){.kind = HC_SAY_VOLUME_GONE};
    memcpy(answer.job_id, order->job_id, sizeof answer.job_id);
    hc_autofd root = open(HC_VOLUMES_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root < 0)
        (void)hc_fail(&answer.error, errno, "open " HC_VOLUMES_DIR);
    else
        (void)hc_volume_remove(root, order->tenant, order->volume, &answer.error);
    return hc_channel_send(me->channel, &answer, NULL, 0, err);
}

static int serve(struct worker *me, struct hc_message *order, int fds[HC_RUN_FDS], size_t count,
                 struct hc_error *err)
{
    if (hc_job_check_id(order->job_id, err) < 0)
        return -1;
    if (order->kind == HC_SAY_RUN && (count == HC_RUN_FDS || count == HC_RUN_TOOLS))
        return serve_job(me, order, fds, count, err);
    if (order->kind == HC_SAY_SESSION && (count == HC_SESSION_FDS || count == HC_SESSION_TOOLS))
        return serve_session(me, order, fds, count, err);
    if (order->kind == HC_SAY_REMOVE_VOLUME && !count)
        return remove_volume(me, order, err);
    if (order->kind != HC_SAY_FORGET || count)
        return hc_fail(err, EPROTO, "a worker was sent message %u with %zu descriptors", order->kind, count);
    forget(order->job_id);
    return 0;
}

/* Waits for the next message, and keeps waiting cells fresh meanwhile. */
static int next_message(struct worker *me, struct hc_message *order, int fds[HC_RUN_FDS], size_t *count,
                        struct hc_error *err)
{
    struct pollfd on = {.fd = me->channel, .events = POLLIN};
    while (poll(&on, 1, IDLE_MS) == 0 && hc_warm_prepare(&me->warm))
        ;
    while (me->warm.rules.bytes && poll(&on, 1, (int)MIN(REFRESH_MS, me->warm.rules.idle_ms)) == 0) {
        drop_changed_trees(me);
        hc_warm_refresh(&me->warm);
        while (hc_warm_renew(&me->warm) && poll(&on, 1, 0) == 0)
            ;
        if (memcmp(&me->reported, &me->warm.counts, sizeof me->reported) != 0 && say_idle(me, err) < 0)
            return -1;
    }
    return hc_channel_receive(me->channel, order, fds, count, err);
}

/* Makes an empty directory: files that a killed worker has left are removed. */
static int make_stage(const char *dir, struct hc_error *err)
{
    if (hc_remove_results(AT_FDCWD, dir, err) < 0)
        return -1;
    return mkdir(dir, 0700) < 0 ? hc_fail(err, errno, "make %s", dir) : 0;
}

void hc_worker_main(int channel, size_t number, const struct hc_warm_rules *rules, const char *key,
                    const struct hc_trees *trees)
{
    static struct hc_message order;
    static struct worker me;
    struct hc_error err = {0};
    int fds[HC_RUN_FDS], rc;
    size_t count;
    me.channel = channel;
    me.trees = trees;
    (void)snprintf(me.stage, sizeof me.stage, HC_STAGE_DIR "/%zu", number);
    hc_warm_init(&me.warm, rules);
    rc = make_stage(me.stage, &err);
    if (rc >= 0 && *key)
        rc = hc_key_read(key, &me.key, &err);
    while (rc >= 0 && (rc = next_message(&me, &order, fds, &count, &err)) > 0)
        if ((rc = serve(&me, &order, fds, count, &err)) < 0)
            break;
    if (rc < 0)
        hc_warn("worker: %s", err.text);
    exit(rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
