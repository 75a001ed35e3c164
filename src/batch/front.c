/* The front of a batch: send lines to workers as these become idle, and write the results.
 *
 * It shares with hotcelld's front (daemon/queue/dispatch.c) how packets go between processes (base/packet.h)
 * and how cells are kept warm (cell/warm.h), but no scheduler: one owner's lines are begun in the order of a
 * file, each once the journal on the disk says so, where the daemon weighs tenants and knows no order. What
 * remains the same in both, to find an idle worker and to forget one that has died, is shorter than a struct
 * that would serve both. */
#include "batch/front.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/clock.h"
#include "batch/under.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define RETRIED 2 /* room for claims per worker: one new, and one that is tried again */

/* ---- workers ---- */

static _Noreturn void be_worker(struct hc_batch_front *f, int socket, pid_t parent)
{
    /* A worker's cells die with it, and it dies with the front. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(EXIT_FAILURE);
    for (size_t i = 0; i < f->worker_count; i++) {
        hc_close_fd(&f->workers[i].claim.fd);
        if (f->workers[i].pid)
            (void)close(f->workers[i].fd);
    }
    for (size_t i = 0; i < f->claim_count; i++)
        hc_close_fd(&f->claims[i].fd);
    hc_close_fd(&f->timer);
    (void)close(f->folder.journal);
    (void)close(f->folder.results);
    (void)close(f->folder.sync_fd);
    hc_batch_worker(f->batch, socket, f->cancel_event);
}

static int start_worker(struct hc_batch_front *f, struct hc_worker *h, struct hc_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    (void)fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return hc_fail(err, errno, "socketpair");
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        be_worker(f, ends[1], parent);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return hc_fail(err, errno, "fork");
    }
    *h = (struct hc_worker){.pid = pid, .fd = ends[0], .claim.fd = -1};
    return 0;
}

/* Start as many workers as there are jobs for: a file of one job needs but one. If the host has no room for
 * so many, those that are there go on. */
static void start_workers(struct hc_batch_front *f)
{
    struct hc_error err;
    size_t needed = f->claim_count;
    for (size_t i = 0; i < f->worker_count; i++)
        needed += f->workers[i].busy;
    for (size_t i = 1; i < f->worker_count && i < needed && !f->stop; i++) {
        if (f->workers[i].pid || start_worker(f, &f->workers[i], &err) == 0)
            continue;
        hc_progress_hide(f);
        hc_warn("the jobs go on with %zu at a time: %s", i, err.text);
        f->worker_count = i;
    }
}

/* Reap a worker, and describe its end in `how`. */
static void reap_worker(struct hc_worker *h, char *how, size_t size)
{
    int status = 0;
    hc_close_fd(&h->fd);
    if (waitpid(h->pid, &status, 0) == h->pid && WIFSIGNALED(status))
        (void)snprintf(how, size, "was ended by signal %d", WTERMSIG(status));
    else
        (void)snprintf(how, size, "ended with status %d", WEXITSTATUS(status));
    h->pid = 0;
    h->idle = false;
}

/* A worker has died: the result of its job is unknown; start another worker. */
static int replace_worker(struct hc_batch_front *f, struct hc_worker *h, struct hc_error *err)
{
    char how[60];
    reap_worker(h, how, sizeof how);
    if (!h->served)
        return hc_fail(err, 0, "a worker process %s before it was ready", how);
    hc_progress_hide(f);
    hc_warn("a worker process %s%s", how, f->stop ? "" : "; another takes its place");
    if (h->busy) {
        struct hc_result r = {.line = h->claim.task.line,
                              .status = HC_BATCH_OUTCOME_UNKNOWN,
                              .exit_code = HC_EXIT_INTERNAL,
                              .attempts = h->claim.task.attempt,
                              .wall_us = -1};
        memcpy(r.job_id, h->claim.task.job_id, sizeof r.job_id);
        (void)snprintf(r.reason, sizeof r.reason, "the worker process that ran it %s", how);
        h->busy = false;
        hc_close_fd(&h->claim.fd);
        if (hc_batch_front_end_bare(f, &r, err) < 0)
            return -1;
    }
    return f->stop ? 0 : start_worker(f, h, err);
}

/* ---- jobs ---- */

static int start_job(struct hc_batch_front *f, struct hc_worker *h, struct hc_error *err)
{
    struct hc_claim c = f->claims[0];
    const struct hc_entry e = {.kind = HC_ENTRY_START, .line = c.task.line};
    if (hc_folder_note(&f->folder, &e, NULL, 0, NULL, err) < 0)
        return -1;
    f->begun++;
    memmove(f->claims, f->claims + 1, --f->claim_count * sizeof *f->claims);
    c.task.more = f->claim_count > 0 || !f->input_ended;
    h->claim = c;
    h->busy = true;
    h->idle = false;
    /* If the worker has died, receive_answer notices it. */
    struct hc_error lost;
    (void)hc_batch_send(h->fd, &c.task, sizeof c.task, c.fd, &lost);
    return 0;
}

/* May one more job begin, as far as it would be one of many? */
static bool may_begin(struct hc_batch_front *f)
{
    if (f->begun != HC_BATCH_FEW || !f->batch->before_many)
        return true;
    if (f->batch->before_many(f->batch->request, &f->many_error) == 0) {
        f->batch->before_many = NULL;
        return true;
    }
    f->stop = "the tree is not as it was built";
    return false;
}

static int dispatch(struct hc_batch_front *f, struct hc_error *err)
{
    for (size_t i = 0; i < f->worker_count && !f->stop; i++) {
        struct hc_worker *h = &f->workers[i];
        if (h->pid && h->idle && f->claim_count && f->claims[0].sync <= f->folder.synced && may_begin(f) &&
            start_job(f, h, err) < 0)
            return -1;
    }
    return 0;
}

static int end_job(struct hc_batch_front *f, struct hc_worker *h, const struct hc_ended *said, int fd,
                   struct hc_error *err)
{
    hc_autobuf text = {0};
    if (!h->busy || said->result.line != h->claim.task.line)
        return hc_fail(err, EPROTO, "a worker process");
    h->busy = false;
    if (said->not_started && h->claim.task.attempt <= f->asked->retry && !f->stop)
        return hc_batch_front_claim_again(f, &h->claim, err);
    hc_close_fd(&h->claim.fd);
    if (hc_read_all(fd, &text, (size_t)1 << 31, err) < 0)
        return hc_ctx(err, "a result");
    return hc_batch_front_end(f, &said->result, text.data ? text.data : "", text.len, err);
}

static int receive_answer(struct hc_batch_front *f, struct hc_worker *h, struct hc_error *err)
{
    struct hc_ended said;
    hc_autofd fd = -1;
    struct hc_error lost;
    if (hc_batch_receive(h->fd, &said, sizeof said, &fd, &lost) <= 0)
        return replace_worker(f, h, err);
    h->served = true;
    if (!said.idle)
        return end_job(f, h, &said, fd, err);
    h->idle = true;
    return 0;
}

/* ---- the loop ---- */

static int handle_signal(struct hc_batch_front *f, struct hc_error *err)
{
    struct signalfd_siginfo info;
    if (read(f->batch->cancel_fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    f->batch->signal = (int)info.ssi_signo;
    f->stop = "interrupted";
    hc_progress_hide(f);
    if (++f->signals == 1) {
        hc_info("batch: waiting for the jobs that run; once more ends them");
        return 0;
    }
    const uint64_t one = 1;
    if (f->signals == 2 && write(f->cancel_event, &one, sizeof one) != (ssize_t)sizeof one)
        return hc_fail(err, errno, "cancel jobs");
    for (size_t i = 0; i < f->worker_count && f->signals > 2; i++)
        if (f->workers[i].pid)
            (void)kill(f->workers[i].pid, SIGKILL);
    return 0;
}

static bool is_busy(const struct hc_batch_front *f)
{
    for (size_t i = 0; i < f->worker_count; i++)
        if (f->workers[i].busy)
            return true;
    return false;
}

static bool is_over(const struct hc_batch_front *f)
{
    return !is_busy(f) && (f->stop || (f->input_ended && f->claim_count == 0));
}

enum { ON_SIGNAL, ON_TIMER, ON_SYNC, ON_INPUT, ON_WORKERS };

static int handle(struct hc_batch_front *f, const struct pollfd *on, struct hc_error *err)
{
    if (on[ON_SIGNAL].revents && handle_signal(f, err) < 0)
        return -1;
    if (on[ON_SYNC].revents && hc_folder_read_sync(&f->folder, err) < 0)
        return -1;
    if (on[ON_INPUT].revents && hc_reader_fill(&f->reader, err) < 0)
        return hc_ctx(err, "%s", f->name);
    for (size_t i = 0; i < f->worker_count; i++)
        if (on[ON_WORKERS + i].revents && f->workers[i].pid && receive_answer(f, &f->workers[i], err) < 0)
            return -1;
    if (on[ON_TIMER].revents)
        hc_progress_show(f);
    return 0;
}

static int wait_and_handle(struct hc_batch_front *f, struct hc_error *err)
{
    struct pollfd on[ON_WORKERS + HC_BATCH_MOST_JOBS] = {
        [ON_SIGNAL] = {.fd = f->batch->cancel_fd, .events = POLLIN},
        [ON_TIMER] = {.fd = f->timer, .events = POLLIN},
        [ON_SYNC] = {.fd = f->folder.sync_fd, .events = POLLIN},
        [ON_INPUT] = {.fd = f->input_waits && !f->stop ? f->input : -1, .events = POLLIN},
    };
    for (size_t i = 0; i < f->worker_count; i++)
        on[ON_WORKERS + i] =
            (struct pollfd){.fd = f->workers[i].pid ? f->workers[i].fd : -1, .events = POLLIN};
    if (hc_folder_start_sync(&f->folder, err) < 0)
        return -1;
    if (poll(on, ON_WORKERS + f->worker_count, -1) < 0)
        return errno == EINTR ? 0 : hc_fail(err, errno, "poll");
    return handle(f, on, err);
}

static int run_loop(struct hc_batch_front *f, struct hc_error *err)
{
    for (;;) {
        if (hc_batch_front_claim(f, err) < 0)
            return -1;
        start_workers(f);
        if (dispatch(f, err) < 0)
            return -1;
        if (is_over(f))
            return 0;
        if (wait_and_handle(f, err) < 0)
            return -1;
    }
}

/* ---- before and after ---- */

/* open(2) of a named pipe would block until a writer comes, and signals come through a signalfd: so open
 * it without blocking, and wait in poll(2). */
static int open_jobs(const char *path, int cancel_fd, struct stat *st)
{
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, st) < 0)
        return -1;
    if (S_ISFIFO(st->st_mode)) {
        struct pollfd waits[] = {{.fd = fd, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
        if (TEMP_FAILURE_RETRY(poll(waits, 2, -1)) < 0)
            return -1;
    }
    return fcntl(fd, F_SETFL, 0) < 0 ? -1 : hc_take(&fd);
}

static int open_input(struct hc_batch_front *f, struct hc_error *err)
{
    struct stat st;
    bool standard = strcmp(f->asked->jobs_path, "-") == 0;
    f->name = standard ? "standard input" : f->asked->jobs_path;
    f->input = standard ? dup(STDIN_FILENO) : open_jobs(f->asked->jobs_path, f->batch->cancel_fd, &st);
    if (f->input < 0 || fstat(f->input, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", f->name);
    if (S_ISDIR(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, EISDIR, "%s", f->name);
    f->input_bytes = S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
    hc_reader_init(&f->reader, f->input, HC_BATCH_MAX_LINE);
    return 0;
}

/* Checks that this run's jobs are under what the last run's were, or says that they are not. */
static int check_under(const struct hc_batch_front *f, struct hc_error *err)
{
    hc_autobuf how = {0};
    char *was = hc_past_under(&f->past, &f->folder, err);
    if (!was)
        return -1;
    bool differs = hc_under_differs(was, f->batch->under, &how);
    free(was);
    if (!differs)
        return 0;
    if (!f->asked->changed)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s was begun under another policy, tree or limit (%s): give the same options, or "
                          "--resume=changed to go on under these",
                          f->batch->output_dir, how.data);
    hc_info("batch: going on under another policy, tree or limit: %s", how.data);
    return 0;
}

static int check_past(const struct hc_batch_front *f, struct hc_error *err)
{
    const struct hc_entry *last = &f->past.last;
    const char *path = f->batch->output_dir;
    if (!f->past.any && lseek(f->folder.results, 0, SEEK_END) > 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s has a " HC_BATCH_RESULTS ", but no journal: give another -o DIR", path);
    if (!f->past.any)
        return 0;
    if (last->merged)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s is what shards were merged into: give another -o DIR",
                          path);
    if (!f->asked->resume)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s has a batch already: --resume goes on with it, -o DIR puts this one elsewhere",
                          path);
    if (last->shard != f->asked->shard || last->shards != f->asked->shards)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s has shard %lld/%lld of a batch", path,
                          (long long)last->shard, (long long)last->shards);
    if (last->ordered != f->asked->ordered)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s has a batch that was begun %s --ordered", path,
                          last->ordered ? "with" : "without");
    if (check_under(f, err) < 0)
        return -1;
    return hc_past_check_input(&f->past, f->input, f->name, err);
}

static int note_batch(struct hc_batch_front *f, struct hc_error *err)
{
    struct hc_entry e = {.kind = HC_ENTRY_BATCH,
                         .shard = f->asked->shard,
                         .shards = f->asked->shards,
                         .ordered = f->asked->ordered};
    hc_clock_text(hc_clock_ahead(), e.started);
    if (hc_read_attr(AT_FDCWD, "/proc/sys/kernel/random/boot_id", e.boot, sizeof e.boot) < 0)
        return hc_fail(err, errno, "boot_id");
    (void)hc_folder_want_sync(&f->folder);
    const char *under = f->batch->under;
    return hc_folder_note(&f->folder, &e, under, under ? strlen(under) : 0, NULL, err);
}

static void print_resumed(const struct hc_batch_front *f)
{
    size_t again = 0;
    for (size_t i = 0; i < f->past.open_count; i++)
        again +=
            f->past.open[i].again || (f->past.open[i].started && f->asked->rerun[HC_BATCH_OUTCOME_UNKNOWN]);
    if (f->past.any)
        hc_info("batch: going on: %lld have ended, %zu run again", (long long)f->tally.ended, again);
}

static int open_all(struct hc_batch_front *f, struct hc_error *err)
{
    if (open_input(f, err) < 0 || hc_folder_open(&f->folder, f->batch->output_dir, err) < 0 ||
        hc_job_ids_open(&f->job_ids, f->folder.dir, err) < 0 ||
        hc_past_read(&f->past, &f->folder, f->asked->rerun, &f->job_ids, &f->tally, err) < 0 ||
        check_past(f, err) < 0 || hc_past_settle(&f->past, &f->folder, err) < 0 || note_batch(f, err) < 0)
        return -1;
    print_resumed(f);
    f->cancel_event = eventfd(0, EFD_CLOEXEC);
    f->workers = calloc(f->worker_count, sizeof *f->workers);
    f->claims = calloc(f->worker_count * RETRIED, sizeof *f->claims);
    if (f->cancel_event < 0 || !f->workers || !f->claims)
        return hc_fail(err, f->workers && f->claims ? errno : ENOMEM, "batch");
    for (size_t i = 0; i < f->worker_count; i++)
        f->workers[i] = (struct hc_worker){.fd = -1, .claim.fd = -1};
    if (hc_order_start(f, err) < 0 || hc_folder_start_syncer(&f->folder, err) < 0 ||
        start_worker(f, &f->workers[0], err) < 0)
        return -1;
    return hc_progress_open(f, err);
}

/* Note in the journal that waiting claims were not run. */
static int return_claims(struct hc_batch_front *f, struct hc_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < f->claim_count; i++) {
        const struct hc_entry e = {.kind = HC_ENTRY_BACK, .line = f->claims[i].task.line};
        if (rc == 0)
            rc = hc_folder_note(&f->folder, &e, NULL, 0, NULL, err);
        hc_close_fd(&f->claims[i].fd);
    }
    f->claim_count = 0;
    return rc;
}

/* Have the workers end, each after its job. */
static void dismiss_workers(const struct hc_batch_front *f)
{
    for (size_t i = 0; i < f->worker_count && f->workers; i++)
        if (f->workers[i].pid)
            (void)shutdown(f->workers[i].fd, SHUT_RDWR);
}

/* Wait until the workers have ended; `at_once`: kill them, after an error. */
static void end_workers(struct hc_batch_front *f, bool at_once)
{
    char how[60];
    for (size_t i = 0; i < f->worker_count && f->workers && at_once; i++)
        if (f->workers[i].pid)
            (void)kill(f->workers[i].pid, SIGKILL);
    dismiss_workers(f);
    for (size_t i = 0; i < f->worker_count && f->workers; i++) {
        hc_close_fd(&f->workers[i].claim.fd);
        if (f->workers[i].pid)
            reap_worker(&f->workers[i], how, sizeof how);
    }
}

static int sum_up(struct hc_batch_front *f, struct hc_error *err)
{
    const struct hc_tally_end end = {
        .lines = f->input_ended ? f->reader.line : -1,
        .here = f->ended_here,
        .took_us = hc_now_us() - f->began_us,
        .jobs = (int64_t)f->worker_count,
        .shard = f->asked->shard,
        .shards = f->asked->shards,
        .why = f->stop,
    };
    hc_autobuf text = {0};
    hc_tally_print_json(&f->tally, &end, &text);
    if (text.failed)
        return hc_fail(err, ENOMEM, "summary");
    if (hc_folder_settle(&f->folder, &text, err) < 0)
        return -1;
    hc_progress_hide(f);
    hc_tally_print(&f->tally, &end, stderr);
    return 0;
}

static void front_finish(struct hc_batch_front *f)
{
    for (size_t i = 0; i < f->claim_count; i++)
        hc_close_fd(&f->claims[i].fd);
    free(f->claims);
    free(f->workers);
    free(f->order.ring);
    hc_past_finish(&f->past, &f->folder);
    hc_folder_close(&f->folder);
    hc_reader_finish(&f->reader);
    hc_job_ids_finish(&f->job_ids);
    hc_close_fd(&f->input);
    hc_close_fd(&f->cancel_event);
    hc_close_fd(&f->timer);
}

static int run(struct hc_batch_front *f, struct hc_error *err)
{
    f->began_us = hc_now_us();
    if (open_all(f, err) < 0 || run_loop(f, err) < 0 || return_claims(f, err) < 0)
        return -1;
    dismiss_workers(f); /* they end while the rest is written */
    if (f->stop && f->input_ended && f->claim_count == 0 && f->tally.ended >= f->reader.line)
        f->stop = NULL; /* all jobs were done already */
    if (sum_up(f, err) < 0)
        return -1;
    const struct hc_error *late = f->many_error.exit ? &f->many_error : &f->stdout_error;
    if (late->exit) {
        *err = *late;
        return -1;
    }
    return f->tally.worst;
}

int hc_batch_serve(struct hc_batch *b, struct hc_error *err)
{
    struct hc_batch_options asked = *b->asked;
    struct hc_batch mine = *b;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    asked.shard = asked.shards ? asked.shard : 1;
    asked.shards = asked.shards ? asked.shards : 1;
    asked.jobs = asked.jobs ? asked.jobs : processors > 0 ? processors : 1;
    asked.jobs = asked.jobs > HC_BATCH_MOST_JOBS ? HC_BATCH_MOST_JOBS : asked.jobs;
    mine.asked = &asked;
    struct hc_batch_front f = {.batch = &mine,
                               .asked = &asked,
                               .input = -1,
                               .cancel_event = -1,
                               .timer = -1,
                               .job_ids.fd = -1,
                               .worker_count = (size_t)asked.jobs};
    f.past.copy = -1;
    f.folder = (struct hc_folder){.dir = -1, .journal = -1, .results = -1, .sync_fd = -1};
    int status = run(&f, err);
    hc_progress_hide(&f);
    end_workers(&f, status < 0);
    front_finish(&f);
    b->signal = mine.signal;
    return status;
}
