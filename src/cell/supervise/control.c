#include "cell/supervise/control.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/packet.h"
#include "base/utf8.h"
#include "cell/supervise/enforce.h"
#include "cell/supervise/output_pipe.h"
#include "cell/supervise/early_exit.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define CELL_FILTERS  3     /* filters: the first, the reporting one, the job's (cell/filter.h) */
#define FRAMES_MAX    10000 /* most packets from one cell; the guest's process can send any number */
#define SPARE_PACKETS 2     /* packets allowed per call of a tool, besides those that its arguments fill */

static uint64_t status_field(const char *text, const char *key, int base)
{
    return hc_status_field(text, key, base, ~0ULL); /* a missing field fails the check */
}

/* The interpreter reports that it is ready. Before it may read the code, check its rights from outside, in
 * /proc. */
static int check_interpreter(struct hc_supervisor *s, pid_t pid, struct hc_error *err)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    const char *text = hc_status_read(AT_FDCWD, path);
    if (!text)
        return hc_fail(err, errno, "read %s", path);
    char ids[96];
    (void)snprintf(ids, sizeof ids, "\nUid:\t%u\t%u\t%u\t%u\n", s->uid, s->uid, s->uid, s->uid);
    if (!strstr(text, ids))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the interpreter does not run as uid %u", s->uid);
    uint64_t caps = status_field(text, "CapEff", 16) | status_field(text, "CapPrm", 16) |
                    status_field(text, "CapInh", 16) | status_field(text, "CapBnd", 16) |
                    status_field(text, "CapAmb", 16);
    uint64_t mode = status_field(text, "Seccomp", 10);
    uint64_t filters = status_field(text, "Seccomp_filters", 10);
    uint64_t nnp = status_field(text, "NoNewPrivs", 10);
    if ((caps != 0 && !hc_weak(HC_WEAK_CAPABILITIES)) || (nnp != 1 && !hc_weak(HC_WEAK_NO_NEW_PRIVS)))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the interpreter has capabilities or may gain some");
    if (hc_weak(HC_WEAK_SECCOMP))
        return 0;
    if (mode != 2 || filters != (uint64_t)s->filters + CELL_FILTERS)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "the job's seccomp filters are not on (mode %llu, %llu filters)",
                          (unsigned long long)mode, (unsigned long long)filters);
    (void)snprintf(
        s->job_filter_evidence, sizeof s->job_filter_evidence,
        "/proc/%d/status before the code was read: Seccomp 2, Seccomp_filters %llu, CapEff 0, NoNewPrivs 1",
        pid, (unsigned long long)filters);
    return 0;
}

static void answer_ready(struct hc_loop *l, pid_t pid)
{
    struct hc_supervisor *s = l->s;
    s->ready_us = hc_now_us();
    /* Open the pidfd before the check, so that both are about the same process. */
    l->interpreter = (int)syscall(SYS_pidfd_open, pid, 0);
    s->ready_pid = pid;
    if (check_interpreter(s, pid, &s->launch) < 0) {
        (void)hc_ctx(&s->launch, "check the cell");
        hc_loop_end(s, HC_END_LAUNCH);
        return;
    }
    struct hc_frame_head go = {.type = HC_FRAME_GO, .flags = HC_FRAME_LAST};
    /* If the interpreter has died meanwhile, its pidfd reports that. */
    if (hc_packet_send(s->control_fd, &go, sizeof go, &s->starter_fd, s->beside != NULL, MSG_DONTWAIT) < 0 &&
        errno != EPIPE && errno != ECONNRESET) {
        hc_loop_fail(s, errno, "let the interpreter begin");
        return;
    }
    s->go_us = hc_now_us();
    hc_output_relay_release(&l->err.relay);
    hc_output_pipe_sync(l, &l->err);
}

/* Receive one packet. Returns its bytes, 0 at the end of file, or -1 with errno. *sender is the process that
 * the kernel names; *passed is a descriptor that came with the packet, which the caller owns from here on.
 * There is room for one only. */
static ssize_t receive_packet(int fd, void *data, size_t size, pid_t *sender, int *passed)
{
    struct hc_packet p = {.fds = passed, .room = 1};
    hc_close_fd(passed);
    ssize_t n = hc_packet_receive(fd, data, size, &p, MSG_DONTWAIT);
    *sender = p.sender;
    return n;
}

static void close_control(struct hc_loop *l)
{
    hc_loop_unwatch(l, l->s->control_fd);
    l->control_open = false;
    if (l->s->tools)
        hc_toolbox_stop(l->s->tools);
}

void hc_control_answer(struct hc_loop *l)
{
    if (!l->s->tools || !l->control_open || l->dead)
        return;
    bool left = hc_toolbox_send(l->s->tools, l->s->control_fd);
    if (left != l->answering)
        hc_loop_rewatch(l, l->s->control_fd, HC_ON_CONTROL, EPOLLIN | (left ? EPOLLOUT : 0));
    l->answering = left;
}

/* The guest's process reports a refusal (of the guard or an import). */
static int handle_denial(struct hc_supervisor *s, struct hc_error *err)
{
    struct hc_denial d;
    if (hc_denial_parse(&d, s->inbox.body.data, s->inbox.body.len, err) < 0)
        return -1;
    hc_denials_note(s->denials, &d, false);
    return 0;
}

/* The program calls a tool. If the cell is dead, the call is dropped. */
static int handle_tool_call(struct hc_loop *l, struct hc_error *err)
{
    const struct hc_supervisor *s = l->s;
    if (!s->tools)
        return hc_fail(err, 0, "frame 'tool call': there are no tools");
    if (l->dead)
        return 0;
    int rc = hc_toolbox_call(s->tools, s->inbox.body.data, s->inbox.body.len, err);
    hc_control_answer(l);
    return rc;
}

#define MOST_PROMPT 4096 /* most bytes of a prompt that are passed on */

/* The program calls input(). Its prompt is redacted as its output is. */
static int handle_input(const struct hc_supervisor *s, struct hc_error *err)
{
    struct hc_json j;
    hc_autobuf prompt = {0};
    hc_autobuf text = {0};
    if (!s->input_requested)
        return hc_fail(err, 0, "frame 'input': the run is not interactive");
    if (hc_json_parse(&j, "input", s->inbox.body.data, s->inbox.body.len, err) < 0)
        return -1;
    const char *said = hc_json_text(j.root, "prompt");
    size_t len = strlen(said);
    len = len > MOST_PROMPT ? hc_utf8_boundary(said, len, MOST_PROMPT) : len;
    struct hc_redaction *x = s->redactor ? hc_redaction_new(s->redactor, false) : NULL;
    if (x) {
        hc_redaction_feed(x, said, len, &prompt);
        hc_redaction_finish(x, false, &prompt);
    } else if (!s->redactor) {
        (void)hc_buf_add(&prompt, said, len);
    }
    hc_redaction_free(x);
    hc_json_finish(&j);
    (void)hc_buf_str(&text, "{\"prompt\": ");
    hc_json_quote(&text, prompt.data ? prompt.data : "", prompt.len);
    (void)hc_buf_str(&text, "}");
    if (!text.failed)
        s->input_requested(s->input_ctx, text.data, text.len);
    return 0;
}

/* Without a listener the reporting filter's refusals still hold, but are not reported. */
static int handle_listener(struct hc_loop *l, int fd, struct hc_error *err)
{
    if (fd < 0)
        return l->s->learned ? hc_fail(err, 0, "the kernel gives no listener, so that nothing can be learnt")
                             : 0;
    return hc_listener_open(&l->s->listener, fd, err) < 0
               ? -1
               : hc_loop_watch(l, l->s->listener.fd, HC_ON_REFUSED, EPOLLIN, err);
}

/* Whether the packet is the first of a new copy. Only the process that was told to make a copy can make
 * processes (cell/seccomp/fork_permit.c), so a sender that did not exist before is its copy. */
static bool is_new_copy(const struct hc_supervisor *s, pid_t sender, const char *packet, size_t len)
{
    if (!len || packet[0] != HC_FRAME_KEPT || !hc_inbox_expects(&s->inbox, HC_FRAME_KEPT))
        return false;
    for (size_t i = 0; i < s->other_count; i++)
        if (s->others[i] == sender)
            return false;
    return true;
}

/* Whether to ignore the packet because of its sender: waiting copies, killed runs and processes that the
 * program forked hold the channel, too. Only the program itself announces figures. */
static bool is_stranger(const struct hc_supervisor *s, pid_t sender, const char *packet, size_t len)
{
    if (!s->run_pid && len && packet[0] == HC_FRAME_FIGURE)
        return sender != s->ready_pid;
    if (!s->run_pid || sender == s->run_pid)
        return false;
    return !is_new_copy(s, sender, packet, len);
}

/* Number of packets that the calls of a job's tools may need. */
static int64_t tool_packets(const struct hc_tools *tools)
{
    int64_t packets = 0;
    for (size_t i = 0; i < tools->count; i++)
        packets += tools->items[i].calls * (tools->items[i].argument_bytes / HC_FRAME_CHUNK + SPARE_PACKETS);
    return packets;
}

/* Check one packet against the protocol, and handle it. Returns the frame's type, or -1. */
static int handle_packet(struct hc_loop *l, const void *packet, size_t len, int *passed, struct hc_error *err)
{
    int64_t most = FRAMES_MAX + tool_packets(&l->s->policy->tools);
    if (++l->frames > most)
        return hc_fail(err, 0, "more than %lld packets", (long long)most);
    int type = hc_inbox_feed(&l->s->inbox, packet, len, err);
    int rc = 0;
    if (type == HC_FRAME_FILTERED)
        rc = handle_listener(l, hc_take(passed), err);
    else if (type == HC_FRAME_DENIAL)
        rc = handle_denial(l->s, err);
    else if (type == HC_FRAME_TOOL_CALL)
        rc = handle_tool_call(l, err);
    else if (type == HC_FRAME_FIGURE)
        rc = hc_figures_handle(l->s, err);
    else if (type == HC_FRAME_INPUT)
        rc = handle_input(l->s, err);
    return rc < 0 ? -1 : type;
}

void hc_control_drop(struct hc_loop *l)
{
    static char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK + 1];
    for (int i = 0; i < FRAMES_MAX && l->control_open; i++) {
        pid_t sender;
        hc_autofd passed = -1;
        ssize_t n = receive_packet(l->s->control_fd, packet, sizeof packet, &sender, &passed);
        if (n < 0 || (n == 0 && !sender))
            return;
    }
}

void hc_control_read(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    static char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK + 1];
    for (int rounds = 0; (rounds < 64 || l->dead) && l->control_open; rounds++) {
        pid_t sender;
        hc_autofd passed = -1; /* closed here, unless handle_packet takes it */
        ssize_t n = receive_packet(s->control_fd, packet, sizeof packet, &sender, &passed);
        if (n < 0 && errno == EAGAIN && !l->dead)
            return;
        if (n < 0 && errno != EAGAIN && errno != ECONNRESET)
            hc_loop_fail(s, errno, "hear from the interpreter");
        /* Both the end and an empty packet read as nothing; only the latter has a sender. */
        if (n < 0 || (n == 0 && !sender)) {
            close_control(l);
            return;
        }
        if (is_stranger(s, sender, packet, (size_t)n))
            continue;
        struct hc_error err = {0};
        int type = handle_packet(l, packet, (size_t)n, &passed, &err);
        if (type < 0 && s->session) {
            if (s->end == HC_END_NONE) /* report only the first error */
                (void)snprintf(s->protocol, sizeof s->protocol, "%.200s", err.text);
            hc_loop_end(s, HC_END_PROTOCOL);
        } else if (type < 0) {
            /* The job goes on: a guest that breaks the protocol loses only its own report. */
            (void)snprintf(s->protocol, sizeof s->protocol, "%.200s", err.text);
            (void)shutdown(s->control_fd,
                           SHUT_RDWR); /* a process that goes on sending gets EPIPE instead of waiting */
            close_control(l);
        } else if (type == HC_FRAME_READY) {
            answer_ready(l, sender);
        } else if (type == HC_FRAME_REPORT) {
            hc_early_exit_reported(l);
        } else if (type == HC_FRAME_KEPT) {
            s->kept_sender = sender;
        } else if (type == HC_FRAME_RESUMED) {
            s->resumed_sender = sender;
        } else if (type == HC_FRAME_RUN) {
            hc_enforce_soft(l);
        } else if (type == HC_FRAME_CHECKED) {
            (void)hc_buf_add(&s->checked, s->inbox.body.data, s->inbox.body.len);
        }
    }
}

/* Whether the report is a possible result of waitid. */
static bool is_end(const struct hc_exit_report *r)
{
    if (r->cpu_user_us < 0 || r->cpu_system_us < 0 || r->interpreter_peak < 0)
        return false;
    if (r->code == CLD_EXITED)
        return r->status >= 0 && r->status <= 255;
    return (r->code == CLD_KILLED || r->code == CLD_DUMPED) && r->status > 0 && r->status < NSIG;
}

void hc_control_read_status(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    struct hc_exit_report report;
    ssize_t n = TEMP_FAILURE_RETRY(recv(s->status_fd, &report, sizeof report, MSG_DONTWAIT));
    if (n < 0 && errno == EAGAIN && !l->dead)
        return;
    if (n < 0 && errno != EAGAIN && errno != ECONNRESET)
        hc_loop_fail(s, errno, "hear how the interpreter ended");
    if (n == (ssize_t)sizeof report && s->beside)
        s->beside->ended(s->beside->ctx, &report);
    /* In a session the first process reports the end of each process. */
    if (n == (ssize_t)sizeof report && s->run_pid && (report.pid != s->run_cell_pid || s->exit_known)) {
        s->ended_peak = MAX(s->ended_peak, report.interpreter_peak);
        return;
    }
    if (n == (ssize_t)sizeof report && !s->exit_known && is_end(&report)) {
        s->exit = report;
        s->exit_known = true;
        return;
    }
    hc_loop_unwatch(l, s->status_fd);
    l->status_open = false;
}

void hc_control_drop_ends(struct hc_loop *l)
{
    struct hc_exit_report next;
    const struct hc_supervisor *s = l->s;
    while (l->status_open && s->run_pid &&
           recv(s->status_fd, &next, sizeof next, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof next &&
           next.pid != s->run_cell_pid)
        hc_control_read_status(l);
}
