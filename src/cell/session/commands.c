#include "cell/session/command_parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/packet.h"
#include "base/status.h"
#include "job/job.h"
#include "wire/handover.h"
#include "wire/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the epoll ---- */

int hc_command_watch(struct hc_commands *c, int fd, enum hc_command_occasion on, size_t place,
                     uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.u64 = (uint64_t)place << 8 | on};
    return epoll_ctl(c->beside.epoll, EPOLL_CTL_ADD, fd, &ev);
}

void hc_command_unwatch(struct hc_commands *c, int fd)
{
    (void)epoll_ctl(c->beside.epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* ---- events ---- */

bool hc_command_tell(struct hc_command *p, bool may_drop)
{
    struct hc_buf *lines = &p->events.lines;
    bool taken = !lines->len || p->s->given.commanded(p->s->given.ctx, lines->data, lines->len, may_drop);
    hc_buf_clear(lines);
    return taken;
}

static void tell_started(struct hc_command *p)
{
    (void)hc_buf_fmt(&p->events.lines, "{\"event\": \"started\", \"command\": \"%s\", \"pid\": %d}\n", p->id,
                     (int)p->process.cell_pid);
    (void)hc_command_tell(p, false);
}

static void tell_failure(struct hc_command *p, const char *why)
{
    (void)hc_buf_fmt(&p->events.lines, "{\"event\": \"error\", \"command\": \"%s\", \"message\": ", p->id);
    hc_json_quote(&p->events.lines, why, strlen(why));
    (void)hc_buf_str(&p->events.lines, "}\n");
    (void)hc_command_tell(p, false);
}

static void put_process(struct hc_buf *out, const struct hc_exit_report *end)
{
    const char *name = sigabbrev_np(end->status);
    if (end->code == CLD_EXITED)
        (void)hc_buf_fmt(out, "{\"exit\": %d}", end->status);
    else if (name)
        (void)hc_buf_fmt(out, "{\"signal\": %d, \"name\": \"SIG%s\"}", end->status, name);
    else
        (void)hc_buf_fmt(out, "{\"signal\": %d, \"name\": \"SIG%d\"}", end->status, end->status);
}

static void put_stream(struct hc_buf *out, const char *name, const struct hc_stream *st)
{
    (void)hc_buf_fmt(out, ", \"%s\": {\"bytes\": %lld, \"truncated\": %s}", name, (long long)st->bytes,
                     st->truncated ? "true" : "false");
}

/* What ended the command, if the launcher did not: its first process itself. */
static void judge(struct hc_command *p)
{
    if (p->status != HC_STATUS_OK || (p->end.code == CLD_EXITED && p->end.status == 0))
        return;
    p->status = HC_STATUS_ERROR;
    if (p->end.code == CLD_EXITED)
        (void)snprintf(p->reason, sizeof p->reason, "the command failed with exit status %d", p->end.status);
    else
        (void)snprintf(p->reason, sizeof p->reason, "the command was ended by signal %d", p->end.status);
    const struct hc_cgroup *cg = p->s->launch.sup.cgroup;
    struct hc_cgroup_usage used;
    if (cg->fd < 0 || p->end.code == CLD_EXITED || p->end.status != SIGKILL)
        return;
    hc_cgroup_usage(cg, &used);
    if (used.oom_kills <= p->oom_kills)
        return;
    p->status = HC_STATUS_MEMORY;
    (void)snprintf(p->reason, sizeof p->reason,
                   "was killed as the cell's memory was used up (limits.memory)");
}

static void tell_end(struct hc_command *p)
{
    struct hc_buf *out = &p->events.lines;
    judge(p);
    (void)hc_buf_fmt(out, "{\"event\": \"exited\", \"command\": \"%s\", \"process\": ", p->id);
    put_process(out, &p->end);
    (void)hc_buf_fmt(out, ", \"status\": \"%s\", \"reason\": ", hc_status_name(p->status));
    if (p->reason[0])
        hc_json_quote(out, p->reason, strlen(p->reason));
    else
        (void)hc_buf_str(out, "null");
    (void)hc_buf_fmt(out, ", \"wall\": %.3f, \"cpu\": %.3f", (double)(hc_now_us() - p->began_us) / 1e6,
                     (double)(p->user_us + p->system_us) / 1e6);
    put_stream(out, "stdout", &p->out[0].kept);
    put_stream(out, "stderr", &p->out[1].kept);
    (void)hc_buf_str(out, "}\n");
    (void)hc_command_tell(p, false);
}

void hc_session_list_commands(const struct hc_session *s, struct hc_buf *out)
{
    const char *comma = "";
    (void)hc_buf_str(out, "[");
    for (size_t i = 0; s->commands && i < HC_SESSION_COMMANDS; i++) {
        const struct hc_command *p = s->commands->list[i];
        if (!p || !p->process.pid)
            continue;
        (void)hc_buf_fmt(out, "%s{\"command\": \"%s\", \"pid\": %d, \"argv\": %s, \"wall\": %.3f}", comma,
                         p->id, (int)p->process.cell_pid, p->argv, (double)(hc_now_us() - p->began_us) / 1e6);
        comma = ", ";
    }
    (void)hc_buf_str(out, "]");
}

/* ---- the list ---- */

struct hc_command *hc_command_find(const struct hc_session *s, const char *id, struct hc_error *err)
{
    for (size_t i = 0; s->commands && i < HC_SESSION_COMMANDS; i++) {
        struct hc_command *p = s->commands->list[i];
        if (p && p->process.pid && strcmp(p->id, id) == 0)
            return p;
    }
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "there is no command '%.64s' that goes on", id);
    return NULL;
}

static bool has_id(const struct hc_commands *c, const char *id)
{
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        if (c->list[i] && strcmp(c->list[i]->id, id) == 0)
            return true;
    return false;
}

static bool is_empty(const struct hc_commands *c)
{
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        if (c->list[i])
            return false;
    return true;
}

static void command_free(struct hc_command *p)
{
    if (!p)
        return;
    hc_command_close_pipes(p);
    hc_process_finish(&p->process);
    hc_events_finish(&p->events);
    free(p->argv);
    free(p);
}

/* Forget a command, whose CPU time counts on. */
static void drop(struct hc_commands *c, size_t place)
{
    struct hc_command *p = c->list[place];
    p->s->launch.sup.copies_due_us = 0; /* its memory is free again: measure before anything else is ended */
    c->ended_user_us += p->user_us;
    c->ended_system_us += p->system_us;
    c->list[place] = NULL;
    command_free(p);
    if (is_empty(c))
        (void)hc_loop_set_timer(c->ticker, 0, 0);
}

/* ---- starting ---- */

static struct hc_command *new_command(struct hc_session *s, const char *id, const struct hc_job *job,
                                      const struct hc_policy *policy)
{
    struct hc_commands *c = s->commands;
    struct hc_command *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->s = s;
    p->number = ++c->numbers;
    p->policy = *policy;
    p->gate = p->in_fd = p->out[0].fd = p->out[1].fd = p->process.pidfd = -1;
    p->out[0].relay.fd = p->out[1].relay.fd = -1;
    p->asked_us = hc_now_us();
    p->argv = strdup(job->code);
    p->timeout_ms = hc_job_override(job, "limits.timeout") ? policy->limits.timeout_ms : 0;
    p->cpu_ms = hc_job_override(job, "limits.cpu") ? policy->limits.cpu_ms : 0;
    if (id)
        (void)snprintf(p->id, sizeof p->id, "%s", id);
    for (uint32_t n = p->number; !id && (!p->id[0] || has_id(c, p->id)); n++)
        (void)snprintf(p->id, sizeof p->id, "c%u", n);
    p->events.command = p->id;
    return p;
}

static int fail_starter(bool late, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_DATA, 0,
                      "start: the cell's process that starts commands %s: open another session",
                      late ? "does not answer" : "was killed by a program");
}

/* Send the command to the starter with its ends of the pipes. */
static int order(struct hc_command *p, const struct hc_job *job, struct hc_error *err)
{
    struct hc_job numbered = *job; /* its pointers are borrowed from `job` */
    hc_autobuf bytes = {0};
    const struct hc_handover_filters none = {0};
    const struct hc_starter_packet packet = {.word = HC_STARTER_START, .number = p->number};
    int fds[HC_STARTER_FDS] = {-1, -1, -1, -1, -1};
    numbered.run = 1; /* its directory is one of the cell */
    numbered.session = true;
    int rc = hc_command_open_pipes(p, fds + HC_STARTER_STDIN, err);
    if (rc == 0)
        rc = hc_handover_write(HC_HANDOVER_COPY, &numbered, &p->policy, &none, &bytes, err);
    if (rc == 0 &&
        (fds[HC_STARTER_ORDER] = hc_sealed_memfd("hotcell-command", bytes.data, bytes.len, err)) < 0)
        rc = -1;
    if (rc == 0 &&
        hc_packet_send(p->s->commands->fd, &packet, sizeof packet, fds, HC_STARTER_FDS, MSG_DONTWAIT) < 0)
        rc = fail_starter(errno == EAGAIN, err);
    for (size_t i = 0; i < HC_STARTER_FDS; i++)
        hc_close_fd(&fds[i]);
    return rc;
}

static int check_start(const struct hc_session *s, const char *id, const struct hc_job *job, size_t *place,
                       struct hc_error *err)
{
    const struct hc_commands *c = s->commands;
    char why[256];
    if (!c)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "start: the session's policy '%s' lets no commands be executed (commands.allow)",
                          s->policy.name);
    if (!job->is_command)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "start: expected a command, a list of strings");
    if (job->given || job->vars_text || job->args || job->has_stdin || job->return_count || job->context)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "start: a command beside the runs has command, env, workdir and limits");
    if (hc_job_refuse_input(job, &s->policy, why, sizeof why))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "start: %s", why);
    if (id && has_id(c, id))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "start: the command '%s' goes on", id);
    if (!c->starter.pid || c->late)
        return fail_starter(c->late, err);
    for (*place = 0; *place < HC_SESSION_COMMANDS && c->list[*place];)
        ++*place;
    return *place < HC_SESSION_COMMANDS
               ? 0
               : hc_fail_as(err, HC_EXIT_DATA, 0, "start: %d commands go on, and no more may at a time",
                            HC_SESSION_COMMANDS);
}

int hc_session_start_command(struct hc_session *s, const char *id, const struct hc_job *job,
                             const struct hc_policy *policy, struct hc_error *err)
{
    size_t place;
    if (check_start(s, id, job, &place, err) < 0)
        return -1;
    struct hc_command *p = new_command(s, id, job, policy);
    if (!p || !p->argv) {
        command_free(p);
        return hc_fail_as(err, HC_EXIT_DATA, ENOMEM, "start");
    }
    s->commands->list[place] = p;
    if (order(p, job, err) == 0 && hc_command_watch_pipes(p, place, err) == 0)
        return hc_loop_set_timer(s->commands->ticker, HC_WATCH_MS, HC_WATCH_MS);
    drop(s->commands, place);
    return hc_exit_as(err, HC_EXIT_DATA);
}

/* ---- the starter's answers ---- */

static struct hc_command *by_number(const struct hc_commands *c, uint32_t number)
{
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        if (c->list[i] && c->list[i]->number == number && !c->list[i]->process.pid)
            return c->list[i];
    return NULL;
}

/* The pidfd is opened before /proc is read, so both are about the same process. It waits at its gate. */
static int open_command(struct hc_command *p, pid_t pid)
{
    char path[48];
    struct hc_process made = {.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    const char *text = made.pidfd < 0 ? NULL : hc_status_read(AT_FDCWD, path);
    const long inside = text ? hc_status_inner_id(text, "NStgid") : -1;
    if (inside <= 0 || hc_process_ended(&made)) {
        hc_process_finish(&made);
        return -1;
    }
    made.cell_pid = (pid_t)inside;
    p->process = made;
    return 0;
}

void hc_commands_begin_run(struct hc_session *s)
{
    if (!s->commands)
        return;
    s->commands->beside_run = false;
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        s->commands->beside_run |= s->commands->list[i] != NULL;
}

bool hc_commands_were_beside(const struct hc_session *s)
{
    return s->commands && s->commands->beside_run;
}

static void let_begin(struct hc_command *p, pid_t pid)
{
    struct hc_cgroup_usage used = {0};
    if (p->s->launch.sup.cgroup->fd >= 0)
        hc_cgroup_usage(p->s->launch.sup.cgroup, &used);
    p->oom_kills = used.oom_kills;
    if (open_command(p, pid) < 0) {
        p->failed = true;
        return;
    }
    hc_process_set_oom_score(&p->process, true);
    p->s->commands->beside_run = true;
    p->began_us = hc_now_us();
    tell_started(p);
    (void)!write(p->gate, "", 1);
    hc_close_fd(&p->gate);
}

static void lose_starter(struct hc_commands *c)
{
    hc_command_unwatch(c, c->fd);
    hc_close_fd(&c->fd);
    hc_process_finish(&c->starter);
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        if (c->list[i] && !c->list[i]->process.pid)
            c->list[i]->failed = true;
}

/* Only the starter, and a command before it begins, has the other end of the socket. */
void hc_commands_hear(struct hc_session *s)
{
    struct hc_commands *c = s->commands;
    struct hc_starter_packet packet = {0};
    struct hc_error ignored;
    while (c->fd >= 0) {
        struct hc_packet p = {0};
        ssize_t n = hc_packet_receive(c->fd, &packet, sizeof packet, &p, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            lose_starter(c);
            return;
        }
        struct hc_command *command = by_number(c, packet.number);
        c->late = false;
        if (packet.word == HC_STARTER_READY && !c->had_starter)
            c->had_starter = hc_session_open_process(s, p.sender, &c->starter, &ignored) == 0;
        else if (packet.word == HC_STARTER_STARTED && command && !command->failed)
            let_begin(command, p.sender);
        else if (packet.word == HC_STARTER_FAILED && command) {
            command->failed = true;
            command->out_of_memory = packet.error == ENOMEM;
        }
    }
}

/* ---- work ---- */

static void handle(struct hc_session *s, const struct epoll_event *event)
{
    struct hc_commands *c = s->commands;
    struct hc_command *p = c->list[(event->data.u64 >> 8) % HC_SESSION_COMMANDS];
    switch ((enum hc_command_occasion)(event->data.u64 & 0xff)) {
    case HC_COMMAND_STARTER:
        hc_commands_hear(s);
        break;
    case HC_COMMAND_TICK:
        hc_loop_drain_timer(c->ticker);
        hc_commands_tick(s);
        break;
    case HC_COMMAND_OUT:
        if (p)
            hc_command_read(p, 0);
        break;
    case HC_COMMAND_ERR:
        if (p)
            hc_command_read(p, 1);
        break;
    case HC_COMMAND_IN:
        if (p)
            hc_command_write(p);
        break;
    }
}

static void work(void *ctx)
{
    struct hc_session *s = ctx;
    struct epoll_event events[16];
    int n = epoll_wait(s->commands->beside.epoll, events, 16, 0);
    for (int i = 0; i < n; i++)
        handle(s, &events[i]);
}

/* Pid 1's sums tell the CPU time of the process that has ended, with what it has waited for itself. */
static void note_end(void *ctx, const struct hc_exit_report *end)
{
    struct hc_session *s = ctx;
    struct hc_commands *c = s->commands;
    const int64_t user_us = end->cpu_user_us - c->reaped_user_us;
    const int64_t system_us = end->cpu_system_us - c->reaped_system_us;
    c->reaped_user_us = end->cpu_user_us;
    c->reaped_system_us = end->cpu_system_us;
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++) {
        struct hc_command *p = c->list[i];
        if (!p || p->exited || !p->process.pid || p->process.cell_pid != end->pid)
            continue;
        p->exited = true;
        p->end = *end;
        p->user_us = MAX(p->user_us, user_us);
        p->system_us = MAX(p->system_us, system_us);
    }
}

static void cpu(void *ctx, int64_t *user_us, int64_t *system_us)
{
    hc_commands_cpu(ctx, user_us, system_us);
}

static const char *why_failed(const struct hc_commands *c, const struct hc_command *p)
{
    if (c->late)
        return "start: the process that starts commands does not answer";
    if (!c->starter.pid)
        return "start: the process that starts commands was killed by a program";
    return p->out_of_memory ? "start: there was no memory for the command's process (limits.memory)"
                            : "start: no process could be made for the command (limits.pids)";
}

void hc_commands_tend(struct hc_session *s)
{
    struct hc_commands *c = s->commands;
    for (size_t i = 0; c && i < HC_SESSION_COMMANDS; i++) {
        struct hc_command *p = c->list[i];
        if (!p || !(p->failed || p->exited))
            continue;
        if (p->failed) {
            tell_failure(p, why_failed(c, p));
        } else {
            hc_command_drain(p);
            tell_end(p);
            c->sweep = true;
        }
        drop(c, i);
    }
}

int hc_session_beside_fd(const struct hc_session *s)
{
    return s->commands && (s->commands->sweep || !is_empty(s->commands)) ? s->loop.epoll : -1;
}

int hc_session_beside(struct hc_session *s, struct hc_error *err)
{
    const struct hc_timers none = {-1, -1, -1};
    if (hc_loop_turn(&s->loop, &none, err) < 0)
        return -1;
    hc_commands_tend(s);
    if (s->loop.dead || !s->commands->sweep)
        return 0;
    s->commands->sweep = false;
    (void)hc_session_kill_unknown(s);
    hc_commands_tend(s);
    return 0;
}

/* ---- the beginning and the end ---- */

static int make_socket(struct hc_commands *c, struct hc_error *err)
{
    const int on = 1;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return hc_fail(err, errno, "socketpair");
    c->fd = ends[0];
    c->theirs = ends[1];
    return setsockopt(c->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? hc_fail(err, errno, "SO_PASSCRED")
                                                                          : 0;
}

int hc_commands_open(struct hc_session *s, struct hc_error *err)
{
    if (!hc_policy_has_commands(&s->policy) || !s->given.commanded)
        return 0;
    struct hc_commands *c = s->commands = calloc(1, sizeof *c);
    if (!c)
        return hc_fail(err, ENOMEM, "session");
    c->fd = c->theirs = c->ticker = c->starter.pidfd = -1;
    c->beside = (struct hc_beside){.ctx = s,
                                   .epoll = epoll_create1(EPOLL_CLOEXEC),
                                   .work = work,
                                   .ended = note_end,
                                   .yield = hc_commands_yield,
                                   .larger = hc_commands_larger,
                                   .cpu = cpu};
    if (c->beside.epoll < 0)
        return hc_fail(err, errno, "epoll_create1");
    c->ticker = hc_loop_timer(0, 0, err);
    if (c->ticker < 0 || make_socket(c, err) < 0)
        return -1;
    if (hc_command_watch(c, c->fd, HC_COMMAND_STARTER, 0, EPOLLIN) < 0 ||
        hc_command_watch(c, c->ticker, HC_COMMAND_TICK, 0, EPOLLIN) < 0)
        return hc_fail(err, errno, "epoll_ctl");
    s->launch.sup.beside = &c->beside;
    s->launch.sup.starter_fd = c->theirs;
    return 0;
}

void hc_commands_given(struct hc_session *s)
{
    if (s->commands)
        hc_close_fd(&s->commands->theirs);
    s->launch.sup.starter_fd = -1;
}

bool hc_commands_ready(const struct hc_session *s)
{
    return !s->commands || s->commands->starter.pid || s->commands->fd < 0;
}

void hc_commands_close(struct hc_session *s, const char *why)
{
    struct hc_commands *c = s->commands;
    for (size_t i = 0; c && i < HC_SESSION_COMMANDS; i++) {
        struct hc_command *p = c->list[i];
        if (p && !p->process.pid) {
            p->failed = true;
        } else if (p && !p->exited) {
            p->exited = true;
            p->end = (struct hc_exit_report){.code = CLD_KILLED, .status = SIGKILL};
            if (p->status == HC_STATUS_OK)
                (void)snprintf(p->reason, sizeof p->reason, "%s", why);
            p->status = p->status == HC_STATUS_OK ? HC_STATUS_KILLED : p->status;
        }
    }
    hc_commands_tend(s);
}

void hc_commands_finish(struct hc_session *s)
{
    struct hc_commands *c = s->commands;
    if (!c)
        return;
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        command_free(c->list[i]);
    hc_process_finish(&c->starter);
    hc_close_fd(&c->fd);
    hc_close_fd(&c->theirs);
    hc_close_fd(&c->ticker);
    hc_close_fd(&c->beside.epoll);
    free(c);
    s->commands = NULL;
    s->launch.sup.beside = NULL;
}
