#include "cell/session/session_files.h"
#include "cell/session/session_parts.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/packet.h"
#include "cell/supervise/control.h"
#include "cell/supervise/enforce.h"
#include "cell/supervise/peak.h"
#include "cell/supervise/watch.h"
#include "inside/weak.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>

static bool run_ended(const struct hc_supervisor *sup)
{
    return sup->exit_known || sup->inbox.state == HC_TALK_OVER;
}

bool hc_session_run_ended(const struct hc_session *s)
{
    return run_ended(&s->launch.sup);
}

static bool is_copied(const struct hc_session *s)
{
    return s->launch.sup.kept_sender || run_ended(&s->launch.sup);
}

static bool is_resumed(const struct hc_session *s)
{
    return s->launch.sup.resumed_sender || s->launch.sup.exit_known;
}

static bool has_exited(const struct hc_session *s)
{
    return s->launch.sup.exit_known;
}

/* Has the run's process or the whole cell ended? */
static bool has_died(const struct hc_session *s)
{
    return has_exited(s) || s->loop.dead;
}

/* Whether the run is over. A process that the launcher kills must be dead for that, whatever it has sent
 * before. */
static bool is_over(const struct hc_session *s)
{
    const struct hc_supervisor *sup = &s->launch.sup;
    return sup->end == HC_END_NONE ? run_ended(sup) : sup->exit_known;
}

/* ---- one run ---- */

void hc_session_reset(struct hc_session *s, struct hc_manifest *m, const struct hc_policy *policy)
{
    struct hc_supervisor *sup = &s->launch.sup;
    s->launch.m = m;
    sup->policy = policy;
    sup->out = &m->out;
    sup->err = &m->err;
    sup->denials = &m->denials;
    sup->samples = &m->samples;
    hc_samples_begin(sup->samples, hc_now_us(), HC_SAMPLE_US);
    sup->end = HC_END_NONE;
    hc_buf_clear(&sup->checked);
    sup->protocol[0] = '\0';
    sup->warned = HC_WARNED_NOT;
    sup->killed_between_runs = sup->ended_before = false;
    sup->host_oom_kills = sup->cgroup->fd < 0 ? hc_watch_oom_kills() : -1;
    sup->figure_sink = (struct hc_figure_sink){s->given.figured, s->given.ctx};
    sup->figures_announced = 0;
    hc_figure_list_finish(&sup->drawn);
    sup->memory_peak = sup->tasks_peak = 0;
    sup->ended_peak = MAX(sup->ended_peak, sup->exit.interpreter_peak);
    sup->process_peak = 0;
    sup->peak_before = INT64_MAX; /* until it is known: no peak proves anything */
    sup->hidden = false;
    s->checked_user_us = s->checked_system_us = 0;
    s->accounted = false;
    sup->go_us = sup->end_us = sup->copies_due_us = 0;
    sup->listener.answered = 0;
    if (s->loop.answer_timer >= 0 &&
        hc_loop_watch(&s->loop, sup->listener.fd, HC_ON_REFUSED, EPOLLIN, &(struct hc_error){0}) == 0)
        hc_close_fd(&s->loop.answer_timer);
    s->loop.frames = 0;
    s->loop.warned_memory = false;
    s->interrupted = false;
}

void hc_session_listen(struct hc_session *s, enum hc_talk_state state, unsigned asked)
{
    struct hc_supervisor *sup = &s->launch.sup;
    hc_inbox_finish(&sup->inbox);
    sup->inbox = (struct hc_inbox){.state = state,
                                   .first = state,
                                   .asked = asked,
                                   .max = (size_t)sup->policy->limits.value_bytes + (1 << 20)};
    sup->exit_known = false;
    sup->kept_sender = sup->resumed_sender = 0;
    sup->cpu_user_us = sup->cpu_system_us = 0;
}

/* Whether the errno says that the process has died, which its pidfd reports, too. Which errno it is depends
 * on whether it had unread packets. */
static bool is_gone(int error)
{
    return error == EPIPE || error == ECONNRESET;
}

/* Send a run to the interpreter: a handover without filters, in a memfd that comes with one packet. */
static int send_next(struct hc_session *s, const struct hc_job *job, struct hc_error *err)
{
    hc_autobuf bytes = {0};
    const struct hc_handover_filters none = {0};
    if (hc_handover_write(HC_HANDOVER_CELL, job, s->launch.sup.policy, &none, &bytes, err) < 0)
        return -1;
    hc_autofd fd = hc_sealed_memfd("hotcell-run", bytes.data, bytes.len, err);
    if (fd < 0)
        return -1;
    const struct hc_frame_head head = {.type = HC_FRAME_NEXT, .flags = HC_FRAME_LAST};
    hc_autofd input = hc_take(&s->launch.feed.fd);
    const int fds[HC_JOB_FDS] = {fd, input};
    const size_t count = input < 0 ? 1 : HC_JOB_FDS;
    return hc_packet_send(s->launch.sup.control_fd, &head, sizeof head, fds, count, MSG_DONTWAIT) < 0 &&
                   !is_gone(errno)
               ? hc_fail(err, errno, "hand the run over")
               : 0;
}

int hc_session_let_begin(struct hc_session *s, struct hc_error *err)
{
    struct hc_frame_head go = {.type = HC_FRAME_GO, .flags = HC_FRAME_LAST};
    return send(s->launch.sup.control_fd, &go, sizeof go, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && !is_gone(errno)
               ? hc_fail(err, errno, "let the run begin")
               : 0;
}

/* The interpreter broke the protocol, so it is under the guest's control: kill it. */
static int kill_for_protocol(struct hc_session *s, const char *what, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    (void)snprintf(sup->protocol, sizeof sup->protocol, "%s", what);
    if (sup->end != HC_END_CANCELLED)
        sup->end = HC_END_PROTOCOL;
    sup->kept_sender = 0;
    hc_process_signal(&s->active, SIGKILL);
    return hc_session_handle(s, has_exited, err);
}

int hc_session_stop_active(struct hc_session *s, struct hc_error *err)
{
    if (has_died(s))
        return 0;
    if (!hc_process_stop(&s->active))
        return kill_for_protocol(s, "it did not stop when the run was over", err);
    return hc_process_ended(&s->active) ? hc_session_handle(s, has_exited, err) : 0;
}

/* Note all existing processes: they are no new copies. Drop packets sent before, also by processes that end
 * meanwhile. */
static void note_others(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    size_t known =
        hc_session_processes(s, sup->others); /* hc_watch_below may miss one of these while another ends */
    sup->other_count = known + hc_watch_below(sup->pid, sup->others + known, HC_OTHERS - known);
    hc_control_drop(&s->loop);
}

int hc_session_order(struct hc_session *s, const struct hc_job *job, struct hc_error *err)
{
    hc_control_drop(&s->loop); /* drops packets that the cell's processes have sent before */
    hc_process_signal(&s->active, SIGCONT);
    return send_next(s, job, err);
}

int hc_session_make_copy(struct hc_session *s, const struct hc_job *job, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_error why;
    note_others(s);
    s->fork_permit = (struct hc_fork_permit){.forks = HC_FORK_PERMIT_COUNT, .owner = s->active.pid};
    hc_process_signal(&s->active, SIGCONT);
    int rc = send_next(s, job, err);
    if (rc == 0)
        rc = hc_session_handle_within(s, HC_COPY_MS, is_copied, err);
    s->fork_permit.forks = 0;
    if (rc < 0)
        return -1;
    if (sup->end == HC_END_TIMEOUT)
        return kill_for_protocol(s, "it made no copy of itself in time", err);
    if (!sup->kept_sender)
        return 0;
    if (hc_session_knows(s, sup->kept_sender) ||
        hc_session_open_process(s, sup->kept_sender, &s->copy, &why) < 0)
        return kill_for_protocol(s, "what it called its copy is none", err);
    s->copy.touched = s->active.touched;
    const bool stopped = hc_process_stop(&s->copy);
    if (!stopped || hc_process_ended(&s->copy)) {
        hc_process_finish(&s->copy);
        return kill_for_protocol(s, stopped ? "its copy ended at once" : "its copy did not stop", err);
    }
    hc_process_set_oom_score(&s->active, true);
    hc_process_set_oom_score(&s->copy, false);
    return 0;
}

/* Of all processes of the cell. */
static void cpu_of_cell(struct hc_supervisor *sup, enum hc_cpu_sample sample, int64_t *user_us,
                        int64_t *system_us)
{
    struct hc_cgroup_usage used;
    if (sup->cgroup->fd >= 0) {
        hc_cgroup_usage(sup->cgroup, &used);
        *user_us = used.of_cell.cpu_user_us;
        *system_us = used.of_cell.cpu_system_us;
        return;
    }
    if (sample == HC_CPU_AND_PEAKS)
        hc_loop_account(sup);
    else
        hc_loop_cpu(sup);
    *user_us = sup->cpu_user_us;
    *system_us = sup->cpu_system_us;
}

void hc_session_cpu(struct hc_session *s, enum hc_cpu_sample sample, int64_t *user_us, int64_t *system_us)
{
    int64_t beside_user_us, beside_system_us;
    cpu_of_cell(&s->launch.sup, sample, user_us, system_us);
    hc_commands_cpu(s, &beside_user_us, &beside_system_us);
    *user_us -= beside_user_us;
    *system_us -= beside_system_us;
}

int hc_session_supervise(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    sup->process_peak = 0;
    sup->peak_before = INT64_MAX;
    hc_session_cpu(s, HC_CPU_ALONE, &s->cpu_user_us, &s->cpu_system_us);
    sup->peak_before = sup->process_peak;
    sup->cpu_base_us = s->cpu_user_us + s->cpu_system_us;
    hc_commands_begin_run(s);
    sup->go_us = hc_now_us();
    if (hc_session_let_begin(s, err) < 0 || hc_timers_start(&s->timers, &s->loop, err) < 0)
        return -1;
    if (s->given.wake_fd >= 0)
        hc_session_wake(s);
    s->in_run = true;
    s->rest_cpu_us = 0;
    if (s->given.wake_fd >= 0 && hc_loop_watch(&s->loop, s->given.wake_fd, HC_ON_WAKE, EPOLLIN, err) < 0)
        return -1;
    int rc = hc_session_handle(s, is_over, err);
    s->in_run = false;
    if (s->given.wake_fd >= 0)
        hc_loop_unwatch(&s->loop, s->given.wake_fd);
    hc_timers_finish(&s->timers);
    hc_enforce_soft_end(&s->loop);
    return rc;
}

/* The exit status that the program would have had as a job's process, according to its report. */
static int said_exit(const struct hc_buf *body)
{
    struct hc_json j;
    struct hc_error ignored;
    if (!body->len || hc_json_parse(&j, "report", body->data, body->len, &ignored) < 0)
        return HC_EXIT_GUEST;
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(j.root, "exit");
    int status = cJSON_IsNumber(n) && n->valuedouble >= 0 && n->valuedouble <= 255 ? (int)n->valuedouble
                                                                                   : HC_EXIT_GUEST;
    hc_json_finish(&j);
    return status;
}

/* Set the exit status as if the run had been a job's process. */
static void note_exit(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    bool reported = hc_inbox_has(&sup->inbox, HC_FRAME_REPORT);
    sup->exit = (struct hc_exit_report){.code = CLD_EXITED,
                                        .status = reported ? said_exit(&sup->inbox.body) : HC_EXIT_REJECTED};
    sup->exit_known = true;
}

/* Keep the copy from before the run, which is over: the run's process is stopped, and goes on to the next
 * run. */
static void keep_state(struct hc_session *s)
{
    note_exit(s);
    if (!s->copy.pid) /* the run was rejected because no copy could be made */
        return;
    s->before = (struct hc_saved_copy){.process = s->copy, .run_number = s->run_number};
    s->copy = (struct hc_process){.pidfd = -1};
}

bool hc_session_take_over(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_error ignored;
    hc_process_finish(&s->active);
    s->active = s->copy;
    s->copy = (struct hc_process){.pidfd = -1};
    hc_session_activate(s);
    if (!s->active.pid || s->loop.dead || hc_process_ended(&s->active))
        return false; /* if it ended while it waited, its end was not noted */
    hc_session_listen(s, HC_TALK_IDLE, HC_ASKED_RESUME);
    if (s->active.serving) {
        s->active.serving = false;
        return true;
    }
    hc_process_signal(&s->active, SIGCONT);
    hc_process_signal(&s->active, HC_SIGNAL_RESUME);
    int rc = hc_session_handle_within(s, HC_COPY_MS, is_resumed, &ignored);
    return hc_process_stop(&s->active) && !hc_process_ended(&s->active) && rc == 0 && !s->loop.dead &&
           sup->resumed_sender == s->active.pid;
}

void hc_session_read_last_packets(struct hc_session *s)
{
    for (int64_t before = -1; s->loop.control_open && s->loop.frames != before;) {
        before = s->loop.frames;
        hc_control_read(&s->loop);
    }
}

/* ---- the manifest of a run ---- */

/* Fill in the parts of a run's manifest that are the same for all runs. */
static int describe_run(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                        struct hc_manifest *m, struct hc_error *err)
{
    const struct hc_manifest *cell = s->m;
    struct hc_job named = *job; /* its pointers are borrowed from `job` */
    char id[sizeof m->job_id];
    (void)snprintf(id, sizeof id, "%.60s.%d", cell->job_id, s->runs);
    named.job_id = id;
    named.tenant = s->job.tenant;
    named.labels = s->job.labels;
    struct hc_run run = {.job = &named, .policy = policy};
    if (hc_launch_describe(&run, m, s->clock_ahead_ns, err) < 0 || hc_launch_name_policy(&run, m, err) < 0)
        return -1;
    (void)snprintf(m->context, sizeof m->context, "%s", s->context);
    m->enforced_by = cell->enforced_by;
    if (policy->limits.cpu_ms)
        m->enforced_by.cpu = s->launch.cgroup.fd >= 0 ? "cgroup" : "watch";
    memcpy(m->layers, cell->layers, sizeof m->layers);
    m->layer_count = cell->layer_count;
    memcpy(m->inputs, cell->inputs, sizeof m->inputs);
    m->input_count = cell->input_count;
    memcpy(m->tree_sha256, cell->tree_sha256, sizeof m->tree_sha256);
    m->tree_layers = cell->tree_layers;
    m->tree_checked = cell->tree_checked;
    m->tree_name = s->policy.tree; /* `policy` may end before the manifest does */
    return 0;
}

static void fill_usage(struct hc_session *s, struct hc_manifest *m, int64_t since_us)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_launch *l = &s->launch;
    sup->end_us = hc_now_us();
    m->usage.wall_us = sup->end_us - since_us;
    if (sup->go_us) {
        int64_t user_us, system_us;
        hc_session_cpu(s, s->accounted ? HC_CPU_ALONE : HC_CPU_AND_PEAKS, &user_us, &system_us);
        m->usage.cpu_user_us = MAX(user_us - s->cpu_user_us, 0) + s->checked_user_us;
        m->usage.cpu_system_us = MAX(system_us - s->cpu_system_us, 0) + s->checked_system_us;
    }
    m->timing.run_us = sup->go_us ? sup->end_us - sup->go_us : -1;
    m->timing.start_us = (sup->go_us ? sup->go_us : sup->end_us) - since_us;
    m->usage.output_bytes = s->policy.output_mode == HC_OUTPUT_CAPPED ? hc_watch_fs_bytes(l->output_fd) : -1;
    if (l->cgroup.fd < 0) {
        m->usage.memory_peak = sup->memory_peak ? sup->memory_peak : -1;
        s->memory_peak = MAX(s->memory_peak, sup->memory_peak);
        m->usage.pids_peak = sup->tasks_peak ? sup->tasks_peak : -1;
        l->used = (struct hc_cgroup_usage){.of_cell.pids_peak = -1};
        return;
    }
    hc_cgroup_usage(&l->cgroup, &l->used);
    hc_usage_take_peaks(&m->usage, &l->used.of_cell);
    int64_t kills = l->used.oom_kills, refused = l->used.pids_refused;
    l->used.oom_kills -= s->oom_kills; /* leaves the kills of this run */
    /* The kernel does not say which process it killed: a run that lives was not it, a command may have been.
     */
    if (!s->died && hc_commands_were_beside(s))
        l->used.oom_kills = 0;
    l->used.pids_refused -= s->pids_refused;
    s->oom_kills = kills;
    s->pids_refused = refused;
}

/* Set the run's outcome and collect its files, with the run's job and policy in s->run for the functions
 * of launch.h. */
static int conclude_run(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                        struct hc_manifest *m, int64_t since_ns, struct hc_error *err)
{
    struct hc_launch *l = &s->launch;
    s->run.job = job;
    s->run.policy = policy;
    bool kept = l->sup.exit_known && !s->died;
    int rc = hc_launch_set_outcome(l, err);
    if (kept)
        m->process.known = false; /* the process has not ended */
    if (rc == 0) {
        hc_launch_redact(l);
        int64_t collecting = hc_now_us();
        rc = hc_launch_keep(l, since_ns, err);
        m->timing.collect_us = hc_now_us() - collecting;
    }
    s->run.job = &s->job;
    s->run.policy = &s->policy;
    m->exit_code = hc_status_exit(m->status);
    hc_clock_text(s->clock_ahead_ns, m->finished);
    return rc;
}

/* The time from which files belong to the next run. If this run left files, wait until the coarse clock has
 * moved on. */
static int64_t next_stamp(const struct hc_manifest *m)
{
    struct hc_policy ticking = {.output_mode =
                                    m->file_count || m->figure_count ? HC_OUTPUT_BIND : HC_OUTPUT_CAPPED};
    return hc_launch_first_stamp(&ticking);
}

/* The process may have ended before this run: while a copy of it was made, or killed while it was stopped
 * between runs, as a stopped process ends by SIGKILL only. */
static void note_death(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (sup->exit_known || !hc_process_ended(&s->active))
        return;
    sup->ended_before = s->active.end.code != 0;
    sup->killed_between_runs = !sup->ended_before;
    sup->exit =
        sup->ended_before ? s->active.end : (struct hc_exit_report){.code = CLD_KILLED, .status = SIGKILL};
    sup->exit_known = true;
}

/* Whether the process ended by itself before the run began. */
static bool ended_instead(const struct hc_session *s)
{
    const struct hc_supervisor *sup = &s->launch.sup;
    const bool by_sigkill = sup->exit.code != CLD_EXITED && sup->exit.status == SIGKILL;
    return sup->exit_known && !s->copy.pid && sup->end == HC_END_NONE && !by_sigkill;
}

/* Has the run more memory than limits.memory, or did it have more? Commands beside it are looked at by
 * themselves: then only the peak of the run's own process counts. */
static bool is_too_large(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    const int64_t limit = sup->policy->limits.memory;
    const bool alone = hc_session_beside_fd(s) < 0;
    s->accounted = true;
    if (alone && hc_loop_sample(sup) > limit)
        return true;
    if (!alone)
        hc_loop_account(sup);
    return hc_peak_of_samples(sup) > limit;
}

/* Without a cgroup: end a run by the memory that it leaves, or had. A run may be over before it is looked at,
 * and many such runs would have ever more. */
static int end_by_memory(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (sup->cgroup->fd >= 0 || sup->end != HC_END_NONE || has_died(s) || !is_too_large(s))
        return 0;
    hc_loop_end(sup, HC_END_MEMORY);
    return hc_session_handle(s, has_exited, err);
}

/* Run the program. The checker has passed it, unless the program's own process is to check it. */
static int run_program(struct hc_session *s, const struct hc_job *job, struct hc_manifest *m,
                       struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    /* Threads that an earlier run left may cause denials, too, and commands beside the run. */
    m->denials.shared = s->active.touched || hc_session_beside_fd(s) >= 0;
    hc_session_listen(s, s->active.touched ? HC_TALK_AGAIN : HC_TALK_READY, HC_ASKED_COPY);
    note_death(s);
    if (!sup->exit_known && hc_session_make_copy(s, job, err) < 0)
        return -1;
    if (s->copy.pid)
        hc_process_retire(s, &s->before.process);
    hc_session_begin_tools(s, m);
    if (!run_ended(sup) && !s->loop.dead) {
        s->active.touched = !hc_weak(HC_WEAK_CHECKER);
        if (hc_session_supervise(s, err) < 0 || end_by_memory(s, err) < 0)
            return -1;
    }
    if (hc_session_stop_active(s, err) < 0)
        return -1;
    s->died = has_died(s);
    sup->ended_before |= ended_instead(s);
    if (s->died)
        hc_session_read_last_packets(s);
    else
        keep_state(s);
    hc_session_end_tools(s);
    return 0;
}

/* The checker rejected the program: the session's own process never gets it. */
static void refuse_run(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    s->died = s->loop.dead || sup->end == HC_END_CANCELLED;
    if (sup->inbox.state == HC_TALK_OVER && sup->end == HC_END_NONE)
        note_exit(s);
}

/* No process is left that could check the program, so it does not run. */
static void end_unchecked(struct hc_session *s, struct hc_session_result *r)
{
    hc_session_close_pipes(s);
    hc_launch_conclude(r->m, HC_STATUS_ERROR,
                       "the process that checks the session's programs has ended, and the session with it");
    r->state = HC_STATE_LOST;
    r->m->exit_code = hc_status_exit(r->m->status);
    hc_clock_text(s->clock_ahead_ns, r->m->finished);
}

/* Decide which state the session goes on with. */
static void settle_state(struct hc_session *s, struct hc_session_result *r)
{
    if (!s->died)
        s->run_number = r->run;
    else if (!s->copy.pid) { /* the run ended before its process was copied */
        s->copy = s->before.process;
        s->run_number = s->before.run_number;
        s->before = (struct hc_saved_copy){.process = {.pidfd = -1}};
    }
    r->state = !s->died                                ? HC_STATE_KEPT
               : s->launch.sup.end == HC_END_CANCELLED ? HC_STATE_LOST /* the session ends with this run */
               : hc_session_take_over(s)               ? HC_STATE_ROLLED_BACK
                                                       : HC_STATE_LOST;
    r->back_to = s->run_number;
}

/* Have the program checked, and run it. `*alone`: no process that it left runs on; also one that was told to
 * make a copy, and says that it made none, may have made one. */
static int check_and_run(struct hc_session *s, const struct hc_job *job, struct hc_session_result *r,
                         bool *alone, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    bool passed = false;
    int rc = hc_session_check(s, job, &passed, err);
    if (rc > 0)
        end_unchecked(s, r);
    if (rc != 0)
        return rc;
    if (!passed)
        refuse_run(s);
    else if (hc_session_begin_input(s, job, err) < 0 || run_program(s, job, r->m, err) < 0)
        return -1;
    (void)hc_feed_stop(&s->launch.feed);
    hc_session_end_input(s);
    if (!sup->go_us)
        sup->go_us = hc_now_us(); /* the interpreter was ready, though the program did not begin */
    *alone = hc_session_kill_unknown(s);
    return 0;
}

/* Whether nothing ran for want of a copy, and there is more room without the reader, which has ended then: a
 * copy of the checker tells whether it is enough. */
static bool makes_room(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (!hc_inbox_has(&sup->inbox, HC_FRAME_UNKEPT) || sup->end != HC_END_NONE || s->died ||
        !hc_session_end_reader(s))
        return false;
    hc_buf_clear(&sup->checked);
    sup->go_us = 0;
    return true;
}

/* Do the run, whose inputs are in their places; `since_us`: when it began. */
static int run_placed(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                      struct hc_session_result *r, int64_t since_us, struct hc_error *err)
{
    bool alone = false;
    int rc = hc_session_open_pipes(s, err) < 0 ? -1 : check_and_run(s, job, r, &alone, err);
    if (rc == 0 && alone && makes_room(s))
        rc = check_and_run(s, job, r, &alone, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    hc_session_close_pipes(s);
    fill_usage(s, r->m, since_us);
    if (conclude_run(s, job, policy, r->m, s->run_began_ns, err) < 0)
        return -1;
    s->run_began_ns = next_stamp(r->m);
    if (!alone) {
        s->died = true;
        hc_launch_warn(r->m,
                       "processes that the run left could not be ended one by one, as each makes another: "
                       "they were killed with the cell, and the session ends");
    }
    settle_state(s, r);
    return 0;
}

int hc_session_run_once(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                        struct hc_session_result *r, struct hc_error *err)
{
    const int64_t since_us = hc_now_us();
    struct hc_job placed = *job; /* members borrowed */
    hc_autobuf given = {0};
    if (s->commands)
        hc_session_stop_waiting(s);
    hc_session_reset(s, r->m, policy);
    if (describe_run(s, job, policy, r->m, err) < 0)
        return -1;
    if (hc_launch_check_size(job, policy, r->m)) {
        r->state = HC_STATE_KEPT;
        r->m->exit_code = hc_status_exit(r->m->status);
        hc_clock_text(s->clock_ahead_ns, r->m->finished);
        return 0;
    }
    if (hc_session_place_inputs(s, job, &given, err) < 0)
        return -1;
    if (given.len)
        placed.given = given.data;
    return run_placed(s, &placed, policy, r, since_us, err);
}
