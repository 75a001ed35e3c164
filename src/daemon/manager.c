/* Six kinds of processes, each of one thread:
 *
 *   manager       this one, the parent of all others: rights, signals, the service manager, starts and deaths
 *   front         HTTP, tenants, queue: no rights (front.c)
 *   workers       each runs one job at a time; cells are their children (worker.c)
 *   sessions      each is a worker that serves one session for as long as the session lives
 *   tree checker  checks one tree after the other for changes (trees.c)
 *   checkpointer  waits for the disk when the ledger's log is copied, instead of the front: no rights
 *                 (wal_checkpoint.c)
 *
 * Each dies with the manager (PR_SET_PDEATHSIG), and a cell dies with its worker. The front has a channel to
 * each worker, and one to the manager, over which it receives the channels of new workers. */
#include "daemon/manager.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "cell/cgroup.h"
#include "cell/steps.h"
#include "cell/warm.h"
#include "daemon/config/reload.h"
#include "daemon/front.h"
#include "daemon/ledger/wal_checkpoint.h"
#include "daemon/process/notify.h"
#include "daemon/process/rights.h"
#include "daemon/process/trees.h"
#include "daemon/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LOCK_TRIES    50 /* further attempts to lock the state directory, after the first */
#define LOCK_PAUSE_MS 20 /* ms between two attempts */

#define PAUSE_MS 1000  /* ms before a process that died at once is started again */
#define SWEEP_MS 60000 /* ms between searches for cgroups that no process uses */

/* A child process that the daemon can do without, at a cost. */
struct helper {
    const char *name, *who; /* name for the kernel; name in messages */
    const char *without;    /* what happens as long as the process does not run; a phrase */
    pid_t pid;              /* 0: it does not run */
    int64_t started;        /* when it was started (CLOCK_MONOTONIC, ms) */
};

struct manager {
    struct hc_config *config;                 /* the configuration in use; borrowed */
    const char *config_path;                  /* absolute path of the file; NULL: the default file */
    struct hc_listeners listeners;            /* sockets for clients; owned */
    struct hc_trees trees;                    /* owns the board, on which changed trees are noted */
    pid_t front;                              /* process id; 0: the front does not run */
    struct helper checkpointer, tree_checker; /* checkpoints the ledger; checks the trees */
    /* process ids; 0: the worker has died, and its successor is not started yet */
    pid_t workers[HC_MAX_WORKERS];
    int64_t worker_started[HC_MAX_WORKERS]; /* time at which each was started (CLOCK_MONOTONIC, ms) */
    size_t worker_count;                    /* used entries of `workers` and `worker_started` */
    pid_t sessions[HC_MAX_SESSIONS];        /* process ids of sessions; 0: the entry is free */
    int channel;                            /* channel to the front; owned */
    int signals, lock;                      /* a signalfd; the lock file in the state directory; owned */
    struct hc_cgroup_parent cells;          /* parent of the cells' cgroups; fd -1: there are no cgroups */
    int64_t next_sweep; /* time of the next search for cgroups that no process uses (CLOCK_MONOTONIC, ms) */
    bool draining, ready;
    int64_t front_started; /* time at which the front was started (CLOCK_MONOTONIC, ms) */
    /* ms between two HC_SAY_ALIVE of the front; 0: the service manager has no watchdog */
    int64_t alive_every;
};

/* ---- children ---- */

/* Makes the child die with the manager, and undoes what it inherited: blocked signals, descriptors. */
static void become_child(const struct manager *k, const char *name)
{
    sigset_t none;
    (void)sigemptyset(&none);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() == 1)
        _exit(HC_EXIT_INTERNAL);
    (void)prctl(PR_SET_NAME, name);
    /* A terminal sends Ctrl-C to the whole group; the manager ends its children in order. */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)close(k->signals);
    (void)close(k->lock);
    if (k->trees.fd >= 0)
        (void)close(k->trees.fd);
    if (k->cells.fd >= 0)
        (void)close(k->cells.fd);
}

/* Returns 0 in the child. `name`: the process's name for the kernel; `who`: its name in messages. */
static pid_t fork_child(const struct manager *k, const char *name, const char *who, struct hc_error *err)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return hc_fail(err, errno, "start %s", who);
    if (pid > 0)
        return pid;
    become_child(k, name);
    if (getppid() != parent)
        _exit(HC_EXIT_INTERNAL);
    return 0;
}

/* Each worker gets an equal part of the memory for warm cells. */
static struct hc_warm_rules warm_rules(const struct manager *k)
{
    const struct hc_config *c = k->config;
    return (struct hc_warm_rules){
        .bytes = c->warm_memory / (int64_t)k->worker_count,
        .wanted = HC_WARM_WANTED,
        .cells = c->warm_cells,
        .age_ms = c->warm_age_ms,
        .idle_ms = c->warm_idle_ms,
        .apart = c->warm_apart,
    };
}

/* Starts process `i` of `pids` with one end of a channel; returns the other end, for the front, or -1. */
static int start_process(struct manager *k, pid_t *pids, size_t i, const struct hc_warm_rules *rules,
                         struct hc_error *err)
{
    int ends[2];
    if (hc_channel_pair(ends, err) < 0)
        return -1;
    pid_t pid = fork_child(k, pids == k->workers ? "hotcelld-worker" : "hotcelld-session", "a worker", err);
    if (pid < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    if (pid == 0) {
        (void)close(ends[0]);
        hc_close_fd(&k->channel);
        hc_listeners_close(&k->listeners, false);
        hc_worker_main(ends[1], pids == k->workers ? i : HC_MAX_WORKERS + i, rules, k->config->sign,
                       &k->trees);
    }
    (void)close(ends[1]);
    pids[i] = pid;
    return ends[0];
}

static int start_worker(struct manager *k, size_t i, struct hc_error *err)
{
    const struct hc_warm_rules rules = warm_rules(k);
    k->worker_started[i] = hc_mono_ms();
    return start_process(k, k->workers, i, &rules, err);
}

/* Starts a process for a session on request of the front, which limits their number, too. */
static void start_session(struct manager *k, const struct hc_message *asked)
{
    struct hc_error err = {0};
    struct hc_message m = *asked;
    const struct hc_warm_rules none = {0};
    size_t i = 0;
    while (i < HC_MAX_SESSIONS && k->sessions[i])
        i++;
    hc_autofd channel =
        i < HC_MAX_SESSIONS && !k->draining ? start_process(k, k->sessions, i, &none, &err) : -1;
    if (hc_channel_send(k->channel, &m, &channel, channel >= 0, &err) < 0 || *err.text)
        hc_warn("session %s: %s", m.job_id, err.text);
}

static int start_front(struct manager *k, struct hc_error *err)
{
    int ends[2], channels[HC_MAX_WORKERS], rc = 0;
    size_t made = 0;
    for (; made < k->worker_count; made++)
        if ((channels[made] = start_worker(k, made, err)) < 0)
            break;
    if (made < k->worker_count || hc_channel_pair(ends, err) < 0)
        return -1;
    k->front = fork_child(k, "hotcelld-front", "the front", err);
    if (k->front < 0)
        rc = -1;
    if (k->front == 0) {
        (void)close(ends[0]);
        hc_front_main(&(struct hc_front_setup){
            .manager = ends[1],
            .workers = channels,
            .worker_pids = k->workers,
            .worker_count = k->worker_count,
            .config = k->config,
            .listeners = &k->listeners,
            .trees = &k->trees,
            .alive_every = k->alive_every,
        });
    }
    for (size_t i = 0; i < made; i++)
        (void)close(channels[i]);
    (void)close(ends[1]);
    k->channel = ends[0];
    k->front_started = hc_mono_ms();
    return rc;
}

/* Removes cgroups of cells whose worker has died, and of tenants without cells. */
static void sweep(struct manager *k)
{
    if (k->cells.fd >= 0)
        (void)hc_cgroup_reap_all(&k->cells);
    k->next_sweep = hc_mono_ms() + SWEEP_MS;
}

/* Returns true in the child. */
static bool start_helper(struct manager *k, struct helper *h)
{
    struct hc_error err;
    if (h->pid)
        return false;
    h->started = hc_mono_ms();
    h->pid = fork_child(k, h->name, h->who, &err);
    if (h->pid < 0) {
        h->pid = 0;
        hc_warn("%s; %s", err.text, h->without);
        return false;
    }
    if (h->pid > 0)
        return false;
    hc_close_fd(&k->channel);
    hc_listeners_close(&k->listeners, false);
    return true;
}

/* Starts the checkpointer. Without it the front copies the ledger's log itself when the log is long. */
static void start_checkpointer(struct manager *k)
{
    if (start_helper(k, &k->checkpointer))
        hc_wal_checkpoint_main();
}

/* Starts the process that checks the trees, the only one that can write on the board. */
static void start_tree_checker(struct manager *k)
{
    if (!k->config->trees_ms)
        return;
    struct hc_trees trees = {.fd = hc_take(&k->trees.fd)};
    if (start_helper(k, &k->tree_checker))
        hc_trees_main(&trees, k->config->trees_ms);
    k->trees.fd = trees.fd;
}

static void kill_child(pid_t *pid)
{
    if (*pid <= 0)
        return;
    (void)kill(*pid, SIGKILL);
    (void)waitpid(*pid, NULL, 0);
    *pid = 0;
}

/* Makes the last checkpoint in a process of its own: it removes the log's files, which the front has no right
 * to do. */
static void checkpoint_last(const struct manager *k)
{
    pid_t pid = fork();
    if (pid == 0) {
        become_child(k, "hotcelld-ledger");
        hc_wal_checkpoint_last();
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

static void kill_workers(struct manager *k)
{
    for (size_t i = 0; i < k->worker_count; i++)
        kill_child(&k->workers[i]);
    for (size_t i = 0; i < HC_MAX_SESSIONS; i++)
        kill_child(&k->sessions[i]);
    sweep(k);
}

/* ---- deaths ---- */

static void warn_of_end(const char *who, int status, const char *then)
{
    hc_warn("%s has ended (%s %d); %s", who, WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), then);
}

/* Time at which to start the next worker: at least PAUSE_MS after its predecessor was started. */
static int64_t next_start(const struct manager *k)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < k->worker_count && k->ready && !k->draining; i++)
        if (!k->workers[i])
            next = MIN(next, k->worker_started[i] + PAUSE_MS);
    return next;
}

static void replace_workers(struct manager *k)
{
    struct hc_error err;
    struct hc_message m = {.kind = HC_SAY_WORKER};
    for (size_t i = 0; i < k->worker_count; i++) {
        if (k->workers[i] || hc_mono_ms() < k->worker_started[i] + PAUSE_MS)
            continue;
        hc_autofd channel = start_worker(k, i, &err);
        m.pid = k->workers[i];
        if (channel < 0 || hc_channel_send(k->channel, &m, &channel, 1, &err) < 0)
            hc_warn("%s", err.text);
    }
}

static void worker_died(struct manager *k, size_t i, int status)
{
    k->workers[i] = 0;
    if (k->draining || !k->ready) /* if the front has not started, the daemon ends with all workers */
        return;
    warn_of_end("a worker", status, "another is started");
    k->next_sweep = hc_mono_ms() + PAUSE_MS; /* the kernel has ended the worker's cells by then */
}

/* Starts the front again, and all workers: the jobs they ran are known to no process any more. 1: the daemon
 * ends. */
static int front_died(struct manager *k, int status, struct hc_error *err)
{
    k->front = 0;
    hc_close_fd(&k->channel);
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (k->draining || well || !k->ready) {
        if (well || k->draining)
            return 1;
        return hc_fail_as(err, WIFEXITED(status) ? WEXITSTATUS(status) : HC_EXIT_INTERNAL, 0,
                          "the front did not start");
    }
    warn_of_end("the front", status, "it is started again");
    kill_workers(k);
    if (hc_mono_ms() - k->front_started < PAUSE_MS)
        (void)poll(NULL, 0, PAUSE_MS);
    return start_front(k, err);
}

/* Returns true if the process is to be started again; one that died at once could not do its work. */
static bool helper_died(const struct manager *k, struct helper *h, int status)
{
    bool later = hc_mono_ms() - h->started < PAUSE_MS;
    h->pid = 0;
    if (k->draining)
        return false;
    warn_of_end(h->who, status, later ? h->without : "it is started again");
    return !later;
}

/* The front learns of the death from its channel to the process. */
static void session_died(struct manager *k, size_t i)
{
    k->sessions[i] = 0;
    k->next_sweep = hc_mono_ms() + PAUSE_MS;
}

static int reap(struct manager *k, struct hc_error *err)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == k->front) {
            int rc = front_died(k, status, err);
            if (rc != 0)
                return rc;
        }
        if (pid == k->checkpointer.pid && helper_died(k, &k->checkpointer, status))
            start_checkpointer(k);
        if (pid == k->tree_checker.pid && helper_died(k, &k->tree_checker, status))
            start_tree_checker(k);
        for (size_t i = 0; i < k->worker_count; i++)
            if (pid == k->workers[i])
                worker_died(k, i, status);
        for (size_t i = 0; i < HC_MAX_SESSIONS; i++)
            if (pid == k->sessions[i])
                session_died(k, i);
    }
    return 0;
}

/* ---- signals and messages ---- */

/* Sends the new configuration to the front. If it has errors they are logged, and the old one stays. */
static void reload(struct manager *k)
{
    struct hc_error err;
    hc_notify_reloading();
    if (hc_reload_send(k->channel, k->config_path, k->config, &err) == 0)
        return; /* the front reports READY when it has applied it */
    hc_warn("not reloaded: %s", err.text);
    hc_notify("READY=1");
}

static int on_signal(struct manager *k, struct hc_error *err)
{
    struct signalfd_siginfo info;
    const struct hc_message m = {.kind = HC_SAY_DRAIN};
    if (read(k->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    switch (info.ssi_signo) {
    case SIGCHLD:
        return reap(k, err);
    case SIGTERM:
    case SIGINT:
        if (k->draining)
            return 1;
        k->draining = true;
        hc_notify("STOPPING=1");
        return hc_channel_send(k->channel, &m, NULL, 0, err) < 0 ? 1 : 0;
    case SIGHUP:
        if (!k->draining)
            reload(k);
        return 0;
    default:
        return 0;
    }
}

static void say_ready(const struct manager *k)
{
    const struct hc_config *c = k->config;
    hc_autobuf where = {0};
    (void)hc_buf_str(&where, k->listeners.path[0] ? k->listeners.path : "sockets of the service manager");
    for (size_t i = 0; i < c->listen_count; i++)
        (void)hc_buf_fmt(&where, ", %s port %u", c->listen[i].address, c->listen[i].port);
    hc_info("ready: %zu workers, %s", k->worker_count, where.data ? where.data : "");
    const struct hc_warm_rules warm = warm_rules(k);
    const int64_t fit = hc_warm_fit(&warm) * (int64_t)k->worker_count;
    if (warm.bytes)
        hc_info("warm.memory: beside the interpreters of one policy%s with libraries, %lld cells can wait%s",
                warm.apart ? " and one tenant" : "", (long long)fit,
                fit ? "" : ": too little for most jobs with libraries (sizing: hotcelld(8), PROCESSES)");
    if (!k->listeners.path[0] && (c->socket_mode || *c->socket_group))
        hc_info("socket.mode and socket.group are not used: the socket's are the service manager's");
}

static void on_front(struct manager *k)
{
    static struct hc_message m;
    struct hc_error err;
    int fds[HC_RUN_FDS];
    size_t count;
    if (hc_channel_receive(k->channel, &m, fds, &count, &err) <= 0) {
        hc_close_fd(&k->channel); /* the front has died; SIGCHLD reports it */
        return;
    }
    while (count)
        hc_close_fd(&fds[--count]);
    if (m.kind == HC_SAY_READY) {
        if (!k->ready)
            say_ready(k);
        k->ready = true;
        hc_notify("READY=1");
        start_checkpointer(k);
        start_tree_checker(k);
    } else if (m.kind == HC_SAY_ALIVE) {
        hc_notify("WATCHDOG=1");
    } else if (m.kind == HC_SAY_SESSION) {
        start_session(k, &m);
    }
}

static int serve(struct manager *k, struct hc_error *err)
{
    int rc = 0;
    while (rc == 0) {
        struct pollfd on[2] = {{.fd = k->signals, .events = POLLIN}, {.fd = k->channel, .events = POLLIN}};
        int64_t left = MAX(MIN(k->next_sweep, next_start(k)) - hc_mono_ms(), 0);
        if (poll(on, 2, (int)left) < 0 && errno != EINTR)
            return hc_fail(err, errno, "poll");
        if (hc_mono_ms() >= k->next_sweep)
            sweep(k);
        if (hc_mono_ms() >= next_start(k))
            replace_workers(k);
        if (on[1].revents)
            on_front(k);
        if (on[0].revents)
            rc = on_signal(k, err);
    }
    return rc;
}

/* ---- the start ---- */

static int take_signals(struct manager *k, struct hc_error *err)
{
    static const int wanted[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        (void)sigaddset(&set, wanted[i]);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond a limit fails, and is reported */
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return hc_fail(err, errno, "block signals");
    k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return k->signals < 0 ? hc_fail(err, errno, "signalfd") : 0;
}

/* Makes the directory of results. The front's group may read it, and new directories inherit the group. */
static int make_results_dir(struct hc_error *err)
{
    uid_t front;
    if (hc_front_uid(&front, err) < 0)
        return -1;
    if (mkdir(HC_RESULTS_DIR, 0750) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "make " HC_RESULTS_DIR);
    if (geteuid() == 0 && (chown(HC_RESULTS_DIR, 0, front) < 0 || chmod(HC_RESULTS_DIR, 02750) < 0))
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, HC_RESULTS_DIR);
    if (mkdir(HC_VOLUMES_DIR, 0750) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "make " HC_VOLUMES_DIR);
    if (geteuid() == 0 && (chown(HC_VOLUMES_DIR, 0, front) < 0 || chmod(HC_VOLUMES_DIR, 02750) < 0))
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, HC_VOLUMES_DIR);
    if (mkdir(HC_UPLOADS_DIR, 0700) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "make " HC_UPLOADS_DIR);
    if (geteuid() == 0 && chown(HC_UPLOADS_DIR, front, front) < 0) /* the front alone writes in it */
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, HC_UPLOADS_DIR);
    return 0;
}

/* Requires that no other user can write into the directory: he could choose what this process removes, writes
 * and reads there. */
static int check_owner(const char *state, struct hc_error *err)
{
    struct stat st = {0};
    if (stat(".", &st) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "state directory %s", state);
    if (st.st_uid != geteuid())
        return hc_fail_as(
            err, HC_EXIT_CONFIG, 0,
            "state directory %s: belongs to uid %u, and is to belong to who starts hotcelld (%u)", state,
            st.st_uid, geteuid());
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "state directory %s: others may write in it (mode %04o): take that from them",
                          state, st.st_mode & 07777);
    return 0;
}

/* Locks the state directory. A child that a killed manager had just forked keeps the lock for a moment, so
 * this tries again. */
static int take_lock(struct manager *k, const char *state, struct hc_error *err)
{
    k->lock = open("lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (k->lock < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "state directory %s", state);
    for (int left = LOCK_TRIES; flock(k->lock, LOCK_EX | LOCK_NB) < 0; left--) {
        if (!left)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0, "state directory %s: another hotcelld uses it", state);
        (void)poll(NULL, 0, LOCK_PAUSE_MS);
    }
    return 0;
}

/* Makes the state directory the working directory, so that later names are relative to it, and removes the
 * input files of jobs of an earlier daemon. */
static int enter_state(struct manager *k, struct hc_error *err)
{
    const char *state = k->config->state;
    if (hc_make_dirs(state, 0711, err) < 0) {
        (void)hc_ctx(err, "state directory %s", state);
        return hc_exit_as(err, HC_EXIT_CONFIG);
    }
    if (chdir(state) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "state directory %s", state);
    if (check_owner(state, err) < 0 || take_lock(k, state, err) < 0)
        return -1;
    if (hc_remove_results(AT_FDCWD, HC_STAGE_DIR, err) < 0)
        return -1;
    if (mkdir(HC_STAGE_DIR, 0700) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "make " HC_STAGE_DIR);
    (void)umask(027);
    return make_results_dir(err);
}

/* Finds the parent for the cells' cgroups and removes cells of a killed launcher. This comes before any fork,
 * as a cgroup can be divided only by a process that is alone in it. */
static void settle_in_cgroup(struct manager *k)
{
    struct hc_error err;
    if (hc_cgroup_find(&k->cells, true, &err) < 0) {
        hc_info("no cgroup for limits: %s", err.text);
        return;
    }
    if (!k->cells.cpu)
        hc_info("no controller cpu in %s: tenants' weights hold for the queue alone", k->cells.path);
    int n = hc_cgroup_reap_all(&k->cells);
    if (n > 0)
        hc_info("%d left-over cells removed", n);
}

static int begin(struct manager *k, struct hc_error *err)
{
    if (take_signals(k, err) < 0 || enter_state(k, err) < 0 || hc_trees_open(&k->trees, err) < 0)
        return -1;
    if (hc_listeners_open(&k->listeners, k->config, err) < 0)
        return -1;
    settle_in_cgroup(k);
    k->alive_every = hc_notify_watchdog();
    k->worker_count = (size_t)MIN(hc_config_workers(k->config), HC_MAX_WORKERS);
    return start_front(k, err);
}

int hc_manager_main(struct hc_config *c, const char *path)
{
    struct manager k = {.config = c,
                        .config_path = path,
                        .channel = -1,
                        .signals = -1,
                        .lock = -1,
                        .cells = {.fd = -1},
                        .trees = {.fd = -1},
                        .checkpointer = {.name = "hotcelld-ledger",
                                         .who = "the checkpointer",
                                         .without = "the front does its work"},
                        .tree_checker = {.name = "hotcelld-trees",
                                         .who = "the process that looks at trees",
                                         .without = "a tree that is changed from now on is run in"}};
    struct hc_error err = {0};
    int rc = begin(&k, &err);
    if (rc == 0)
        rc = serve(&k, &err);
    kill_child(&k.front);
    kill_workers(&k);
    kill_child(&k.checkpointer.pid);
    kill_child(&k.tree_checker.pid);
    if (k.ready)
        checkpoint_last(&k);
    hc_listeners_close(&k.listeners, true);
    hc_cgroup_parent_finish(&k.cells);
    hc_trees_finish(&k.trees);
    return rc < 0 ? hc_report(&err) : HC_EXIT_OK;
}
