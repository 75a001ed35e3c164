#include "daemon/front.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "daemon/config/reload.h"
#include "daemon/http/http.h"
#include "daemon/process/rights.h"
#include "daemon/process/sandbox.h"
#include "daemon/sessions/sessions.h"
#include "daemon/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define TICK_MS    1000 /* ms between looks at slow clients and old results */
#define QUIET_MS   2    /* ms without any event after which notes are written into the ledger */
#define LINGER_MS  100  /* ms in which who sends a job when the last has ended is told of the daemon's end */
#define ANSWERS_MS 1000 /* ms in which clients get to know of jobs that the end of a drain has cancelled */

/* Descriptors of a running job or a session (its request, output, channels), and of the front itself. */
#define FDS_OF_RUN 8
#define FDS_MORE   64

struct hc_front {
    struct hc_dispatch dispatch;
    struct hc_front_sessions sessions;
    struct hc_mcp_peers peers;
    struct hc_http http;
    struct hc_watch manager; /* channel to the manager */
    int64_t most_waiting;    /* most jobs that can wait, as each holds a descriptor */
    int64_t next_alive;      /* time of the next HC_SAY_ALIVE (CLOCK_MONOTONIC, ms) */
    int64_t alive_every;     /* ms between two HC_SAY_ALIVE; 0: none is sent */
};

/* ---- the manager ---- */

static void tell_manager(struct hc_front *f, enum hc_say what)
{
    struct hc_error err;
    const struct hc_message m = {.kind = what};
    if (hc_channel_send(f->manager.fd, &m, NULL, 0, &err) < 0 && err.sys != EAGAIN)
        hc_warn("%s", err.text);
}

/* An upgrade renames the new file over the old one, which is then in no directory any more. */
static bool is_replaced(int program_fd)
{
    struct stat st;
    return fstat(program_fd, &st) == 0 && st.st_nlink == 0;
}

/* Ends jobs for which no daemon after this one would answer: those that wait unpromised, and with `running`
 * those that run. `why` as of hc_dispatch_cancel. */
static void cancel_jobs(struct hc_front *f, bool running, const char *why)
{
    for (struct hc_task *task = f->dispatch.tasks.newest, *older; task; task = older) {
        older = task->older;
        if ((running && task->state == HC_TASK_RUNNING) || (task->state == HC_TASK_QUEUED && !task->promised))
            hc_dispatch_cancel(&f->dispatch, task, why);
    }
}

/* After an upgrade no job can start any more: the shim is of the new version. */
static void begin_drain(struct hc_front *f)
{
    if (f->dispatch.draining)
        return;
    f->dispatch.draining = true;
    f->dispatch.replaced = is_replaced(f->dispatch.program_fd);
    f->dispatch.drain_until = hc_mono_ms() + f->dispatch.config.drain_ms;
    hc_http_quiesce(&f->http);
    hc_info("draining: %lld jobs run, %lld wait%s, %zu sessions end",
            (long long)hc_queue_running(f->dispatch.queue), (long long)hc_queue_waiting(f->dispatch.queue),
            f->dispatch.replaced ? " for the version that was installed" : "", f->sessions.open);
    if (f->dispatch.replaced)
        cancel_jobs(f, false, "another version of hotcelld was installed: send the job again");
}

/* Applies a new configuration. Sockets, workers with their warm cells and the options of libmicrohttpd stay
 * until the next start; the log names those of their keys that have changed. */
static void reload(struct hc_front *f, const int fds[HC_RELOAD_FDS])
{
    struct hc_config fresh;
    struct hc_error err;
    if (hc_reload_take(fds, &fresh, &err) < 0) {
        hc_warn("not reloaded: %s", err.text);
        return;
    }
    const int64_t most = f->most_waiting - FDS_OF_RUN * (fresh.sessions - f->dispatch.config.sessions);
    if (most < 1) {
        hc_warn("not reloaded: %lld sessions need more descriptors than the limit (RLIMIT_NOFILE) leaves",
                (long long)fresh.sessions);
        hc_config_finish(&fresh);
        return;
    }
    if (hc_tenants_reload(f->dispatch.tenants, &fresh, &err) < 0) {
        hc_warn("not reloaded: %s", err.text);
        hc_config_finish(&fresh);
        return;
    }
    hc_autobuf fixed = {0};
    hc_config_fixed_changes(&f->dispatch.config, &fresh, &fixed);
    f->most_waiting = most;
    hc_queue_resize(f->dispatch.queue, (int64_t)f->dispatch.worker_count, MIN(fresh.queue, f->most_waiting));
    hc_config_finish(&f->dispatch.config);
    f->dispatch.config = fresh;
    f->dispatch.configuration++;
    hc_dispatch_forget_policies(&f->dispatch); /* they may have changed as well */
    hc_info("reloaded%s%s%s", fixed.len ? ": what has changed of " : "", fixed.len ? fixed.data : "",
            fixed.len ? " holds from the next start on" : "");
}

static void manager_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front *f = hc_owner(w, struct hc_front, manager);
    static struct hc_message m;
    struct hc_error err = {0};
    int fds[HC_RUN_FDS];
    size_t count;
    (void)events;
    int rc = hc_channel_receive(w->fd, &m, fds, &count, &err);
    if (rc < 0 && err.sys == EAGAIN)
        return;
    if (rc <= 0)
        exit(EXIT_FAILURE); /* the manager then ends workers and cells, too */
    if (m.kind == HC_SAY_DRAIN)
        begin_drain(f);
    if (m.kind == HC_SAY_RELOAD && count == HC_RELOAD_FDS) {
        reload(f, fds);
        tell_manager(f, HC_SAY_READY);
        hc_dispatch_start_jobs(&f->dispatch);
    }
    if (m.kind == HC_SAY_WORKER && count == 1) {
        rc = hc_dispatch_add_worker(&f->dispatch, fds[0], (pid_t)m.pid, &err);
        count = rc < 0 ? 1U : 0U;
        if (rc < 0)
            hc_warn("%s", err.text);
        hc_dispatch_start_jobs(&f->dispatch);
    }
    if (m.kind == HC_SAY_SESSION && count <= 1) {
        hc_front_session_process(&f->sessions, m.job_id, count ? fds[0] : -1);
        count = 0;
    }
    while (count)
        hc_close_fd(&fds[--count]);
}

/* ---- the loop ---- */

/* Ends all jobs and sessions when the time for draining is over. Accepted jobs that wait stay in the ledger,
 * for the next daemon. */
static void cancel_all(struct hc_front *f)
{
    cancel_jobs(f, true, NULL);
    hc_front_sessions_drain(&f->sessions, true);
}

/* Has the drained daemon no more work? Clients that wait for an answer get it first: after the deadline,
 * those of jobs that were cancelled then, too, if they read. */
static bool drained(struct hc_front *f)
{
    if (!f->dispatch.draining)
        return false;
    static bool said;
    bool late = hc_mono_ms() > f->dispatch.drain_until;
    if (late && !said && hc_queue_running(f->dispatch.queue))
        hc_info("drain is over: %lld jobs that run are cancelled",
                (long long)hc_queue_running(f->dispatch.queue));
    said |= late;
    if (late)
        cancel_all(f);
    else
        hc_front_sessions_drain(&f->sessions, false);
    if (f->sessions.open || hc_queue_running(f->dispatch.queue) ||
        (hc_queue_waiting(f->dispatch.queue) && !late && !f->dispatch.replaced))
        return false;
    hc_mcp_peers_drain(&f->peers);
    static int64_t ended; /* time at which there was no more work */
    const int64_t now = hc_mono_ms();
    ended = ended ? ended : now;
    for (const struct hc_connection *c = f->http.connections; c; c = c->next)
        if (c->exchange)
            return late && now > ended + ANSWERS_MS;
    return now >= ended + LINGER_MS;
}

static void tick(struct hc_front *f, int64_t now)
{
    static int64_t next;
    if (f->alive_every && now >= f->next_alive) {
        f->next_alive = now + f->alive_every;
        tell_manager(f, HC_SAY_ALIVE);
    }
    if (f->dispatch.held_until && now >= f->dispatch.held_until)
        hc_dispatch_start_jobs(&f->dispatch);
    if (now < next)
        return;
    next = now + TICK_MS;
    hc_http_sweep(&f->http, now);
    hc_front_sessions_sweep(&f->sessions);
    hc_mcp_peers_sweep(&f->peers, now);
    hc_dispatch_remove_waiting(&f->dispatch);
    hc_store_tick(&f->dispatch, now);
    hc_upload_store_sweep(&f->dispatch.uploads, f->dispatch.config.uploads_ms);
    hc_dispatch_start_jobs(&f->dispatch); /* tenants' usage falls as time passes */
}

static int sleep_ms(const struct hc_front *f, int http)
{
    int most = f->dispatch.draining ? MIN(TICK_MS, 50) : TICK_MS;
    if (f->dispatch.held_until)
        most = (int)MIN(most, MAX(f->dispatch.held_until - hc_mono_ms(), 0));
    if (f->alive_every)
        most = (int)MIN(most, f->alive_every);
    return http < 0 ? most : MIN(http, most);
}

static int serve_until_drained(struct hc_front *f, struct hc_error *err)
{
    while (!drained(f)) {
        tick(f, hc_mono_ms());
        hc_mcp_peers_run(&f->peers);
        int ms = sleep_ms(f, hc_http_run(&f->http));
        if (f->peers.due)
            ms = 0;
        bool due = ms > 0 && hc_store_due(&f->dispatch);
        int served = hc_reactor_turn(f->dispatch.epoll, due ? MIN(ms, QUIET_MS) : ms, err);
        if (served < 0)
            return -1;
        if (due && !served)
            hc_store_write(&f->dispatch);
    }
    return 0;
}

/* Counts the descriptors that waiting jobs may hold. Each holds one for its request; without a limit they
 * could leave no descriptors for connections. */
static int count_descriptors(struct hc_front *f, size_t sockets, size_t workers, struct hc_error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return hc_fail(err, errno, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return hc_fail(err, errno, "setrlimit");
    int64_t others = f->dispatch.config.http_connections * (int64_t)sockets + FDS_MORE +
                     FDS_OF_RUN * ((int64_t)workers + f->dispatch.config.sessions);
    int64_t all = (int64_t)MIN(limit.rlim_max, (rlim_t)INT32_MAX);
    f->most_waiting = all - others;
    if (f->most_waiting < 1)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "http.connections, workers and sessions need %lld descriptors, and a job that "
                          "waits another; the limit (RLIMIT_NOFILE) is %lld",
                          (long long)others, (long long)all);
    if (f->most_waiting < f->dispatch.config.queue)
        hc_info("at most %lld jobs wait, and not %lld: the limit of descriptors (RLIMIT_NOFILE) is %lld",
                (long long)f->most_waiting, (long long)f->dispatch.config.queue, (long long)all);
    return 0;
}

static int start_front(struct hc_front *f, const struct hc_front_setup *setup, struct hc_error *err)
{
    f->dispatch.config = *setup->config;
    f->dispatch.configuration = 1;
    f->dispatch.open = setup->listeners->open;
    f->alive_every = setup->alive_every;
    f->dispatch.trees = setup->trees;
    f->manager = (struct hc_watch){setup->manager, manager_ready};
    f->sessions = (struct hc_front_sessions){.dispatch = &f->dispatch, .manager_fd = setup->manager};
    f->peers = (struct hc_mcp_peers){.dispatch = &f->dispatch, .sessions = &f->sessions};
    f->dispatch.results_fd = open(HC_RESULTS_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dispatch.results_fd < 0)
        return hc_fail(err, errno, "open " HC_RESULTS_DIR);
    f->dispatch.volumes_fd = open(HC_VOLUMES_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dispatch.volumes_fd < 0)
        return hc_fail(err, errno, "open " HC_VOLUMES_DIR);
    f->dispatch.program_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (f->dispatch.program_fd < 0)
        return hc_fail(err, errno, "open /proc/self/exe");
    if (fcntl(setup->manager, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "start the front");
    if (count_descriptors(f, setup->listeners->count, setup->worker_count, err) < 0 ||
        hc_reactor_open(&f->dispatch.epoll, err) < 0 ||
        hc_reactor_add(f->dispatch.epoll, &f->manager, EPOLLIN, err) < 0 ||
        hc_tenants_create(&f->dispatch.tenants, &f->dispatch.config, err) < 0 ||
        hc_queue_create(&f->dispatch.queue, (int64_t)setup->worker_count,
                        MIN(f->dispatch.config.queue, f->most_waiting), err) < 0)
        return -1;
    for (size_t i = 0; i < setup->worker_count; i++)
        if (hc_dispatch_add_worker(&f->dispatch, setup->workers[i], setup->worker_pids[i], err) < 0)
            return -1;
    if (hc_store_open(&f->dispatch, err) < 0 ||
        hc_upload_store_open(&f->dispatch.uploads, f->dispatch.tenants, err) < 0)
        return -1;
    if (hc_http_start(&f->http, &f->dispatch, &f->sessions, &f->peers, setup->listeners, err) < 0 ||
        hc_drop_rights(err) < 0 || hc_sandbox_enter(f->dispatch.uploads.dir_fd, err) < 0)
        return -1;
    hc_dispatch_start_jobs(&f->dispatch);
    tell_manager(f, HC_SAY_READY);
    return 0;
}

void hc_front_main(const struct hc_front_setup *setup)
{
    static struct hc_front f;
    struct hc_error err = {0};
    int rc = start_front(&f, setup, &err);
    if (rc == 0)
        rc = serve_until_drained(&f, &err);
    if (rc < 0) {
        hc_warn("front: %s", err.text);
        exit(err.exit ? err.exit : HC_EXIT_INTERNAL);
    }
    hc_mcp_peers_finish(&f.peers);
    hc_http_stop(&f.http);
    hc_store_close(&f.dispatch);
    exit(EXIT_SUCCESS);
}
