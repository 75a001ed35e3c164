/* zygote.c - an interpreter that never runs a guest's code: cells are made of copies of it.
 *
 * Processes. The zygote is pid 2 of its own cell. For each request it makes a process in namespaces of the
 * cell's own (birth.c), which is pid 1 of the new cell, builds the rest of the cell around itself
 * (inside/inside.c), forks pid 2, and executes the program of pid 1 (init_start.c). Until then it works in
 * the zygote's memory, and the zygote waits: copying the page tables of a large interpreter takes most of the
 * time, so they are copied once, for pid 2. Rights: those that the launcher left; the new process has all of
 * them in its own user namespace, and drops them there one after the other as a cold cell's first process
 * does. Channels: requests on HC_FD_CONTROL. The new process closes all descriptors of the zygote.
 *
 * The zygote knows a policy and no job. State that its copies must not share, such as the seeds of random
 * numbers, is made anew in each copy (guest_warm.py). */
#include "shim/zygote.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/packet.h"
#include "inside/park.h"
#include "inside/plan.h"
#include "shim/birth.h"
#include "shim/copyable.h"
#include "shim/guard/builtins.h"
#include "shim/guest.h"
#include "shim/harness/feed.h"
#include "shim/harness/frozen.h"
#include "shim/harness/pyjson.h"
#include "shim/harness/wire.h"
#include "shim/immortal.h"
#include "shim/init_image.h"
#include "shim/lock.h"
#include "shim/prefault.h"
#include "shim/warmup.h"
#include "shim/settle.h"
#include "shim/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define WARMUPS 8  /* runs after which Python no longer specialises the code that it runs */
#define TRIAL_S 20 /* seconds to wait for the trial's next message */

/* All three are set before the first copy is made. */
static struct hc_open_files open_files; /* files that libraries of the zygote keep open */
static bool for_sessions;               /* its copies serve sessions */
static int init_fd;                     /* the program that pid 1 of a new cell executes */

/* ---- in the new cell ---- */

/* Calls a function of guest_warm.py, which runs the policy's own code. If that fails, the exception is shown,
 * whose last line the launcher takes as the reason. */
static void call_warm(const char *function, const struct hc_handover *zygote)
{
    PyObject *type, *error, *trace;
    hc_autopy *rules = hc_py_from_json(hc_json_member(zygote->job.rules, "warm"));
    hc_autopy *done = rules ? hc_frozen_call("warm", function, "(O)", rules) : NULL;
    if (done)
        return;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyErr_Display(type, error, trace); /* PyErr_Print would obey a SystemExit */
    _exit(HC_EXIT_CONFIG);
}

/* Makes anew in a copy what it must not share with other copies, before it has a job. */
static void renew_copy(const struct hc_handover *zygote, pid_t parent)
{
    struct hc_error err;
    if (hc_copyable_reopen(&open_files, &err) < 0)
        hc_fail_shim(&err);
    hc_copyable_reseed();
    PyOS_AfterFork_Child();
    hc_start_process(parent, "python3");
    call_warm("again", zygote);
}

/* pid 2: parks until its job arrives, and runs it. */
static _Noreturn void wait_for_job(const struct hc_handover *zygote)
{
    struct hc_error err;
    struct hc_handover job;
    renew_copy(zygote, 1);
    if (hc_start_report(zygote, &err) < 0)
        hc_fail_shim(&err);
    if (hc_handover_locks_early(zygote->job.rules) && hc_lock_syscalls(zygote->filters.own, &err) < 0)
        hc_fail_shim(&err);
    close(HC_FD_HANDOVER);
    /* no other process of the cell has it open: the launcher sees that the cell is parked */
    close(HC_FD_SYNC);
    while (hc_wire_await_prepare(HC_FD_CONTROL))
        hc_prefault_until(HC_FD_CONTROL);
    int input, fd = hc_wire_await_job(HC_FD_CONTROL, &input, &err);
    if (fd < 0)
        _exit(HC_EXIT_INTERNAL); /* the launcher is gone */
    if (hc_feed_take(input, &err) < 0)
        hc_fail_shim(&err);
    if (hc_start_read(fd, &job, &err) < 0 || hc_handover_parse(&job, &err) < 0)
        hc_fail_shim(&err);
    if (job.kind != HC_HANDOVER_COPY)
        _exit(HC_EXIT_INTERNAL);
    job.job.rules = zygote->job.rules;
    bool told;
    int status = hc_guest_job(&job, &told);
    if (told) /* stay until the launcher has read our usage */
        hc_wire_await_end(HC_FD_CONTROL);
    _exit(status);
}

/* Executes pid 1's own program. In the interpreter's memory pid 1 would keep its signal handlers, and the
 * guest's signals would reach them. */
static _Noreturn void become_init(pid_t guest)
{
    char number[16], name[] = "hotcell-shim", mode[] = HC_SHIM_INIT;
    char runs[] = HC_SHIM_SESSION;
    char *const argv[] = {name, mode, number, for_sessions ? runs : NULL, NULL}, *const env[] = {NULL};
    (void)snprintf(number, sizeof number, "%d", guest);
    if (fcntl(HC_FD_SYNC, F_SETFD, 0) == 0)
        (void)syscall(SYS_execveat, HC_FD_SHIM, "", argv, env, AT_EMPTY_PATH);
    _exit(HC_EXIT_INTERNAL);
}

/* pid 2, right after the fork. */
static _Noreturn void become_guest(const struct hc_handover *zygote)
{
    sigset_t none;
    hc_renew_rseq();
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    close(HC_FD_STATUS);
    close(HC_FD_SHIM);
    wait_for_job(zygote);
}

/* What the new cell's first process needs from the zygote. */
struct inherited {
    const struct hc_plan *plan; /* borrowed */
    sigjmp_buf guest;           /* where pid 2 goes on, on the zygote's own stack */
};

/* pid 1: it shares the zygote's memory, so that the zygote sees all that is written here, but has its own
 * stack. */
static int become_cell(void *arg)
{
    struct inherited *own = arg;
    hc_inside_copy(own->plan);
    pid_t guest = fork();
    if (guest < 0)
        _exit(HC_EXIT_INTERNAL);
    if (guest == 0)
        siglongjmp(own->guest, 1);
    become_init(guest);
}

/* ---- in the zygote ---- */

/* The launcher's request for a new cell. */
struct request {
    struct hc_park park;  /* properties of the new cell */
    int fds[HC_PARK_FDS]; /* owned: the descriptors of the new cell, by enum hc_park_fd; -1: not sent */
};

static void request_finish(struct request *r)
{
    for (size_t i = 0; i < HC_PARK_FDS; i++)
        hc_close_fd(&r->fds[i]);
}

/* Returns 1 if the launcher has hung up. */
static int read_request(struct request *r, struct hc_error *err)
{
    struct hc_packet p = {.fds = r->fds, .room = HC_PARK_FDS};
    ssize_t n = hc_packet_receive(HC_FD_CONTROL, &r->park, sizeof r->park, &p, 0);
    if (n <= 0)
        return n < 0 ? hc_fail(err, errno, "wait for a request") : 1;
    bool whole = n == (ssize_t)sizeof r->park && r->park.magic == HC_PARK_MAGIC && !p.cut;
    return whole && (p.count == HC_PARK_FDS || p.count == HC_PARK_NETWORK)
               ? 0
               : hc_fail(err, 0, "a request that is none");
}

static void send_refusal(int sync_fd, int error)
{
    struct hc_sync msg = {.kind = HC_SYNC_ERROR};
    (void)hc_fail_as(&msg.error, HC_EXIT_UNAVAILABLE, error, "make a cell of a copy of the zygote");
    (void)send(sync_fd, &msg, sizeof msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Does here what each copy does first for any job, so that Python's caches are filled and the copies need not
 * fill them each for itself. */
static void warm_up(const struct hc_handover *zygote)
{
    for (int i = 0; i < WARMUPS; i++) {
        PyOS_BeforeFork();
        PyOS_AfterFork_Child();
        call_warm("again", zygote);
        hc_warmup(&zygote->job);
    }
}

/* ---- the trial ---- */

/* Sends the trial's output to /dev/null, and its frames into the socket `control`. */
static int redirect_trial(int control, struct hc_error *err)
{
    hc_autofd nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0 ||
                   dup2(control, HC_FD_CONTROL) < 0
               ? hc_fail(err, errno, "begin a trial")
               : 0;
}

/* A job that is run in the zygote's own cell to learn which pages jobs need. Owns all its members. */
struct trial {
    char *document; /* handover of the trial's job, JSON */
    int control[2]; /* socket pair: the zygote's end, which stands in for the launcher, and the trial's */
    int pages[2];   /* socket pair for the list of pages: the zygote's end and the trial's */
};

/* Runs the job in a copy of the zygote, and sends the list of pages; never returns. */
static _Noreturn void run_trial(const struct hc_handover *zygote, const struct trial *t, pid_t parent)
{
    struct hc_error err;
    struct hc_handover job = *zygote;
    int pagemap = hc_prefault_open();
    job.text = t->document;
    job.text_len = strlen(t->document);
    if (redirect_trial(t->control[1], &err) < 0)
        _exit(HC_EXIT_INTERNAL);
    renew_copy(zygote, parent);
    if (hc_handover_parse(&job, &err) < 0)
        _exit(HC_EXIT_INTERNAL);
    bool told;
    (void)hc_guest_job(&job, &told);
    hc_prefault_send(pagemap, t->pages[1]);
    _exit(HC_EXIT_OK);
}

static void say_line(char *why, int64_t line)
{
    const size_t len = strlen(why);
    if (line > 0)
        (void)snprintf(why + len, HC_FRAME_SAMPLE_TEXT - len, " (line %lld)", (long long)line);
}

/* Why the sample failed, from the message in `in` that tells of its end. */
static void explain(const struct hc_inbox *in, enum hc_frame_type type, char why[HC_FRAME_SAMPLE_TEXT])
{
    struct hc_json j;
    struct hc_error ignored;
    const size_t room = HC_FRAME_SAMPLE_TEXT - 32; /* the rest is for the line */
    (void)snprintf(why, room, "it sent what cannot be read");
    if (hc_json_parse(&j, "trial", in->body.data, in->body.len, &ignored) < 0)
        return;
    const cJSON *findings = hc_json_member(j.root, "findings");
    const cJSON *said = type == HC_FRAME_REPORT ? hc_json_member(j.root, "error")
                        : findings              ? findings->child
                                                : NULL;
    const long long status = hc_json_int(j.root, "exit", 1);
    if (type == HC_FRAME_REJECTED)
        (void)snprintf(why, room, "%s", hc_json_text(said, "message"));
    else if (said && said->child)
        (void)snprintf(why, room, "%s: %s", hc_json_text(said, "type"), hc_json_text(said, "message"));
    else if (status)
        (void)snprintf(why, room, "it ended with status %lld", status);
    else
        why[0] = '\0';
    say_line(why, hc_json_int(said, "line", 0));
    hc_json_finish(&j);
}

/* Takes the messages that the trial has sent so far. */
static void take_messages(int fd, struct hc_inbox *in, char why[HC_FRAME_SAMPLE_TEXT])
{
    static char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK];
    struct hc_error ignored;
    ssize_t n;
    while ((n = recv(fd, packet, sizeof packet, MSG_DONTWAIT)) > 0) {
        int type = hc_inbox_feed(in, packet, (size_t)n, &ignored);
        if (type == HC_FRAME_REPORT || type == HC_FRAME_REJECTED)
            explain(in, (enum hc_frame_type)type, why);
    }
}

/* Waits until the trial has sent its list of pages, has ended, or takes too long. `why`: the reason why it
 * failed; "": it did not. */
static void follow_trial(const struct hc_handover *zygote, const struct trial *t,
                         char why[HC_FRAME_SAMPLE_TEXT])
{
    struct pollfd on[] = {{.fd = t->control[0], .events = POLLIN}, {.fd = t->pages[0], .events = POLLIN}};
    struct hc_inbox in = {.max = (size_t)zygote->job.value_bytes};
    struct hc_error ignored;
    int rc;
    if (hc_wire_send(t->control[0], HC_FRAME_GO, NULL, 0, &ignored) < 0)
        return;
    while ((rc = poll(on, 2, TRIAL_S * 1000)) > 0 && !on[1].revents && !(on[0].revents & POLLHUP))
        take_messages(t->control[0], &in, why);
    take_messages(t->control[0], &in, why);
    if (rc == 0)
        (void)snprintf(why, HC_FRAME_SAMPLE_TEXT, "it took more than %d s", TRIAL_S);
    else if (in.state != HC_TALK_OVER)
        (void)snprintf(why, HC_FRAME_SAMPLE_TEXT, "its process ended, or said what it should not");
    hc_inbox_finish(&in);
    hc_prefault_receive(t->pages[0]);
}

static void finish_trial(struct trial *t)
{
    free(t->document);
    for (size_t i = 0; i < 2; i++) {
        hc_close_fd(&t->control[i]);
        hc_close_fd(&t->pages[i]);
    }
}

/* Runs the trial. If it fails, later jobs take more time, and nothing else changes; the launcher is told. */
static void run_sample(const struct hc_handover *zygote)
{
    char why[HC_FRAME_SAMPLE_TEXT] = "";
    struct hc_error err;
    const char *sample = hc_rules_text(zygote->job.rules, "warm", "sample", "");
    struct trial t = {hc_handover_sample(zygote, sample), {-1, -1}, {-1, -1}};
    if (!t.document || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, t.control) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, t.pages) < 0) {
        finish_trial(&t);
        return;
    }
    PyOS_BeforeFork();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run_trial(zygote, &t, parent);
    PyOS_AfterFork_Parent();
    hc_close_fd(&t.control[1]);
    hc_close_fd(&t.pages[1]);
    if (pid > 0) {
        follow_trial(zygote, &t, why);
        (void)kill(-pid, SIGKILL); /* it leads its own process group */
        (void)kill(pid, SIGKILL);
        (void)TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
    }
    finish_trial(&t);
    if (why[0] && hc_wire_send(HC_FD_CONTROL, HC_FRAME_SAMPLE, why, strlen(why), &err) < 0)
        hc_fail_shim(&err);
}

/* ---- cells ---- */

static void park_cell(const struct request *r, const struct hc_handover *zygote)
{
    const struct hc_policy policy = {.limits = r->park.limits,
                                     .network = r->park.network,
                                     .processes =
                                         zygote->job.processes ? HC_PROCESSES_FORK : HC_PROCESSES_NONE,
                                     .rules = (cJSON *)zygote->job.rules,
                                     .cores = r->park.cores,
                                     .output_mode = r->park.output_mode};
    const struct hc_plan plan = {
        .policy = &policy,
        .tree = {.fd = -1, .mount_fd = -1},
        .shim = {.fd = init_fd, .mount_fd = -1},
        .output = {.fd = -1, .mount_fd = -1},
        .devices_fd = -1,
        .host_uid = r->park.uid,
        .host_gid = r->park.gid,
        .rlimit_pids = r->park.rlimit_pids,
        .rlimit_memory = r->park.rlimit_memory,
        .sync_fd = r->fds[HC_PARK_SYNC],
        .stdin_fd = -1, /* standard input comes with the job */
        .stdout_fd = r->fds[HC_PARK_STDOUT],
        .stderr_fd = r->fds[HC_PARK_STDERR],
        .handover_fd = -1,
        .status_fd = r->fds[HC_PARK_STATUS],
        .filter = {.len = (unsigned short)(zygote->filters.first.len / sizeof(struct sock_filter)),
                   .filter = (struct sock_filter *)(uintptr_t)zygote->filters.first.data},
    };
    struct inherited given = {.plan = &plan};
    const struct hc_birth birth = {.uid = r->park.uid,
                                   .gid = r->park.gid,
                                   .network_fd = r->fds[HC_PARK_NETWORK],
                                   .first = become_cell,
                                   .arg = &given};
    PyOS_BeforeFork();
    if (sigsetjmp(given.guest, 0))
        become_guest(zygote);
    pid_t pid = hc_birth_give(&birth);
    int error = errno;
    PyOS_AfterFork_Parent();
    if (pid < 0)
        send_refusal(r->fds[HC_PARK_SYNC], error);
}

static _Noreturn void refuse_policy(const struct hc_error *err)
{
    (void)dprintf(STDERR_FILENO, "%s\n", err->text);
    _exit(HC_EXIT_CONFIG);
}

_Noreturn void hc_zygote_run(struct hc_handover *own)
{
    struct hc_error err;
    prctl(PR_SET_NAME, "hotcell-zygote");
    if (hc_copyable_reserve(&err) < 0 || hc_handover_parse(own, &err) < 0)
        hc_fail_shim(&err);
    hc_settle_begin();
    hc_start(&own->job);
    for_sessions = own->job.session;
    call_warm("up", own);
    warm_up(own);
    if (hc_builtins_prepare() < 0)
        hc_fail_python("copy the built-in names");
    if (hc_copyable(&open_files, &err) < 0)
        refuse_policy(&err);
    hc_immortal_make_all();
    hc_settle();
    run_sample(own);
    init_fd = hc_init_image(&err);
    if (init_fd < 0 || hc_birth_prepare(&err) < 0)
        hc_fail_shim(&err);
    (void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps the children */
    if (hc_wire_send(HC_FD_CONTROL, HC_FRAME_READY, NULL, 0, &err) < 0)
        hc_fail_shim(&err);
    for (;;) {
        struct request r = {.fds = {-1, -1, -1, -1, -1}};
        int rc = read_request(&r, &err);
        if (rc < 0)
            hc_fail_shim(&err);
        if (rc > 0)
            _exit(HC_EXIT_OK);
        park_cell(&r, own);
        request_finish(&r);
    }
}
